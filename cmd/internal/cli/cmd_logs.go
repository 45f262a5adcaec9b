package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles/transcript"
)

func logsCommand() *command {
	var follow, raw bool
	var lines int
	return &command{
		name: "logs", group: "supervision", args: "AGENT", min: 1, max: 1,
		short: "what an agent printed in this clone, and what its supervisor did",
		long: `The supervisor's own lines begin with [liza TIME]. Colours and other control characters are left out, so that
nothing an agent prints acts on your terminal.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&follow, "follow", "f", false, "go on with what is printed from now on")
			f.IntVarP(&lines, "lines", "n", 100, "the last so many lines; 0 for all")
			f.BoolVar(&raw, "raw", false, "every byte as the agent printed it; not to a terminal")
		},
		run: func(c *call) error { return c.runLogs(lines, follow, raw) },
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

func (c *call) runLogs(lines int, follow, raw bool) error {
	agent := c.args[0]
	b, err := c.board()
	if err != nil {
		return err
	}
	switch {
	case lines < 0:
		return usage(c.cmd, "--lines is a number of lines, not %d", lines)
	case raw && c.json:
		return usage(c.cmd, "--raw and --json exclude each other")
	case raw && c.toTerminal():
		return usage(c.cmd, "--raw is for a file or a program, not for a terminal")
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
		return board.Refuse("unknown-agent", fmt.Sprintf("there is no transcript of %q in this clone", board.Line(agent, 40)), hint)
	}
	emit := c.logLine
	if raw {
		emit = func(line []byte) error { return c.write(append(line[:len(line):len(line)], '\n')) }
	}
	if err := transcript.Read(c.ctx, b.Dir(), agent, lines, follow, emit); !errors.Is(err, errUnread) {
		return err
	}
	return nil
}

// logLine prints a line of a transcript; a carriage return ends one, too.
func (c *call) logLine(line []byte) error {
	for text := range strings.SplitSeq(strings.TrimSuffix(board.Visible(board.Unstyled(string(line))), "\n"), "\n") {
		at, words, own := transcript.Parse(text)
		out := text + "\n"
		switch {
		case c.json && own:
			if err := c.printJSON(transcriptLine{board.At(at), words, "supervisor"}); err != nil {
				return err
			}
			out = ""
		case c.json:
			if err := c.printJSON(transcriptLine{"", text, "agent"}); err != nil {
				return err
			}
			out = ""
		case own:
			out = c.paint().with("2", text) + "\n"
		}
		if err := c.write([]byte(out)); err != nil {
			return err
		}
	}
	return nil
}

// write prints bytes as they are, and tells when nobody reads them any more.
func (c *call) write(p []byte) error {
	if _, err := c.app.Stdout.Write(p); err != nil {
		return err
	}
	if u, is := c.app.Stdout.(*unread); is && u.gone {
		return errUnread
	}
	return nil
}
