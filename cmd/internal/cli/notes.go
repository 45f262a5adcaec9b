package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(func() *call.Command {
	p := board.AddNote{}
	var file string
	var now bool
	return &call.Command{
		Name: "note", Group: "human", Args: `["TEXT"]`, Max: 1, Writes: true,
		Short: "leave a note for a task, an agent, the planner or everybody",
		Long: `A human writes to all of them, a planner to tasks, agents and the human, a coder to its own task: the reviewer sees it.
A note changes no specification: git liza land --spec does.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.For, "for", "", "a task, an agent, planner or human; everybody without it")
			call.AboutFlag(f, &p.Goal)
			f.BoolVar(&now, "now", false, "only if an agent at work reads it")
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza note "Use the staging key" --for login`,
		Run: func(ctx context.Context, c *call.Call) error {
			text, err := c.Text("text", call.First(c.Args), file)
			if err != nil {
				return err
			}
			p.Message = text
			if c.Offline {
				return c.Queue(ctx, &p)
			}
			leave := acts.Note
			if now {
				leave = acts.NoteNow
			}
			r, err := leave(ctx, c, &p)
			if c.AgentID() == "" && (p.For == "" || p.For == string(roles.Planner)) && strings.Contains(strings.ToLower(text), "spec") {
				r.Next = "agents change no specification: edit and commit it, then git liza land --spec FILE"
			}
			return c.Show(r, err)
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "ack", Group: "planner", Args: "ID...", Min: 1, Max: -1, Writes: true,
		Short:   "mark notes and anomalies as dealt with",
		Example: `git liza ack note-3 note-4`,
		Run:     func(ctx context.Context, c *call.Call) error { return c.Just(ctx, &board.Ack{IDs: c.Args}) },
	}
})

var _ = add(func() *call.Command {
	var p board.Discover
	return &call.Command{
		Name: "discover", Group: "any agent", Max: 0, Writes: true,
		Short: "log an adjacent problem instead of fixing it",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.During, "during", "", "the `TASK` during which it was found")
			call.AboutFlag(f, &p.Goal)
			f.StringVar(&p.Description, "desc", "", "what was found")
			f.StringVar(&p.Severity, "severity", "", "critical, high, medium or low")
			f.StringVar(&p.Urgency, "urgency", "deferred", "immediate wakes the planner")
			f.StringVar(&p.Recommendation, "recommend", "", "what should be done")
		},
		Example: `git liza discover --during login --desc "Sessions never expire" --severity high --urgency immediate`,
		Run:     func(ctx context.Context, c *call.Call) error { return c.Just(ctx, &p) },
	}
})

var _ = add(func() *call.Command {
	var task string
	return &call.Command{
		Name: "convert-discovery", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "record which task takes up a discovery",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&task, "task", "", "the `TASK`") },
		Example: `git liza convert-discovery discovery-1 --task login-limits`,
		Run: func(ctx context.Context, c *call.Call) error {
			if task == "" {
				return call.Usage(c.Cmd, "--task is missing")
			}
			return settle(ctx, c, &board.ConvertDiscovery{Discovery: c.Args[0], Task: task})
		},
	}
})

var _ = add(func() *call.Command {
	var deferIt, reject bool
	var reason string
	return &call.Command{
		Name: "settle-discovery", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "put a discovery aside",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&deferIt, "defer", false, "for later")
			f.BoolVar(&reject, "reject", false, "for good")
			f.StringVar(&reason, "reason", "", "why")
		},
		Example: `git liza settle-discovery discovery-1 --defer --reason "after the release"`,
		Run: func(ctx context.Context, c *call.Call) error {
			if deferIt == reject {
				return call.Usage(c.Cmd, "one of --defer and --reject is needed")
			}
			how := "deferred"
			if reject {
				how = "rejected"
			}
			return settle(ctx, c, &board.SettleDiscovery{Discovery: c.Args[0], How: how, Reason: reason})
		},
	}
})

// settle decides about a discovery, and repeats its text.
func settle(ctx context.Context, c *call.Call, p board.Payload) error {
	if c.Offline {
		return c.Queue(ctx, p)
	}
	r, err := c.Doing(ctx, p)
	if err != nil {
		return err
	}
	if d := r.Done[0].After.Discovery(c.Args[0]); d != nil {
		r.Lines = append(r.Lines, d.Outcome())
	}
	return c.Show(r, nil)
}

var _ = add(func() *call.Command {
	p := board.LogAnomaly{}
	return &call.Command{
		Name: "anomaly", Group: "any agent", Args: "TYPE [KEY=VALUE...]", Min: 1, Max: -1, Writes: true,
		Short: "record an unexpected event",
		Long:  anomalyTypes(),
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "the `TASK` it is about")
			call.AboutFlag(f, &p.Goal)
		},
		Example: `git liza anomaly retry_loop --task login error_pattern="connection refused" count=3`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Type, p.Details = c.Args[0], map[string]board.Scalar{}
			for _, pair := range c.Args[1:] {
				key, value, ok := strings.Cut(pair, "=")
				if !ok {
					return call.Usage(c.Cmd, "a detail is given as key=value, not as %q", pair)
				}
				p.Details[key] = board.Scalar(value)
			}
			if c.Offline {
				return c.Queue(ctx, &p)
			}
			var lines []string
			extra := map[string]any{"similar": ""}
			if p.Type == "retry_loop" {
				v, err := c.View(ctx)
				if err != nil {
					return err
				}
				if before := board.SimilarLoop(v.State, p.Task, string(p.Details["error_pattern"])); before != nil {
					extra["similar"] = before.ID
					lines = append(lines, "note: "+before.ID+" of "+before.Reporter+" reports a similar loop already")
				}
			}
			done, err := c.Do(ctx, "anomaly", gitboard.Just(&p))
			if err != nil {
				return err
			}
			return c.Report(done, extra, lines...)
		},
	}
})

func anomalyTypes() string {
	var b strings.Builder
	b.WriteString("Types, who logs them, and the details that they need:\n")
	var rows [][]string
	for _, t := range board.AnomalyTypes {
		var who []string
		for _, r := range t.Who {
			who = append(who, string(r))
		}
		rows = append(rows, []string{t.Type, strings.Join(who, ", "), strings.Join(t.Details, ", ")})
	}
	b.WriteString(strings.Join(call.Columns("  ", rows), "\n"))
	return b.String()
}
