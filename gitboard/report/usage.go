package report

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Usage is the cost of the agents' runs in a sprint, as far as their CLIs report it: all runs on
// the tasks that Measure counts, and runs without a task.
type Usage struct {
	Runs      int              `json:"runs"`
	Total     board.Cost       `json:"total"`
	By        []board.Spending `json:"by"`         // by role and model, most expensive first
	Tasks     []taskUsage      `json:"tasks"`      // most expensive first
	PerMerged int              `json:"per_merged"` // tokens of all runs per merged task, or 0

	MinutesPerMerged    int `json:"minutes_per_merged"`    // of agents' work, likewise
	PerRejection        int `json:"per_rejection"`         // tokens after first iterations, per rejection
	MinutesPerRejection int `json:"minutes_per_rejection"` // likewise

	Unreported []string `json:"unreported,omitempty"` // CLIs that have reported no tokens

	rework, reworkSeconds int
}

// taskUsage is the cost of a task.
type taskUsage struct {
	Task   string     `json:"task"`
	Status string     `json:"status"`
	Runs   int        `json:"runs"`
	Cost   board.Cost `json:"cost"`
}

// Used adds up the cost of the current sprint.
func Used(s *board.State) Usage { return UsedFor(s, "") }

// UsedFor is Used for the tasks of one goal, without what planning it has cost; "" for all of the
// sprint.
func UsedFor(s *board.State, goal string) Usage {
	u := Usage{By: []board.Spending{}, Tasks: []taskUsage{}}
	if goal == "" {
		u.add(s.Sprint().Usage)
	}
	started, merged := sprintStart(s), 0
	s.EachBrief(func(b board.Brief) {
		if endedBefore(b, started) || goal != "" && b.Goal != goal {
			return
		}
		if b.Status == board.Merged {
			merged++
		}
		t := s.Task(b.ID)
		if t == nil || len(t.Usage) == 0 {
			return
		}
		line := taskUsage{Task: b.ID, Status: string(b.Status)}
		for _, l := range t.Usage {
			line.Runs += l.Runs
			line.Cost.Add(l.Cost)
		}
		u.Tasks = append(u.Tasks, line)
		u.add(t.Usage)
	})
	sort.SliceStable(u.Tasks, func(i, j int) bool { return u.Tasks[i].Cost.Tokens() > u.Tasks[j].Cost.Tokens() })
	sort.SliceStable(u.By, func(i, j int) bool { return u.By[i].Cost.Tokens() > u.By[j].Cost.Tokens() })
	if merged > 0 {
		u.PerMerged, u.MinutesPerMerged = u.Total.Tokens()/merged, u.Total.Seconds/60/merged
	}
	if rejected := MeasureOf(s, goal).Rejections; rejected > 0 {
		u.PerRejection, u.MinutesPerRejection = u.rework/rejected, u.reworkSeconds/60/rejected
	}
	return u
}

// Count formats a number of tokens: 940, 12.4k, 3.1M.
func Count(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return strconv.Itoa(n)
}

// UsageText is the cost of runs in one line: tokens, minutes, and runs by role; "" if no CLI has
// reported any.
func UsageText(lines []board.Spending) string {
	var all board.Cost
	var roles []string
	runs, by := map[string]int{}, map[string]int{}
	for _, l := range lines {
		role := string(l.Role)
		if runs[role] == 0 {
			roles = append(roles, role)
		}
		runs[role] += l.Runs
		by[role] += l.Cost.Tokens()
		all.Add(l.Cost)
	}
	if len(lines) == 0 {
		return ""
	}
	cli := board.Unreported(lines)
	if cli != "" && all.Tokens() == 0 {
		return fmt.Sprintf("%s; %d min", board.Unknown(cli), all.Seconds/60)
	}
	text := fmt.Sprintf("%s tokens (%s from a cache), %d min", Count(all.Tokens()), Count(all.Cached), all.Seconds/60)
	for _, r := range roles {
		text += fmt.Sprintf("; %s %s in %d runs", r, Count(by[r]), runs[r])
	}
	if cli != "" {
		text += "; " + board.Unknown(cli)
	}
	return text
}

func (u *Usage) add(lines []board.Spending) {
	for _, l := range lines {
		u.Runs += l.Runs
		u.Total.Add(l.Cost)
		u.rework += l.ReworkTokens
		u.reworkSeconds += l.ReworkSeconds
		if l.Unreported != "" && !slices.Contains(u.Unreported, l.Unreported) {
			u.Unreported = append(u.Unreported, l.Unreported)
		}
		i := slices.IndexFunc(u.By, func(b board.Spending) bool { return b.Role == l.Role && b.Model == l.Model })
		if i < 0 {
			u.By = append(u.By, l)
			continue
		}
		u.By[i].Runs += l.Runs
		u.By[i].Cost.Add(l.Cost)
	}
}
