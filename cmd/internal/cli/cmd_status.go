package cli

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func statusCommand() *command {
	watch, fresh := false, false
	return &command{
		name: "status", group: "human", max: 0, reads: true,
		short: "the run on one screen: what waits for whom, who does what",
		long: `Line 1 says what waits for whom, and when something last went on. A task that does not move by itself is marked
with "!". The width is the terminal's, or COLUMNS; the height decides how many tasks of each state are shown.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&watch, "watch", "w", false, "keep the screen live, and steer from it; ? lists the keys")
			f.BoolVar(&fresh, "fresh", false, "ask the remote of a shared board first")
		},
		run: func(c *call) error {
			if watch {
				return c.watchStatus()
			}
			seen, err := c.seen(fresh)
			if err != nil {
				return err
			}
			g, err := c.glance()
			if err != nil {
				return err
			}
			now := c.app.Now()
			if c.at != "" {
				now = g.State.Time().Std()
			}
			o, err := g.Overview(now)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(statusReport{g.Commit, seen, o})
			}
			p := c.page()
			if seen == nil {
				return c.print(drawStatus(p, o, reasons(g.State), ""))
			}
			p.height--
			return c.print(append(drawStatus(p, o, reasons(g.State), ""), p.fit(seen.line(c.app.Now()), p.width)))
		},
	}
}

// statusReport is the overview as --json prints it.
type statusReport struct {
	Commit gitio.OID `json:"commit"`
	Remote *seenAt   `json:"remote,omitempty"`
	*board.Overview
}

// glance looks at the run: as it is now, or as it was at the moment that --at names.
func (c *call) glance() (*gitboard.Glance, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	if c.at != "" {
		return v.PastGlance(c.ctx)
	}
	return v.Glance(c.ctx)
}

// reasons tells why a task is BLOCKED, or how its merge failed.
func reasons(s *board.State) func(task string) string {
	return func(id string) string {
		t := s.Task(id)
		if t == nil {
			return ""
		}
		if e := t.Last(board.EventIntegrationFailed); e != nil && t.Status == board.IntegrationFailed {
			if e.Reason == board.FailConflict {
				return "conflict in " + strings.Join(e.Files, ", ")
			}
			return "the integration test failed"
		}
		return t.BlockedReason
	}
}

// print writes lines that may be coloured; their texts have been made safe already.
func (c *call) print(lines []string) error {
	_, err := io.WriteString(c.app.Stdout, c.legible(strings.Join(lines, "\n"))+"\n")
	return err
}
