package worktrees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// ClaimRequest asks for a task, with a worktree to work in.
type ClaimRequest struct {
	Actor       board.Actor
	Task        string // "" for the one that should be next
	Request     string
	AllowSecret bool
}

// Claimed is a claim that stands.
type Claimed struct {
	Done      *gitboard.Done
	Task      *board.Task
	Path      string // of the worktree, absolute
	Kind      board.ClaimKind
	Conflicts []string // of an integration fix: left open in the worktree
	Warnings  []string
}

// Claim gives a task to a coder. Its worktree is made before the claim is committed; one transaction
// moves the task's branch and the board; then the worktree gets its name. When the iteration limit would
// be passed the task becomes BLOCKED instead, and the refusal "limit" says so.
//
// After an error of the last step the claim stands all the same, and both are returned; Diagnose finds
// what is missing.
func Claim(ctx context.Context, b *gitboard.Board, r ClaimRequest) (*Claimed, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, err
	}
	if done, err := Repeated(ctx, b, r.Actor, r.Request); done != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return s.claimedBefore(ctx, done)
	}
	if err := s.needFiles("a claim"); err != nil {
		return nil, err
	}
	if err := b.Refresh(ctx); err != nil {
		return nil, err // before a worktree is made
	}
	c := &claimer{site: s, r: r, skip: map[string]error{}}
	claimed, err := c.run(ctx)
	return claimed, errors.Join(err, c.candidate.discard(ctx))
}

// claimer carries one claim through its attempts.
type claimer struct {
	*site
	r    ClaimRequest
	skip map[string]error // tasks that can't be claimed here and now, with the reason

	task      string
	kind      board.ClaimKind
	prepared  bool       // its worktree is there
	candidate *candidate // for a fresh claim
	checked   gitio.OID  // the board's commit that the candidate's base was chosen for
	kept      *kept
}

// errChanged says that a claim is no longer what was prepared.
var errChanged = errors.New("the task has changed meanwhile")

// claimTries is how often a claim is prepared again when others are faster.
const claimTries = 50

func (c *claimer) run(ctx context.Context) (*Claimed, error) {
	for range claimTries {
		claimed, err := c.attempt(ctx)
		switch {
		case errors.Is(err, errChanged):
			continue
		case claimed == nil && c.passOver(err):
			continue
		}
		return claimed, err
	}
	return nil, &gitboard.LostError{Op: "claim", Attempts: claimTries, Err: errChanged}
}

// passOver reports whether another task will do, when none was named and this one can't be had.
func (c *claimer) passOver(err error) bool {
	r := (*board.Refusal)(nil)
	if c.r.Task != "" || c.task == "" || !errors.As(err, &r) || r.Task != c.task || r.Code == "limit" {
		return false
	}
	c.skip[c.task] = err
	return true
}

func (c *claimer) attempt(ctx context.Context) (*Claimed, error) {
	v, err := c.b.View(ctx)
	if err != nil {
		return nil, err
	}
	c.task = ""
	t, err := c.choose(ctx, v)
	if err != nil {
		return nil, err
	}
	c.task, c.kind = t.ID, board.KindOfClaim(t, c.r.Actor.ID)
	limit, err := c.allowed(ctx, v)
	if err != nil {
		return nil, err
	}
	path := c.path(t.ID)
	c.prepared = !limit
	switch {
	case limit:
	case c.kind.Fresh:
		err = c.prepare(ctx, v)
	default:
		path, err = c.ensure(ctx, v, t)
	}
	if err != nil {
		return nil, c.unlessChanged(ctx, v, err)
	}
	done, err := c.b.Do(ctx, gitboard.Request{Actor: c.r.Actor, ID: c.r.Request, AllowSecret: c.r.AllowSecret, Intent: c.intent})
	if err != nil {
		return nil, err
	}
	if _, blocked := done.Op.Payload.(*board.IterationLimit); blocked {
		return nil, limitReached(done)
	}
	return c.settle(ctx, done, path)
}

