package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/lease"
)

func statusCommand() *command {
	return &command{
		name: "status", group: "human", max: 0, reads: true,
		short: "the run on one screen: what waits for whom, who does what",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			s, err := c.gather(v)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(s)
			}
			return c.print(s.screen(c.paint()))
		},
	}
}

// print writes lines that may be coloured; their texts have been made safe already.
func (c *call) print(lines []string) error {
	_, err := c.app.Stdout.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// statusReport is what status shows, as --json prints it.
type statusReport struct {
	Commit   string         `json:"commit"`
	Time     board.Time     `json:"time"`
	Goal     string         `json:"goal"`
	Phase    board.Phase    `json:"goal_status"`
	Sprint   string         `json:"sprint"`
	SprintIs board.Phase    `json:"sprint_status"`
	Mode     board.Mode     `json:"mode"`
	Reason   string         `json:"mode_reason,omitempty"`
	Waiting  []waiting      `json:"waiting_for_human"`
	Tasks    []taskLine     `json:"tasks"`
	Counts   map[string]int `json:"counts"`
	Agents   []agentLine    `json:"agents"`
	Progress board.Time     `json:"last_progress,omitempty"`
	Now      board.Time     `json:"now"`
	now      time.Time
}

type waiting struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

type taskLine struct {
	board.Brief
	Worker string `json:"worker,omitempty"`
}

type agentLine struct {
	ID           string            `json:"id"`
	Status       board.AgentStatus `json:"status"`
	Task         string            `json:"task,omitempty"`
	LeaseExpires board.Time        `json:"lease_expires,omitempty"`
}

// gather collects what status shows.
func (c *call) gather(v *gitboard.View) (*statusReport, error) {
	s := v.State
	goal, sprint, control := s.Goal(), s.Sprint(), s.Control()
	tasks := s.Tasks()
	if err := s.Err(); err != nil {
		return nil, err
	}
	now := c.app.Now()
	if c.at != "" {
		now = s.Time().Std()
	}
	r := &statusReport{
		Commit: string(v.Commit), Time: s.Time(), Goal: board.Line(goal.Description, 200), Phase: goal.Status, Sprint: sprint.ID, SprintIs: sprint.Status,
		Mode: control.Mode, Reason: control.Reason, Counts: map[string]int{}, Now: board.At(now), now: now, Waiting: []waiting{}, Tasks: []taskLine{}, Agents: []agentLine{},
	}
	for _, b := range tasks {
		r.Counts[string(b.Status)]++
		r.Tasks = append(r.Tasks, taskLine{b, worker(b)})
		if b.StatusChangedAt > r.Progress {
			r.Progress = b.StatusChangedAt
		}
	}
	var held map[string]*lease.Held
	if c.at == "" {
		var err error
		if held, err = v.Leases(c.ctx); err != nil {
			return nil, err
		}
	}
	for _, id := range s.List(board.AgentDir) {
		a := s.Agent(id)
		if a == nil {
			continue
		}
		line := agentLine{ID: id, Status: a.Status, Task: a.CurrentTask}
		if h := held[id]; h != nil {
			line.LeaseExpires = board.At(h.Expires)
		}
		r.Agents = append(r.Agents, line)
	}
	r.Waiting = append(r.Waiting, waitingForHuman(s, tasks)...)
	return r, s.Err()
}

func worker(b board.Brief) string {
	switch {
	case b.Status == board.ReadyForReview && b.ReviewingBy != "":
		return b.ReviewingBy
	case b.Status == board.Approved:
		return b.ApprovedBy
	case b.HandoffPending:
		return "handed off by " + b.AssignedTo
	}
	return b.AssignedTo
}

// waitingForHuman lists what nobody but a human moves on.
func waitingForHuman(s *board.State, tasks []board.Brief) []waiting {
	var w []waiting
	if c := s.Control(); c.Mode != board.Running && c.Mode != board.Aborted {
		w = append(w, waiting{fmt.Sprintf("the board is %s since %s", c.Mode, c.Since), "git liza resume"})
	}
	for _, b := range tasks {
		switch {
		case b.Status == board.Draft && s.Config().PlanReview == "human":
			w = append(w, waiting{b.ID + " waits for plan review", "git liza finalize " + b.ID})
		case b.Status == board.Blocked && b.Failures >= 2:
			w = append(w, waiting{b.ID + " is BLOCKED, and two coders failed at it", "git liza show " + b.ID})
		case b.Paused && !b.Status.Terminal():
			w = append(w, waiting{b.ID + " is paused", "git liza resume --task " + b.ID})
		}
	}
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && n.For == "human" && n.AcknowledgedBy == "" {
			w = append(w, waiting{id + " from " + n.By + ": " + board.Line(n.Message, 80), "git liza ack " + id})
		}
	}
	return w
}

