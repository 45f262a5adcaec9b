package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func anomalyCommand() *command {
	p := board.LogAnomaly{}
	return &command{
		name: "anomaly", group: "any agent", args: "TYPE [KEY=VALUE...]", min: 1, max: -1, writes: true, queues: true,
		short: "record that something went otherwise than it should",
		long:  anomalyTypes(),
		flags: func(f *pflag.FlagSet) { f.StringVar(&p.Task, "task", "", "the `TASK` it is about") },
		run: func(c *call) error {
			p.Type, p.Details = c.args[0], map[string]board.Scalar{}
			for _, pair := range c.args[1:] {
				key, value, ok := strings.Cut(pair, "=")
				if !ok {
					return usage(c.cmd, "a detail is given as key=value, not as %q", pair)
				}
				p.Details[key] = board.Scalar(value)
			}
			if c.offline {
				return c.queue(&p)
			}
			var lines []string
			extra := map[string]any{"similar": ""}
			if p.Type == "retry_loop" {
				v, err := c.view()
				if err != nil {
					return err
				}
				if before := board.SimilarLoop(v.State, p.Task, string(p.Details["error_pattern"])); before != nil {
					extra["similar"] = before.ID
					lines = append(lines, "note: "+before.ID+" of "+before.Reporter+" tells of a similar loop already")
				}
			}
			done, err := c.do("anomaly", gitboard.Just(&p))
			if err != nil {
				return err
			}
			return c.report(done, extra, lines...)
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
	b.WriteString(strings.Join(columns("  ", rows), "\n"))
	return b.String()
}
