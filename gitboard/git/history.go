package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// History reads the graph of commits, and compares and merges what is in them.
type History struct{ repo *Repo }

// History returns the repository's history.
func (r *Repo) History() History { return History{r} }

// IsAncestor reports whether a is b or an ancestor of b. It returns a CommandError if they differ
// and one of them is not a commit here.
func (h History) IsAncestor(ctx context.Context, a, b plumbing.OID) (bool, error) {
	if err := checkOIDs(a, b); err != nil {
		return false, err
	}
	if near, _, err := h.repo.near(ctx, a, b); near != nil || err != nil {
		return len(near) > 0, err
	}
	err := h.repo.command("merge-base", "merge-base", "--is-ancestor", string(a), string(b)).Run(ctx)
	if child.ExitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// nearby is how many unknown commits are read one by one before a child is started instead.
const nearby = 24

// near returns the chain of first parents from b back to a, newest first, if it is short. Otherwise
// the chain is nil and git has to be asked. line reports that the chain has no merge between b and
// a. It starts no child.
func (r *Repo) near(ctx context.Context, a, b plumbing.OID) (chain []plumbing.OID, line bool, err error) {
	line = true
	for at, read := b, 0; read < nearby; {
		chain = append(chain, at)
		if at == a {
			return chain, line, nil
		}
		if !r.known.has(at) {
			read++
		}
		o, err := r.Objects(ctx, []string{string(at)})
		if err != nil {
			return nil, false, err
		}
		c, _ := plumbing.DecodeCommit(o[0]) // one that is missing or damaged has no parents
		if len(c.Parents) == 0 {
			return nil, false, nil
		}
		at, line = c.Parents[0], line && len(c.Parents) == 1
	}
	return nil, false, nil
}

// Since returns the chain of first parents from tip back to from, both included, newest first. If
// from is not in that chain, the result does not end with it.
func (h History) Since(ctx context.Context, from, tip plumbing.OID) ([]plumbing.OID, error) {
	if err := checkOIDs(from, tip); err != nil {
		return nil, err
	}
	if chain, _, err := h.repo.near(ctx, from, tip); chain != nil || err != nil {
		return chain, err
	}
	for most := 100; ; most *= 10 {
		chain, err := h.FirstParents(ctx, tip, most)
		if err != nil || len(chain) < most || slices.Contains(chain, from) {
			return chain, err
		}
	}
}

// MergeBase returns the best common ancestor of a and b, or ErrNotFound if their histories are
// unrelated. The error is a DamagedError if one of the histories has a gap: then nobody knows.
func (h History) MergeBase(ctx context.Context, a, b plumbing.OID) (plumbing.OID, error) {
	if err := checkOIDs(a, b); err != nil {
		return "", err
	}
	for _, pair := range [][2]plumbing.OID{{a, b}, {b, a}} {
		if chain, _, err := h.repo.near(ctx, pair[0], pair[1]); len(chain) > 0 || err != nil {
			return pair[0], err
		}
	}
	ask := h.repo.command("merge-base", "merge-base", string(a), string(b))
	out, err := ask.Output(ctx)
	if child.ExitCode(err) == 1 { // git also exits so where it can't read on
		for _, tip := range []plumbing.OID{a, b} {
			if _, err := h.CountCommits(ctx, plumbing.ZeroOID, tip); err != nil {
				return "", err
			}
		}
		out, err = ask.Output(ctx) // that may have brought back what was missing
	}
	if child.ExitCode(err) == 1 {
		return "", fmt.Errorf("common ancestor of %s and %s: %w", a.Short(), b.Short(), ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	return plumbing.OID(strings.TrimSpace(string(out))), nil
}

// CountCommits returns the number of commits in to that are not in from. A zero from counts all.
func (h History) CountCommits(ctx context.Context, from, to plumbing.OID) (int, error) {
	if from == to && !to.IsZero() {
		return 0, checkOIDs(to)
	}
	lines, err := h.repo.revList(ctx, from, to, "--count")
	if err != nil {
		return 0, err
	}
	if len(lines) != 1 {
		return 0, fmt.Errorf("count commits: git rev-list answered %d lines", len(lines))
	}
	return strconv.Atoi(lines[0])
}

// FindMerge returns a merge commit that is in to and not in from, or ZeroOID if there is none. A
// zero from excludes nothing. The search stops at the first one.
func (h History) FindMerge(ctx context.Context, from, to plumbing.OID) (plumbing.OID, error) {
	if _, line, err := h.repo.near(ctx, from, to); line || err != nil {
		return plumbing.ZeroOID, err
	}
	lines, err := h.repo.revList(ctx, from, to, "--min-parents=2", "--max-count=1")
	if err != nil || len(lines) == 0 {
		return plumbing.ZeroOID, err
	}
	return plumbing.OID(lines[0]), nil
}

// RevList returns the commits in to that are not in from, parents first. A zero from excludes
// nothing.
func (h History) RevList(ctx context.Context, from, to plumbing.OID) ([]plumbing.OID, error) {
	lines, err := h.repo.revList(ctx, from, to, "--reverse", "--topo-order")
	return oids(lines), err
}

// FirstParents returns tip and its chain of first parents, newest first: at most max commits, or
// all if max is not positive.
func (h History) FirstParents(ctx context.Context, tip plumbing.OID, max int) ([]plumbing.OID, error) {
	options := []string{"--first-parent"}
	if max > 0 {
		options = append(options, "--max-count="+strconv.Itoa(max))
	}
	lines, err := h.repo.revList(ctx, plumbing.ZeroOID, tip, options...)
	return oids(lines), err
}

// Matching returns the commits among tip and its chain of first parents whose message has a line
// that matches a basic regular expression, newest first.
func (h History) Matching(ctx context.Context, tip plumbing.OID, expression string) ([]plumbing.OID, error) {
	lines, err := h.repo.revList(ctx, plumbing.ZeroOID, tip, "--first-parent", "--basic-regexp", "--grep="+expression)
	return oids(lines), err
}

// Touching returns the commits among tip and its chain of first parents that changed a file, newest
// first.
func (h History) Touching(ctx context.Context, tip plumbing.OID, path string) ([]plumbing.OID, error) {
	if err := checkOIDs(tip); err != nil {
		return nil, err
	}
	out, err := h.repo.command("rev-list", "rev-list", "--first-parent", string(tip), "--", ":(top,literal)"+path).Output(ctx)
	return oids(child.Lines(out)), h.repo.damaged(ctx, tip, err)
}

// Log returns the commits in to that are not in from, parents first. A zero from excludes nothing.
// All of them are held in memory.
func (r *Repo) Log(ctx context.Context, from, to plumbing.OID) ([]plumbing.Commit, error) {
	lines, err := r.after(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 && from.IsZero() {
		// Git lists nothing for an object that is not a commit.
		return nil, &DamagedError{Commit: to}
	}
	objects, err := r.Objects(ctx, lines)
	if err != nil {
		return nil, err
	}
	commits := make([]plumbing.Commit, len(objects))
	for i, object := range objects {
		if commits[i], err = plumbing.DecodeCommit(object); err != nil { // also of one that is missing
			return nil, &DamagedError{Commit: plumbing.OID(lines[i]), Err: err}
		}
	}
	return commits, nil
}

// after lists the commits that Log returns. It starts no child for a short line of them.
func (r *Repo) after(ctx context.Context, from, to plumbing.OID) (lines []string, err error) {
	if err := checkOIDs(from.OrZero(), to); err != nil {
		return nil, err
	}
	if from == to {
		return nil, nil
	}
	chain, line, _ := r.near(ctx, from, to)
	if !line {
		return r.revList(ctx, from, to, "--reverse", "--topo-order")
	}
	for _, oid := range slices.Backward(chain[:len(chain)-1]) {
		lines = append(lines, string(oid))
	}
	return lines, nil
}

func (r *Repo) revList(ctx context.Context, from, to plumbing.OID, options ...string) ([]string, error) {
	if err := checkOIDs(from.OrZero(), to); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"rev-list"}, options, []string{string(to)})
	if !from.IsZero() {
		args = append(args, "^"+string(from))
	}
	out, err := r.command("rev-list", append(args, "--")...).Output(ctx)
	return child.Lines(out), r.damaged(ctx, to, err)
}

func oids(lines []string) []plumbing.OID {
	list := make([]plumbing.OID, len(lines))
	for i, line := range lines {
		list[i] = plumbing.OID(line)
	}
	return list
}

// checkOIDs rejects anything but full ids, since these values end up in argument vectors.
func checkOIDs(list ...plumbing.OID) error {
	for _, oid := range list {
		if !oid.Valid() {
			return fmt.Errorf("%q is not a full object id", string(oid))
		}
	}
	return nil
}

// Unheld reports whether no ref holds a commit. It is false for one that is missing: nothing is
// left of it.
func (h History) Unheld(ctx context.Context, commit plumbing.OID) (bool, error) {
	if o, err := h.repo.Object(ctx, string(commit)); errors.Is(err, ErrNotFound) || err == nil && o.Type != plumbing.CommitObject {
		return false, nil
	} else if err != nil {
		return false, err
	}
	out, err := h.repo.command("rev-list", "rev-list", "--max-count=1", string(commit), "--not", "--glob="+plumbing.RefsPrefix+"*", "--").Output(ctx)
	return len(bytes.TrimSpace(out)) > 0, err
}
