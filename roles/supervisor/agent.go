package supervisor

import (
	"context"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard/oplog"
)

// tailBytes is how much of an agent's last words is searched for a quota message.
const tailBytes = 16 << 10

// start runs the agent once, on its task or its wake-up, and learns from its end.
func (s *supervisor) start(ctx context.Context, l Look, step Step) error {
	c, file, err := s.prepare(ctx, l, step)
	if err != nil {
		return err
	}
	if err := s.unlimited(ctx, l); err != nil {
		return err
	}
	s.fresh, s.warnings = "", nil
	last := &tail{max: tailBytes}
	if s.Terminal == nil {
		c.output = s.outputs(last)
	}
	if step.Wake != nil { // should this process die, the next one goes on
		s.memory.Unfinished = step.Wake
		if err := s.files.keepMemory(s.memory); err != nil {
			return err
		}
	}
	began := l.State
	tip, err := s.Board.Repo().Ref(ctx, oplog.Ref)
	if err != nil {
		return err
	}
	p, err := start(c)
	if err != nil {
		return &StopError{Exit: 5, Reason: fmt.Sprintf("%s can't be started: %v", s.CLI.Name, err), Hint: s.CLI.Install}
	}
	if err := s.files.keepProcess("process", p.cmd.Process.Pid); err != nil {
		s.tell(Trouble, step.Task, "should this process die, the agent may be left running: "+err.Error())
	}
	s.say(Event{Event: Started, Task: step.Task, Text: s.occasion(step), Prompt: file})
	r := &Running{Task: step.Task}
	if t := began.Task(step.Task); t != nil {
		r.Events = len(t.History)
	}
	ended, ours, err := s.oversee(ctx, p, r)
	_ = s.files.drop("process") // it names nothing that runs
	if err != nil {
		return err
	}
	if err := s.pulse.sure(ctx); taken(err) {
		return err
	}
	return s.learn(ctx, step, tip, ended, ours, last.String())
}

// occasion says why the agent is started.
func (s *supervisor) occasion(step Step) string {
	if step.Wake != nil {
		return string(step.Wake.Trigger)
	}
	return s.CLI.Name
}

// oversee watches over a running agent until it has ended. An error is the end of the supervisor, too.
func (s *supervisor) oversee(ctx context.Context, p *process, r *Running) (exit int, ours bool, err error) {
	var order Order
	var kill <-chan time.Time
	end := func(reason string) {
		if !ours {
			s.tell(Ending, r.Task, reason)
			p.terminate()
			ours, kill = true, time.After(killAfter)
		}
	}
	done, lostLease, follow := ctx.Done(), s.pulse.lost, s.follow
	for {
		var timer <-chan time.Time
		if !order.End.IsZero() && !ours {
			timer = time.After(order.End.Sub(s.Board.Now()))
		}
		select {
		case ended := <-p.done:
			return exitCode(ended), ours, err
		case <-kill:
			p.kill()
		case <-timer:
			end(order.Reason)
		case <-done:
			done, follow = nil, nil
			if err == nil { // a lease that is lost stays so
				err = ctx.Err()
			}
			end("the supervisor is told to end")
		case taken := <-lostLease:
			err, lostLease, follow = lost(s.actor.ID, taken), nil, nil
			end("the lease was lost")
		case <-follow:
			l, failed := s.look(ctx)
			if failed == nil {
				next, seen := *r, Order{}
				if failed = read(l.State, func() { seen = Oversee(l, &next) }); failed == nil {
					*r, order = next, seen
				}
			}
			switch {
			case failed == nil:
			case inconsistent(failed):
				err, follow = s.quarantine(failed), nil
				end("the board is inconsistent")
			case ctx.Err() == nil:
				s.tell(Trouble, r.Task, failed.Error())
			}
		}
	}
}
