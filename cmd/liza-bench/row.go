package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Row is one line of the result. A bar of 0 is none: the row is for information.
type Row struct {
	Name     string  `json:"name"`
	N        int     `json:"n"`
	MedianMS float64 `json:"median_ms"`
	FloorMS  float64 `json:"floor_ms"`
	Ratio    float64 `json:"ratio"`
	Bar      float64 `json:"bar"`
	OK       bool    `json:"ok"`
	Floor    string  `json:"floor"`              // the row it is measured against
	LowMS    float64 `json:"q1_ms"`              // a quarter of the runs took less
	HighMS   float64 `json:"q3_ms"`              // a quarter took more
	LimitMS  float64 `json:"limit_ms,omitempty"` // a bar on the median itself
	samples  samples
}

// row adds a line: an arm against its floor, pair by pair.
func (l *lab) row(name string, s, floor samples, against string, bar, limit float64) {
	r := Row{
		Name: name, N: len(s), MedianMS: round(s.median()), FloorMS: round(floor.median()), Ratio: round(s.against(floor)), Bar: bar,
		Floor: against, LowMS: round(s.quantile(0.25)), HighMS: round(s.quantile(0.75)), LimitMS: limit, samples: s,
	}
	l.add(r)
}

func (l *lab) add(r Row) {
	r.OK = (r.Bar == 0 || r.Ratio <= r.Bar) && (r.LimitMS == 0 || r.MedianMS <= r.LimitMS)
	l.rows = append(l.rows, r)
	l.say("  %-44s %8.2f ms  %6.2f × %s", r.Name, r.MedianMS, r.Ratio, r.Floor)
}

func round(v float64) float64 {
	var r float64
	fmt.Sscanf(fmt.Sprintf("%.4g", v), "%g", &r)
	return r
}

func (r Row) bars() string {
	var parts []string
	if r.Bar > 0 {
		parts = append(parts, fmt.Sprintf("≤ %.3g ×", r.Bar))
	}
	if r.LimitMS > 0 {
		parts = append(parts, fmt.Sprintf("≤ %.4g ms", r.LimitMS))
	}
	return strings.Join(parts, ", ")
}

func (r Row) verdict() string {
	switch {
	case r.Bar == 0 && r.LimitMS == 0:
		return ""
	case r.OK:
		return "yes"
	}
	return "**no**"
}

// table is everything as Markdown.
func (l *lab) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", l.machine())
	lines := [][]string{{"What", "n", "median ms", "quartiles", "floor ms", "ratio", "bar", "held"}}
	for _, r := range l.rows {
		lines = append(lines, []string{
			r.Name + " / " + r.Floor, fmt.Sprint(r.N), figure(r.MedianMS), figure(r.LowMS) + "–" + figure(r.HighMS), figure(r.FloorMS), fmt.Sprintf("%.2f", r.Ratio), r.bars(), r.verdict(),
		})
	}
	markdown(&b, lines)
	if len(l.growth) > 0 {
		b.WriteString("\n")
		markdown(&b, l.growthTable())
	}
	if len(l.notes) > 0 {
		b.WriteString("\n")
		for _, n := range l.notes {
			b.WriteString("- " + n + "\n")
		}
	}
	return b.String()
}

// benchstat is every sample in the format of Go's benchmarks, which golang.org/x/perf/cmd/benchstat
// reads.
func (l *lab) benchstat() string {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\n", runtime.GOOS, runtime.GOARCH)
	for _, r := range l.rows {
		name := strings.Join(strings.Fields(r.Name), "_")
		for _, ms := range r.samples {
			fmt.Fprintf(&b, "BenchmarkLiza/%s 1 %.0f ns/op\n", name, ms*1e6)
		}
	}
	return b.String()
}

// figure writes milliseconds with about three digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func markdown(b *strings.Builder, lines [][]string) {
	for i, cells := range lines {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|---" + strings.Repeat("|---:", len(cells)-1) + "|\n")
		}
	}
}

func (l *lab) writeJSON() error {
	if l.o.json == "" {
		return nil
	}
	data, err := json.MarshalIndent(map[string]any{"machine": l.machine(), "rows": l.rows, "growth": l.growth, "writers": l.writers, "remarks": l.notes}, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if l.o.json == "-" {
		_, err = os.Stdout.Write(data)
		return err
	}
	return os.WriteFile(l.o.json, data, 0o644)
}
