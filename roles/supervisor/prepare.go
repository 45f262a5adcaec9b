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

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/prompt"
)

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
