package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// MalformedError is a commit that brings an object which `git fsck --strict` refuses, or files
// where git liza keeps its own. Such a commit can be read, but git may fail to merge it or to check
// it out, or that would stop this clone.
type MalformedError struct {
	Commit plumbing.OID
	Folder string // git liza's own, "" for an object
	Err    error  // git's message about an object
}

// Error returns one sentence.
func (e *MalformedError) Error() string {
	if e.Folder != "" {
		return fmt.Sprintf("%s brings files in %s, a folder of git liza's own", e.Commit.Short(), e.Folder)
	}
	said := e.Err.Error()
	if failed := (*CommandError)(nil); errors.As(e.Err, &failed) {
		said = child.LastLine(failed.Stderr)
		if _, cause, is := strings.Cut(failed.Stderr, "error: "); is {
			said, _, _ = strings.Cut(cause, "\n")
		}
	}
	return fmt.Sprintf("%s brings an object that git fsck refuses: %s", e.Commit.Short(), said)
}

// Unwrap returns git's message.
func (e *MalformedError) Unwrap() error { return e.Err }

// WellFormed returns a MalformedError if git-fsck --strict refuses a commit or tree that commit's
// history has and that of from doesn't have, or a .gitmodules or .gitattributes in them; or if
// commit has other files than from in a folder of git liza's own. The error is a DamagedError if
// one can't be read. It starts no child for a short line of commits as git usually writes them.
func (h History) WellFormed(ctx context.Context, from, commit plumbing.OID) error {
	failed, err := h.AllWellFormed(ctx, [][2]plumbing.OID{{from, commit}})
	return cmp.Or(err, failed[0])
}

// AllWellFormed is WellFormed for several histories, each of a commit since another one, oldest
// first. failed has their errors; err is that of a look that did not end.
func (h History) AllWellFormed(ctx context.Context, since [][2]plumbing.OID) (failed []error, err error) {
	failed = make([]error, len(since))
	var odd []int // git has to look at these
	var tips []plumbing.OID
	for i, pair := range since {
		if err := checkOIDs(pair[:]...); err != nil {
			return failed, err
		}
		w, line, err := h.repo.changesSince(ctx, pair[0], pair[1])
		switch {
		case errors.As(err, new(*DamagedError)):
			failed[i] = err
		case err != nil:
			return failed, err
		case !line || w.odd:
			odd, tips = append(odd, i), append(tips, pair[1])
		default:
			failed[i] = w.wellFormed(ctx, pair[0])
		}
	}
	check := h.repo.wellFormed
	if len(odd) > 1 && h.repo.strict(ctx, tips, since[odd[0]][0]) == nil { // one look for all of them
		check = h.repo.ownFolders
	}
	for _, i := range odd {
		failed[i] = check(ctx, since[i][0], since[i][1])
	}
	return failed, ctx.Err()
}

// wellFormed is WellFormed for any history.
func (r *Repo) wellFormed(ctx context.Context, from, commit plumbing.OID) error {
	return cmp.Or(r.strict(ctx, []plumbing.OID{commit}, from), r.ownFolders(ctx, from, commit))
}

// ownFolders checks the folders of git liza's own.
func (r *Repo) ownFolders(ctx context.Context, from, commit plumbing.OID) error {
	trees, err := r.Objects(ctx, []string{string(from) + "^{tree}", string(commit) + "^{tree}"})
	if err != nil {
		return err
	}
	before, _ := plumbing.DecodeTree(trees[0].Data) // what can't be read is reported otherwise
	now, _ := plumbing.DecodeTree(trees[1].Data)
	for _, e := range now {
		if plumbing.OwnFolder(e.Name) && !slices.Contains(before, e) {
			return &MalformedError{Commit: commit, Folder: e.Name}
		}
	}
	return nil
}

// malformedTree returns a MalformedError if git-fsck --strict refuses the tree of a commit, nil if
// it does not or can't be asked.
func (r *Repo) malformedTree(ctx context.Context, commit plumbing.OID) error {
	tree, err := r.Object(ctx, string(commit)+"^{tree}")
	if err != nil {
		return nil
	}
	malformed := (*MalformedError)(nil)
	if !errors.As(r.strict(ctx, []plumbing.OID{tree.OID}, plumbing.EmptyTree), &malformed) {
		return nil
	}
	malformed.Commit = commit
	return malformed
}

// strict lets git check the objects as in a fetch with fetch.fsckObjects. Files are left out of the
// pack; git reads those that it checks from the repository.
func (r *Repo) strict(ctx context.Context, commits []plumbing.OID, from plumbing.OID) error {
	var revisions strings.Builder
	for _, c := range commits {
		fmt.Fprintln(&revisions, c)
	}
	fmt.Fprintf(&revisions, "^%s\n", from)
	pack, err := r.command("pack-objects", "pack-objects", "-q", "--revs", "--stdout", "--filter=blob:none", "--missing=allow-promisor").Feed([]byte(revisions.String())).Output(ctx)
	if child.ExitCode(err) > 0 {
		return &DamagedError{Commit: commits[0], Err: err}
	}
	if err != nil {
		return err
	}
	index := func(option ...string) error {
		child, discard, err := r.discarding(r.command("index-pack", slices.Concat([]string{"index-pack", "--stdin"}, option)...).Feed(pack))
		if err != nil {
			return err
		}
		defer discard()
		return child.Run(ctx)
	}
	err = index("--fsck-objects")
	if child.ExitCode(err) > 0 && index() == nil { // otherwise the check is not the reason
		return &MalformedError{Commit: commits[0], Err: err}
	}
	return err
}
