package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// RequestCommit returns the newest commit whose trailer Liza-Request equals request, among the
// first depth commits of tip and its chain of first parents. It starts one child, whatever the
// depth, and a second for each candidate. It returns ErrNotFound if there is none.
func (r *Repo) RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (plumbing.OID, error) {
	missing := fmt.Errorf("a commit of request %q: %w", request, ErrNotFound)
	if err := checkOIDs(tip); err != nil {
		return "", err
	}
	if request == "" || depth <= 0 {
		return "", missing
	}
	// Search whole messages first: git takes several times as long to parse their trailers.
	out, err := r.command("rev-list",
		"rev-list", "--first-parent", "--max-count="+strconv.Itoa(depth),
		"--encoding=UTF-8", "--no-commit-header", "--format=%x00%H%n%B",
		string(tip), "--").output(ctx)
	if err != nil {
		return "", r.damaged(ctx, tip, err)
	}
	for message := range strings.SplitSeq(string(out), "\x00") { // no message has a NUL
		oid, message, _ := strings.Cut(message, "\n")
		if !strings.Contains(message, plumbing.RequestTrailer+": "+request+"\n") {
			continue
		}
		is, err := r.hasRequest(ctx, plumbing.OID(oid), request)
		if is || err != nil {
			return plumbing.OID(oid), err
		}
	}
	return "", missing
}

// hasRequest reports whether a commit has the trailer with that request.
func (r *Repo) hasRequest(ctx context.Context, oid plumbing.OID, request string) (bool, error) {
	const separator = "\x1f"
	out, err := r.command("rev-list",
		"-c", "trailer.separators=:", // a user's setting must not hide ours
		"rev-list", "--max-count=1", "--encoding=UTF-8", "--no-commit-header",
		"--format=%(trailers:key="+plumbing.RequestTrailer+",valueonly,unfold,separator=%x1f)",
		string(oid), "--").output(ctx)
	if err != nil {
		return false, err
	}
	return slices.Contains(strings.Split(strings.TrimSuffix(string(out), "\n"), separator), request), nil
}
