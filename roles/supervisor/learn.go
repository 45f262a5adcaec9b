package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
)

// learn draws conclusions from the end of a run.
func (s *supervisor) learn(ctx context.Context, step Step, tip plumbing.OID, end ending) error {
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	o := Outcome{At: s.Board.Now(), Role: s.Role, Exit: end.exit, Ours: end.ours, Cut: end.cut, Wake: step.Wake, Task: step.Task, Limit: "limit of " + s.CLI.Name}
	if o.Changed, err = s.acted(ctx, tip, v.Commit); err != nil {
		return err
	}
	s.onBoard(v.State, step, &o)
	if o.Declined != nil && o.Declined.ReviewCommit != end.review {
		o.Declined = nil // it judged an earlier one
	}
	o.Settings = settingsOf(v.State)
	if err := v.State.Err(); err != nil {
		return err
	}
	s.printed(&o, end)
	if err := s.forget(&o, end); err != nil {
		s.report(Trouble, step.Task, err.Error())
	}
	s.handOff(ctx, v.State, step.Task, end, o.Said)
	s.account(ctx, step, v.State, end, true)
	s.memory.Learn(o)
	if s.memory.afresh(step.Task) {
		if err := s.files.drop(conversationFile); err != nil {
			s.report(Trouble, step.Task, err.Error())
		}
	}
	if err := s.files.keepMemory(s.memory); err != nil {
		return err
	}
	s.say(Event{Event: Ended, Task: step.Task, Text: s.ending(o), Exit: &end.exit})
	if o.Limited {
		s.report(Limited, step.Task, s.memory.Why)
	}
	if o.Unplanned && s.memory.Unplanned >= planTries {
		s.report(Alarm, "", fmt.Sprintf("%s was started %d times and planned nothing, and asked nothing: %s", s.actor.ID, planTries, cmp.Or(o.Said, "it said nothing")))
	}
	if v, err = s.passOn(ctx, v, step.Task); err != nil {
		return err
	}
	return s.afterwards(ctx, v.State)
}

// passOn hands the task of a coder that has crashed over to an idle coder of this clone, which need
// not wait for it to be started again. A task is passed on only once. It returns the newest view.
func (s *supervisor) passOn(ctx context.Context, v *gitboard.View, task string) (*gitboard.View, error) {
	if !s.memory.LastCrashed || s.Role != roles.Coder || s.Once || s.Only != "" {
		return v, nil
	}
	leases, err := v.LeasesSeen(ctx)
	if err != nil {
		return v, err
	}
	passes := false
	if err := read(v.State, func() { passes = passable(v.State, leases, s.actor.ID, task, board.At(s.Board.Now())) }); err != nil || !passes {
		return v, err
	}
	done, err := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.HandOff{
		About: board.About{Task: task}, Summary: crashSummary(s.memory.Said), NextAction: "look at the worktree and continue from its state",
	}))
	if refusal := (*board.Refusal)(nil); errors.As(err, &refusal) && !taken(err) {
		return v, nil // it is no longer this agent's
	}
	if err != nil {
		return v, err
	}
	return done.View, s.files.drop(conversationFile)
}

// crashSummary describes a crash for the next coder, by the last words of the agent.
func crashSummary(said string) string {
	if said == "" {
		return "its agent crashed, and printed nothing"
	}
	return "its agent crashed; it said last: " + quotable(said)
}

// passable reports whether an idle coder of the same role and clone can continue an agent's task
// that was never handed off.
func passable(s *board.State, leases map[string]board.Lease, agent, task string, now board.Time) bool {
	t := s.Task(task)
	if t == nil || !t.Brief().Holds(agent) || t.Last(board.EventHandedOff) != nil {
		return false
	}
	return slices.ContainsFunc(s.List(board.AgentDir), func(id string) bool {
		a := s.Agent(id)
		return id != agent && roles.NameOf(id) == roles.NameOf(agent) && a.Clone == s.Agent(agent).Clone && !a.ByHand() &&
			a.Status == board.Idle && a.WaitingFor == "" && now < leases[id].Expires
	})
}