// screen draws the report; at most 80 columns wide.
func (r *statusReport) screen(p paint) []string {
	var lines []string
	progress := "no task yet"
	if r.Progress != "" {
		progress = "last progress " + since(r.now, r.Progress) + " ago"
	}
	if len(r.Waiting) == 0 {
		lines = append(lines, p.bold("Nothing waits for you; "+progress+"."))
	} else {
		wait := "things wait"
		if len(r.Waiting) == 1 {
			wait = "thing waits"
		}
		lines = append(lines, p.bold(fmt.Sprintf("%d %s for you; %s.", len(r.Waiting), wait, progress)))
		for _, w := range r.Waiting {
			lines = append(lines, "  "+board.Line(w.What, 76), "    "+w.Do)
		}
	}
	mode := string(r.Mode)
	if r.Reason != "" {
		mode += " (" + board.Line(r.Reason, 40) + ")"
	}
	lines = append(lines, "", "goal    "+board.Line(r.Goal, 56)+"  "+string(r.Phase), "sprint  "+r.Sprint+" "+string(r.SprintIs)+"   board "+mode)
	lines = append(lines, r.taskScreen(p)...)
	if len(r.Agents) > 0 {
		lines = append(lines, "", "agents")
		var rows [][]string
		for _, a := range r.Agents {
			left := ""
			if a.LeaseExpires != "" {
				left = "lease " + leaseLeft(r.now, a.LeaseExpires)
			}
			rows = append(rows, []string{a.ID, string(a.Status), a.Task, left})
		}
		lines = append(lines, columns("  ", rows)...)
	}
	return lines
}

func leaseLeft(now time.Time, expires board.Time) string {
	if d := expires.Std().Sub(now); d > 0 {
		return span(d) + " left"
	}
	return "expired " + since(now, expires) + " ago"
}

// taskScreen groups the tasks by state in the order of the flow; a group of many is cut.
func (r *statusReport) taskScreen(p paint) []string {
	var lines []string
	const most = 12
	for _, status := range board.Statuses {
		n := r.Counts[string(status)]
		if n == 0 {
			continue
		}
		lines = append(lines, "", p.state(status, fmt.Sprintf("%s %d", status, n)))
		var rows [][]string
		for _, t := range r.Tasks {
			if t.Status != status {
				continue
			}
			if status.Terminal() && n > 4 {
				break
			}
			if len(rows) == most {
				break
			}
			detail := "p" + fmt.Sprint(t.Priority)
			if t.Iteration > 0 && !status.Terminal() {
				detail += fmt.Sprintf(" iteration %d", t.Iteration)
			}
			if t.ReviewCycles > 0 && !status.Terminal() {
				detail += fmt.Sprintf(" rejected %dx", t.ReviewCycles)
			}
			rows = append(rows, []string{board.Line(t.ID, 30), board.Line(t.Worker, 30), since(r.now, t.StatusChangedAt), detail})
		}
		lines = append(lines, columns("  ", rows)...)
		if n > len(rows) && len(rows) > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more", n-len(rows)))
		}
	}
	return lines
}
