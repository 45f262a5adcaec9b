package screen

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Status draws the overview on a page: no line is wider, and as many tasks are shown as fit its
// height, always including the selected one. reason is only called for BLOCKED tasks that are
// shown.
func Status(p call.Page, o *report.Overview, reason func(task string) string, choice Choice) []string {
	d := &statusDrawing{Page: p, o: o, now: o.Now.Std(), reason: reason, selected: choice.Selected}
	head := slices.Concat(d.unproven(), []string{p.Bold(p.Fit(o.Summary(), p.Width))}, d.asks(), []string{""}, d.run())
	groups := groupTasks(o, choice.Filter)
	// Everything if it fits. Otherwise agents and events give way to tasks, down to one row for
	// each status, and finally to rows for stuck tasks only.
	var tail []string
	for _, r := range []struct {
		agents, events int
		least          func(*taskGroup) int
	}{
		{len(o.Agents), len(o.Events), whole}, {p.Height / 8, len(o.Events), d.one}, {2, 3, d.one}, {0, 1, d.one}, {0, 1, d.stuck},
	} {
		tail = slices.Concat(d.agents(r.agents), d.events(r.events), d.code())
		for _, g := range groups {
			g.shown = r.least(g)
		}
		if len(head)+1+height(groups)+len(tail) <= p.Height {
			break
		}
	}
	d.share(groups, p.Height-len(head)-1-len(tail))
	tasks := d.tasks(groups)
	if len(tasks) > 0 {
		tasks = slices.Insert(tasks, 0, "")
	}
	return slices.Concat(head, tasks, tail)
}

// code is where the code is; the commands are never cut.
func (d *statusDrawing) code() (lines []string) {
	for _, a := range d.o.Code() {
		line := a.What
		if do := cmdline.Hint(a.Do); do != "" {
			line += ": " + do
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, "")
	}
	return lines
}

// Choice is the selection of a live screen's user.
type Choice struct {
	Selected string // a task, or what waits by choiceOf
	Filter   string // common to the listed tasks
}

type statusDrawing struct {
	call.Page
	o        *report.Overview
	now      time.Time
	reason   func(task string) string
	selected string
}

// unproven warns of a board that does not follow by replay.
func (d *statusDrawing) unproven() []string {
	u := d.o.Unproven
	if u == nil {
		return nil
	}
	lines := []string{d.Alarm(d.Fit("! "+u.String(), d.Width))}
	for _, line := range call.Wrap(u.Text, d.Width-2) {
		lines = append(lines, "  "+d.Fit(line, d.Width-2))
	}
	return append(lines, "  "+cmdline.Of(report.Verify), "")
}

// choiceOf is the selection of something that waits for the human.
func choiceOf(a report.Ask) string { return waits + a.What }

const waits = "waits: " // no id has a space

// asks lists what waits for the human.
func (d *statusDrawing) asks() (lines []string) {
	shown := d.o.Waiting[:fits(len(d.o.Waiting), max(2, d.Height/6))]
	what := 0
	for _, a := range shown {
		what = max(what, call.Breadth(d.Fit(a.What, d.Width)))
	}
	if i := slices.IndexFunc(d.o.Waiting, func(a report.Ask) bool { return choiceOf(a) == d.selected }); i >= len(shown) {
		shown = append(slices.Clone(shown[:len(shown)-1]), d.o.Waiting[i])
	}
	for _, a := range shown {
		at := len(lines)
		if choiceOf(a) == d.selected {
			defer func() { lines[at] = d.Inverse(d.Cursor + lines[at][1:]) }()
		}
		do := cmdline.Hint(a.Do)
		do = text.Line(do, len(do)+3) // never cut, so that it can be copied
		if call.Breadth(do) > d.Width/2 {
			lines = append(lines, "  "+d.Fit(a.What, d.Width-2), "    "+do)
			continue
		}
		what := min(what, d.Width-4-call.Breadth(do))
		lines = append(lines, d.Cut("  "+call.Pad(d.Fit(a.What, what), what+2)+do, d.Width))
	}
	lines = append(lines, d.more(len(d.o.Waiting)-len(shown))...)
	return lines
}

