package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	watch, fresh := false, false
	var goal string
	return &call.Command{
		Name: "status", Group: "human", Max: 0, Reads: true, Lasts: true,
		Short: "show the run on one screen: what waits for whom, who does what",
		Long: `Line 1 says what waits for whom, and when something last happened. A task that does not move by itself is marked
with "!". The width is the terminal's, or COLUMNS; the height decides how many tasks of each state are shown.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&watch, "watch", "w", false, "keep the screen live, and answer, review and steer from it; ? lists the keys")
			call.NarrowFlag(f, &goal)
			f.BoolVar(&fresh, "fresh", false, "ask the remote of a shared board first")
		},
		Example: `git liza status --watch`,
		Run: func(ctx context.Context, c *call.Call) error {
			if watch {
				return screen.Watch(ctx, c, goal)
			}
			seen, err := c.Seen(ctx, fresh)
			if err != nil {
				return err
			}
			g, err := screen.Glance(ctx, c, goal)
			if err != nil {
				return err
			}
			o, err := g.Of(goal).Overview(c.Moment(g.State))
			if err != nil {
				return err
			}
			you := ""
			if id := c.AgentID(); id != "" && c.At == "" {
				me, err := prime.Of(ctx, c, g.View, "")
				if err != nil {
					return err
				}
				o.ForAgent, you = true, me.Line()
			}
			if c.JSON {
				return c.PrintJSON(statusReport{g.Commit, seen, you, o})
			}
			p := c.Page()
			var above, below []string
			if you != "" {
				above = []string{p.Fit(you, p.Width)}
			}
			if seen != nil {
				below = append(below, p.Fit(seen.Line(c.App.Now()), p.Width))
			}
			p.Height -= len(above) + len(below)
			return c.Print(slices.Concat(above, screen.Status(p, o, screen.Reasons(g.State), screen.Choice{}), below))
		},
	}
})

// statusReport is the overview as --json prints it.
type statusReport struct {
	Commit plumbing.OID `json:"commit"`
	Remote *call.SeenAt `json:"remote,omitempty"`
	You    string       `json:"you,omitempty"` // an agent that asks: who it is, and its next step
	*report.Overview
}

var _ = add(func() *call.Command {
	var goal string
	return &call.Command{
		Name: "inbox", Group: "human", Max: 0, Reads: true,
		Short: "list what waits for a human, with the command that answers each item",
		Long: `What holds up most comes first: a stop of the whole board, then what most tasks wait for. What a planner that is
there looks at before you comes last.`,
		Flags:   func(f *pflag.FlagSet) { call.NarrowFlag(f, &goal) },
		Example: `git liza inbox`,
		Run: func(ctx context.Context, c *call.Call) error {
			g, err := screen.Glance(ctx, c, goal)
			if err != nil {
				return err
			}
			in, err := g.Of(goal).Inbox(c.Moment(g.State))
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(in)
			}
			return call.PrintDated(ctx, c, screen.Inbox(c.Page(), in))
		},
	}
})

var _ = add(func() *call.Command {
	var brief bool
	return &call.Command{
		Name: "show", Group: "human", Args: "ID", Min: 1, Max: 1, Reads: true,
		Short: "show a task as a story: what it is, and what happened to it; or any other record",
		Long: `ID is a task, an agent, a note, an anomaly, a discovery or a spec change; or goal, sprint, config, control,
circuit_breaker. With --json the record is printed as git liza read has it.`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&brief, "brief", false, "of a task: without its history") },
		Example: `git liza show login`,
		Run: viewing(func(ctx context.Context, c *call.Call, v *gitboard.View) error {
			id := c.Args[0]
			path := records.Called(v.State, id)
			if path == "" {
				t, err := v.State.FindTask(id)
				if err != nil {
					return err
				}
				if !c.JSON {
					return showTask(ctx, c, v, t, brief)
				}
				path = "tasks." + t.ID
			}
			n, err := records.Part(ctx, c, v, []string{path})
			if err != nil {
				return err
			}
			if c.JSON {
				return records.PrintNode(c, n)
			}
			lines, err := recordLines(c, c.Page(), v, id, n)
			if err != nil {
				return err
			}
			return c.Print(lines)
		}),
	}
})

func showTask(ctx context.Context, c *call.Call, v *gitboard.View, t *board.Task, brief bool) error {
	f, err := screen.FactsOf(ctx, c, v, t)
	if err != nil {
		return err
	}
	return c.Print(f.Story(c.Page(), brief))
}

// recordLines shows a record field by field; for an agent also the task that it holds.
func recordLines(c *call.Call, p call.Page, v *gitboard.View, id string, n *yaml.Node) ([]string, error) {
	l := call.Labels{Page: p, Names: 18, Lines: []string{p.Bold(p.Fit(id, p.Width)), ""}}
	for _, key := range codec.Keys(n) {
		value, err := codec.Lookup(n, []string{key})
		if err != nil {
			return nil, err
		}
		text, err := codec.Render(value)
		if err != nil {
			return nil, err
		}
		switch t, err := board.ParseTime(strings.TrimSpace(text)); {
		case key == "session":
			continue
		case err == nil && key == "lease_expires":
			text = string(t) + ", " + screen.LeaseLeft(c.App.Now(), t)
		case err == nil && c.At == "":
			text = string(t) + ", " + call.Since(c.App.Now(), t) + " ago"
		}
		l.Add(strings.ReplaceAll(key, "_", " "), text)
	}
	if v.State.Agent(id) != nil {
		for _, b := range v.State.Tasks() {
			if !b.Status.Terminal() && slices.Contains([]string{b.AssignedTo, b.ReviewingBy, b.ApprovedBy}, id) {
				l.Add("in hand", fmt.Sprintf("%s, %s", b.ID, b.Status))
			}
		}
	}
	return l.Lines, v.State.Err()
}

var _ = add(func() *call.Command {
	var o history.Options
	return &call.Command{
		Name: "log", Group: "human", Args: "[TASK]", Max: 1, Reads: true, Lasts: true,
		Short: "list the operations, newest first",
		Long: `Filters are combined. --follow begins with the last ten (-n: another number) and continues as they happen, the
newest last. --yaml prints them, the oldest first, as log.yaml of the older form had them. git log liza/state shows the same
with git's own means.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Task, "task", "", "of this `TASK`")
			f.StringVar(&o.Agent, "agent", "", "by this `AGENT` (or human)")
			f.StringVar(&o.Op, "op", "", "of this kind, like verdict")
			f.StringVar(&o.Since, "since", "", "not before this time, or for so long: 2h")
			f.IntVarP(&o.Max, "max", "n", 0, "at most so many")
			f.BoolVarP(&o.Patch, "patch", "p", false, "with what each changed in the records")
			f.BoolVarP(&o.Follow, "follow", "f", false, "print new ones as they happen, until interrupted")
			f.BoolVar(&o.Yaml, "yaml", false, "as the entries of a log.yaml")
		},
		Example: `git liza log login --since 2h --patch`,
		Run: func(ctx context.Context, c *call.Call) error {
			if len(c.Args) == 1 {
				o.Task = c.Args[0]
			}
			switch {
			case o.Yaml && (c.JSON || o.Patch):
				return call.Usage(c.Cmd, "--yaml goes without --json and --patch")
			case o.Follow && c.At != "":
				return call.Usage(c.Cmd, "--follow starts now, not --at another time")
			}
			return history.Print(ctx, c, o)
		},
	}
})

