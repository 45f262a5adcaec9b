package worktrees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/commands"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks/install"
)

// Command is a command that the project configures: worktree_setup or the integration test.
type Command struct {
	Name    string // the name that errors use
	Script  string // for sh -c
	Dir     string
	Repo    *git.Repo     // the repository whose refs it must not move; nil for none
	Env     []string      // in addition to what ownEnv leaves of this process's
	Alone   bool          // it gets none of this process's environment but PATH
	Timeout time.Duration // 0 for none
	Output  io.Writer     // stdout and stderr; nil discards them
}

// FailedError reports that a command of the project failed.
type FailedError struct {
	Name     string
	Exit     int // -1 if a signal ended it
	TimedOut bool
	Timeout  time.Duration
	Tail     string // the end of its output, if captured
}

// Error returns one sentence with the last line of the output.
func (e *FailedError) Error() string {
	line := fmt.Sprintf("%s failed (exit %d)", e.Name, e.Exit)
	if e.TimedOut {
		line = fmt.Sprintf("%s took longer than %s", e.Name, e.Timeout)
	}
	lines := strings.Split(strings.TrimSpace(e.Tail), "\n")
	if last := text.Line(lines[len(lines)-1], 200); last != "" {
		line += ": " + last
	}
	return line
}

// patience is how long a command may take to end before it is killed.
const patience = 5 * time.Second

// Run runs a command in its own process group. After the timeout, or when the context ends, it ends
// the whole group. The error is a *FailedError or the context's cause.
func Run(ctx context.Context, c Command) error {
	if !proc.Groups {
		return fmt.Errorf("the project's commands don't run on %s: the processes that they start could not be ended; use Linux, macOS or WSL", runtime.GOOS)
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	// The shell waits for a line, so that the script's process is on record before the script runs.
	cmd := exec.CommandContext(limited, "sh", "-c", `read -r line && exec sh -c "$1" </dev/null`, "sh", c.Script)
	cmd.Dir = c.Dir
	cmd.Env = ownEnv(ctx)
	if c.Alone {
		cmd.Env = []string{"PATH=" + gitenv.Of(ctx).Get("PATH"), "LANG=C.UTF-8", "LIZA_SUPERVISED=1"}
	}
	if c.Repo != nil {
		cmd.Env = install.Hooked(c.Repo, cmd.Env)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = patience
	proc.OwnGroup(cmd)
	err := c.run(cmd)
	if limited.Err() != nil {
		proc.EndGroup(cmd)
	}
	if c.Repo != nil && cmd.Process != nil {
		commands.Release(c.Repo, cmd.Process.Pid)
	}
	return c.outcome(ctx, limited, err)
}

// run runs the command with its process on record.
func (c Command) run(cmd *exec.Cmd) error {
	gate, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.Repo != nil {
		err = commands.Record(c.Repo, cmd.Process.Pid, c.Dir)
		defer commands.Hold(c.Repo, cmd.Process.Pid)()
	}
	if err == nil {
		_, _ = io.WriteString(gate, "\n") // an error means that the shell has been ended
	}
	gate.Close()
	return cmp.Or(err, cmd.Wait())
}

// outcome translates the error of a command that ran in limited, which is ctx with its timeout.
func (c Command) outcome(ctx, limited context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && limited.Err() == nil:
		return nil // ErrWaitDelay: it succeeded, and left something running that holds its output
	case ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		return &FailedError{Name: c.Name, Exit: -1, TimedOut: true, Timeout: c.Timeout}
	case limited.Err() != nil:
		return context.Cause(limited)
	case errors.As(err, &exit):
		return &FailedError{Name: c.Name, Exit: exit.ExitCode()}
	}
	return fmt.Errorf("%s: %w", c.Name, err)
}

// actors are the variables that identify the actor, and the actor's key.
var actors = []string{"LIZA_AGENT_ID", "LIZA_SESSION", "LIZA_SIGNING_KEY", "LIZA_PROMPT_FILE", "LIZA_SUPERVISED", "LIZA_TOKEN"}

// ownEnv is the environment for a command that finds its own repository. The command runs code that
// agents have written, so it must not act for anybody: not as an agent, not with a key or a host's
// token, and not as the human who started this process.
func ownEnv(ctx context.Context) []string {
	drop := append(forge.Tokens(), actors...)
	env := slices.DeleteFunc(gitenv.Elsewhere(gitenv.Of(ctx)), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return slices.Contains(drop, key)
	})
	return append(env, "LIZA_SUPERVISED=1")
}

// Tail shortens the end of a command's output for a record: valid, visible text of at most max
// bytes that begins at the start of a line.
func Tail(output string, max int) string {
	line := strings.TrimSpace(text.Visible(strings.ToValidUTF8(output, "\uFFFD")))
	if len(line) <= max {
		return line
	}
	line = line[len(line)-max:]
	if _, rest, found := strings.Cut(line, "\n"); found {
		return rest
	}
	for !utf8.RuneStart(line[0]) {
		line = line[1:]
	}
	return line
}

// Unknown returns a script's first word if it is a command that the shell of Run doesn't know on this
// machine, otherwise "". A path may be there only where the script runs.
func Unknown(ctx context.Context, script string) string {
	word, _, _ := strings.Cut(script, " ")
	plain, err := regexp.MatchString(`^\w[\w.+-]*$`, word)
	if !plain || err != nil || exec.CommandContext(ctx, "sh", "-c", "command -v "+word).Run() == nil {
		return ""
	}
	return word
}