// fits is how many of some rows to show, so that more never stands for one alone.
func fits(rows, most int) int {
	if rows == most+1 && most > 0 {
		return rows
	}
	return min(rows, most)
}

func (d *statusDrawing) more(n int) []string {
	if n < 1 {
		return nil
	}
	return []string{fmt.Sprintf("  and %d more", n)}
}

// run describes the run and its progress.
func (d *statusDrawing) run() []string {
	o := d.o
	goal := ""
	if o.GoalStatus != board.InProgress {
		goal = "  " + string(o.GoalStatus)
	}
	lines := []string{"goal    " + d.Fit(o.Goal, d.Width-8-call.Breadth(goal)) + goal}
	if len(o.Running()) > 1 {
		lines = d.goals(o.Running())
	}
	lines = append(lines, d.Onto("sprint  ", d.sprint()))
	mode := string(o.Mode)
	if o.GoalStatus != board.InProgress && o.Mode == board.Running {
		mode = "no run: the goal is " + string(o.GoalStatus)
	}
	if o.Mode != board.Running {
		mode += " for " + call.Since(d.now, o.ModeSince) + ", by " + o.ModeBy
		if o.Reason != "" {
			mode += ": " + o.Reason
		}
	}
	if o.Breaker != nil && !strings.Contains(o.Reason, o.Breaker.Pattern) {
		mode += "; circuit breaker TRIGGERED: " + o.Breaker.Pattern
	}
	if o.Mode == board.Running && o.MergedLately > 0 {
		mode += fmt.Sprintf(", %d merged in the last hour", o.MergedLately)
	}
	lines = append(lines, d.Onto("board   ", mode))
	if o.Merging != nil {
		lines = append(lines, d.Onto("merging ", d.merging()))
	}
	if len(o.Tasks) > 0 {
		merged := o.Counts[board.Merged]
		dropped := o.Done - merged // ABANDONED or SUPERSEDED: not done by anybody
		parts := []string{fmt.Sprintf("%d of %d merged", merged, len(o.Tasks)-dropped), fmt.Sprintf("%d in progress", o.InProgress)}
		if dropped > 0 {
			parts = append(parts, fmt.Sprintf("%d dropped", dropped))
		}
		if o.Blocked > 0 {
			parts = append(parts, fmt.Sprintf("%d blocked", o.Blocked))
		}
		if o.Stuck > 0 {
			parts = append(parts, fmt.Sprintf("%d stuck", o.Stuck))
		}
		bar, said := d.Bar(merged, len(o.Tasks)-dropped, 10)+"  ", strings.Join(parts, ", ")
		if 8+call.Breadth(bar+said) > d.Width {
			bar = ""
		}
		lines = append(lines, d.Onto("tasks   "+bar, said))
	}
	return lines
}

// goals lists several goals by title, with their progress.
func (d *statusDrawing) goals(all []report.GoalOutlook) []string {
	var rows [][]string
	for _, g := range all[:fits(len(all), max(2, d.Height/8))] {
		rows = append(rows, []string{d.Fit(strings.Join(strings.Fields(g.Text), " "), d.Width/2), d.Bar(g.Finished(), g.Tasks, 10), fmt.Sprintf("%d of %d finished", g.Finished(), g.Tasks), g.ID})
	}
	lines := call.Columns("  ", rows)
	for i := range lines {
		lines[i] = d.Cut(lines[i], d.Width)
	}
	return slices.Concat([]string{fmt.Sprintf("goals   %d in progress", len(all))}, lines, d.more(len(all)-len(rows)))
}

