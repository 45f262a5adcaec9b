package web

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// The size of the small charts, in SVG units.
const (
	chartWidth  = 480
	chartHeight = 96
)

// burn is a chart of the number of open tasks.
type burn struct {
	Line, Area string
	Most, Left int
}

// burndown draws the number of open tasks as a step chart.
func burndown(p report.Pace) burn {
	b := burn{}
	for _, o := range p.Open {
		b.Most, b.Left = max(b.Most, o.Open), o.Open
	}
	whole := max(1, p.To.Sub(p.From))
	x := func(at board.Time) int { return int(int64(chartWidth) * int64(at.Sub(p.From)) / int64(whole)) }
	y := func(open int) int { return chartHeight - 4 - (chartHeight-8)*open/max(1, b.Most) }
	var line strings.Builder
	last := 0
	for i, o := range p.Open {
		if i == 0 {
			fmt.Fprintf(&line, "%d,%d ", x(p.From), y(0))
		}
		fmt.Fprintf(&line, "%d,%d %d,%d ", x(o.At), y(last), x(o.At), y(o.Open))
		last = o.Open
	}
	fmt.Fprintf(&line, "%d,%d", chartWidth, y(last))
	b.Line = line.String()
	b.Area = b.Line + fmt.Sprintf(" %d,%d", chartWidth, chartHeight-4)
	return b
}

// bar is a rectangle of a chart and its meaning.
type bar struct {
	X, Y, W, H int
	Class, Say string
}

// throughput draws the number of tasks merged in each stretch.
func throughput(p report.Pace) []bar {
	most := slices.Max(append(p.Merged, 1))
	width := chartWidth / max(1, len(p.Merged))
	var bars []bar
	for i, n := range p.Merged {
		if n > 0 {
			h := (chartHeight - 8) * n / most
			from := p.From.Add(time.Duration(i) * p.Stretch)
			bars = append(bars, bar{i * width, chartHeight - 4 - h, width - 3, h, "merged", fmt.Sprintf("%d merged from %s on", n, from)})
		}
	}
	return bars
}

// lane is a row of the timeline, for an agent or a task.
type lane struct {
	Name, Title, Link string
	Bars              []bar
}

// The size of the timeline, in SVG units.
const (
	timelineWidth = 1000
	laneHeight    = 18
)

// maxLanes bounds the tasks in the timeline, newest first.
const maxLanes = 150

// timeline shows who held which task when, and how each task's time was spent.
func (s *Server) timeline(_ context.Context, l *look, q query) (*page, error) {
	until := l.o.Now
	if !l.past {
		until = board.At(l.now)
	}
	from := l.o.Timeline.Started
	byAgent, tasks := map[string][]report.Period{}, map[string][]string{}
	var lanes []lane
	all := slices.Clone(l.o.Tasks)
	slices.SortStableFunc(all, func(a, b report.TaskOutlook) int { return strings.Compare(string(b.Moved), string(a.Moved)) })
	more := len(all) - maxLanes
	for _, b := range all[:min(len(all), maxLanes)] {
		t := l.State.Task(b.ID)
		if t == nil || b.Status.Terminal() && b.StatusChangedAt < from {
			continue
		}
		periods := report.PeriodsOf(t, until)
		lanes = append(lanes, lane{b.ID, b.Title, "/task/" + b.ID + atOf(l), bars(periods, from, until, "")})
		for _, p := range periods {
			if p.Agent != "" {
				byAgent[p.Agent], tasks[p.Agent] = append(byAgent[p.Agent], p), append(tasks[p.Agent], b.ID)
			}
		}
	}
	var agents []lane
	for _, id := range sortedKeys(byAgent) {
		a := lane{Name: id, Link: "/agent/" + id + atOf(l)}
		if id == roles.HumanID { // a human has a history but no page
			a.Link = "/history?agent=" + id + strings.Replace(atOf(l), "?", "&", 1)
		}
		for i, p := range byAgent[id] {
			a.Bars = append(a.Bars, bars([]report.Period{p}, from, until, tasks[id][i])...)
		}
		agents = append(agents, a)
	}
	data := map[string]any{"Agents": agents, "Tasks": lanes, "From": from, "To": until, "Ticks": ticks(from, until), "More": max(0, more), "Phases": report.Phases}
	parts := []part{{ID: "by-agent", Class: "wide", Head: markup("timeline-agents", data)}, {ID: "by-task", Class: "wide", Head: markup("timeline-tasks", data)}, {ID: "spent", Class: "wide", Head: markup("spent", spentOf(l))}}
	return &page{Title: "Timeline", Nav: "Timeline", Parts: parts}, l.State.Err()
}

