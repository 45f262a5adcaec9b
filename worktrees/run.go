package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/hooks/install"
)

// Command is one of the project's own commands: config's worktree_setup, or the integration test.
type Command struct {
	Name    string // how errors speak of it
	Script  string // for sh -c
	Dir     string
	Repo    *gitio.Repo   // whose refs it may not move; nil for none
	Env     []string      // in addition to what ownEnv leaves of this process's
	Timeout time.Duration // 0 for none
	Output  io.Writer     // stdout and stderr; nil for nowhere
}

// FailedError is a command of the project's that did not succeed.
type FailedError struct {
	Name     string
	Exit     int // -1 when it was ended by a signal
	TimedOut bool
	Timeout  time.Duration
	Tail     string // the end of its output, where it was captured
}

// Error returns one sentence, with the last line of the output.
func (e *FailedError) Error() string {
	text := fmt.Sprintf("%s failed (exit %d)", e.Name, e.Exit)
	if e.TimedOut {
		text = fmt.Sprintf("%s took longer than %s", e.Name, e.Timeout)
	}
	lines := strings.Split(strings.TrimSpace(e.Tail), "\n")
	if last := plain.Line(lines[len(lines)-1], 200); last != "" {
		text += ": " + last
	}
	return text
}

// patience is how long a command that is to end may take for it, before it's killed.
const patience = 5 * time.Second

// Run runs a command in a process group of its own. When it takes too long, or the context ends, the
// whole group is ended. The error is a *FailedError, or the context's cause.
func Run(ctx context.Context, c Command) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	cmd := exec.CommandContext(limited, "sh", "-c", c.Script)
	cmd.Dir = c.Dir
	cmd.Env = ownEnv()
	if c.Repo != nil {
		cmd.Env = install.Hooked(c.Repo, cmd.Env)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = patience
	gitio.OwnGroup(cmd)
	err := cmd.Run()
	if limited.Err() != nil {
		gitio.EndGroup(cmd)
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && limited.Err() == nil:
		return nil // ErrWaitDelay: it succeeded, and left something running that holds its output
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return &FailedError{Name: c.Name, Exit: -1, TimedOut: true, Timeout: c.Timeout}
	case errors.As(err, &exit):
		return &FailedError{Name: c.Name, Exit: exit.ExitCode()}
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

// actors are the variables that say who acts, and with which key.
var actors = []string{"LIZA_AGENT_ID", "LIZA_SESSION", "LIZA_SIGNING_KEY", "LIZA_PROMPT_FILE", "LIZA_SUPERVISED"}

// ownEnv is this process's environment for a command that looks for its own repository. It runs what agents have written,
// so it acts for nobody: not as an agent, not with anybody's key, and not as the human below whom it runs.
func ownEnv() []string {
	env := slices.DeleteFunc(gitio.Elsewhere(os.Environ()), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return slices.Contains(actors, key)
	})
	return append(env, "LIZA_SUPERVISED=1")
}

// Tail makes the end of a command's output fit for a record: valid, visible text of at most max bytes
// that begins at a line's begin.
func Tail(output string, max int) string {
	text := strings.TrimSpace(plain.Visible(strings.ToValidUTF8(output, "\uFFFD")))
	if len(text) <= max {
		return text
	}
	text = text[len(text)-max:]
	if _, rest, found := strings.Cut(text, "\n"); found {
		return rest
	}
	for !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
