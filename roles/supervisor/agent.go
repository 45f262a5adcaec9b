package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/process"
)

// tailBytes is how much of the end of an agent's output is searched for a quota message.
const tailBytes = 16 << 10

// How long an agent gets to end once it was asked to: an interrupted CLI termAfter before SIGTERM, and
// killAfter before it is killed.
const (
	termAfter = 4 * time.Second
	killAfter = 10 * time.Second
)

// start runs the agent once, on its task or its wake-up, and learns from how it ended.
func (s *supervisor) start(ctx context.Context, l Look, step Step) error {
	if err := s.guard(ctx); err != nil {
		return err
	}
	c, file, err := s.prepare(ctx, l, step)
	if err != nil {
		return err
	}
	if err := s.unlimited(ctx, l); err != nil {
		return err
	}
	s.fresh, s.warnings = "", nil
	s.witness = newWitness(s.CLI, s.Board.Now, s.outputs()...)
	s.witness.began = func(session string) { s.converses(step.Task, session) }
	if s.Terminal == nil {
		c.Output = s.witness
		s.witness.context = c.size
	}
	if step.Wake != nil { // if this process dies, the next one continues
		s.memory.Unfinished = step.Wake
		if err := s.files.keepMemory(s.memory); err != nil {
			return err
		}
	}
	began := l.State
	tip, err := s.Board.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	p, err := process.Start(c.Command)
	if err != nil {
		return &StopError{Exit: 5, Reason: fmt.Sprintf("%s can't be started: %v", s.CLI.Name, err), Hint: s.CLI.Install}
	}
	if err := s.files.keepProcess(processFile, p.PID()); err != nil {
		s.report(Trouble, step.Task, "should this process die, the agent may be left running: "+err.Error())
	}
	s.say(Event{Event: Started, Task: step.Task, Text: s.occasion(step, c), Prompt: file})
	r := &Running{Task: step.Task, Began: s.Board.Now()}
	if step.Wake != nil {
		r.Goal = step.Wake.Goal
	}
	review := ""
	if t := began.Task(step.Task); t != nil {
		r.Events, review = len(t.History), t.ReviewCommit
	}
	ended, err := s.oversee(ctx, p, r)
	if c.container != "" && ended.ours {
		s.Container.End(c.container, c.Env)
	}
	s.files.dropProcess(processFile, p.PID())
	_ = s.witness.Close()
	if p.Left > 0 {
		s.report(Repaired, step.Task, fmt.Sprintf("the agent had left %d processes running: they are ended", p.Left))
	}
	ended.review, ended.resumed, ended.took = review, c.resumed, s.Board.Now().Sub(r.Began)
	if err == nil {
		if lost := s.pulse.sure(ctx); taken(lost) {
			err = lost
		}
	}
	if err != nil {
		s.settle(ctx, step, ended, err)
		return err
	}
	return s.learn(ctx, step, tip, ended)
}

// occasion explains why the agent is started.
func (s *supervisor) occasion(step Step, c command) string {
	switch {
	case step.Wake != nil:
		return string(step.Wake.Trigger)
	case c.resumed:
		return s.CLI.Name + ", in the conversation it had"
	}
	return s.CLI.Name
}

// ending is how a run ended.
type ending struct {
	exit    int
	ours    bool   // the supervisor ended it
	cut     string // the bound that it exceeded, "" for none
	resumed bool   // it continued an earlier conversation
	review  string // the submission that it was to review
	took    time.Duration
}

// watching is the state of a run while the supervisor watches it.
type watching struct {
	*supervisor
	p       *process.Process
	r       *Running
	order   Order
	ending  ending
	firmly  <-chan time.Time
	kill    <-chan time.Time
	stopped error // the error that ends the supervisor too
	metered bool  // a budget applies, so use of tokens is a reason to look
	told    bool  // the agent's record names that its CLI retries
}

// retriesShown is for how long a CLI retries before the agent's record names it.
const retriesShown = time.Minute

// retries records on the board that the agent's CLI has retried for long, and the end of that.
func (w *watching) retries(ctx context.Context, l Look) {
	seen := w.witness.seen()
	since := seen.waits.Add(retriesShown)
	text := ""
	switch {
	case seen.waits.IsZero() && !w.told:
		return
	case seen.waits.IsZero():
	case w.told:
		return
	case l.Now.Before(since):
		w.order.Next = sooner(w.order.Next, since)
		return
	default:
		text = fmt.Sprintf("%s retries since %s", w.CLI.Name, seen.waits.UTC().Format("15:04Z"))
		if seen.fault != nil && seen.fault.Text != "" {
			text += ": " + quotable(seen.fault.Text)
		}
	}
	a := l.State.Agent(w.actor.ID)
	if a == nil {
		return
	}
	if err := w.status(ctx, text, a.Status); err != nil {
		w.report(Trouble, w.r.Task, err.Error())
		return
	}
	w.told = text != ""
}

