package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(anomalyCommand)

func anomalyCommand() *edge.Command {
	p := board.LogAnomaly{}
	return &edge.Command{
		Name: "anomaly", Group: "any agent", Args: "TYPE [KEY=VALUE...]", Min: 1, Max: -1, Writes: true,
		Short: "record an unexpected event",
		Long:  anomalyTypes(),
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Task, "task", "", "the `TASK` it is about")
			edge.AboutFlag(f, &p.Goal)
		},
		Example: `git liza anomaly retry_loop --task login error_pattern="connection refused" count=3`,
		Run: func(ctx context.Context, c *edge.Call) error {
			p.Type, p.Details = c.Args[0], map[string]board.Scalar{}
			for _, pair := range c.Args[1:] {
				key, value, ok := strings.Cut(pair, "=")
				if !ok {
					return edge.Usage(c.Cmd, "a detail is given as key=value, not as %q", pair)
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
}

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
	b.WriteString(strings.Join(edge.Columns("  ", rows), "\n"))
	return b.String()
}
