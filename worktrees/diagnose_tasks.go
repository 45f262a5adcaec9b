package worktrees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// tasks checks the worktrees and branches that this clone should have.
func (d *diagnosis) tasks(ctx context.Context) error {
	for _, b := range d.v.State.Tasks() {
		if b.Status.Terminal() {
			continue
		}
		t := d.v.State.Task(b.ID)
		if t == nil || t.Clone != d.clone || d.bare {
			continue
		}
		tip, err := d.repo.Ref(ctx, d.v.TaskRef(t.ID))
		if err != nil {
			if err := d.broken(ctx, t, d.v.TaskRef(t.ID), err); err != nil {
				return err
			}
			continue
		}
		if tip.IsZero() {
			if err := d.missingBranch(ctx, t); err != nil {
				return err
			}
		}
		if err := d.worktree(ctx, t, tip); err != nil {
			return err
		}
		if err := d.lostFromBranch(ctx, t, tip); err != nil {
			return err
		}
	}
	return nil
}

// lostFromBranch checks whether all unsubmitted work on a branch is in this clone.
func (d *diagnosis) lostFromBranch(ctx context.Context, t *board.Task, tip plumbing.OID) error {
	base := plumbing.OID(cmp.Or(t.ReviewCommit, t.BaseCommit))
	if tip.IsZero() || tip == base {
		return nil
	}
	if here, err := d.has(ctx, string(base)); !here {
		return err
	}
	damage := (*git.DamagedError)(nil)
	err := d.repo.History().WholeSince(ctx, base, tip)
	if errors.As(err, new(*git.MalformedError)) { // submit refuses it
		return nil
	}
	if !errors.As(err, &damage) {
		return err
	}
	p := Problem{Kind: LostWork, Task: t.ID, Text: fmt.Sprintf("not all work on %s is here: %v", d.v.TaskBranch(t.ID), damage)}
	switch in := "git -C " + board.WorktreeOf(t.ID); {
	case !d.layout(t.ID).ours:
		p.Hint = "fetch it from a clone or a backup that has it"
	case damage.Path != "":
		p.Hint = fmt.Sprintf("if its worktree still has the file: %s hash-object -w %s", in, text.Quote(damage.Path))
	default:
		p.Hint = fmt.Sprintf("fetch it from a clone or a backup that has it; or keep its files, in one commit: %s reset --soft %s, then %s commit", in, plumbing.OID(t.BaseCommit).Short(), in)
	}
	d.add(p)
	return nil
}

func (d *diagnosis) missingBranch(ctx context.Context, t *board.Task) error {
	p := Problem{Kind: MissingBranch, Task: t.ID, Text: fmt.Sprintf("%s is %s, and its branch %s is missing", t.ID, t.Status, d.v.TaskBranch(t.ID))}
	from, err := d.knownWork(ctx, t)
	if err != nil {
		return err
	}
	l := d.layout(t.ID)
	switch {
	case from == "":
		p.Hint = "its commits are not in this clone: bring " + d.v.TaskBranch(t.ID) + " back from where it is"
	case l.ours && submitted(t) == "":
		// Later commits there are only in the worktree's reflog.
		_, on, err := d.repo.Worktree(l.path).Head(ctx)
		last, lastErr := d.repo.Worktree(l.path).LastHead(ctx)
		if err = errors.Join(err, lastErr); cutShort(err) {
			return err
		}
		if err != nil || on != d.v.TaskRef(t.ID) {
			p.Hint = fmt.Sprintf("look for its last commit with git fsck --dangling, then git branch %s COMMIT", d.v.TaskBranch(t.ID))
			break
		}
		p.Text += fmt.Sprintf("; its worktree was last at %s", last.Short())
		p.Fix = func(ctx context.Context) error {
			return d.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: d.v.TaskRef(t.ID), New: last}}, "git liza: a branch that was missing")
		}
	default:
		p.Text += fmt.Sprintf("; it was last known at %s", from.Short())
		p.Fix = func(ctx context.Context) error { _, err := d.workTip(ctx, d.v, t); return err }
	}
	d.add(p)
	return nil
}

