package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	teamCoders    = 4
	teamReviewers = 2
)

// benchTeam lets a team in one clone finish tasks: on a local board, and on one that a distant hub
// shares, which only takes pushes. It takes minutes, so --quick leaves it out.
func benchTeam(l *lab) error {
	if l.o.quick {
		return nil
	}
	tasks, work := l.pick(2, 20, 20), 20*time.Second
	if l.o.tiny {
		work = 0
	}
	local, err := l.team("team-local", tasks)
	if err != nil {
		return err
	}
	distant, err := l.team("team-distant", tasks)
	if err != nil {
		return err
	}
	if _, err := l.share(distant, plainHub); err != nil {
		return err
	}
	if err := distant.distance(); err != nil {
		return err
	}
	var got [2]samples
	for i, s := range []*site{local, distant} {
		took, err := s.finishTasks(work)
		if err != nil {
			return err
		}
		got[i] = samples{ms(took)}
	}
	l.row(fmt.Sprintf("%d coders and %d reviewers, %d tasks, by a distant hub", teamCoders, teamReviewers, tasks),
		got[1], got[0], "the same local", 1.5, 0)
	return nil
}

// team makes a board with tasks and the agents of a team.
func (l *lab) team(name string, tasks int) (*site, error) {
	s, err := l.project(name)
	if err != nil {
		return nil, err
	}
	h, err := s.startHistory(time.Hour)
	if err != nil {
		return nil, err
	}
	var agents []string
	for i := range teamCoders {
		agents = append(agents, fmt.Sprintf("coder-%d", i+1))
	}
	for i := range teamReviewers {
		agents = append(agents, fmt.Sprintf("code-reviewer-%d", i+1))
	}
	if err = h.addTasks(tasks); err == nil {
		err = h.agents(agents...)
	}
	if finished := h.finish(); finished != nil {
		return nil, finished
	}
	if err != nil {
		return nil, err
	}
	s.tasks = h.unclaimed()
	return s, s.settle()
}

// finishTasks has each task coded by one of the coders and reviewed and merged by one of the
// reviewers, and returns how long the team took. A coder works for so long on a task, a reviewer
// half of it.
func (s *site) finishTasks(work time.Duration) (time.Duration, error) {
	todo, review := make(chan string, len(s.tasks)), make(chan submission, len(s.tasks))
	for _, task := range s.tasks {
		todo <- task
	}
	close(todo)
	var failed [teamCoders + teamReviewers]error
	var coders, reviewers sync.WaitGroup
	start := time.Now()
	for i := range teamCoders {
		coders.Go(func() { failed[i] = s.code(fmt.Sprintf("coder-%d", i+1), work, todo, review) })
	}
	for i := range teamReviewers {
		reviewers.Go(func() { failed[teamCoders+i] = s.review(fmt.Sprintf("code-reviewer-%d", i+1), work/2, review) })
	}
	coders.Wait()
	close(review)
	reviewers.Wait()
	took := time.Since(start)
	err := errors.Join(failed[:]...)
	if err == nil {
		_, err = s.liza("", "verify")
	}
	return took, err
}

// code is what one coder does until there is nothing left to do.
func (s *site) code(coder string, work time.Duration, todo <-chan string, review chan<- submission) error {
	for task := range todo {
		sub, err := s.worked(coder, task, work)
		if err == nil {
			_, err = s.liza(coder, "submit", task)
		}
		if err != nil {
			return err
		}
		review <- sub
	}
	return nil
}

// review is what one reviewer does until the last submission is merged.
func (s *site) review(reviewer string, work time.Duration, submissions <-chan submission) error {
	for sub := range submissions {
		if _, err := s.liza(reviewer, "claim-review", sub.task); err != nil {
			return err
		}
		time.Sleep(work)
		err := s.steps([]string{reviewer, "verdict " + sub.task + " APPROVED --commit " + sub.commit}, []string{reviewer, "merge " + sub.task})
		if err != nil {
			return err
		}
	}
	return nil
}