// settle records what a run has cost whose end also ends the supervisor, for the reason why. An
// agent that has lost its lease does not write to the board.
func (s *supervisor) settle(ctx context.Context, step Step, end ending, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	v, err := s.Board.View(ctx)
	if err == nil {
		var o Outcome
		if s.onBoard(v.State, step, &o); o.HandedOff {
			err = s.files.drop(conversationFile)
		}
		s.account(ctx, step, v.State, end, !taken(why) && !stopped(why, graceful))
		err = cmp.Or(v.State.Err(), err)
	}
	if err != nil {
		s.report(Trouble, step.Task, "the run's result is not recorded: "+err.Error())
	}
}

// account records the run's usage as far as its CLI reports it: in full in this clone, and on the
// board if the agent may still write to it. A failure to record is reported but stops nothing.
func (s *supervisor) account(ctx context.Context, step Step, state *board.State, end ending, writes bool) {
	task := step.Task
	seen := s.witness.seen()
	used := seen.used
	crashed := end.exit != 0 && s.CLI.Overhead > 0 // before its report at the end
	mute := s.CLI.NoUsage || end.exit == 0 && !end.ours && (s.CLI.Prompt == clis.ACP || s.CLI.Name == clis.ExecName && seen.estimated)
	unknown := mute && !budgeted(end.cut) && (seen.estimated || used.Tokens() == 0)
	if unknown {
		used, seen.estimated = clis.Usage{Model: used.Model}, false
	} else if used.Tokens() == 0 && !budgeted(end.cut) || seen.estimated && !end.ours && !crashed {
		return
	}
	p := &board.Usage{Task: task, CLI: s.CLI.Name, Model: modelOf(used), Cost: costOf(used, end.took), Estimated: seen.estimated}
	p.Bound(state, s.actor.ID, board.At(s.Board.Now()))
	t, why := state.Task(task), "the lease was lost"
	if t != nil {
		p.Iteration = t.Iteration
	} else if task != "" {
		writes, why = false, task+" is archived"
	}
	if step.Wake != nil {
		p.Goal = step.Wake.Goal
	}
	err := s.files.appendUsage(s.Board.Now(), s.actor.ID, p)
	if !writes {
		err = errors.Join(err, fmt.Errorf("%s, so it is in %s alone", why, s.files.at(usageFile)))
	} else if _, failed := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(p)); !taken(failed) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		s.report(Trouble, task, "the run's cost is not on the board: "+err.Error())
	}
}

// modelOf is the name of a run's model, as the board records it: a name that the board does not
// take must not keep the cost off it.
func modelOf(used clis.Usage) string {
	name := text.Line(used.Model, board.MaxModel)
	for most := board.MaxModel; len(name) > board.MaxModel; most /= 2 {
		name = text.Line(used.Model, most)
	}
	if !board.Storable(used.Model) {
		return ""
	}
	return name
}

// quotable is an agent's message, as the board may hold it: neither a hand-off nor the end of a
// claim may fail for it.
func quotable(said string) string {
	if !board.Storable(said) {
		return "something that looks like a credential, and is not kept here"
	}
	return text.Line(said, 160)
}

// costOf is the cost of a run, as the board records it.
func costOf(used clis.Usage, took time.Duration) board.Cost {
	return board.Cost{
		Requests: used.Requests, Input: max(used.Input, used.Cached), Cached: used.Cached, Output: used.Output,
		Seconds: int(took / time.Second), MicroDollars: int(used.Dollars * 1e6),
	}
}

// onBoard fills in the end of a run as the board shows it.
func (s *supervisor) onBoard(state *board.State, step Step, o *Outcome) {
	o.Running = state.Control().Mode == board.Running
	if a := state.Agent(s.actor.ID); a != nil {
		o.HandedOff = a.Status == board.HandedOff
	}
	if t := state.Task(step.Task); t != nil {
		held := t.Brief().Holds(s.actor.ID)
		if s.Role == roles.CodeReviewer {
			held = t.Status == board.ReadyForReview && t.ReviewingBy == s.actor.ID
			if t.Status == board.ReadyForReview && t.ReviewingBy == "" && !o.HandedOff && !t.ApprovedOnce(s.actor.ID) {
				o.Declined = t
			}
		}
		o.Delivered = o.Changed && !held
		o.Claim = fmt.Sprintf("%s %d", t.ReviewCommit, t.Iteration)
	}
	if step.Wake != nil && step.Wake.Trigger == report.InitialPlanning {
		g := state.Goal(step.Wake.Goal)
		o.Unplanned = g != nil && !state.Planned(g) && !asked(state, s.actor.ID)
	}
}

