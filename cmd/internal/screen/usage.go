package screen

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// dearest is how many of the most expensive tasks Usage names.
const dearest = 10

// Usage describes what agents' runs have cost: by role and model, and for the most expensive tasks.
// It is nil if no CLI has reported any.
func Usage(p call.Page, u report.Usage) []string {
	if u.Runs == 0 {
		return nil
	}
	row := func(name string, runs int, c board.Cost) []string {
		dollars := ""
		if c.MicroDollars > 0 {
			dollars = fmt.Sprintf("$%.2f", float64(c.MicroDollars)/1e6)
		}
		return []string{name, fmt.Sprintf("%6d", runs), fmt.Sprintf("%12d", c.Input), fmt.Sprintf("%12d", c.Cached), fmt.Sprintf("%9d", c.Output), fmt.Sprintf("%5d", c.Seconds/60), dollars}
	}
	rows := [][]string{{"", "  runs", "    input", "  cached", "   output", "minutes", ""}}
	for _, b := range u.By {
		rows = append(rows, row(strings.TrimSpace(string(b.Role)+" "+b.Model), b.Runs, b.Cost))
	}
	for _, t := range u.Tasks[:min(len(u.Tasks), dearest)] {
		rows = append(rows, row(t.Task+" "+t.Status, t.Runs, t.Cost))
	}
	rows = append(rows, row("all", u.Runs, u.Total))
	lines := append([]string{p.Bold("tokens, as the agents' CLIs report them")}, call.Columns("  ", rows)...)
	for _, cli := range u.Unreported {
		lines = append(lines, "  "+board.Unknown(cli))
	}
	if u.PerMerged > 0 {
		lines = append(lines, fmt.Sprintf("  %d tokens and %d minutes a merged task", u.PerMerged, u.MinutesPerMerged))
	}
	if u.PerRejection > 0 {
		lines = append(lines, fmt.Sprintf("  %d tokens and %d minutes a rejection, in the iterations that followed", u.PerRejection, u.MinutesPerRejection))
	}
	return lines
}
