package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// ResolveCommit returns the commit that rev names. HEAD is that of the worktree in which Open was
// called. It returns ErrNotFound if rev names no commit, or starts with "-", which no revision
// does, and an AmbiguousError if its name has several meanings: git would choose one and only warn.
func (r *Repo) ResolveCommit(ctx context.Context, rev string) (plumbing.OID, error) {
	oid, err := r.resolve(ctx, rev)
	if err != nil {
		return "", err
	}
	names, err := r.meanings(ctx, nameIn(rev))
	if err != nil {
		return "", err
	}
	if len(names) > 1 {
		return "", &AmbiguousError{Rev: rev, Names: names}
	}
	return oid, nil
}

func (r *Repo) resolve(ctx context.Context, rev string) (plumbing.OID, error) {
	missing := fmt.Errorf("revision %q: %w", rev, ErrNotFound)
	if strings.HasPrefix(rev, "-") || strings.ContainsRune(rev, 0) {
		return "", missing
	}
	out, err := r.here("rev-parse", "rev-parse", "--verify", "--quiet", rev+"^{commit}").Output(ctx)
	if code := child.ExitCode(err); code == 1 || code == 128 {
		return "", missing
	}
	if err != nil {
		return "", fmt.Errorf("revision %q: %w", rev, err)
	}
	// "^main" resolves to "^<id>", which is an exclusion, not a commit.
	oid := plumbing.OID(strings.TrimSpace(string(out)))
	if !oid.Valid() {
		return "", missing
	}
	return oid, nil
}

// nameIn returns the name that a revision begins with (gitrevisions).
func nameIn(rev string) string {
	if end := strings.IndexAny(rev, "^~:"); end >= 0 {
		rev = rev[:end]
	}
	name, _, _ := strings.Cut(rev, "@{")
	return name
}

// meanings returns what a name may mean, if that is more than one commit: refs, and the id of a
// commit that it abbreviates. It looks where git does (gitrevisions), except for names that mean
// the same whatever else is fetched: full ids, names below refs/, and HEAD and the like.
func (r *Repo) meanings(ctx context.Context, name string) (names []string, err error) {
	if name == "" || name == "@" || name == "HEAD" || strings.HasSuffix(name, "_HEAD") || plumbing.OID(name).Valid() {
		return nil, nil
	}
	places := []string{plumbing.RefsPrefix + name, plumbing.TagsPrefix + name, plumbing.HeadsPrefix + name, plumbing.RemotesPrefix + name, plumbing.RemotesPrefix + name + "/HEAD"}
	if strings.HasPrefix(name, plumbing.RefsPrefix) {
		return nil, nil
	}
	found, err := r.Where(ctx, places)
	if err != nil || len(found) == 0 || found[places[0]] != "" {
		return nil, err
	}
	candidates := slices.DeleteFunc(places, func(ref string) bool { return found[ref] == "" })
	abbreviated, err := r.abbreviated(ctx, name)
	candidates = append(candidates, abbreviated...)
	if err != nil || len(candidates) < 2 {
		return nil, err
	}
	var commits []plumbing.OID
	for _, candidate := range candidates {
		oid, err := r.resolve(ctx, candidate)
		switch {
		case errors.Is(err, ErrNotFound), err == nil && slices.Contains(commits, oid):
		case err != nil:
			return nil, err
		default:
			names, commits = append(names, candidate), append(commits, oid)
		}
	}
	return names, nil
}

// abbreviated returns the ids of the objects that a text abbreviates.
func (r *Repo) abbreviated(ctx context.Context, text string) ([]string, error) {
	const shortest = 4
	if len(text) < shortest || strings.Trim(text, "0123456789abcdefABCDEF") != "" {
		return nil, nil
	}
	out, err := r.command("rev-parse", "rev-parse", "--disambiguate="+text).Output(ctx)
	return child.Lines(out), err
}
