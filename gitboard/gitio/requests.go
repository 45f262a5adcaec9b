package gitio

import (
	"context"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Requested returns the given requests that appear among the first depth commits of tip and its
// chain of first parents, each with the newest commit that carries it as a trailer Liza-Request. It
// starts one child, and one more for each candidate.
func (r *Repo) Requested(ctx context.Context, tip git.OID, requests []string, depth int) (map[string]git.OID, error) {
	found := map[string]git.OID{}
	if len(requests) == 0 || depth <= 0 || tip.IsZero() {
		return found, nil
	}
	if err := checkOIDs(tip); err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(requests))
	for _, request := range requests {
		wanted[request] = true
	}
	out, err := r.command("rev-list",
		"rev-list", "--first-parent", "--max-count="+strconv.Itoa(depth),
		"--encoding=UTF-8", "--no-commit-header", "--format=%x1e%H%n%B",
		string(tip), "--").output(ctx)
	if err != nil {
		return nil, err
	}
	for message := range strings.SplitSeq(string(out), "\x1e") {
		oid, message, _ := strings.Cut(message, "\n")
		for line := range strings.SplitSeq(message, "\n") {
			request, is := strings.CutPrefix(line, git.RequestTrailer+": ")
			if !is || !wanted[request] || found[request] != "" || !git.OID(oid).Valid() {
				continue
			}
			has, err := r.hasRequest(ctx, git.OID(oid), request)
			if err != nil {
				return nil, err
			}
			if has {
				found[request] = git.OID(oid)
			}
		}
	}
	return found, nil
}
