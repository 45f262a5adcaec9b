package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
)

// Diagnose holds this clone against the board: what a crash has left half done, and what somebody has
// moved. It changes nothing.
func Diagnose(ctx context.Context, b *gitboard.Board) ([]Problem, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		if damaged := s.damaged(); len(damaged) > 0 && ctx.Err() == nil {
			return damaged, nil // nothing else can be seen before they are mended
		}
		return nil, err
	}
	d := &diagnosis{site: s, v: v, all: all}
	for _, look := range []func(context.Context) error{d.tasks, d.folders, d.records, d.branches, d.registrations, d.moves, d.locks, d.mergeLease} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	return d.found, v.State.Err()
}

// damaged looks for git's records of worktrees that a crash left half written. Git can't list any worktree
// then.
func (s *site) damaged() []Problem {
	records := filepath.Join(s.repo.CommonDir(), "worktrees")
	entries, err := os.ReadDir(records)
	if err != nil {
		return nil
	}
	var found []Problem
	for _, e := range entries {
		path := filepath.Join(records, e.Name())
		info, err := os.Stat(filepath.Join(path, "commondir"))
		if err == nil && info.Size() > 0 {
			continue
		}
		p := Problem{
			Kind: DamagedRecord, Path: path, Text: fmt.Sprintf("git's record of a worktree, %s, was never finished, and git can list none while it is there", path),
			Hint: "make sure that no git process runs in this repository; then move that folder elsewhere",
		}
		if written, err := os.Stat(path); err == nil {
			if left, known := abandoned(written.ModTime(), s.b.Now(), lockAge); left && known {
				p.Fix = func(context.Context) error { return os.RemoveAll(path) }
			}
		}
		found = append(found, p)
	}
	return found
}

type diagnosis struct {
	*site
	v     *gitboard.View
	all   []gitio.Worktree
	found []Problem
}

func (d *diagnosis) add(p Problem) { d.found = append(d.found, p) }

// tasks looks for the worktrees and branches that this clone should have.
func (d *diagnosis) tasks(ctx context.Context) error {
	for _, b := range d.v.State.Tasks() {
		if b.Status.Terminal() || b.Status == board.Draft {
			continue
		}
		t := d.v.State.Task(b.ID)
		if t == nil || t.Worktree == "" || t.Clone != d.clone || d.root == "" {
			continue
		}
		tip, err := d.repo.Ref(ctx, Branch(t.ID))
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
	}
	return nil
}

func (d *diagnosis) missingBranch(ctx context.Context, t *board.Task) error {
	p := Problem{Kind: MissingBranch, Task: t.ID, Text: fmt.Sprintf("%s is %s, and its branch task/%s is missing", t.ID, t.Status, t.ID)}
	from, err := d.knownWork(ctx, t)
	if err != nil {
		return err
	}
	l := d.layout(d.all, t.ID)
	switch {
	case from == "":
		p.Hint = "its commits are not in this clone: bring task/" + t.ID + " back from where it is"
	case l.ours && submitted(t) == "":
		// What was committed there since is only in the worktree's reflog.
		_, on, err := d.repo.Head(ctx, l.path)
		last := gitio.OID("")
		if err == nil {
			last, err = d.repo.LastHead(ctx, l.path)
		}
		if err != nil || on != Branch(t.ID) {
			p.Hint = fmt.Sprintf("look for its last commit with git fsck --dangling, then git branch task/%s COMMIT", t.ID)
			break
		}
		p.Text += fmt.Sprintf("; its worktree was last at %s", last.Short())
		p.Fix = func(ctx context.Context) error {
			return d.repo.UpdateRefs(ctx, []gitio.RefUpdate{{Ref: Branch(t.ID), New: last}}, "git liza: a branch that was missing")
		}
	default:
		p.Text += fmt.Sprintf("; it was last known at %s", from.Short())
		p.Fix = func(ctx context.Context) error { _, err := d.workTip(ctx, t); return err }
	}
	d.add(p)
	return nil
}

