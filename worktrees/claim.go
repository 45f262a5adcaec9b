package worktrees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/hooks/install"
)

// ClaimRequest asks for a task and a worktree to work in.
type ClaimRequest struct {
	gitboard.Request
	Task string // "" for the next one
}

// Claimed is a committed claim.
type Claimed struct {
	Done      *gitboard.Done
	Task      *board.Task
	Path      string // of the worktree, absolute
	Kind      board.ClaimKind
	Conflicts []string // of an integration fix, left unresolved in the worktree
	Warnings  []string
}

// Claim gives a task to a coder. The worktree is made before the claim is committed; one
// transaction moves the task's branch and the board; then the worktree is moved to its path. If the
// claim would exceed the iteration limit, the task becomes BLOCKED instead, which the refusal
// "limit" reports.
//
// If only the last step fails, the claim is committed nevertheless, and Claim returns both it and
// the error. Diagnose finds what is missing.
func Claim(ctx context.Context, b *gitboard.Board, r ClaimRequest) (*Claimed, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	if done, err := b.Lookup(ctx, r.Request); done != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return s.claimedBefore(ctx, done)
	}
	if err := s.needFiles("a claim"); err != nil {
		return nil, err
	}
	c := &claimer{Project: s, r: r, since: b.Sharing().Moment(), asked: b.Sharing().Moment(), skip: map[string]*board.Refusal{}}
	claimed, err := c.run(ctx)
	if claimed == nil && errors.As(err, new(*board.Refusal)) { // perhaps only since another call has made this claim
		switch done, failed := b.Lookup(ctx, r.Request); {
		case failed != nil:
			err = errors.Join(err, failed)
		case done != nil:
			claimed, err = s.claimedBefore(ctx, done)
		}
	}
	return claimed, errors.Join(err, c.candidate.discard(ctx))
}

// claimer carries one claim through its attempts.
type claimer struct {
	*Project
	r     ClaimRequest
	asked gitboard.Moment           // when the claim was requested
	since gitboard.Moment           // the same, or when it was last decided
	skip  map[string]*board.Refusal // tasks that can't be claimed here and now, with the reason

	seen      plumbing.OID // the board's commit, without pending operations, of the last plan
	task      string
	kind      board.ClaimKind
	limit     bool         // the plan is to make the task BLOCKED instead
	candidate *candidate   // for a fresh claim
	checked   plumbing.OID // the board's commit for which the candidate's base was chosen
	kept      *kept        // the former holder's work
	events    int          // the length of the task's history when that was kept
}

// errChanged means that the claim differs from the prepared claim.
var errChanged = errors.New("the task has changed meanwhile")

func (c *claimer) run(ctx context.Context) (*Claimed, error) {
	ctx, retries := c.b.Retries(ctx)
	for {
		claimed, err := c.attempt(ctx)
		if again, err := c.refresh(ctx, err); err != nil {
			return nil, err
		} else if again {
			continue
		}
		switch {
		case claimed == nil && c.passOver(err): // one task fewer each time
		case !errors.Is(err, errChanged):
			return claimed, err
		case !retries.Spend():
			return nil, gitboard.Lost("claim", retries, err)
		}
	}
}

// refresh brings the view up to date after a first refusal, which may come from an old one, and
// reports whether to try again.
func (c *claimer) refresh(ctx context.Context, refused error) (again bool, err error) {
	if c.b.Remote() == "" || !errors.As(refused, new(*board.Refusal)) {
		return false, nil
	}
	v, err := c.b.View(ctx)
	if err != nil {
		return false, err
	}
	if err := c.b.Sharing().RefreshSince(ctx, c.asked); err != nil {
		return false, err
	}
	now, err := c.b.View(ctx)
	if err != nil || now.Commit == v.Commit {
		return false, err // the refusal is the remote's, too
	}
	clear(c.skip)
	return true, nil
}

// passOver reports whether to try another task, because this one can't be claimed and was not
// named.
func (c *claimer) passOver(err error) bool {
	r := (*board.Refusal)(nil)
	if c.r.Task != "" || c.task == "" || !errors.As(err, &r) || r.Task != c.task || r.Code == board.CodeLimit {
		return false
	}
	c.skip[c.task] = r
	return true
}

