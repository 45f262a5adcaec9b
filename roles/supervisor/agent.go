package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/prompt"
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

// prepare builds the prompt and the command of a run.
func (s *supervisor) prepare(ctx context.Context, l Look, step Step) (command, string, error) {
	in := prompt.Input{
		State: l.State, Agent: s.actor.ID, Role: s.Role, Root: s.root, Task: step.Task, Wake: step.Wake,
		Restarted: s.restarted(step),
	}
	if !in.Restarted {
		in.Warnings = s.warnings
	}
	dir, subject := s.root, "planning"
	if step.Wake != nil {
		subject = strings.ToLower(strings.ReplaceAll(string(step.Wake.Trigger), "_", "-"))
	}
	if step.Task != "" {
		subject = step.Task
		in.Worktree = filepath.Join(s.root, filepath.FromSlash(board.WorktreeOf(step.Task)))
		dir = in.Worktree
		if s.Role == roles.Coder {
			did, err := s.Hands.Unlock(ctx, step.Task)
			if s.mended(step.Task, did); err != nil {
				s.tell(Trouble, step.Task, err.Error())
			}
		}
		if err := s.housed(ctx, step.Task, dir); err != nil {
			return command{}, "", err
		}
	}
	if s.Role == roles.CodeReviewer {
		v, err := s.Board.View(ctx)
		if err != nil {
			return command{}, "", err
		}
		t := l.State.Task(step.Task)
		if err := l.State.Err(); err != nil {
			return command{}, "", err
		}
		if in.Review, err = s.Board.Submission(ctx, v, t); err != nil {
			return command{}, "", err
		}
	}
	var text string
	var err error
	if unread := read(l.State, func() { text, err = prompt.Build(in) }); unread != nil || err != nil {
		return command{}, "", cmp.Or(unread, err)
	}
	file, err := s.files.savePrompt(l.Now, subject, text)
	if err != nil {
		return command{}, "", err
	}
	bin, err := s.files.binary(s.Program)
	if err != nil {
		return command{}, "", err
	}
	c := command{dir: dir, env: s.environment(bin, file)}
	if s.Terminal != nil {
		c.args = append([]string{s.program}, s.CLI.InteractiveCommand(file)...)
		c.stdin, c.output, c.shares = s.Terminal, s.Terminal, true
		return c, file, nil
	}
	args, stdin := s.CLI.Command(text, file)
	c.args, c.stdin = append([]string{s.program}, args...), strings.NewReader(stdin)
	return c, file, nil
}

// housed makes sure that a task's worktree is there.
func (s *supervisor) housed(ctx context.Context, task, dir string) error {
	if s.Role == roles.CodeReviewer {
		if err := s.Hands.ForReview(ctx, task); err != nil {
			return err
		}
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	did, err := s.Hands.Mend(ctx, s.actor, task)
	s.mended(task, did)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("the worktree of %s is missing, and could not be made again: git liza doctor", task)
	}
	return nil
}

// find looks for the agent's program.
func (s *supervisor) find() (err error) {
	if s.program, err = exec.LookPath(s.CLI.Program); err != nil {
		return &StopError{Exit: 5, Reason: s.CLI.Program + " is not installed, or not in PATH", Hint: s.CLI.Install}
	}
	return nil
}

// restarted reports whether the agent was started before on what it is started on now.
func (s *supervisor) restarted(step Step) bool {
	if step.Wake != nil {
		return s.memory.Unfinished != nil && s.memory.Unfinished.Trigger == step.Wake.Trigger
	}
	return s.fresh != step.Task
}

func (s *supervisor) environment(bin, promptFile string) []string {
	path := bin
	for _, entry := range s.Environ {
		if value, is := strings.CutPrefix(entry, "PATH="); is {
			path = bin + string(os.PathListSeparator) + value
		}
	}
	set := map[string]string{
		"LIZA_AGENT_ID": s.actor.ID, "LIZA_SESSION": s.actor.Session, "LIZA_SUPERVISED": "1", "LIZA_PROMPT_FILE": promptFile, "PATH": path,
	}
	if s.key != "" {
		set["LIZA_SIGNING_KEY"] = s.key
	}
	return inherit(s.Environ, set)
}

// outputs is where an agent's output goes.
func (s *supervisor) outputs(last io.Writer) io.Writer {
	to := []io.Writer{s.log, last}
	if s.Output != nil {
		to = append(to, s.Output(s.actor.ID))
	}
	return io.MultiWriter(to...)
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

// learn draws the conclusions from the end of a run.
func (s *supervisor) learn(ctx context.Context, step Step, tip gitio.OID, exit int, ours bool, last string) error {
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	now := s.Board.Now()
	o := Outcome{At: now, Role: s.Role, Exit: exit, Ours: ours, Wake: step.Wake, Limit: s.CLI.Name}
	if o.Changed, err = s.acted(ctx, tip, v.Commit); err != nil {
		return err
	}
	t := v.State.Task(step.Task)
	if err := v.State.Err(); err != nil {
		return err
	}
	if s.Role == roles.CodeReviewer && t != nil && t.Status == board.ReadyForReview && t.ReviewingBy == "" {
		o.Declined = t
	}
	if !ours && exit != graceful && !(exit == 0 && o.Changed) {
		o.Until, o.Limited = s.CLI.Limited(last, now.Local())
	}
	s.memory.Learn(o)
	if err := s.files.keepMemory(s.memory); err != nil {
		return err
	}
	s.say(Event{Event: Ended, Task: step.Task, Text: s.ending(o), Exit: &exit})
	if o.Limited {
		s.tell(Limited, step.Task, s.memory.Why)
	}
	return s.afterwards(ctx, v.State)
}

func (s *supervisor) ending(o Outcome) string {
	text := fmt.Sprintf("exit %d", o.Exit)
	switch {
	case o.Ours:
		text += ", ended by its supervisor"
	case s.memory.Why != "" && !s.Once && s.memory.Broken(o.At) == "": // else it is not started again
		text += "; " + s.memory.Why
	}
	return text
}

// afterwards brings the agent's record in line with the end of its process.
func (s *supervisor) afterwards(ctx context.Context, state *board.State) error {
	a := state.Agent(s.actor.ID)
	if a == nil || a.Session != s.actor.Session {
		return nil // the next heartbeat says what that means
	}
	if a.Status == board.HandedOff {
		if err := s.status(ctx, board.Starting, ""); err != nil {
			return err
		}
		return s.status(ctx, board.Idle, "")
	}
	if s.memory.Limits > 0 && a.WaitingFor != s.memory.Why {
		return s.status(ctx, a.Status, s.memory.Why)
	}
	return nil
}

// unlimited takes from the agent's record what it waited for.
func (s *supervisor) unlimited(ctx context.Context, l Look) error {
	if a := l.State.Agent(s.actor.ID); a != nil && a.WaitingFor != "" {
		return s.status(ctx, a.Status, "")
	}
	return nil
}

// acted reports whether the agent has done anything on the board between two of its commits.
func (s *supervisor) acted(ctx context.Context, from, to gitio.OID) (bool, error) {
	if from == to {
		return false, nil
	}
	commits, err := s.Board.Repo().Log(ctx, from, to)
	if err != nil {
		return false, err
	}
	name, _ := oplog.Author(s.actor)
	for _, c := range commits {
		if c.Author.Name == name {
			return true, nil
		}
	}
	return false, nil
}
