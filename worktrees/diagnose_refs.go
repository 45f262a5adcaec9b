package worktrees

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// broken reports a ref that points to a missing object as a problem, and treats the ref as missing.
func (d *diagnosis) broken(ctx context.Context, t *board.Task, ref string, err error) error {
	broken := (*git.BrokenRefError)(nil)
	if !errors.As(err, &broken) || broken.Ref != ref {
		return err
	}
	p := Problem{Kind: BrokenRef, Task: t.ID, Text: broken.Error()}
	to, from, err := d.lastOf(ctx, t)
	if err != nil {
		return err
	}
	if to.IsZero() {
		p.Hint = "none of its commits is in this clone: bring " + d.v.TaskBranch(t.ID) + " back from where it is"
	} else {
		p.Text += fmt.Sprintf("; %s it was at %s", from, to.Short())
		p.Fix = func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, broken, to) }
	}
	d.report(broken, p)
	return nil
}

// lastOf finds the newest existing commit of a task's branch, and its source: the reflog of the
// worktree or of the branch, else the board. It is zero if there is none.
func (d *diagnosis) lastOf(ctx context.Context, t *board.Task) (at plumbing.OID, from string, err error) {
	if l := d.layout(t.ID); l.ours {
		_, on, err := d.repo.Worktree(l.path).Head(ctx)
		last, lastErr := d.repo.Worktree(l.path).LastHead(ctx)
		if err == nil && lastErr == nil && on == d.v.TaskRef(t.ID) {
			return last, "in its worktree", nil
		}
		if err := errors.Join(err, lastErr); cutShort(err) {
			return "", "", err
		}
	}
	moves, err := d.repo.Reflog(d.v.TaskRef(t.ID))
	if err != nil {
		return "", "", err
	}
	for _, m := range moves {
		if here, err := d.has(ctx, string(m.To)); err != nil {
			return "", "", err
		} else if here {
			return m.To, "by its reflog", nil
		}
	}
	known, err := d.knownWork(ctx, t)
	return known, "on the board", err
}