func sortedKeys[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// bars draws the periods between two times.
func bars(periods []report.Period, from, to board.Time, task string) []bar {
	whole := max(time.Second, to.Sub(from))
	var all []bar
	for _, p := range periods {
		if p.To < from {
			continue
		}
		x := int(timelineWidth * max(0, p.From.Sub(from)) / whole)
		end := int(timelineWidth * max(0, p.To.Sub(from)) / whole)
		say := string(p.Phase) + " " + board.Span(p.To.Sub(p.From))
		if p.Agent != "" {
			say += ", " + p.Agent
		}
		if task != "" {
			say = task + ": " + say
		}
		all = append(all, bar{x, 2, max(2, end-x), laneHeight - 4, string(p.Phase), say + ", from " + string(p.From)})
	}
	return all
}

// tick is a mark on the timeline's scale.
type tick struct {
	X    int
	Text string
}

func ticks(from, to board.Time) []tick {
	whole := to.Sub(from)
	if whole <= 0 {
		return nil
	}
	layout := "15:04"
	if whole < 10*time.Minute {
		layout = "15:04:05"
	}
	if whole > 36*time.Hour {
		layout = "Jan 2 15:04"
	}
	var all []tick
	last := ""
	for i := range 6 {
		label := from.Std().Add(whole * time.Duration(i) / 5).Format(layout)
		if label == last {
			continue
		}
		all, last = append(all, tick{timelineWidth * i / 5, label}), label
	}
	return all
}

// share is the part of the time that was spent in a phase.
type share struct {
	Phase   report.Phase
	Took    time.Duration
	Percent int
	X, W    int
}

// spentOf adds up how the time of the sprint's tasks was spent.
func spentOf(l *look) []share {
	took := map[report.Phase]time.Duration{}
	var whole time.Duration
	from := l.o.Timeline.Started
	for _, b := range l.o.Tasks {
		if b.Status.Terminal() && b.StatusChangedAt < from || b.Status == board.Draft {
			continue
		}
		t := l.State.Task(b.ID)
		if t == nil {
			continue
		}
		s := report.SpentOf(t, board.At(l.now))
		for phase, d := range map[report.Phase]time.Duration{report.PhaseWaiting: s.Waiting, report.PhaseWork: s.Work, report.PhaseReview: s.Review, report.PhaseMerge: s.Merge, report.PhaseBlocked: s.Blocked} {
			took[phase] += d
			whole += d
		}
	}
	if whole == 0 {
		return nil
	}
	var shares []share
	x := 0
	for _, p := range report.Phases {
		w := int(timelineWidth * took[p] / whole)
		shares = append(shares, share{p, took[p], int(100 * took[p] / whole), x, w})
		x += w
	}
	return shares
}

// The size of the graph's boxes and gaps, in SVG units.
const (
	boxWidth, boxHeight = 196, 36
	gapX, gapY          = 56, 10
)

// box is a task of the graph.
type box struct {
	report.Node
	X, Y     int
	Worker   string
	Link     string
	From, To int
}

// arrow is a dependency.
type arrow struct {
	Path, From, To string
	Critical       bool
	Met            bool // the dependency is merged
}

// graph draws which task waits for which, one column per level.
func (s *Server) graph(_ context.Context, l *look, q query) (*page, error) {
	var tasks []board.Brief
	all := call.TasksOf(l.State, l.goal)
	for _, b := range all {
		if q.get("over") != "" || !b.Status.Terminal() {
			tasks = append(tasks, b)
		}
	}
	g := report.GraphOn(l.State, tasks)
	if q.get("chain") != "" {
		g = report.GraphOn(l.State, slices.DeleteFunc(tasks, func(b board.Brief) bool { return !slices.Contains(g.Critical, b.ID) }))
	}
	boxes, arrows, width, height := layout(g, l)
	data := map[string]any{"Boxes": boxes, "Arrows": arrows, "W": width, "H": height, "Critical": g.Critical, "At": atOf(l), "Over": q.get("over"), "All": q.with("over", "1"), "Open": q.with("over", "", "chain", ""), "Chain": q.with("chain", "1"), "Narrow": q.get("chain"), "BW": boxWidth, "BH": boxHeight}
	return &page{Title: "Graph", Nav: "Graph", Parts: []part{{ID: "graph", Class: "wide", Head: markup("graph", data)}}}, l.State.Err()
}

// layout places the tasks in columns by the length of the longest chain that leads to a task,
// finished or not. Within a column, tasks are placed near what they wait for.
func layout(g report.Graph, l *look) (boxes []box, arrows []arrow, width, height int) {
	column := columns(g)
	at := map[string]int{}
	rows := map[int]int{}
	for _, n := range g.Nodes {
		c := column[n.ID]
		at[n.ID] = len(boxes)
		boxes = append(boxes, box{Node: n, X: gapY + c*(boxWidth+gapX), Worker: report.Worker(n.Brief), Link: "/task/" + n.ID + atOf(l)})
	}
	order := make([]int, len(boxes))
	for i := range order {
		order[i] = i
	}
	middle := func(i int) int { // average position of its dependencies
		sum, n := 0, 0
		for _, d := range boxes[i].DependsOn {
			if j, known := at[d]; known && column[d] < column[boxes[i].ID] {
				sum, n = sum+boxes[j].Y, n+1
			}
		}
		if n == 0 {
			return 1 << 20
		}
		return sum / n
	}
	last := 0
	for _, c := range column {
		last = max(last, c)
	}
	for c := range last + 1 {
		var here []int
		for _, i := range order {
			if column[boxes[i].ID] == c {
				here = append(here, i)
			}
		}
		slices.SortStableFunc(here, func(a, b int) int { return middle(a) - middle(b) })
		for _, i := range here {
			boxes[i].Y = gapY + rows[c]*(boxHeight+gapY)
			rows[c]++
			width, height = max(width, boxes[i].X+boxWidth+gapY), max(height, boxes[i].Y+boxHeight+gapY)
		}
	}
	return boxes, arrowsOf(g, boxes, at), width, height
}

// columns is the length of the longest chain before each task.
func columns(g report.Graph) map[string]int {
	by := map[string]report.Node{}
	for _, n := range g.Nodes {
		by[n.ID] = n
	}
	column, underway := map[string]int{}, map[string]bool{}
	var visit func(id string) int
	visit = func(id string) int {
		if c, known := column[id]; known || underway[id] { // a damaged board may contain a cycle
			return c
		}
		underway[id] = true
		c := 0
		for _, d := range by[id].DependsOn {
			if _, exists := by[d]; exists {
				c = max(c, visit(d)+1)
			}
		}
		column[id] = c
		return c
	}
	for _, n := range g.Nodes {
		visit(n.ID)
	}
	return column
}

func arrowsOf(g report.Graph, boxes []box, at map[string]int) []arrow {
	next := map[string]string{}
	for i := 1; i < len(g.Critical); i++ {
		next[g.Critical[i-1]] = g.Critical[i]
	}
	var arrows []arrow
	for _, to := range boxes {
		for _, d := range to.DependsOn {
			i, known := at[d]
			if !known {
				continue
			}
			from := boxes[i]
			x1, y1, x2, y2 := from.X+boxWidth, from.Y+boxHeight/2, to.X, to.Y+boxHeight/2
			arrows = append(arrows, arrow{
				Path: fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+gapX/2, y1, x2-gapX/2, y2, x2-2, y2),
				From: d, To: to.ID, Critical: next[d] == to.ID, Met: from.Status == board.Merged,
			})
		}
	}
	sort.SliceStable(arrows, func(i, j int) bool { return !arrows[i].Critical && arrows[j].Critical }) // critical ones on top
	return arrows
}