// unlessChanged keeps a refusal over what lies in the worktrees from being told of a board that has moved:
// what is in the way may be the worktree of whoever was faster, on its way to its place.
func (c *claimer) unlessChanged(ctx context.Context, v *gitboard.View, err error) error {
	if r := (*board.Refusal)(nil); !errors.As(err, &r) {
		return err
	}
	now, lookErr := c.b.View(ctx)
	if lookErr != nil || now.Commit == v.Commit {
		return err
	}
	return errChanged
}

// choose returns the task that was named, or the next.
func (c *claimer) choose(ctx context.Context, v *gitboard.View) (*board.Task, error) {
	id := c.r.Task
	if id == "" {
		var err error
		if id, err = choose(ctx, v, c.r.Actor.ID, c.skip); err != nil {
			return nil, err
		}
		if id == "" {
			return nil, c.nothing(ctx, v)
		}
	}
	return v.State.FindTask(id)
}

// nothing says why there is nothing to claim: what is wrong with who asks comes first, then a task that
// could have been had but for its worktree.
func (c *claimer) nothing(ctx context.Context, v *gitboard.View) error {
	none := noWork(v, c.r.Actor.ID)
	for _, err := range c.skip {
		if r := (*board.Refusal)(nil); errors.As(err, &r) && r.Code != "wrong-state" {
			none = err
		}
	}
	// The first task stands for any: what is said of it alone doesn't count, unless it's the coder's own.
	said := (*board.Refusal)(nil)
	err := c.b.Dry(ctx, v, c.request(), &board.Claim{About: board.About{Task: firstTask(v)}})
	if errors.As(err, &said) && (said.Code == "exists" || said.Task == "" && slices.Contains(first, said.Code)) {
		return err
	}
	return none
}

func firstTask(v *gitboard.View) string {
	if tasks := v.State.Tasks(); len(tasks) > 0 {
		return tasks[0].ID
	}
	return ""
}

func (c *claimer) request() gitboard.Request {
	return gitboard.Request{Actor: c.r.Actor, AllowSecret: c.r.AllowSecret}
}

// allowed asks the board before anything costly is done. limit: the task will be BLOCKED instead.
func (c *claimer) allowed(ctx context.Context, v *gitboard.View) (limit bool, err error) {
	p := &board.Claim{About: board.About{Task: c.task}, Clone: c.clone}
	if c.kind.Fresh {
		base, err := c.integration(ctx, v)
		if err != nil {
			return false, err
		}
		p.BaseCommit = string(base)
	}
	err = c.b.Dry(ctx, v, c.request(), p)
	if r := (*board.Refusal)(nil); errors.As(err, &r) && r.Code == "limit" {
		return true, nil
	}
	return false, err
}

// prepare makes the worktree of a fresh claim. One that was made for another task serves, too.
func (c *claimer) prepare(ctx context.Context, v *gitboard.View) error {
	l, err := c.look(ctx, c.task)
	if err != nil {
		return err
	}
	if err := l.blocked(c.task); err != nil {
		return err
	}
	// The board was read first: what it says is merged is in this commit.
	base, err := c.integration(ctx, v)
	if err != nil {
		return err
	}
	c.checked = v.Commit
	if c.b.Remote() != "" {
		// There the two were not read in that order.
		if err := c.holdsDependencies(ctx, v, base); err != nil {
			return err
		}
	}
	if c.candidate != nil && c.candidate.base == base {
		return c.candidate.note(c.task)
	}
	if err := c.candidate.discard(ctx); err != nil {
		return err
	}
	c.candidate = nil
	c.candidate, err = c.site.candidate(ctx, c.task, base, setupOf(v))
	return err
}

