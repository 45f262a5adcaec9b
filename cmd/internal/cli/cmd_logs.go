package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/roles/transcript"
)

var _ = add(logsCommand)

func logsCommand() *edge.Command {
	var follow, raw bool
	var lines int
	return &edge.Command{
		Name: "logs", Group: "supervision", Args: "AGENT", Min: 1, Max: 1,
		Short: "what an agent printed in this clone, and what its supervisor did",
		Long: `The supervisor's own lines begin with [liza TIME]. Colours and other control characters are left out, so that
nothing an agent prints acts on your terminal.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&follow, "follow", "f", false, "print what comes, until interrupted")
			f.IntVarP(&lines, "lines", "n", 100, "the last so many lines; 0 for all")
			f.BoolVar(&raw, "raw", false, "every byte as the agent printed it; not to a terminal")
		},
		Example: `git liza logs coder-1 --follow`,
		Run:     func(c *edge.Call) error { return runLogs(c, lines, follow, raw) },
	}
}

// transcriptLine is a line as logs shows it.
type transcriptLine struct {
	Time board.Time `json:"time,omitempty"`
	Line string     `json:"line"`
	By   string     `json:"by"` // supervisor or agent
}

// errUnread ends a command that would print for ever, once nobody reads it.
var errUnread = errors.New("nobody reads on")

func runLogs(c *edge.Call, lines int, follow, raw bool) error {
	agent := c.Args[0]
	b, err := c.Board()
	if err != nil {
		return err
	}
	switch {
	case lines < 0:
		return edge.Usage(c.Cmd, "--lines is a number of lines, not %d", lines)
	case raw && c.JSON:
		return edge.Usage(c.Cmd, "--raw and --json exclude each other")
	case raw && c.ToTerminal():
		return edge.Usage(c.Cmd, "--raw is for a file or a program, not for a terminal")
	}
	agents, err := transcript.Agents(b.Dir())
	if err != nil {
		return err
	}
	if !slices.Contains(agents, agent) {
		hint := "no agent has run under a supervisor here"
		if len(agents) > 0 {
			hint = "there are those of " + strings.Join(agents, ", ")
		}
		return board.Refuse(board.CodeUnknownAgent, fmt.Sprintf("there is no transcript of %q in this clone", plain.Line(agent, 40)), hint)
	}
	emit := func(line []byte) error { return printLogLine(c, line) }
	if raw {
		emit = func(line []byte) error { return write(c, append(line[:len(line):len(line)], '\n')) }
	}
	if err := transcript.Read(c.Ctx, b.Dir(), agent, lines, follow, emit); !errors.Is(err, errUnread) {
		return err
	}
	return nil
}

// printLogLine prints a line of a transcript; a carriage return ends one, too.
func printLogLine(c *edge.Call, line []byte) error {
	for text := range strings.SplitSeq(strings.TrimSuffix(plain.Visible(plain.Unstyled(string(line))), "\n"), "\n") {
		at, words, own := transcript.Parse(text)
		out := text + "\n"
		switch {
		case c.JSON && own:
			if err := c.PrintJSON(transcriptLine{board.At(at), words, "supervisor"}); err != nil {
				return err
			}
			out = ""
		case c.JSON:
			if err := c.PrintJSON(transcriptLine{"", text, "agent"}); err != nil {
				return err
			}
			out = ""
		case own:
			out = c.Paint().With("2", text) + "\n"
		}
		if err := write(c, []byte(out)); err != nil {
			return err
		}
	}
	return nil
}

// write prints bytes as they are, and reports when nobody reads them any more.
func write(c *edge.Call, p []byte) error {
	if _, err := c.App.Stdout.Write(p); err != nil {
		return err
	}
	if u, is := c.App.Stdout.(*edge.Unread); is && u.Gone {
		return errUnread
	}
	return nil
}