// worktree checks one expected worktree, on its branch.
func (d *diagnosis) worktree(ctx context.Context, t *board.Task, tip plumbing.OID) error {
	l := d.layout(t.ID)
	if p, err := d.unsound(ctx, t.ID, l); p != nil || err != nil {
		return err // it is reported with its folder
	}
	if !l.ours {
		if !live(t.Status) {
			return nil // made again when needed
		}
		p := Problem{Kind: MissingWorktree, Task: t.ID, Path: l.path, Text: fmt.Sprintf("%s is %s, and its worktree is missing", t.ID, t.Status)}
		if err := l.blocked(t.ID); err != nil {
			p.Text += ": " + err.Error()
			p.Hint = cmdline.Hint(err.(*board.Refusal).Hint)
		} else {
			p.Fix = func(ctx context.Context) error { _, err := d.ensure(ctx, d.v, t); return err }
		}
		d.add(p)
		return nil
	}
	if left := d.unmoved(t); left != nil {
		d.add(Problem{
			Kind: MissingWorktree, Task: t.ID, Path: l.path, Text: fmt.Sprintf("%s is %s by %s, and the worktree of its former holder is still in place", t.ID, t.Status, t.AssignedTo),
			Fix: func(ctx context.Context) error {
				if d.unmoved(t) == nil {
					return nil
				}
				return d.moveInLate(ctx, d.v, t, left, d.self(ctx))
			},
		})
		return nil
	}
	if tip.IsZero() {
		return nil
	}
	head, branch, err := d.repo.Worktree(l.path).Head(ctx)
	switch {
	case cutShort(err):
		return err
	case err != nil:
		d.add(Problem{
			Kind: DamagedWorktree, Task: t.ID, Path: l.path, Text: fmt.Sprintf("the worktree of %s can't be read: %v", t.ID, err),
			Fix: func(ctx context.Context) error {
				if err := Repair(ctx, d.b); err != nil {
					return err
				}
				_, _, err := d.repo.Worktree(l.path).Head(ctx)
				return err
			},
		})
		return nil
	case branch == d.v.TaskRef(t.ID):
		return d.fix(ctx, t, l.path, head)
	}
	open := midst(l.path)
	if open == "rebase" {
		return nil // git detaches HEAD while this is in progress
	}
	hint, err := d.backOn(ctx, d.v, t.ID, branch, head)
	if err != nil {
		return err
	}
	p := Problem{
		Kind: WrongBranch, Task: t.ID, Path: l.path, Text: fmt.Sprintf("the worktree of %s is on %s, not on %s", t.ID, orDetached(branch), d.v.TaskBranch(t.ID)),
		Hint: hint,
	}
	if head == tip && open == "" && l.elsewhere == "" {
		p.Fix = func(ctx context.Context) error { return d.repo.Worktree(l.path).AttachHead(ctx, d.v.TaskRef(t.ID)) }
	}
	d.add(p)
	return nil
}

// fix looks for an integration fix into which integration was not merged.
func (d *diagnosis) fix(ctx context.Context, t *board.Task, path string, head plumbing.OID) error {
	if t.History[len(t.History)-1].Event != board.EventClaimedForFix || midst(path) != "" {
		return nil
	}
	tip, err := d.integration(ctx, d.v)
	if d.isReported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if has, err := d.repo.History().IsAncestor(ctx, tip, head); has || err != nil {
		return err
	}
	if dirty, err := d.repo.Worktree(path).Status(ctx); err != nil || len(dirty) > 0 {
		return err
	}
	d.add(Problem{
		Kind: FixNotBegun, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is claimed to be made fit for integration, and integration was not merged into its worktree", t.ID),
		Fix: func(ctx context.Context) error {
			if midst(path) != "" {
				return nil
			}
			_, err := d.mergeIn(ctx, d.v, t.ID, path, d.self(ctx))
			return err
		},
	})
	return nil
}

// branches looks for branches of tasks that no longer need one.
func (d *diagnosis) branches(ctx context.Context) error {
	tasks := d.v.State.TaskBranches()
	refs, err := d.repo.Refs(ctx, plumbing.BranchRef(tasks.Dir()))
	if err != nil {
		return err
	}
	for _, r := range refs {
		id, is := tasks.Task(plumbing.BranchName(r.Name))
		t := d.v.State.Task(id)
		if !is || t == nil || !t.Status.Terminal() || !t.Begun() {
			continue
		}
		if l := d.layout(id); l.ours || l.elsewhere != "" || l.crossed != "" {
			continue // reported with its worktree, or a person's
		}
		d.add(Problem{
			Kind: LeftBranch, Task: id, Text: fmt.Sprintf("%s is %s, and its branch %s is left", id, t.Status, tasks.Of(id)),
			Fix: func(ctx context.Context) error { return d.clearBranch(ctx, d.v, id) },
		})
	}
	return nil
}

// registrations looks for worktrees that git knows but that no longer exist.
func (d *diagnosis) registrations(context.Context) error {
	known := map[string]bool{}
	for _, p := range d.found {
		known[p.Path] = true
	}
	for _, w := range d.all {
		if !w.Prunable || ForTests(w) { // the next test makes it
			continue
		}
		p := Problem{Kind: PrunableWorktree, Path: w.Path, Text: fmt.Sprintf("git has a record of the worktree %s, which is not there", w.Path), Hint: "if it was moved: git worktree repair NEW-PATH"}
		if name, below := d.below(w.Path); below && known[filepath.Join(d.root, ".worktrees", name)] {
			continue
		}
		if d.movedWith(w) {
			p.Text = fmt.Sprintf("the project was moved: git's record of the worktree %s names its former place", filepath.Base(w.Path))
			p.Hint, p.Fix = "git liza worktree repair", func(ctx context.Context) error { return Repair(ctx, d.b) }
		} else if d.forgettable(w) {
			p.Fix = func(ctx context.Context) error {
				removeEmpty(w.Path) // all that a removal which was cut off has left
				if present(w.Path) {
					return nil
				}
				return d.forgetGone(ctx, w.Path, w.Head)
			}
		}
		d.add(p)
	}
	return nil
}
