package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
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
	coders, reviewers := numbered("coder", 4), numbered("code-reviewer", 2)
	local, err := l.team("team-local", tasks, slices.Concat(coders, reviewers)...)
	if err != nil {
		return err
	}
	distant, err := l.team("team-distant", tasks, slices.Concat(coders, reviewers)...)
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
		took, err := s.finishTasks(coders, reviewers, work)
		if err != nil {
			return err
		}
		got[i] = samples{ms(took)}
	}
	l.row(fmt.Sprintf("%d coders and %d reviewers, %d tasks, by a distant hub", len(coders), len(reviewers), tasks),
		got[1], got[0], "the same local", 1.5, 0)
	return nil
}

// numbered returns the ids of so many agents of a role.
func numbered(role string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%s-%d", role, i+1))
	}
	return ids
}

// team makes a board with tasks and agents.
func (l *lab) team(name string, tasks int, agents ...string) (*site, error) {
	return l.board(name, time.Hour, func(h *history) error {
		if err := h.addTasks(tasks); err != nil {
			return err
		}
		return h.agents(agents...)
	})
}

// finishTasks has each task coded by one of the coders and reviewed and merged by one of the
// reviewers, and returns how long the team took. A coder works for so long on a task, a reviewer
// half of it.
func (s *site) finishTasks(coders, reviewers []string, work time.Duration) (time.Duration, error) {
	todo, review := make(chan string, len(s.tasks)), make(chan submission, len(s.tasks))
	for _, task := range s.tasks {
		todo <- task
	}
	close(todo)
	failed := make([]error, len(coders)+len(reviewers))
	var coding, reviewing sync.WaitGroup
	start := time.Now()
	for i, coder := range coders {
		coding.Go(func() { failed[i] = s.code(coder, work, todo, review) })
	}
	for i, reviewer := range reviewers {
		reviewing.Go(func() { failed[len(coders)+i] = s.review(reviewer, work/2, review) })
	}
	coding.Wait()
	close(review)
	reviewing.Wait()
	took := time.Since(start)
	err := errors.Join(failed...)
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
		err := s.steps([]string{reviewer, "verdict " + sub.task + " APPROVED --checked tests --commit " + sub.commit}, []string{reviewer, "merge " + sub.task})
		if err != nil {
			return err
		}
	}
	return nil
}
