package git

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Whole returns nil if all commits, trees and files of a commit's history are present and match
// their ids. A partial clone, which lacks some on purpose, is not checked.
func (h History) Whole(ctx context.Context, commit plumbing.OID) error {
	return h.repo.whole(ctx, commit)
}

// WholeAlone is Whole for a commit and its tree: what came before it is not looked at.
func (h History) WholeAlone(ctx context.Context, commit plumbing.OID) error {
	return h.repo.whole(ctx, commit, "--no-walk")
}

// whole checks the objects that git lists for a commit and the given arguments.
func (r *Repo) whole(ctx context.Context, commit plumbing.OID, args ...string) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if partial, err := r.isPartial(ctx); partial || err != nil {
		return err
	}
	out, err := r.command("rev-list", slices.Concat([]string{"rev-list", "--objects", "--no-object-names", string(commit)}, args, []string{"--"})...).Output(ctx)
	if err != nil {
		return err
	}
	return r.readAll(ctx, commit, slices.Chunk(child.Lines(out), atOnce))
}

// Holds is Whole for a caller that knows the objects of the commit's history: git need not look
// for them in each of its trees, which takes longer than reading them.
func (h History) Holds(ctx context.Context, commit plumbing.OID, objects iter.Seq[[]string]) error {
	if partial, err := h.repo.isPartial(ctx); partial || err != nil {
		return err
	}
	return h.repo.readAll(ctx, commit, func(yield func([]string) bool) {
		for names := range objects {
			for part := range slices.Chunk(names, atOnce) {
				if !yield(part) {
					return
				}
			}
		}
	})
}

func (r *Repo) isPartial(ctx context.Context) (bool, error) {
	promisors, err := r.promisors(ctx)
	return len(promisors) > 0, err
}

// readAll reads objects of a commit's history, so many at once. A child of its own reads them, so
// that other reads from the repository don't have to wait.
func (r *Repo) readAll(ctx context.Context, commit plumbing.OID, objects iter.Seq[[]string]) error {
	reader := child.NewBatch(r.environ, r.command("cat-file", "cat-file", "--batch"))
	defer reader.Close()
	for names := range objects {
		answers, err := reader.Ask(ctx, names)
		if err != nil {
			return err
		}
		r.fromKept(ctx, names, answers)
		for i, answer := range answers {
			if answer.OID == "" {
				return &DamagedError{Commit: commit, Object: plumbing.OID(names[i])}
			}
		}
	}
	return ctx.Err() // the caller may have named fewer because it has ended
}

// atOnce is how many objects are held in memory at once.
const atOnce = 200

// damaged turns the failure of a git that died reading a commit's history into a DamagedError, if
// damage is the reason.
func (r *Repo) damaged(ctx context.Context, commit plumbing.OID, err error) error {
	if child.ExitCode(err) != child.Died {
		return err
	}
	whole := r.History().Whole(ctx, commit)
	if errors.As(whole, new(*DamagedError)) || child.ExitCode(whole) > 0 {
		return &DamagedError{Commit: commit, Err: err}
	}
	return err
}

// Reflog returns the moves of a ref, newest first; none if it has no reflog. It reads the file
// itself, because git stops at a value whose object is missing.
func (r *Repo) Reflog(ref string) ([]plumbing.RefMove, error) {
	text, err := os.ReadFile(filepath.Join(r.common, "logs", filepath.FromSlash(ref)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return plumbing.ParseReflog(string(text)), err
}

// KeptTips returns the commits that refs moved to recently and that are still kept, newest first.
func (u Upkeep) KeptTips() []plumbing.OID {
	var tips []plumbing.OID
	for _, k := range kept.All(u.KeptDir()) {
		for _, o := range k.Objects {
			if k.Moved && kept.IsCommit(o) {
				tips = append(tips, o.OID)
			}
		}
	}
	return tips
}