// worktree looks at one worktree that should be here, on its branch.
func (d *diagnosis) worktree(ctx context.Context, t *board.Task, tip gitio.OID) error {
	l := d.layout(d.all, t.ID)
	if !l.ours {
		if !live(t.Status) {
			return nil // made again when somebody needs it
		}
		p := Problem{Kind: MissingWorktree, Task: t.ID, Path: l.path, Text: fmt.Sprintf("%s is %s, and its worktree is missing", t.ID, t.Status)}
		if err := l.blocked(t.ID); err != nil {
			p.Text += ": " + err.Error()
			p.Hint = err.(*board.Refusal).Hint
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
	head, branch, err := d.repo.Head(ctx, l.path)
	if err != nil && ctx.Err() == nil {
		d.add(Problem{
			Kind: DamagedWorktree, Task: t.ID, Path: l.path, Text: fmt.Sprintf("the worktree of %s can't be read: %v", t.ID, err),
			Fix: func(ctx context.Context) error {
				if err := Repair(ctx, d.b); err != nil {
					return err
				}
				_, _, err := d.repo.Head(ctx, l.path)
				return err
			},
		})
		return nil
	}
	if err == nil && branch == Branch(t.ID) {
		return d.fix(ctx, t, l.path, head)
	}
	if err != nil {
		return err
	}
	open := midst(l.path)
	if open == "rebase" {
		return nil // git detaches HEAD for as long as it takes
	}
	p := Problem{
		Kind: WrongBranch, Task: t.ID, Path: l.path, Text: fmt.Sprintf("the worktree of %s is on %s, not on task/%s", t.ID, orDetached(branch), t.ID),
		Hint: fmt.Sprintf("git -C %s checkout task/%s", board.WorktreeOf(t.ID), t.ID),
	}
	if head == tip && open == "" && l.elsewhere == "" {
		p.Fix = func(ctx context.Context) error { return d.repo.AttachHead(ctx, l.path, Branch(t.ID)) }
	}
	d.add(p)
	return nil
}

// fix looks for an integration fix that integration was not brought into.
func (d *diagnosis) fix(ctx context.Context, t *board.Task, path string, head gitio.OID) error {
	last := ""
	if len(t.History) > 0 {
		last = t.History[len(t.History)-1].Event
	}
	if t.Status != board.Claimed || last != board.EventClaimedForFix || midst(path) != "" {
		return nil
	}
	tip, err := d.integration(ctx, d.v)
	if err != nil {
		return err
	}
	if has, err := d.repo.IsAncestor(ctx, tip, head); has || err != nil {
		return err
	}
	if dirty, err := d.repo.Status(ctx, path); len(dirty) > 0 || err != nil {
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

// records looks for what processes said of worktrees that are neither made nor removed any more.
func (d *diagnosis) records(context.Context) error {
	entries, err := os.ReadDir(d.claimsDir())
	if errors.Is(err, fs.ErrNotExist) || d.root == "" {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		token, path := e.Name(), filepath.Join(d.claimsDir(), e.Name())
		if present(filepath.Join(d.root, ".worktrees", claimMark+token)) || present(filepath.Join(d.root, ".worktrees", goneMark+token)) {
			continue
		}
		r := d.left(token, path)
		if info, err := e.Info(); err == nil && strings.HasSuffix(token, newMark) && d.b.Now().Sub(info.ModTime()) > time.Minute {
			r = &record{} // written in a moment, or never
		}
		if r == nil {
			continue
		}
		d.add(Problem{
			Kind: LeftRecord, Task: r.Task, Path: path, Text: "a process that made or removed a worktree has died, and " + path + " is left of it",
			Fix: func(context.Context) error { return forget(path) },
		})
	}
	return nil
}

// moves looks for worktrees whose lock is left from when they were moved.
func (d *diagnosis) moves(context.Context) error {
	moving := map[string]bool{}
	entries, _ := os.ReadDir(d.claimsDir()) // with none, nobody moves any
	for _, e := range entries {
		if r, err := d.readRecord(e.Name()); err == nil && r != nil && d.inUse(r) {
			moving[r.Task] = true
		}
	}
	for _, w := range d.all {
		name, below := d.below(w.Path)
		if !below || w.Reason != gitio.MovingReason || moving[name] || d.passing(w.Path) || !present(w.Path) {
			continue
		}
		d.add(Problem{
			Kind: LeftLock, Task: name, Path: w.Path, Text: fmt.Sprintf("a process that moved the worktree %s has died, and git holds it to be locked", w.Path),
			Fix: func(ctx context.Context) error { return d.repo.UnlockWorktree(ctx, w.Path) },
		})
	}
	return nil
}

// folders looks at what lies below .worktrees.
func (d *diagnosis) folders(context.Context) error {
	if d.root == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(d.root, ".worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(d.root, ".worktrees", e.Name())
		if token, is := strings.CutPrefix(e.Name(), claimMark); is {
			d.leftCandidate(token, path)
		} else if token, is := strings.CutPrefix(e.Name(), goneMark); is {
			d.leftGone(token, path)
		} else if !strings.HasPrefix(e.Name(), ".") {
			d.folder(e.Name(), path)
		}
	}
	return nil
}

// left reads who made a passing worktree; nil when it may be needed still.
func (d *diagnosis) left(token, path string) *record {
	r, err := d.readRecord(token)
	if err != nil {
		return nil
	}
	if r != nil {
		if d.inUse(r) {
			return nil
		}
		return r
	}
	// Nobody says whose it is: its age decides.
	info, err := os.Stat(path)
	if err != nil || d.b.Now().Sub(info.ModTime()) < abandonedAfter {
		return nil
	}
	return &record{}
}

func (d *diagnosis) leftCandidate(token, path string) {
	r := d.left(token, path)
	if r == nil {
		return
	}
	if t := d.taskOf(r); t != nil {
		if late := d.unmoved(t); late != nil && late.token == token {
			return // told with the task
		}
	}
	d.add(Problem{
		Kind: LeftCandidate, Task: r.Task, Path: path, Text: fmt.Sprintf("%s was made for a claim that never came", filepath.Base(path)),
		Fix: func(ctx context.Context) error { return d.removeCandidate(ctx, token) },
	})
}

// taskOf is the task that a record is about, nil for none.
func (d *diagnosis) taskOf(r *record) *board.Task {
	if !board.ValidTaskID(r.Task) {
		return nil
	}
	return d.v.State.Task(r.Task)
}

// leftGone looks at a worktree whose removal did not come to an end.
func (d *diagnosis) leftGone(token, path string) {
	r := d.left(token, path)
	if r == nil {
		return
	}
	p := Problem{Kind: LeftWorktree, Task: r.Task, Path: path, Text: fmt.Sprintf("the removal of the worktree %s did not come to an end", path)}
	if board.ValidTaskID(r.Task) {
		p.Fix = func(ctx context.Context) error {
			if identity(path) == "" { // most of it has gone already
				return errors.Join(os.RemoveAll(path), d.repo.RemoveWorktree(ctx, path), forget(filepath.Join(d.claimsDir(), token)))
			}
			return d.finishGone(ctx, d.v, r.Task, token, d.self(ctx), nil)
		}
	} else {
		p.Hint = "keep what you need of it; it was a task's worktree once"
	}
	d.add(p)
}

// folder looks at a folder with the name of a task.
func (d *diagnosis) folder(name, path string) {
	var t *board.Task
	if board.ValidTaskID(name) {
		t = d.v.State.Task(name)
	}
	l := layout{path: path}
	if t != nil {
		l = d.layout(d.all, t.ID)
	}
	switch {
	case t == nil:
		d.add(Problem{Kind: UnknownWorktree, Path: path, Text: fmt.Sprintf("%s belongs to no task of this board", path), Hint: "keep what you need of it; the board does not know it"})
	case l.inTheWay:
		if !live(t.Status) { // else it has been told
			d.add(Problem{Kind: UnknownWorktree, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is no worktree of this repository", path), Hint: "move it elsewhere; if it is a worktree that git forgot: git liza worktree repair"})
		}
	case l.ours && t.Status.Terminal(): // the next claim of any other takes care of it
		d.add(Problem{
			Kind: LeftWorktree, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is %s, and a worktree of it is left", t.ID, t.Status),
			Fix: func(ctx context.Context) error { return d.tidy(ctx, d.v, t.ID, d.self(ctx)) },
		})
	}
}

// branches looks for branches of tasks that need none.
func (d *diagnosis) branches(ctx context.Context) error {
	refs, err := d.repo.Refs(ctx, strings.TrimSuffix(branchPrefix, "/"))
	if err != nil {
		return err
	}
	for _, r := range refs {
		id := strings.TrimPrefix(r.Name, branchPrefix)
		if !board.ValidTaskID(id) {
			continue
		}
		t := d.v.State.Task(id)
		if t == nil || !t.Status.Terminal() {
			continue
		}
		if l := d.layout(d.all, id); l.ours || l.elsewhere != "" {
			continue // told with its worktree, or a person's
		}
		d.add(Problem{
			Kind: LeftBranch, Task: id, Text: fmt.Sprintf("%s is %s, and its branch task/%s is left", id, t.Status, id),
			Fix: func(ctx context.Context) error { return d.clearBranch(ctx, d.v, id) },
		})
	}
	return nil
}

// registrations looks for worktrees that git knows and nobody can find.
func (d *diagnosis) registrations(context.Context) error {
	told := map[string]bool{}
	for _, p := range d.found {
		told[p.Path] = true
	}
	for _, w := range d.all {
		if !w.Prunable || w.Main {
			continue
		}
		p := Problem{Kind: PrunableWorktree, Path: w.Path, Text: fmt.Sprintf("git has a record of the worktree %s, which is not there", w.Path), Hint: "if it was moved: git worktree repair NEW-PATH"}
		if name, below := d.below(w.Path); below && told[filepath.Join(d.root, ".worktrees", name)] {
			continue
		}
		if d.ofTask(w) {
			p.Fix = func(ctx context.Context) error {
				if present(w.Path) {
					return nil
				}
				return d.repo.RemoveWorktree(ctx, w.Path)
			}
		}
		d.add(p)
	}
	return nil
}

// lockFiles are where git has locks beside those of refs. packed-refs.new is one in effect: git makes it only anew.
var lockFiles = []string{
	"*.lock", "packed-refs.new", "worktrees/*/*.lock", "reftable/*.lock",
	"objects/*.lock", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "objects/pack/multi-pack-index.lock",
}

// locks looks for lock files that nobody can still hold. Where it can't be seen whether somebody does, only a person
// may take one away.
func (d *diagnosis) locks(context.Context) error {
	common := d.repo.CommonDir()
	var files []string
	for _, pattern := range lockFiles {
		matches, err := filepath.Glob(filepath.Join(escapeGlob(common), filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, m := range matches {
			files = append(files, strings.TrimPrefix(m, common+string(filepath.Separator)))
		}
	}
	err := filepath.WalkDir(filepath.Join(common, "refs"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a ref that went meanwhile
			}
			return err
		}
		if !e.IsDir() && strings.HasSuffix(path, ".lock") {
			files = append(files, strings.TrimPrefix(path, common+string(filepath.Separator)))
		}
		return nil
	})
	for _, file := range files {
		path := filepath.Join(common, file)
		info, statErr := os.Lstat(path)
		if statErr != nil || d.b.Now().Sub(info.ModTime()) < lockAge {
			continue
		}
		p := Problem{
			Kind: StaleLock, Path: path, Text: fmt.Sprintf("the lock %s is from %s", path, info.ModTime().UTC().Format(time.RFC3339)),
			Hint: "make sure that no git process runs in this repository; then the file may go",
		}
		if left, known := abandoned(info.ModTime(), d.b.Now(), lockAge); left && known {
			p.Text += ", and no git that has run since then is left"
			p.Fix = func(context.Context) error {
				if now, err := os.Lstat(path); err != nil || !now.ModTime().Equal(info.ModTime()) {
					return nil // it has gone, or is another's
				}
				return forget(path)
			}
		}
		d.add(p)
	}
	return err
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// mergeLease looks for a merge lease whose holder is no more.
func (d *diagnosis) mergeLease(ctx context.Context) error {
	held, err := d.v.Lease(ctx, lease.MergeHolder)
	if err != nil || held == nil || d.b.Now().Before(held.Expires) {
		return err
	}
	text := fmt.Sprintf("a merge of %s by %s ended at %s without a word", held.Task, held.Session, held.Expires.UTC().Format(time.RFC3339))
	if held.Damaged {
		text = "the lease of merges can't be read"
	}
	d.add(Problem{
		Kind: ExpiredMerge, Task: held.Task, Text: text,
		Fix: func(ctx context.Context) error {
			err := d.b.Log().Store().UpdateRefs(ctx, []gitio.RefUpdate{lease.Fence(lease.MergeHolder, held)}, "git liza: an expired merge lease")
			if errors.Is(err, gitio.ErrRefMoved) {
				return nil // somebody has taken it, or it has gone
			}
			return err
		},
	})
	return nil
}