// submissions looks for submission refs that differ from the board, and for kept work that no ref
// holds. A commit that is on the board and still in this repository can be restored.
func (d *diagnosis) submissions(ctx context.Context) error {
	refs, err := d.repo.Refs(ctx, plumbing.AsBranch(plumbing.ReviewPrefix), plumbing.ReviewPrefix, plumbing.AtticPrefix)
	if err != nil {
		return err
	}
	at, held := map[string]plumbing.OID{}, map[plumbing.OID]bool{}
	for _, r := range refs {
		at[plumbing.FromBranch(r.Name)], held[r.OID] = r.OID, true // a remote may accept only branches
	}
	for _, b := range d.v.State.Tasks() {
		t := d.v.State.Task(b.ID)
		if t == nil {
			return d.v.State.Err()
		}
		for i, e := range t.Submitted() {
			if err := d.submission(ctx, t, plumbing.ReviewRef(t.ID, i+1), plumbing.OID(e.Commit), at); err != nil {
				return err
			}
		}
		if err := d.incomplete(ctx, t); err != nil {
			return err
		}
		for _, e := range t.History {
			if e.Kept == "" || held[plumbing.OID(e.Kept)] || d.kept[plumbing.OID(e.Kept)] || d.b.Remote() != "" { // another clone may keep it
				continue
			}
			if err := d.lostFromAttic(ctx, t, plumbing.OID(e.Kept)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *diagnosis) submission(ctx context.Context, t *board.Task, ref string, commit plumbing.OID, at map[string]plumbing.OID) error {
	now, there := at[ref]
	if there && now == commit {
		return nil
	}
	now, err := d.repo.Ref(ctx, ref) // git does not list broken ones
	broken := (*git.BrokenRefError)(nil)
	if err != nil && !errors.As(err, &broken) || err == nil && now == commit {
		return err
	}
	if broken == nil && now.IsZero() && d.b.Remote() != "" {
		return nil // it is on the remote, and a sync brings it here
	}
	here, err := d.has(ctx, string(commit))
	if err != nil {
		return err
	}
	p := Problem{Kind: LostSubmission, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and %s is missing", t.ID, commit.Short(), ref)}
	if broken != nil {
		p.Text = fmt.Sprintf("%s was submitted at %s, and %s", t.ID, commit.Short(), broken)
	} else if !now.IsZero() {
		p.Text = fmt.Sprintf("%s was submitted at %s, and %s is at %s", t.ID, commit.Short(), ref, now.Short())
	}
	switch {
	case !here && broken != nil && d.b.Remote() != "":
		d.brokenCopy(broken, "; a sync brings it here")
		return nil
	case !here:
		p.Hint = "the commit is not in this repository any more: fetch it from a clone that has it"
	case broken != nil:
		p.Fix = func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, broken, commit) }
	default:
		p.Fix = func(ctx context.Context) error {
			return d.restore(ctx, t.ID, plumbing.RefUpdate{Ref: ref, Old: now, New: commit})
		}
	}
	if broken != nil {
		d.report(broken, p)
	} else {
		d.add(p)
	}
	return nil
}

// incomplete checks whether a submission that has not landed is complete in this clone.
func (d *diagnosis) incomplete(ctx context.Context, t *board.Task) error {
	if t.Status.Terminal() || t.ReviewCommit == "" {
		return nil
	}
	here, err := d.has(ctx, t.ReviewCommit)
	if !here {
		return err // reported with its ref
	}
	tip, err := d.v.IntegrationTip(ctx)
	if tip.IsZero() {
		return err
	}
	damage, malformed := (*git.DamagedError)(nil), (*git.MalformedError)(nil)
	err = d.b.Complete(ctx, t, tip)
	if errors.As(err, &malformed) {
		d.add(Problem{
			Kind: MalformedWork, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and can't land: %v", t.ID, plumbing.OID(t.ReviewCommit).Short(), malformed),
			Hint: Malformed(t),
		})
		return nil
	}
	if !errors.As(err, &damage) {
		return err
	}
	ref := plumbing.ReviewRef(t.ID, t.Submissions())
	p := Problem{
		Kind: LostSubmission, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and not all of it is here: %v", t.ID, plumbing.OID(t.ReviewCommit).Short(), damage),
		Hint: fmt.Sprintf("git fetch --refetch URL %s, from a clone or a backup that has it", ref),
	}
	switch l := d.layout(t.ID); {
	case d.b.Remote() != "":
		p.Hint = ""
		p.Fix = func(ctx context.Context) error {
			if err := d.b.Sharing().Refetch(ctx, ref); err != nil {
				return err
			}
			return d.b.Complete(ctx, t, tip)
		}
	case l.ours && damage.Path != "":
		p.Hint += fmt.Sprintf("; if its worktree still has the file: git -C %s hash-object -w %s", board.WorktreeOf(t.ID), text.Quote(damage.Path))
	}
	d.add(p)
	return nil
}

// Malformed is the hint for a task whose submission is malformed.
func Malformed(t *board.Task) string {
	switch t.Status {
	case board.ReadyForReview:
		return fmt.Sprintf("a reviewer rejects it: git liza verdict %s REJECTED", t.ID)
	case board.Approved:
		return fmt.Sprintf("a human sends it back: git liza block %s --reason malformed, then git liza unblock %s", t.ID, t.ID)
	case board.Blocked:
		return fmt.Sprintf("its next coder makes its work again without that: git liza unblock %s", t.ID)
	}
	return fmt.Sprintf("its coder makes one commit of it without that: git reset --soft %s, then git commit", plumbing.OID(t.ReviewBase).Short())
}

// lostFromAttic checks work that was kept according to the board.
func (d *diagnosis) lostFromAttic(ctx context.Context, t *board.Task, commit plumbing.OID) error {
	here, err := d.has(ctx, string(commit))
	if !here {
		return err
	}
	attic, err := d.attic(ctx, t.ID)
	if err != nil {
		return err
	}
	held, err := d.heldBy(ctx, commit, attic.commits)
	if held || err != nil {
		return err
	}
	d.add(Problem{
		Kind: LostWork, Task: t.ID, Text: fmt.Sprintf("work of %s was kept at %s, and no ref of the attic holds it any more", t.ID, commit.Short()),
		Fix: func(ctx context.Context) error {
			attic, err := d.attic(ctx, t.ID)
			if err != nil || slices.Contains(attic.commits, commit) {
				return err
			}
			return d.restore(ctx, t.ID, plumbing.RefUpdate{Ref: plumbing.AtticRef(t.ID, attic.next), New: commit})
		},
	})
	return nil
}

// restore sets a ref that the board proves. If a submission's ref pointed to something else, that
// goes to the attic.
func (d *diagnosis) restore(ctx context.Context, task string, u plumbing.RefUpdate) error {
	now, err := d.repo.Ref(ctx, u.Ref)
	if err != nil || now == u.New {
		return err
	}
	refs := []plumbing.RefUpdate{u}
	if !u.Old.IsZero() {
		attic, err := d.attic(ctx, task)
		if err != nil {
			return err
		}
		refs = append(refs, plumbing.RefUpdate{Ref: plumbing.AtticRef(task, attic.next), New: u.Old})
	}
	return d.repo.UpdateRefs(ctx, refs, "git liza: doctor, by the board")
}