// merging describes the merge in progress.
func (d *statusDrawing) merging() string {
	m := d.o.Merging
	text := fmt.Sprintf("%s, for %s, by %s", strings.Join(m.Tasks, ", "), call.Since(d.now, m.Since), m.By)
	switch n := len(m.Testing); {
	case n == 0:
	case n == len(m.Tasks):
		text += ": being tested"
	default:
		text += fmt.Sprintf(": the first %d of %d are being tested", n, len(m.Tasks))
	}
	return text
}

// sprint describes the sprint and its time.
func (d *statusDrawing) sprint() string {
	o, t := d.o, d.o.Timeline
	text := o.Sprint + " " + string(o.SprintStatus)
	if o.Planned > 0 {
		text += fmt.Sprintf(", %d of %d planned finished", o.PlannedDone, o.Planned)
	}
	if o.StretchOpen > 0 && t.Ended != "" {
		text += ", " + stretchOpen(o.StretchOpen)
	}
	if o.Tokens > 0 {
		text += ", " + report.Count(o.Tokens) + " tokens"
		if o.TokenBudget > 0 && o.Unreported == "" {
			text += fmt.Sprintf(" (%d %% of its budget)", o.Tokens*100/o.TokenBudget)
		}
	}
	if o.Unreported != "" {
		text += ", tokens " + board.Unknown(o.Unreported)
	}
	if t.Ended != "" {
		return text + ", ended " + call.Since(d.now, t.Ended) + " ago after " + board.Span(t.Ended.Sub(t.Started))
	}
	text += ", " + call.Since(d.now, t.Started) + " old"
	switch left := t.Deadline.Std().Sub(d.now); {
	case t.Deadline == "":
	case left > 0:
		text += ", " + board.Span(left) + " left"
	default:
		text += ", " + board.Span(-left) + " over its deadline"
	}
	return text
}

// taskGroup is the tasks with one status, and how many of them are shown.
type taskGroup struct {
	status board.Status
	tasks  []report.TaskOutlook
	shown  int
}

// groupTasks groups the tasks by status in the order of the flow. Within a group, stuck tasks come
// first, then those that wait for somebody; finished tasks are ordered newest first.
func groupTasks(o *report.Overview, filter string) []*taskGroup {
	by := map[board.Status]*taskGroup{}
	for _, t := range o.Tasks {
		if !t.Matches(filter) {
			continue
		}
		if by[t.Status] == nil {
			by[t.Status] = &taskGroup{status: t.Status}
		}
		by[t.Status].tasks = append(by[t.Status].tasks, t)
	}
	var groups []*taskGroup
	for _, s := range board.Statuses {
		if by[s] != nil {
			groups = append(groups, by[s])
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.tasks, func(a, b report.TaskOutlook) int {
			if g.status.Terminal() {
				return -cmp.Compare(a.StatusChangedAt, b.StatusChangedAt)
			}
			return cmp.Or(-report.CompareBools(a.IsStuck(), b.IsStuck()), -report.CompareBools(a.Turn != "", b.Turn != ""))
		})
	}
	return groups
}

// whole is one of the functions for how many rows a group needs at least: all tasks, one, or one
// for stuck tasks. Of finished tasks only the selected one needs a row.
func whole(g *taskGroup) int {
	if g.status.Terminal() {
		return 0
	}
	return len(g.tasks)
}

func (d *statusDrawing) one(g *taskGroup) int {
	if g.status.Terminal() && !g.holds(d.selected) {
		return 0
	}
	return 1
}

func (d *statusDrawing) stuck(g *taskGroup) int {
	if g.tasks[0].IsStuck() || g.holds(d.selected) {
		return 1
	}
	return 0
}

func (g *taskGroup) holds(task string) bool {
	return slices.ContainsFunc(g.tasks, func(t report.TaskOutlook) bool { return t.ID == task })
}

