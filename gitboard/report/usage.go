package report

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Usage is what the agents' runs of a sprint have cost, as far as their CLIs have reported it: the cost of all runs on
// the tasks that Measure counts, and of those on no task.
type Usage struct {
	Runs      int              `json:"runs"`
	Total     board.Cost       `json:"total"`
	By        []board.Spending `json:"by"`         // role and model, the dearest first
	Tasks     []TaskUsage      `json:"tasks"`      // the dearest first
	PerMerged int              `json:"per_merged"` // tokens of all runs for each merged task; 0 before there is one
}

// TaskUsage is the cost of a task.
type TaskUsage struct {
	Task   string     `json:"task"`
	Status string     `json:"status"`
	Runs   int        `json:"runs"`
	Cost   board.Cost `json:"cost"`
}

// Used adds up what the current sprint has cost.
func Used(s *board.State) Usage {
	u := Usage{By: []board.Spending{}, Tasks: []TaskUsage{}}
	u.add(s.Sprint().Usage)
	started, merged := sprintStart(s), 0
	s.EachBrief(func(b board.Brief) {
		if endedBefore(b, started) {
			return
		}
		if b.Status == board.Merged {
			merged++
		}
		t := s.Task(b.ID)
		if t == nil || len(t.Usage) == 0 {
			return
		}
		line := TaskUsage{Task: b.ID, Status: string(b.Status)}
		for _, l := range t.Usage {
			line.Runs += l.Runs
			line.Cost.Add(l.Cost)
		}
		u.Tasks = append(u.Tasks, line)
		u.add(t.Usage)
	})
	slices.SortStableFunc(u.Tasks, func(a, b TaskUsage) int { return cmp.Compare(Tokens(b.Cost), Tokens(a.Cost)) })
	slices.SortStableFunc(u.By, func(a, b board.Spending) int { return cmp.Compare(Tokens(b.Cost), Tokens(a.Cost)) })
	if merged > 0 {
		u.PerMerged = Tokens(u.Total) / merged
	}
	return u
}

// Tokens are all that a cost has of them.
func Tokens(c board.Cost) int { return c.Input + c.Output }

func (u *Usage) add(lines []board.Spending) {
	for _, l := range lines {
		u.Runs += l.Runs
		u.Total.Add(l.Cost)
		i := slices.IndexFunc(u.By, func(b board.Spending) bool { return b.Role == l.Role && b.Model == l.Model })
		if i < 0 {
			u.By = append(u.By, l)
			continue
		}
		u.By[i].Runs += l.Runs
		u.By[i].Cost.Add(l.Cost)
	}
}
