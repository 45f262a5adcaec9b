package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/transcript"
)

var _ = add(func() *call.Command {
	var follow, raw bool
	var lines int
	var search, task string
	return &call.Command{
		Name: "logs", Group: "supervision", Args: "[AGENT]", Max: 1, Lasts: true,
		Short: "show an agent's output in this clone, and its supervisor's actions",
		Long: `The supervisor's own lines begin with [liza TIME], and no others do. Colours and other control characters are left
out, so that nothing an agent prints acts on your terminal. --search and --task look through all runs of the agent,
or of every agent when none is named, and print who said it, and when. Without an agent it lists those that have output here.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&follow, "follow", "f", false, "print what comes, until interrupted")
			f.IntVarP(&lines, "lines", "n", 100, "the last so many lines; 0 for all")
			f.StringVar(&search, "search", "", "the lines that have all these `WORDS`, in whatever case")
			f.StringVar(&task, "task", "", "the lines of runs on the task (`ID`)")
			f.BoolVar(&raw, "raw", false, "every byte of the transcript; not to a terminal")
		},
		Example: `git liza logs coder-1 --follow`,
		Run: func(ctx context.Context, c *call.Call) error {
			if search == "" && task == "" {
				return runLogs(ctx, c, lines, follow, raw)
			}
			if follow || raw || lines < 0 {
				return call.Usage(c.Cmd, "--search and --task go with a number of --lines, not with --follow or --raw")
			}
			return searchLogs(ctx, c, transcript.Query{Words: strings.Fields(search), Task: task}, lines)
		},
	}
})

// transcriptLine is a line of a transcript as logs shows it.
type transcriptLine struct {
	Time board.Time `json:"time,omitempty"`
	Line string     `json:"line"`
	By   string     `json:"by"` // supervisor or agent

	Agent string `json:"agent,omitempty"` // set by a search
	Task  string `json:"task,omitempty"`
}

// errUnread ends an endless command when its output has no reader any more.
var errUnread = errors.New("nobody reads on")

func runLogs(ctx context.Context, c *call.Call, lines int, follow, raw bool) error {
	if len(c.Args) == 0 {
		return listLogs(ctx, c)
	}
	agent := c.Args[0]
	switch {
	case lines < 0:
		return call.Usage(c.Cmd, "--lines is a number of lines, not %d", lines)
	case raw && c.JSON:
		return call.Usage(c.Cmd, "--raw and --json exclude each other")
	case raw && c.App.ToTerminal():
		return call.Usage(c.Cmd, "--raw is for a file or a program, not for a terminal")
	}
	if _, err := agentsWithLogs(c.Board.Dir(), agent); err != nil {
		return err
	}
	emit := func(line []byte) error { return printLogLine(c, line) }
	if raw {
		emit = func(line []byte) error { return write(c, append(line[:len(line):len(line)], '\n')) }
	}
	if err := transcript.Read(ctx, c.Board.Dir(), agent, lines, follow, emit); !errors.Is(err, errUnread) {
		return err
	}
	return nil
}

// listLogs lists the agents with a transcript in this clone, each with the task that it has.
func listLogs(ctx context.Context, c *call.Call) error {
	agents, err := agentsWithLogs(c.Board.Dir(), "")
	if err != nil {
		return err
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, id := range agents {
		row := []string{id, "", ""}
		if t := report.TaskOf(v.State, id); t != nil {
			row = []string{id, t.ID, t.Heading()}
		}
		rows = append(rows, row)
	}
	lines := call.Columns("", rows)
	if len(agents) == 0 {
		lines = []string{"no agent has run under a supervisor in this clone"}
	}
	return call.Tell(c, map[string]any{"agents": call.Every(agents)}, lines...)
}

// agentsWithLogs are the agents that have a transcript in this clone: the named one, or all for "".
func agentsWithLogs(dir, agent string) ([]string, error) {
	agents, err := transcript.Agents(dir)
	switch {
	case err != nil || agent == "":
		return agents, err
	case slices.Contains(agents, agent):
		return []string{agent}, nil
	}
	hint := "no agent has run under a supervisor here"
	if len(agents) > 0 {
		hint = "there are those of " + strings.Join(agents, ", ")
	}
	return nil, board.Refuse(board.CodeUnknownAgent, fmt.Sprintf("there is no transcript of %q in this clone", text.Line(agent, 40)), hint)
}

// searchLogs prints the lines that match a query in the transcripts of one agent or of all.
func searchLogs(ctx context.Context, c *call.Call, q transcript.Query, last int) error {
	agents, err := agentsWithLogs(c.Board.Dir(), strings.Join(c.Args, ""))
	if err != nil {
		return err
	}
	found, err := transcript.Search(ctx, c.Board.Dir(), agents, q, last, visibleLines)
	if err != nil {
		return err
	}
	var lines []string
	for _, f := range found {
		by, at := "agent", board.Time("")
		if f.Own {
			by = "supervisor"
		}
		if !f.Time.IsZero() {
			at = board.At(f.Time)
		}
		if c.JSON {
			if err := c.PrintJSON(transcriptLine{at, f.Line, by, f.Agent, f.Task}); err != nil {
				return err
			}
			continue
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s", f.Agent, at))+"  "+f.Line)
	}
	if c.JSON {
		return nil
	}
	return c.Say(lines...)
}

// visibleLines makes a printed line safe for a terminal. A carriage return also ends a line. What
// only then reads like a line of the supervisor's own gets a space before it.
func visibleLines(line []byte) []string {
	texts := strings.Split(strings.TrimSuffix(text.Visible(text.Unstyled(string(line))), "\n"), "\n")
	_, _, own := transcript.Parse(string(line))
	for i, raw := range texts {
		if _, _, reads := transcript.Parse(raw); reads && (i > 0 || !own) {
			texts[i] = " " + raw
		}
	}
	return texts
}

// printLogLine prints a line of a transcript. A carriage return also ends a line.
func printLogLine(c *call.Call, line []byte) error {
	for _, text := range visibleLines(line) {
		at, words, own := transcript.Parse(text)
		out := text + "\n"
		switch {
		case c.JSON && own:
			if err := c.PrintJSON(transcriptLine{Time: board.At(at), Line: words, By: "supervisor"}); err != nil {
				return err
			}
			out = ""
		case c.JSON:
			if err := c.PrintJSON(transcriptLine{Line: text, By: "agent"}); err != nil {
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

// write prints bytes unchanged, and returns an error when they have no reader any more.
func write(c *call.Call, p []byte) error {
	if _, err := c.App.Stdout.Write(p); err != nil {
		return err
	}
	if u, is := c.App.Stdout.(*call.Unread); is && u.Gone {
		return errUnread
	}
	return nil
}