// end asks the agent to end, once. A CLI is first interrupted, as by a person at its terminal, and
// then asked harder.
func (w *watching) end(reason string) {
	if w.ending.ours {
		return
	}
	w.report(Ending, w.r.Task, reason)
	w.ending.ours, w.kill = true, time.After(killAfter)
	if w.CLI.Interrupt {
		w.p.Interrupt()
		w.firmly = time.After(termAfter)
		return
	}
	w.p.Terminate()
}

// oversee watches a running agent until it ends. An error ends the supervisor too.
func (s *supervisor) oversee(ctx context.Context, p *process.Process, r *Running) (ending, error) {
	w := &watching{supervisor: s, p: p, r: r}
	done, lostLease, follow := ctx.Done(), s.pulse.lost, s.follow
	w.look(ctx)
	for {
		var timer <-chan time.Time
		if !w.order.Next.IsZero() && !w.ending.ours {
			timer = time.After(w.order.Next.Sub(s.Board.Now()))
		}
		select {
		case ended := <-p.Done:
			w.ending.exit = process.ExitCode(ended)
			if ctx.Err() != nil { // the agent may have got the same signal
				w.ending.ours = true
				w.stopped = cmp.Or(w.stopped, ctx.Err())
			}
			return w.ending, w.stopped
		case <-w.firmly:
			p.Terminate()
		case <-w.kill:
			p.Kill()
		case <-timer:
			w.look(ctx)
		case <-s.witness.spent:
			if w.metered || w.told || !s.witness.seen().waits.IsZero() {
				w.look(ctx)
			}
		case fault := <-s.witness.hopeless:
			w.end(s.CLI.Name + " can't work: " + fault.Text)
		case <-done:
			done, follow = nil, nil
			w.stopped = cmp.Or(w.stopped, ctx.Err()) // a lost lease stays the reason
			w.end("the supervisor was asked to end")
		case taken := <-lostLease:
			w.stopped, lostLease, follow = lost(s.actor.ID, taken), nil, nil
			w.end("the lease was lost")
		case m := <-s.lane.done:
			w.merged(ctx, m)
		case <-follow:
			w.look(ctx)
		case <-s.deaths.died:
			w.look(ctx)
		}
		if w.stopped != nil {
			follow = nil
		}
	}
}

// look decides again what should happen to the agent.
func (w *watching) look(ctx context.Context) {
	if w.stopped != nil {
		return
	}
	l, failed := w.supervisor.look(ctx)
	if failed == nil {
		next, order := *w.r, Order{}
		seen := w.witness.seen()
		next.Used = seen.used.Tokens()
		if w.Terminal == nil { // output on a terminal is not seen
			next.Heard = seen.heard
		}
		if failed = read(l.State, func() { order = Oversee(l, &next) }); failed == nil {
			*w.r, w.order = next, order
		}
	}
	if failed == nil {
		w.warn(l)
		if !w.ending.ours {
			w.retries(ctx, l)
		}
		var next time.Time
		next, failed = w.supervisor.merge(ctx, &l)
		w.order.Next = sooner(w.order.Next, next)
	}
	w.react(ctx, l, failed)
}

// react carries out the order of a look, or deals with its failure.
func (w *watching) react(ctx context.Context, l Look, failed error) {
	switch {
	case failed == nil && !w.order.End.IsZero() && !l.Now.Before(w.order.End):
		w.ending.cut = w.order.Cut
		w.end(w.order.Reason)
	case failed == nil:
		w.silence(l)
	case taken(failed):
		w.stopped = lost(w.actor.ID, failed)
		w.end("the lease was lost")
	case inconsistent(failed):
		w.stopped = w.quarantine(failed)
		w.end("the board is inconsistent")
	case ctx.Err() == nil:
		w.report(Trouble, w.r.Task, failed.Error())
		w.order.Next = time.Time{} // a change of the board, or the poll, comes first
	}
}

// merged takes the result of a merge, and looks for the next one.
func (w *watching) merged(ctx context.Context, m merged) {
	if err := w.supervisor.merged(ctx, m); err != nil && w.stopped == nil {
		w.react(ctx, Look{}, err)
		return
	}
	w.look(ctx)
}

// silence reports once that an agent has been silent for long, and its last action.
func (w *watching) silence(l Look) {
	if !w.r.Silent || w.r.warnedOfSilence {
		return
	}
	w.r.warnedOfSilence = true
	last := "it has done nothing yet"
	if e := w.witness.seen().last; e.Line() != "" {
		last = "the last was: " + text.Line(e.Line(), 120)
	}
	w.report(Trouble, w.r.Task, fmt.Sprintf("the agent has done nothing for %s; %s", l.Now.Sub(w.r.Heard).Round(time.Second), last))
}
