package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// supervision are the flags of whatever runs agents.
type supervision struct {
	cli, exec, only string
	once, fresh     bool
	given           func(flag string) bool
}

func (s *supervision) add(f *pflag.FlagSet) {
	f.StringVar(&s.cli, "cli", "claude", "the CLI that is the agent: claude, codex, gemini, vibe, or one from git's configuration")
	s.given = f.Changed
	f.BoolVar(&s.fresh, "fresh", false, "no run continues an earlier conversation of its CLI")
	f.StringVar(&s.exec, "exec", "", "run `CMD` by sh instead: the prompt is its input, and in $LIZA_PROMPT_FILE")
}

// supervise prepares the supervisor of an agent, with a board of its own.
func supervise(c *edge.Call, role roles.Role, s supervision) (supervisor.Config, error) {
	none := supervisor.Config{}
	if c.Supervised() {
		return none, board.Refuse(board.CodePermission, "below a supervisor no agents are started", "go on with your own task: git liza prime")
	}
	c.App.OutlivePipes()
	b, err := c.Board()
	if err != nil {
		return none, err
	}
	if s.only != "" && role == roles.Planner {
		return none, edge.Usage(c.Cmd, "--task is for coders and reviewers: a planner plans the whole goal")
	}
	if s.only != "" {
		v, err := b.View(c.Ctx)
		if err != nil {
			return none, err
		}
		if _, err := v.State.FindTask(s.only); err != nil {
			return none, err
		}
	}
	cli, err := agentCLI(c, s)
	if err != nil {
		return none, err
	}
	program, err := os.Executable()
	if err != nil {
		return none, fmt.Errorf("where this program lies is unknown: %w", err)
	}
	key := &signing.SessionKey{C: c}
	own, err := gitboard.Open(c.Ctx, c.Directory(), gitboard.Options{Now: c.App.Now, Random: c.App.Random, Key: key.Of})
	if err != nil {
		return none, err
	}
	process := c.Process()
	process.PID = os.Getpid()
	return supervisor.Config{
		Board: own, Hands: hands{own}, Role: role, CLI: cli, Only: s.only, Once: s.once, Fresh: s.fresh, Key: key.Prepare,
		Process: process, Program: program, Environ: install.Hooked(own.Repo(), os.Environ()),
	}, nil
}

func agentCLI(c *edge.Call, s supervision) (clis.CLI, error) {
	switch {
	case !s.given("exec"):
	case strings.TrimSpace(s.exec) == "":
		return clis.CLI{}, edge.Usage(c.Cmd, "--exec needs a command")
	case s.given("cli"):
		return clis.CLI{}, edge.Usage(c.Cmd, "--cli and --exec both say what the agent is: give one")
	default:
		return clis.Exec(s.exec), nil
	}
	var failed error
	cli, err := clis.FromConfig(s.cli, func(key string) string {
		value, _, err := c.Opened.Repo().Config(c.Ctx, key)
		if err != nil {
			failed = err
		}
		return value
	})
	if failed != nil {
		return cli, failed
	}
	return cli, err
}

// teller prints what supervisors tell, and what their agents print.
type teller struct {
	c    *edge.Call
	bell *bell
}

func (t *teller) tell(e supervisor.Event) {
	t.bell.ring(e)
	if t.c.JSON {
		_ = t.c.PrintJSON(e) // whoever read it has gone
		return
	}
	fmt.Fprintln(t.c.App.Stderr, eventLine(t.c.Paint(), e))
}

// output is where an agent's output goes: to the terminal, unless a program reads.
func (t *teller) output(string) io.Writer {
	if t.c.JSON {
		return io.Discard
	}
	return &visible{to: t.c.App.Stdout}
}

// visible passes an agent's output on, line by line, without what would move the cursor.
type visible struct {
	to   io.Writer
	rest string
}

func (v *visible) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(v.rest+string(p), "\n")
	v.rest = lines[len(lines)-1]
	if len(v.rest) > 64<<10 { // a line without end
		lines, v.rest = append(lines, ""), ""
	}
	for _, line := range lines[:len(lines)-1] {
		_, _ = io.WriteString(v.to, board.Visible(strings.ToValidUTF8(line, "\uFFFD"))) // the transcript has it all
	}
	return len(p), nil
}
