package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// tasks checks the worktrees and branches that this clone should have.
func (d *diagnosis) tasks(ctx context.Context) error {
	for _, b := range d.v.State.Tasks() {
		if b.Status.Terminal() {
			continue
		}
		t := d.v.State.Task(b.ID)
		if t == nil || t.Clone != d.Clone || d.Bare || d.reported[d.v.TaskRef(b.ID)] {
			continue
		}
		tip, err := d.repo.Ref(ctx, d.v.TaskRef(t.ID))
		if err != nil {
			return err
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

// missingBranch reports a branch that was deleted.
func (d *diagnosis) missingBranch(ctx context.Context, t *board.Task) error {
	branch := d.v.TaskBranch(t.ID)
	p := Problem{Kind: MissingBranch, Task: t.ID, Text: fmt.Sprintf("%s is %s, and its branch %s is missing", t.ID, t.Status, branch)}
	from, err := d.KnownWork(ctx, t)
	if err != nil {
		return err
	}
	kept := "its commits are not in this clone: bring " + branch + " back from where it is"
	switch l := d.slot(t); {
	case l.Ours && !worktrees.WasSubmitted(t):
		p.Hint = kept
		if last := lastHead(l.Path); last != "" { // perhaps on another branch, so a human decides
			p.Text += "; its worktree was last at " + last.Short()
			p.Hint = fmt.Sprintf("git branch %s %s", branch, last)
		}
	case from == "":
		p.Hint = kept
	default:
		p.Text += fmt.Sprintf("; it was last known at %s", from.Short())
		p.Fix = func(ctx context.Context) error { _, err := d.WorkTip(ctx, d.v, t); return err }
	}
	d.add(p)
	return nil
}

// lastHead returns the last commit that was checked out in a worktree, by its reflog, "" for none:
// git itself reads no reflog of a branch that is missing.
func lastHead(worktree string) plumbing.OID {
	text, _ := os.ReadFile(filepath.Join(records.LinkedDir(worktree), "logs", "HEAD")) // no file, no moves
	for _, move := range plumbing.ParseReflog(string(text)) {
		if !move.To.IsZero() {
			return move.To
		}
	}
	return ""
}

// lostFromBranch checks whether all unsubmitted work on a branch is in this clone.
func (d *diagnosis) lostFromBranch(ctx context.Context, t *board.Task, tip plumbing.OID) error {
	base := plumbing.OID(cmp.Or(t.ReviewCommit, t.BaseCommit))
	if tip.IsZero() || tip == base {
		return nil
	}
	if here, err := d.Has(ctx, string(base)); !here {
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
	p := Problem{Kind: LostWork, Task: t.ID, Text: fmt.Sprintf("not all work on %s is here: %v", d.v.TaskBranch(t.ID), damage), Hint: "fetch it from a clone or a backup that has it"}
	if in := "git -C " + board.WorktreeOf(t.ID); d.slot(t).Ours {
		p.Hint += fmt.Sprintf("; or keep its files, in one commit: %s reset --soft %s, then %s commit", in, plumbing.OID(t.BaseCommit).Short(), in)
	}
	d.add(p)
	return nil
}

// worktree checks one expected worktree, on its branch.
func (d *diagnosis) worktree(ctx context.Context, t *board.Task, tip plumbing.OID) error {
	l := d.slot(t)
	if p, err := d.unsound(t.ID, l); p != nil || err != nil {
		return err // it is reported with its folder
	}
	switch {
	case !l.Ours && !worktrees.Live(t.Status): // made again when needed
		return nil
	case !l.Ours:
		d.missingWorktree(t, l)
		return nil
	case d.Unfinished(t):
		d.add(Problem{
			Kind: MissingWorktree, Task: t.ID, Path: l.Path, Text: fmt.Sprintf("%s is %s by %s, and the worktree of its former holder is still in place", t.ID, t.Status, t.AssignedTo),
			Fix: func(ctx context.Context) error { return d.FinishClaim(ctx, d.v, t, d.Self(ctx)) },
		})
		return nil
	case tip.IsZero():
		return nil
	}
	head, branch, err := d.repo.Worktree(l.Path).Head(ctx)
	switch {
	case worktrees.CutShort(err):
		return err
	case err != nil:
		d.add(Problem{Kind: DamagedWorktree, Task: t.ID, Path: l.Path, Text: fmt.Sprintf("the worktree of %s can't be read: %v", t.ID, err), Hint: "git liza worktree repair"})
		return nil
	case branch == d.v.TaskRef(t.ID):
		return d.fix(ctx, t, l.Path, head)
	}
	return d.wrongBranch(ctx, t, l, tip, head, branch)
}

func (d *diagnosis) missingWorktree(t *board.Task, l worktrees.Slot) {
	p := Problem{Kind: MissingWorktree, Task: t.ID, Path: l.Path, Text: fmt.Sprintf("%s is %s, and its worktree is missing", t.ID, t.Status)}
	if err := l.Blocked(t.ID); err != nil {
		p.Text += ": " + err.Error()
		p.Hint = cmdline.Hint(err.(*board.Refusal).Hint)
	} else {
		p.Fix = func(ctx context.Context) error { _, err := d.Ensure(ctx, d.v, t); return err }
	}
	d.add(p)
}

// wrongBranch reports a worktree that is not on its task's branch. A claim that was cut short left it
// detached at the branch's tip.
func (d *diagnosis) wrongBranch(ctx context.Context, t *board.Task, l worktrees.Slot, tip, head plumbing.OID, branch string) error {
	open := worktrees.Midst(l.Path)
	if open == "rebase" {
		return nil // git detaches HEAD while this is in progress
	}
	hint, err := d.WayBack(ctx, d.v, t.ID, branch, head)
	if err != nil {
		return err
	}
	on := cmp.Or(plumbing.BranchName(branch), "a detached HEAD")
	p := Problem{Kind: WrongBranch, Task: t.ID, Path: l.Path, Text: fmt.Sprintf("the worktree of %s is on %s, not on %s", t.ID, on, d.v.TaskBranch(t.ID)), Hint: hint}
	if head == tip && open == "" && l.Elsewhere == "" {
		p.Fix = func(ctx context.Context) error { return d.repo.Worktree(l.Path).AttachHead(ctx, d.v.TaskRef(t.ID)) }
	}
	d.add(p)
	return nil
}

// fix looks for an integration fix into which integration was not merged.
func (d *diagnosis) fix(ctx context.Context, t *board.Task, path string, head plumbing.OID) error {
	if t.History[len(t.History)-1].Event != board.EventClaimedForFix || worktrees.Midst(path) != "" {
		return nil
	}
	tip, err := d.v.Integration(ctx)
	if d.isReported(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if has, err := d.repo.History().IsAncestor(ctx, tip, head); has || err != nil {
		return err
	}
	p := Problem{Kind: FixNotBegun, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is claimed to be made fit for integration, and integration was not merged into its worktree", t.ID)}
	dirty, err := d.repo.Worktree(path).Status(ctx)
	switch {
	case err != nil:
		return err
	case len(dirty) > 0: // perhaps the agent's own work
		p.Text += fmt.Sprintf("; %s and perhaps other files are changed there, as a merge that was killed leaves them", text.Line(dirty[0].Path, 120))
		p.Hint = fmt.Sprintf("a human puts the changes aside: git -C %s stash push --include-untracked; then: git liza doctor --fix", text.Quote(path))
	default:
		p.Fix = func(ctx context.Context) error {
			if worktrees.Midst(path) != "" {
				return nil
			}
			_, err := d.MergeIntegration(ctx, d.v, t.ID, path, d.Self(ctx))
			return err
		}
	}
	d.add(p)
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
		if l := d.slot(t); l.Ours || l.Elsewhere != "" {
			continue // reported with its worktree, or a person's
		}
		d.add(Problem{
			Kind: LeftBranch, Task: id, Text: fmt.Sprintf("%s is %s, and its branch %s is left", id, t.Status, tasks.Of(id)),
			Fix: func(ctx context.Context) error { return d.ClearBranch(ctx, d.v, id) },
		})
	}
	return nil
}

// unsound looks for something that keeps git from using a worktree that it knows; nil for nothing.
func (d *diagnosis) unsound(task string, l worktrees.Slot) (*Problem, error) {
	p := &Problem{Kind: DamagedWorktree, Task: task, Path: l.Path}
	in := d.repo.Worktree(l.Path)
	switch {
	case d.HalfMoved(l.Path):
		p.Text = fmt.Sprintf("the worktree of %s was moved to its place by a process that died before git knew", task)
		p.Fix = func(ctx context.Context) error { return d.repo.RepairWorktrees(ctx, l.Path) }
	case l.Ours && d.repo.Records().LostHead(l.Path):
		p.Text = fmt.Sprintf("the worktree of %s has lost its HEAD", task)
		p.Hint = fmt.Sprintf("a human writes it again, unless its work is in the middle of a rebase: echo 'ref: %s' >%s/HEAD", d.v.TaskRef(task), text.Quote(records.LinkedDir(l.Path)))
	case l.Ours:
		damaged, err := in.DamagedIndex()
		if !damaged {
			return nil, err
		}
		p.Text = fmt.Sprintf("the index of the worktree of %s is damaged", task)
		p.Hint = fmt.Sprintf("git -C %s read-tree HEAD makes another one; all files stay, and nothing is staged then", text.Quote(l.Path))
	default:
		return nil, nil
	}
	return p, nil
}