// intent decides the claim on a view: as prepared, or not at all.
func (c *claimer) intent(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
	t, err := v.State.FindTask(c.task)
	if err != nil {
		return nil, nil, err
	}
	if board.KindOfClaim(t, c.r.Actor.ID) != c.kind {
		return nil, nil, errChanged
	}
	limit, err := c.allowed(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	about := board.About{Task: c.task}
	if limit {
		return &board.IterationLimit{About: about}, nil, nil
	}
	if !c.prepared {
		return nil, nil, errChanged // it would have passed the limit then
	}
	if !c.kind.Fresh {
		return &board.Claim{About: about, Clone: c.clone}, nil, nil
	}
	if err := c.baseServes(ctx, v, t); err != nil {
		return nil, nil, err
	}
	if c.kept, err = c.keep(ctx, v, c.task, c.r.Actor); err != nil {
		return nil, nil, err
	}
	if err := c.kept.at.blocked(c.task); err != nil {
		return nil, nil, c.unlessChanged(ctx, v, err)
	}
	if c.kept.which != "" {
		c.candidate.instead = &replaced{Worktree: c.kept.which, Agent: c.r.Actor.ID, Events: len(t.History)}
		if err := c.candidate.note(c.task); err != nil {
			return nil, nil, err
		}
	}
	hidden, err := c.b.Publish(ctx, c.task, gitio.ZeroOID)
	if err != nil {
		return nil, nil, err
	}
	base := c.candidate.base
	p := &board.Claim{About: about, Clone: c.clone, BaseCommit: string(base), Kept: string(c.kept.commit)}
	return p, slices.Concat(hidden, c.kept.refs, []gitio.RefUpdate{{Ref: Branch(c.task), Old: c.kept.tip, New: base}}), nil
}

// baseServes checks, when the board has moved, that the candidate still begins where every dependency
// is.
func (c *claimer) baseServes(ctx context.Context, v *gitboard.View, t *board.Task) error {
	if v.Commit == c.checked {
		return nil
	}
	return c.dependenciesIn(ctx, v, t, c.candidate.base)
}

// holdsDependencies asks the remote again while integration there has not what the board says.
func (c *claimer) holdsDependencies(ctx context.Context, v *gitboard.View, base gitio.OID) error {
	t, err := v.State.FindTask(c.task)
	if err != nil {
		return err
	}
	for _, id := range t.DependsOn {
		if d := v.State.Task(id); d != nil && d.MergeCommit != "" {
			if has, err := c.b.Brings(ctx, d.MergeCommit); err != nil || !has {
				return cmp.Or(err, errChanged)
			}
		}
	}
	err = c.dependenciesIn(ctx, v, t, base)
	if errors.Is(err, errChanged) {
		return cmp.Or(c.b.Refresh(ctx), err)
	}
	return err
}

func (c *claimer) dependenciesIn(ctx context.Context, v *gitboard.View, t *board.Task, base gitio.OID) error {
	for _, id := range t.DependsOn {
		d := v.State.Task(id)
		if d == nil || d.MergeCommit == "" {
			continue
		}
		in, err := c.repo.IsAncestor(ctx, gitio.OID(d.MergeCommit), base)
		if err != nil {
			return err
		}
		if !in {
			return errChanged
		}
	}
	return nil
}

// limitReached says that the task is BLOCKED now.
func limitReached(done *gitboard.Done) error {
	t := done.After.Task(done.Op.TaskID())
	return refusal("limit", t.ID, "a planner looks at it; take another task: git liza claim", "%s is BLOCKED now: %s", t.ID, t.BlockedReason)
}

// settle brings the clone in line with a claim that stands.
func (c *claimer) settle(ctx context.Context, done *gitboard.Done, path string) (*Claimed, error) {
	ctx, cancel := steady(ctx)
	defer cancel()
	claimed := &Claimed{Done: done, Task: done.After.Task(c.task), Path: path, Kind: c.kind}
	switch {
	case c.kind.Fresh:
		if err := c.moveIn(ctx, done.View); err != nil {
			err = errors.Join(err, c.candidate.leave(c.task))
			return claimed, fmt.Errorf("%s is claimed, but its worktree could not be put in place (git liza doctor mends it): %w", c.task, err)
		}
	case c.kind.Fix:
		c.bringIn(ctx, done, claimed)
	}
	return claimed, nil
}

// moveIn puts the candidate in the place of the previous holder's worktree, which is looked through once
// more.
func (c *claimer) moveIn(ctx context.Context, v *gitboard.View) error {
	if err := c.clearAway(ctx, v, c.task, c.r.Actor, c.kept); err != nil {
		return err
	}
	if err := c.resetBranch(ctx, c.task, c.candidate.base); err != nil {
		return err
	}
	return c.candidate.place(ctx, c.task, setupOf(v))
}

// resetBranch brings the branch back to the claim's base if the previous holder, unaware, has committed
// to it since; that commit goes to the attic.
func (s *site) resetBranch(ctx context.Context, task string, base gitio.OID) error {
	tip, err := s.repo.Ref(ctx, Branch(task))
	if err != nil || tip == base {
		return err
	}
	attic, err := s.attic(ctx, task)
	if err != nil {
		return err
	}
	updates := []gitio.RefUpdate{{Ref: Branch(task), Old: tip, New: base}}
	if !tip.IsZero() {
		updates = append([]gitio.RefUpdate{{Ref: atticRef(task, attic.next), Old: gitio.ZeroOID, New: tip}}, updates...)
	}
	return s.repo.UpdateRefs(ctx, updates, "git liza: keep work")
}

// bringIn merges integration into the worktree of an integration fix.
func (s *site) bringIn(ctx context.Context, done *gitboard.Done, claimed *Claimed) {
	var err error
	if claimed.Conflicts, err = s.mergeIn(ctx, done.View, claimed.Task.ID, claimed.Path, done.Op.Actor); err != nil {
		claimed.Warnings = append(claimed.Warnings, fmt.Sprintf("integration could not be merged into the worktree (git liza doctor mends it): %v", err))
	}
}

// mergeIn merges integration into the worktree of a task, and leaves conflicts open there.
func (s *site) mergeIn(ctx context.Context, v *gitboard.View, task, path string, actor board.Actor) (conflicts []string, err error) {
	tip, err := s.integration(ctx, v)
	if err != nil {
		return nil, err
	}
	who, err := s.sign(ctx, actor)
	if err != nil {
		return nil, err
	}
	return s.repo.MergeInto(ctx, path, tip, "Merge integration into task/"+task, who)
}

// claimedBefore returns a claim that the same request has made before, and completes it.
func (s *site) claimedBefore(ctx context.Context, done *gitboard.Done) (*Claimed, error) {
	if _, blocked := done.Op.Payload.(*board.IterationLimit); blocked {
		return nil, limitReached(done)
	}
	p, is := done.Op.Payload.(*board.Claim)
	if !is {
		return nil, board.Refuse("exists", fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
	}
	t := done.After.Task(p.Task)
	event := t.History[len(t.History)-1].Event
	claimed := &Claimed{Done: done, Task: t, Path: s.path(t.ID), Kind: board.ClaimKind{Event: event, Fresh: p.BaseCommit != "", Fix: event == board.EventClaimedForFix}}
	v, err := s.b.View(ctx)
	if err != nil {
		return claimed, err
	}
	now := v.State.Task(t.ID)
	if now == nil || now.Status != board.Claimed || now.AssignedTo != t.AssignedTo || now.Clone != s.clone {
		return claimed, v.State.Err()
	}
	if left := s.unmoved(now); left != nil {
		if err := s.moveInLate(ctx, v, now, left, done.Op.Actor); err != nil {
			return claimed, err
		}
	}
	if _, err := s.ensure(ctx, v, now); err != nil {
		return claimed, err
	}
	dirty, err := s.repo.Status(ctx, claimed.Path)
	if err != nil {
		return claimed, err
	}
	if claimed.Kind.Fix && len(dirty) == 0 && midst(claimed.Path) == "" {
		s.bringIn(ctx, done, claimed)
		return claimed, nil
	}
	for _, e := range dirty {
		if strings.ContainsRune(e.Code, 'U') || e.Code == "AA" || e.Code == "DD" {
			claimed.Conflicts = append(claimed.Conflicts, e.Path)
		}
	}
	return claimed, nil
}
