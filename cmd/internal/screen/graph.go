package screen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TextGraph lists the tasks by level, and the finished ones in one paragraph.
func TextGraph(p call.Page, g report.Graph) []string {
	if len(g.Nodes) == 0 {
		return []string{"no task"}
	}
	l := call.Labels{Page: p, Names: 15}
	if len(g.Critical) > 1 {
		l.Add("critical path", fmt.Sprintf("%d to go: %s", len(g.Critical), strings.Join(g.Critical, " "+p.Arrow+" ")))
	}
	var over []string
	id, status, name := 0, 0, 0
	waiting := map[string]bool{}
	for _, n := range g.Nodes {
		if n.Status.Terminal() {
			over = append(over, n.ID)
			continue
		}
		waiting[n.ID] = true
		id, status = max(id, call.Breadth(n.ID)), max(status, len(n.Status))
		if p.Width >= 100 { // narrow pages have no room for titles
			name = max(name, min(call.Breadth(n.Title), p.Width*3/10))
		}
	}
	if len(over) > 0 {
		l.Add(fmt.Sprintf("over %d", len(over)), strings.Join(over, ", "))
	}
	id = min(id, p.Width*4/10)
	level := -1
	for _, n := range g.Nodes {
		if n.Status.Terminal() {
			continue
		}
		number := ""
		if n.Level != level {
			level, number = n.Level, strconv.Itoa(n.Level)
			l.Lines = append(l.Lines, "")
		}
		mark := " "
		if n.Critical {
			mark = "*"
		}
		var after []string
		for _, d := range n.DependsOn {
			if waiting[d] {
				after = append(after, d)
			}
		}
		line := fmt.Sprintf("%4s %s %s", number, mark, call.Pad(p.Fit(n.ID, id), id+2))
		if name > 0 {
			line += call.Pad(p.Fit(n.Title, name), name+2)
		}
		who := report.Worker(n.Brief)
		if len(after) > 0 {
			who = "after " + strings.Join(after, ", ")
		}
		who = strings.Join(slices.DeleteFunc([]string{inStage(n), who, n.Review}, func(text string) bool { return text == "" }), ", ")
		room := p.Width - call.Breadth(line) - status - 2
		line = strings.TrimRight(line+call.Pad(string(n.Status), status+2)+p.Fit(who, room), " ")
		if n.Critical {
			line = p.Bold(line)
		}
		l.Lines = append(l.Lines, line)
	}
	return l.Lines
}

// inStage names a task's stage, "" if views don't show it.
func inStage(n report.Node) string {
	if n.Stage == "" {
		return ""
	}
	return "stage " + n.Stage
}

// inBox is what stands in a task's box in a drawn graph, a line each.
func inBox(n report.Node) []string {
	lines := []string{n.ID, string(n.Status)}
	return slices.DeleteFunc(append(lines, inStage(n), n.Review), func(line string) bool { return line == "" })
}

// stateColours are the fill colours of the boxes in drawn graphs.
var stateColours = map[board.Status]string{
	board.Draft: "#eeeeee", board.Unclaimed: "#ffffff", board.Claimed: "#fff3c4", board.ReadyForReview: "#d6e4ff", board.Rejected: "#ffd8c2",
	board.Approved: "#d9f2d0", board.Merged: "#b7e1a8", board.IntegrationFailed: "#ffb3b3", board.Blocked: "#ff9e9e", board.Superseded: "#dddddd", board.Abandoned: "#dddddd",
}

// edges visits the dependencies between the graph's tasks, with whether they are on the critical
// path.
func edges(g report.Graph, visit func(from, to string, critical bool)) {
	exists, next := map[string]bool{}, map[string]string{}
	for _, n := range g.Nodes {
		exists[n.ID] = true
	}
	for i := 1; i < len(g.Critical); i++ {
		next[g.Critical[i-1]] = g.Critical[i]
	}
	for _, n := range g.Nodes {
		for _, d := range n.DependsOn {
			if exists[d] {
				visit(d, n.ID, next[d] == n.ID)
			}
		}
	}
}

// DotGraph writes the graph in Graphviz's language. Ids never need escaping.
func DotGraph(g report.Graph) []string {
	lines := []string{"digraph tasks {", "  rankdir=LR;", `  node [shape=box, style="rounded,filled", fontname="sans-serif"];`}
	for _, n := range g.Nodes {
		border := ""
		if n.Critical {
			border = ", penwidth=3"
		}
		lines = append(lines, fmt.Sprintf(`  "%s" [label="%s", fillcolor="%s"%s];`, n.ID, strings.Join(inBox(n), `\n`), stateColours[n.Status], border))
	}
	edges(g, func(from, to string, critical bool) {
		line := fmt.Sprintf(`  "%s" -> "%s"`, from, to)
		if critical {
			line += " [penwidth=3]"
		}
		lines = append(lines, line+";")
	})
	return append(lines, "}")
}

// MermaidGraph writes the graph for Mermaid. Nodes are numbered, because some ids are keywords of
// that language.
func MermaidGraph(g report.Graph) []string {
	lines := []string{"graph LR"}
	number := map[string]int{}
	used := map[board.Status]bool{}
	for i, n := range g.Nodes {
		number[n.ID] = i
		used[n.Status] = true
		lines = append(lines, fmt.Sprintf(`  t%d["%s"]:::%s`, i, strings.Join(inBox(n), "<br>"), n.Status))
	}
	edges(g, func(from, to string, critical bool) {
		arrow := "-->"
		if critical {
			arrow = "==>"
		}
		lines = append(lines, fmt.Sprintf("  t%d %s t%d", number[from], arrow, number[to]))
	})
	for _, s := range board.Statuses {
		if used[s] {
			lines = append(lines, fmt.Sprintf("  classDef %s fill:%s,stroke:#555,color:#000", s, stateColours[s]))
		}
	}
	var bold []string
	for _, n := range g.Nodes {
		if n.Critical {
			bold = append(bold, fmt.Sprintf("t%d", number[n.ID]))
		}
	}
	if len(bold) > 0 {
		lines = append(lines, "  classDef critical stroke-width:4px", "  class "+strings.Join(bold, ",")+" critical")
	}
	return lines
}