func (c *claimer) attempt(ctx context.Context) (*Claimed, error) {
	v, t, err := c.planned(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.atWork(ctx, v, t, c.r.Actor.ID); err != nil {
		return nil, err
	}
	path := c.Path(t.ID)
	switch {
	case c.limit:
	case c.kind.Fresh:
		err = c.prepare(ctx, v, t)
	default:
		if c.kind.Fix { // integration is merged into it
			_, err = v.KeptIntegration(ctx)
		}
		if err == nil {
			path, err = c.Ensure(ctx, v, t)
		}
	}
	if err != nil {
		return nil, c.retryIfChanged(ctx, err)
	}
	done, err := c.b.Do(ctx, c.r.Request, c.intent, gitboard.Since(c.since), gitboard.On(v))
	c.since = c.b.Sharing().Moment()
	if err != nil {
		return nil, c.retryIfOverLimit(ctx, err)
	}
	if done.Repeated { // by another call: what this one has read of the place is out of date
		return c.claimedBefore(ctx, done)
	}
	if _, blocked := done.Op.Payload.(*board.IterationLimit); blocked {
		return nil, limitReached(done)
	}
	return c.settle(ctx, done, path)
}

// planned returns the view and the task of a claim that the board accepts. A named task may also follow
// from a merge that a remote has yet to take.
func (c *claimer) planned(ctx context.Context) (*gitboard.View, *board.Task, error) {
	v, err := c.b.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.seen = v.Commit
	t, err := c.planOn(ctx, v)
	if c.r.Task == "" || !errors.As(err, new(*board.Refusal)) {
		return v, t, err
	}
	ahead, failed := c.b.Ahead(ctx)
	if ahead == nil || failed != nil {
		return v, t, cmp.Or(failed, err)
	}
	if t, failed = c.planOn(ctx, ahead); failed != nil {
		return v, nil, err
	}
	return ahead, t, nil
}

// planOn chooses a task, and asks the board before any costly step.
func (c *claimer) planOn(ctx context.Context, v *gitboard.View) (*board.Task, error) {
	c.task = ""
	t, err := c.choose(ctx, v)
	if err != nil {
		return nil, err
	}
	c.task, c.kind = t.ID, board.KindOfClaim(t, c.r.Actor.ID)
	return t, c.plan(ctx, v)
}

// stillHeld reports whether a claim of this clone is still one.
func (s *Project) stillHeld(v *gitboard.View, claimed *board.Task) bool {
	now := v.State.Task(claimed.ID)
	return now != nil && now.Status == board.Claimed && now.AssignedTo == claimed.AssignedTo && now.Clone == s.Clone
}

// retryIfChanged turns a refusal about the files of a worktree into errChanged if the board has
// moved since: the obstacle may be the worktree of the agent that won the race, on its way to its
// path.
func (c *claimer) retryIfChanged(ctx context.Context, err error) error {
	if r := (*board.Refusal)(nil); !errors.As(err, &r) {
		return err
	}
	now, lookErr := c.b.View(ctx)
	if lookErr != nil || now.Commit == c.seen {
		return err
	}
	return errChanged
}

// retryIfOverLimit turns a refusal into errChanged if the board has moved since the plan, and the
// task is at its iteration limit now, or no longer.
func (c *claimer) retryIfOverLimit(ctx context.Context, err error) error {
	if r := (*board.Refusal)(nil); errors.As(err, &r) && (c.limit || r.Code == board.CodeLimit) {
		return c.retryIfChanged(ctx, err)
	}
	return err
}

// prepare makes the worktree of a fresh claim, and keeps the work in the one that it replaces. A
// candidate made for another task serves as well.
func (c *claimer) prepare(ctx context.Context, v *gitboard.View, t *board.Task) error {
	l, err := c.look(ctx, v, c.task)
	if err != nil {
		return err
	}
	if err := l.Blocked(c.task); err != nil {
		return err
	}
	// The board was read first, so this commit contains everything it calls merged.
	base, err := v.KeptIntegration(ctx)
	if err != nil {
		return err
	}
	if err := c.foreign(ctx, v, c.task, base); err != nil {
		return err
	}
	c.checked = v.Commit
	if c.b.Remote() != "" {
		// With a remote, the two were not read in that order.
		if err := c.holdsDependencies(ctx, v, t, base); err != nil {
			return err
		}
	}
	if c.candidate == nil || c.candidate.base != base {
		if err := c.candidate.discard(ctx); err != nil {
			return err
		}
		c.candidate = nil
		if c.candidate, err = c.Project.candidate(ctx, v, c.task, base); err != nil {
			return err
		}
	}
	if c.kept, err = c.keep(ctx, v, c.task, c.r.Actor); err != nil {
		return err
	}
	if err := c.kept.at.Blocked(c.task); err != nil {
		return err
	}
	c.events = len(t.History)
	if c.candidate.instead = nil; c.kept.which != "" {
		c.candidate.instead = &replaced{Worktree: c.kept.which, Agent: c.r.Actor.ID, Events: c.events}
	}
	return c.candidate.note(c.task)
}

// foreign refuses to start a task whose branch belongs to a person: it has commits that integration
// lacks, and the task was never claimed.
func (s *Project) foreign(ctx context.Context, v *gitboard.View, task string, landed plumbing.OID) error {
	if err := s.room(ctx, v, task); err != nil {
		return err
	}
	if owned(v, task) {
		return nil
	}
	tip, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil {
		return err
	}
	if held, err := s.heldBy(ctx, tip, []plumbing.OID{landed}); held || err != nil {
		return err
	}
	return about(board.CodeInTheWay, task, "%s was never claimed, and there is a branch %s with commits of somebody's own", task, v.TaskBranch(task)).
		Advise("let a human rename it: git branch -m %s NAME%s; until then another task", v.TaskBranch(task), otherPrefix(v))
}

// room prepares this clone for the branch of a task: its hooks keep pushes away from it. It refuses
// where a branch has the name of something that the task's would be below.
func (s *Project) room(ctx context.Context, v *gitboard.View, task string) error {
	if err := install.Hide(s.repo, v.Branches()); err != nil {
		return err
	}
	for _, branch := range v.State.TaskBranches().Parents() {
		there, err := s.repo.Ref(ctx, plumbing.BranchRef(branch))
		if err != nil {
			return err
		}
		if !there.IsZero() {
			return about(board.CodeInTheWay, task, "there is a branch %s, and git keeps no branch %s below it", branch, v.TaskBranch(task)).
				Advise("let a human rename it: git branch -m %s NAME%s", branch, otherPrefix(v))
		}
	}
	return nil
}

// otherPrefix continues a hint with the setting that names tasks' branches, while it can change.
func otherPrefix(v *gitboard.View) (none board.Hint) {
	if !board.MayRenameBranches(v.State) {
		return none
	}
	return board.Advice(", or choose how the branches of tasks are called: %s", board.ActOn("config", board.KeyTaskBranches).With("value", "agents/"))
}

// settle brings the clone in line with a committed claim.
func (c *claimer) settle(ctx context.Context, done *gitboard.Done, path string) (*Claimed, error) {
	ctx, cancel := Steady(ctx)
	defer cancel()
	claimed := &Claimed{Done: done, Task: done.After.Task(c.task), Path: path, Kind: c.kind}
	switch {
	case c.kind.Fresh:
		if err := c.moveIn(ctx, done.View); err != nil {
			err = errors.Join(err, c.candidate.leave(c.task))
			return claimed, fmt.Errorf("%s is claimed, but its worktree could not be put in place (git liza doctor repairs it): %w", c.task, err)
		}
	case c.kind.Fix:
		c.bringIn(ctx, done, claimed)
	}
	return claimed, nil
}

// moveIn replaces the previous holder's worktree with the candidate. The old worktree is checked
// once more for work to keep.
func (c *claimer) moveIn(ctx context.Context, v *gitboard.View) error {
	if err := c.makeRoom(ctx, v, c.task, c.r.Actor, c.kept); err != nil {
		return err
	}
	if err := c.resetBranch(ctx, v, c.task, c.candidate.base); err != nil {
		return err
	}
	err := c.candidate.place(ctx, v, c.task)
	if errors.Is(err, fs.ErrExist) && identity(c.Path(c.task)) != "" {
		return nil // another call moved a worktree in
	}
	return err
}

// resetBranch resets the branch to the claim's base if the previous holder, unaware of the claim,
// has committed to it since. That commit goes to the attic. An existing worktree is the claim's
// already, and its agent works on the branch.
func (s *Project) resetBranch(ctx context.Context, v *gitboard.View, task string, base plumbing.OID) error {
	tip, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil || tip == base || identity(s.Path(task)) != "" {
		return err
	}
	attic, err := s.attic(ctx, task)
	if err != nil {
		return err
	}
	updates := []plumbing.RefUpdate{{Ref: v.TaskRef(task), Old: tip, New: base}}
	if !tip.IsZero() {
		updates = append([]plumbing.RefUpdate{{Ref: plumbing.AtticRef(task, attic.next), Old: plumbing.ZeroOID, New: tip}}, updates...)
	}
	return s.repo.UpdateRefs(ctx, updates, "git liza: keep work")
}

// bringIn merges integration into the worktree of an integration fix.
func (s *Project) bringIn(ctx context.Context, done *gitboard.Done, claimed *Claimed) {
	var err error
	if claimed.Conflicts, err = s.MergeIntegration(ctx, done.View, claimed.Task.ID, claimed.Path, done.Op.Actor); err != nil {
		claimed.Warnings = append(claimed.Warnings, fmt.Sprintf("integration could not be merged into the worktree (git liza doctor shows how to go on): %v", err))
	}
}

// MergeIntegration merges integration into the worktree of a task and leaves conflicts unresolved.
func (s *Project) MergeIntegration(ctx context.Context, v *gitboard.View, task, path string, actor board.Actor) (conflicts []string, err error) {
	tip, err := s.integration(ctx, v)
	if err != nil {
		return nil, err
	}
	who, err := s.sign(ctx, actor)
	if err != nil {
		return nil, err
	}
	return s.repo.Worktree(path).MergeInto(ctx, tip, "Merge integration into "+v.TaskBranch(task), who)
}

// unmerged are the codes of paths whose conflict is not resolved (git-status).
var unmerged = []string{"DD", "AU", "UD", "UA", "DU", "AA", "UU"}

// claimedBefore returns and completes a claim that the same request made earlier.
func (s *Project) claimedBefore(ctx context.Context, done *gitboard.Done) (*Claimed, error) {
	if _, blocked := done.Op.Payload.(*board.IterationLimit); blocked {
		return nil, limitReached(done)
	}
	p, is := done.Op.Payload.(*board.Claim)
	if !is {
		return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
	}
	t, err := done.After.FindTask(p.Task)
	if err != nil {
		return nil, err
	}
	event := t.History[len(t.History)-1].Event
	claimed := &Claimed{Done: done, Task: t, Path: s.Path(t.ID), Kind: board.ClaimKind{Event: event, Fresh: p.BaseCommit != "", Fix: event == board.EventClaimedForFix}}
	v, err := s.b.View(ctx)
	if err != nil {
		return claimed, err
	}
	if !s.stillHeld(v, t) {
		return claimed, v.State.Err()
	}
	now := v.State.Task(t.ID)
	if s.Unfinished(now) {
		return claimed, s.FinishClaim(ctx, v, now, done.Op.Actor)
	}
	if _, err := s.Ensure(ctx, v, now); err != nil {
		return claimed, err
	}
	if !claimed.Kind.Fix {
		return claimed, nil
	}
	dirty, err := s.repo.Worktree(claimed.Path).Status(ctx)
	if err != nil {
		return claimed, err
	}
	if len(dirty) == 0 && Midst(claimed.Path) == "" {
		s.bringIn(ctx, done, claimed)
		return claimed, nil
	}
	for _, e := range dirty {
		if slices.Contains(unmerged, e.Code) {
			claimed.Conflicts = append(claimed.Conflicts, e.Path)
		}
	}
	return claimed, nil
}