// asked reports whether an agent has left a note for the human that is not acknowledged.
func asked(state *board.State, agent string) bool {
	for _, n := range report.NotesFor(state, "human") {
		if n.By == agent && n.AcknowledgedBy == "" {
			return true
		}
	}
	return false
}

// printed fills in the end of a run as the agent's output shows it, by its events or else by the
// last words of the CLI itself: its model and its tools may speak of anything.
func (s *supervisor) printed(o *Outcome, end ending) {
	w := s.witness.seen()
	o.Said = w.said
	if end.exit == 0 && (o.Changed || s.Role == roles.Planner) && w.fault == nil || o.Delivered {
		return
	}
	if end.exit == graceful && s.CLI.Name == clis.ExecName || end.ours && w.fault == nil {
		return
	}
	now, fault := o.At.Local(), w.fault
	if fault == nil && end.exit != 0 && w.words != "" {
		fault = s.CLI.FaultOf(0, w.words, now)
		if fault.Trouble == clis.Setup && (w.worked || o.Changed) {
			fault = nil // it can work
		}
	}
	if fault == nil || fault.Trouble == clis.Unknown {
		if until, limited := s.CLI.Limited(s.witness.tail.String(), now); limited {
			fault = &clis.Fault{Trouble: clis.Limit, Until: until, Text: w.said}
		}
	}
	if fault == nil {
		return
	}
	switch fault.Trouble {
	case clis.Limit:
		o.Limited, o.Until = true, fault.Until
	case clis.Outage:
		o.Limited, o.Limit = true, s.CLI.Name+" can't reach its service"
	case clis.Setup:
		o.Setup, o.Hint = fault.Text, "log in to "+s.CLI.Name+" or choose another model as the user who runs the team, see that `"+s.CLI.Program+"` answers by itself, and start again"
	case clis.Shell:
		o.Setup, o.Hint = fault.Text, "see that the start-up files of that user's shell leave PATH, or GIT_CONFIG_PARAMETERS, as they find them, and start again"
	case clis.Overflow:
		o.Overflow = true
	}
}

func (s *supervisor) ending(o Outcome) string {
	text := fmt.Sprintf("exit %d", o.Exit)
	if o.Exit != 0 && !o.Delivered && o.Said != "" {
		text += fmt.Sprintf(" (%s)", o.Said)
	}
	switch {
	case o.Ours:
		text += ", ended by its supervisor"
	case s.memory.Why != "" && !s.Once && s.memory.Broken(o.At) == "": // else no restart
		text += "; " + s.memory.Why
	}
	return text
}

// afterwards updates the agent's record after the end of its process.
func (s *supervisor) afterwards(ctx context.Context, state *board.State) error {
	a := state.Agent(s.actor.ID)
	if a == nil || a.Session != s.actor.Session {
		return nil // the next heartbeat reports what that means
	}
	if a.Status == board.HandedOff {
		return s.status(ctx, "", board.Starting, board.Idle)
	}
	waits := ""
	if s.memory.Limits > 0 {
		waits = s.memory.Why
	}
	if a.WaitingFor != waits {
		return s.status(ctx, waits, a.Status)
	}
	return nil
}

// leaves keeps on a planner's record what it has left to a human, since other clones know its memory
// from there.
func (s *supervisor) leaves(ctx context.Context, l Look) error {
	a := l.State.Agent(s.actor.ID)
	if s.Role != roles.Planner || a == nil || s.memory.Unfinished != nil {
		return nil
	}
	left := report.LeftToHuman(report.WakesOf(l.State, s.actor.ID), s.memory.Seen)
	if err := l.State.Err(); err != nil || a.WaitingFor == left {
		return err
	}
	return s.status(ctx, left, a.Status)
}

// unlimited clears what the agent was waiting for from its record.
func (s *supervisor) unlimited(ctx context.Context, l Look) error {
	if a := l.State.Agent(s.actor.ID); a != nil && a.WaitingFor != "" {
		return s.status(ctx, "", a.Status)
	}
	return nil
}

// acted reports whether the agent did anything on the board between two commits of it.
func (s *supervisor) acted(ctx context.Context, from, to plumbing.OID) (bool, error) {
	if from == to {
		return false, nil
	}
	commits, err := s.Board.Repo().Log(ctx, from, to)
	if err != nil {
		return false, err
	}
	name, _ := log.Author(s.actor)
	for _, c := range commits {
		if c.Author.Name == name {
			return true, nil
		}
	}
	return false, nil
}
