package cli

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

func metricsCommand() *command {
	return &command{
		name: "metrics", group: "human", max: 0, reads: true,
		short: "the figures of the current sprint, and whether reviewers approve everything",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			m, sp := board.Measure(v.State), v.State.Sprint()
			if err := v.State.Err(); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"sprint": sp.ID, "since": sp.Timeline.Started, "metrics": m, "rubber_stamping": m.RubberStamping()})
			}
			return c.print(drawMetrics(c.page(), sp, m))
		},
	}
}

// drawMetrics is a line a metric, by the names that they have everywhere.
func drawMetrics(p page, sp *board.Sprint, m board.Metrics) []string {
	var rows [][]string
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		value := fmt.Sprint(v.Field(i).Int())
		rows = append(rows, []string{name, fmt.Sprintf("%6s", value)})
	}
	lines := append([]string{p.bold(sp.ID + ", since " + string(sp.Timeline.Started))}, columns("  ", rows)...)
	if m.RubberStamping() {
		warning := fmt.Sprintf("RUBBER STAMPING: %d %% approved. Who approves everything finds nothing: look at a few approved diffs yourself.", m.ApprovalRate)
		for _, line := range wrap(warning, p.width) {
			lines = append(lines, p.alarm(line))
		}
	}
	return lines
}