// height is how many lines the groups take: a title and rows for each; groups without rows share
// one line.
func height(groups []*taskGroup) int {
	n, rowless := 0, 0
	for _, g := range groups {
		if g.shown > 0 {
			n += 1 + g.shown
		} else {
			rowless = 1
		}
	}
	return n + rowless
}

// overShown is how many finished tasks are worth a row.
const overShown = 3

// share distributes the remaining lines to the groups, one row each in turn; finished tasks come
// last.
func (d *statusDrawing) share(groups []*taskGroup, lines int) {
	for _, over := range []bool{false, true} {
		for gave := true; gave; {
			gave = false
			for _, g := range groups {
				if g.status.Terminal() != over || g.shown == len(g.tasks) || over && g.shown >= overShown && d.o.GoalStatus == board.InProgress {
					continue
				}
				g.shown++
				if height(groups) > lines {
					g.shown--
					continue
				}
				gave = true
			}
		}
	}
}

// window is the part of the group's tasks that is shown: the first ones, or those around the
// selected one.
func (g *taskGroup) window(selected string) []report.TaskOutlook {
	from := 0
	if i := slices.IndexFunc(g.tasks, func(t report.TaskOutlook) bool { return t.ID == selected }); i >= g.shown {
		from = min(i-g.shown/2, len(g.tasks)-g.shown)
	}
	return g.tasks[from : from+g.shown]
}

func (d *statusDrawing) tasks(groups []*taskGroup) []string {
	id, who, age := 0, 0, 0
	for _, g := range groups {
		for _, t := range g.window(d.selected) {
			id, who, age = max(id, call.Breadth(t.ID)), max(who, call.Breadth(t.Worker)), max(age, call.Breadth(call.Since(d.now, t.StatusChangedAt)))
		}
	}
	id, who = min(id, d.Width*3/10), min(who, 16)
	name := 0 // the breadth of titles; narrow screens have no room for it
	if d.Width >= 100 {
		name = min(board.MaxTitle, d.Width*3/10)
	}
	if who > 0 {
		who += 2
	}
	var lines []string
	var over []string // groups without rows
	for _, g := range groups {
		title := fmt.Sprintf("%s %d", g.status, len(g.tasks))
		if g.shown > 0 && g.shown < len(g.tasks) {
			title += fmt.Sprintf(", %d of them:", g.shown)
		}
		if g.shown == 0 {
			over = append(over, title)
			continue
		}
		lines = append(lines, d.State(g.status, d.Cut(title, d.Width)))
		for _, t := range g.window(d.selected) {
			mark := " "
			if t.IsStuck() {
				mark = "!"
			}
			if t.ID == d.selected {
				mark = d.Cursor
			}
			left := mark + " " + call.Pad(d.Fit(t.ID, id), id+2)
			if name > 0 {
				left += call.Pad(d.Fit(t.Title, name), name+2)
			}
			if who > 0 {
				left += call.Pad(d.Fit(t.Worker, who-2), who)
			}
			left += strings.Repeat(" ", age-call.Breadth(call.Since(d.now, t.StatusChangedAt))) + call.Since(d.now, t.StatusChangedAt)
			line := strings.TrimRight(d.Cut(left+"  "+d.Fit(d.detail(t), d.Width-call.Breadth(left)-2), d.Width), " ")
			switch {
			case t.ID == d.selected:
				line = d.Inverse(line)
			case t.IsStuck():
				line = d.Alarm(line)
			}
			lines = append(lines, line)
		}
	}
	if len(over) > 0 {
		lines = append(lines, d.Cut(strings.Join(over, ", "), d.Width))
	}
	return lines
}