var _ = add(func() *call.Command {
	var since bool
	return &call.Command{
		Name: "diff", Group: "human", Args: "A [B]", Min: 1, Max: 2,
		Short: "show what changed on the board between two commits or times, field by field; or a task's submission",
		Long: `Without B it is the board as it is now. A task's id shows the patch of its last submission, as git liza review does with
--diff.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&since, "since-last", false, "of a task: what is new since the submission before")
		},
		Example: "git liza diff liza/state~1\ngit liza diff login --since-last",
		Run: func(ctx context.Context, c *call.Call) error {
			b := c.Board
			v, err := b.View(ctx)
			if err != nil {
				return err
			}
			if t := v.State.Task(c.Args[0]); t != nil && len(c.Args) == 1 {
				return screen.ShowPatch(ctx, c, t, since)
			}
			if since {
				return call.Usage(c.Cmd, "--since-last is for a task, and %s is not one", text.Line(c.Args[0], 70))
			}
			old, err := b.ViewAt(ctx, c.Args[0])
			if err != nil {
				return err
			}
			var now *gitboard.View
			if len(c.Args) == 2 {
				now, err = b.ViewAt(ctx, c.Args[1])
			} else {
				now, err = b.View(ctx)
			}
			if err != nil {
				return err
			}
			all, err := records.CompareBoards(old.State, now.State)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"from": old.Commit, "to": now.Commit, "changes": all})
			}
			if len(all) == 0 {
				return c.Say("no difference")
			}
			p := c.Page()
			lines := make([]string, len(all))
			for i, ch := range all {
				lines[i] = records.Coloured(p.Paint, p.Fit(ch.String(), p.Width), ch)
			}
			return c.Print(lines)
		},
	}
})

var _ = add(func() *call.Command {
	var dot, mermaid, open bool
	var goal string
	return &call.Command{
		Name: "graph", Group: "human", Max: 0, Reads: true,
		Short: "show which task waits for which, with the critical path marked",
		Long: `As text, tasks of one number can be worked on at the same time: those of 0 now, those of 1 once what they wait
for of 0 is merged, and so on, in the order in which coders get them. The critical path is the longest chain of unfinished tasks; "*" marks it.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&dot, "dot", false, "for Graphviz: git liza graph --dot | dot -Tsvg")
			f.BoolVar(&mermaid, "mermaid", false, "for Mermaid, as in Markdown")
			call.NarrowFlag(f, &goal)
			f.BoolVar(&open, "open", false, "without the tasks that are over")
		},
		Example: `git liza graph --dot | dot -Tsvg > graph.svg`,
		Run: func(ctx context.Context, c *call.Call) error {
			if dot && mermaid || c.JSON && (dot || mermaid) {
				return call.Usage(c.Cmd, "--dot, --mermaid and --json are three forms: choose one")
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if err := call.Narrowed(v.State, goal); err != nil {
				return err
			}
			var tasks []board.Brief
			for _, b := range call.TasksOf(v.State, goal) {
				if !open || !b.Status.Terminal() {
					tasks = append(tasks, b)
				}
			}
			if err := v.State.Err(); err != nil {
				return err
			}
			g := report.GraphOn(v.State, tasks)
			switch {
			case c.JSON:
				return c.PrintJSON(g)
			case dot:
				return c.Print(screen.DotGraph(g))
			case mermaid:
				return c.Print(screen.MermaidGraph(g))
			}
			return c.Print(screen.TextGraph(c.Page(), g))
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "report", Group: "human", Args: "FILE.html", Min: 1, Max: 1, Reads: true,
		Short: "the run as one file for a browser: the pages of git liza web, for somebody without git liza",
		Long: `The file needs nothing else: no server, no network, no script. It holds the board, each task's story and the diff of its
last submission. An existing file is replaced only if it is a report. Of a run that is too large for 5 MB, the last tasks are without story and diff.`,
		Example: `git liza report run.html`,
		Run: func(ctx context.Context, c *call.Call) error {
			at := ""
			if c.At != "" {
				v, err := c.View(ctx)
				if err != nil {
					return err
				}
				at = string(v.Commit)
			}
			var page bytes.Buffer
			if err := web.WriteReport(ctx, web.Config{App: c.App, Board: c.Board, Random: rand.Read}, at, &page); err != nil {
				return err
			}
			file := c.Args[0]
			if !filepath.IsAbs(file) {
				file = filepath.Join(c.Directory(), file)
			}
			var refusal *board.Refusal
			if err := call.WriteFile(file, page.Bytes(), web.IsReport); errors.As(err, &refusal) {
				return err
			} else if err != nil {
				return board.Refuse(board.CodeInvalid, "the report can't be written: "+err.Error(), "git liza report FILE.html")
			}
			return c.Answer(map[string]any{"file": file, "bytes": page.Len()}, fmt.Sprintf("%s: %d KiB", text.Line(c.Args[0], 200), page.Len()/1024))
		},
	}
})
