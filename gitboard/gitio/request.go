package gitio

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RequestTrailer is the trailer that holds the caller's request id, by which
// a retry after an unclear failure finds its own commit.
const RequestTrailer = "Liza-Request"

// RequestCommit returns the newest commit whose trailer Liza-Request equals
// request, among tip and its first parents, depth of them at most. It is one
// child, however deep. ErrNotFound when there is none.
func (r *Repo) RequestCommit(ctx context.Context, tip OID, request string, depth int) (OID, error) {
	missing := fmt.Errorf("a commit of request %q: %w", request, ErrNotFound)
	if err := checkOIDs(tip); err != nil {
		return "", err
	}
	if request == "" || depth <= 0 {
		return "", missing
	}
	// A line a commit: the id, then the values, each after the separator.
	const separator = "\x1f"
	out, err := r.command("rev-list",
		"-c", "trailer.separators=:", // a user's setting must not hide ours
		"rev-list", "--first-parent", "--max-count="+strconv.Itoa(depth),
		"--encoding=UTF-8", "--no-commit-header",
		"--format=%H%x1f%(trailers:key="+RequestTrailer+",valueonly,unfold,separator=%x1f)",
		string(tip), "--").output(ctx)
	if err != nil {
		return "", err
	}
	for _, line := range splitLines(out) {
		fields := strings.Split(line, separator)
		if slices.Contains(fields[1:], request) {
			return OID(fields[0]), nil
		}
	}
	return "", missing
}