// detail is the part of a task's row besides who and since when.
func (d *statusDrawing) detail(t report.TaskOutlook) string {
	var parts []string
	add := func(holds bool, format string, args ...any) {
		if holds {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if t.Status.Terminal() {
		add(t.Stage != "", "stage %s", t.Stage)
		add(t.Tally.Iterations > 1, "%d iterations", t.Tally.Iterations)
		add(t.Tally.Rejections > 0, "rejected %dx", t.Tally.Rejections)
		return strings.Join(parts, ", ")
	}
	add(true, "p%d", t.Priority)
	stuck := t.Stuck.String()
	if t.Status == board.Blocked {
		if why := d.reason(t.ID); why != "" {
			stuck += ": " + why
		}
	}
	add(t.IsStuck() && t.Stuck.Kind != report.Waits, "%s", stuck)
	add(t.AfterGoal != "", "its goal comes after %s", t.AfterGoal)
	add(len(t.WaitsFor) > 0, "waits for %s", strings.Join(t.WaitsFor, ", "))
	add(t.HandoffPending, "handed off, waits for a coder")
	add(t.Freed, "free for another coder")
	add(t.Status == board.Draft && t.Turn == roles.Human, "waits for %s to finalize it", d.o.Human("you"))
	add(t.Status == board.ReadyForReview && t.ReviewingBy == "" && t.Turn == roles.Human, "waits for %s", d.o.Human("your review"))
	add(t.Status == board.ReadyForReview && t.ReviewingBy == "" && t.Turn != roles.Human, "waits for a reviewer")
	add(t.Review != "", "%s", t.Review)
	add(t.Stage != "", "stage %s", t.Stage)
	add(t.Status == board.Approved, "waits for its merge")
	why := d.reason(t.ID)
	add(t.Status == board.IntegrationFailed && why != "", "%s", why)
	add(t.Iteration > 0, "iteration %d", t.Iteration)
	add(t.ReviewCycles > 0, "review cycle %d", t.ReviewCycles)
	add(t.LeaseExpires != "", "lease %s", LeaseLeft(d.now, t.LeaseExpires))
	return strings.Join(parts, ", ")
}

func LeaseLeft(now time.Time, expires board.Time) string {
	if d := expires.Std().Sub(now); d > 0 {
		return board.Span(d) + " left"
	}
	return "expired " + call.Since(now, expires) + " ago"
}

// agents lists up to most agents, those with expired leases first.
func (d *statusDrawing) agents(most int) []string {
	if len(d.o.Agents) == 0 {
		return nil
	}
	gone := func(a report.AgentOutlook) bool { return a.LeaseExpires != "" && a.LeaseExpires <= d.o.Now }
	agents := slices.Clone(d.o.Agents)
	sort.SliceStable(agents, func(i, j int) bool { return gone(agents[i]) && !gone(agents[j]) })
	var rows [][]string
	for _, a := range agents[:fits(len(agents), most)] {
		left := ""
		if a.LeaseExpires != "" {
			left = "lease " + LeaseLeft(d.now, a.LeaseExpires)
		}
		waits := ""
		if a.WaitingFor != "" {
			waits = "waits: " + text.Line(a.WaitingFor, 100)
		}
		rows = append(rows, []string{d.Fit(a.ID, 20), string(a.Status), d.Fit(a.Task, d.Width*3/10), left, waits})
	}
	if most == 0 {
		return []string{"", fmt.Sprintf("agents %d", len(agents))}
	}
	lines := call.Columns("  ", rows)
	for i := range lines {
		lines[i] = d.Cut(lines[i], d.Width)
	}
	return slices.Concat([]string{"", "agents"}, lines, d.more(len(agents)-len(rows)))
}

func (d *statusDrawing) events(most int) []string {
	events := d.o.Events[:min(len(d.o.Events), most)]
	if len(events) == 0 {
		return nil
	}
	age := 0
	for _, e := range events {
		age = max(age, len(call.Since(d.now, e.Time)))
	}
	lines := []string{"", "events"}
	for _, e := range events {
		ago := call.Since(d.now, e.Time)
		lines = append(lines, d.Onto("  "+strings.Repeat(" ", age-len(ago))+ago+"  "+call.Pad(d.Fit(e.Agent, 16), 18), e.Subject))
	}
	return lines
}
