package main

import (
	"cmp"
	"slices"
)

// teamwork is a set of tasks and a team of scripted agents, with durations in seconds.
type teamwork struct {
	dependsOn         [][]int // by task
	coders, reviewers int
	code, review      int
	test              int  // of a train of approved tasks
	batch             int  // the longest train
	reject            int  // every so many tasks are rejected once; 0 for none
	pairs             bool // neighbours edit the same lines: the ideal works on one after the other
	killed            int  // when the team is killed, so that all work under way begins again; 0 for never
}

// schedule is a list scheduler, which starts whatever can be started, the longest chain first,
// without any overhead. If own is set, merges take a reviewer's time, and come before reviews;
// otherwise a lane of its own makes them.
type schedule struct {
	teamwork
	own                bool
	behind             []int // by task: the length of the chain that waits for it
	todo, coded, ready []int // to code; to review; to merge
	merged, rejected   map[int]bool
	merging            bool
	now                int
	under              []step
}

// step is work under way.
type step struct {
	takes, ends int
	done        func()
}

// ideal is the makespan of teamwork in seconds.
func (w teamwork) ideal(own bool) int {
	s := &schedule{teamwork: w, own: own, behind: make([]int, len(w.dependsOn)), merged: map[int]bool{}, rejected: map[int]bool{}}
	if w.pairs {
		s.dependsOn = make([][]int, len(w.dependsOn))
		for i := range s.dependsOn {
			if i%2 == 1 {
				s.dependsOn[i] = []int{i - 1}
			}
		}
		w = s.teamwork
	}
	for i := range slices.Backward(w.dependsOn) { // tasks depend on earlier ones
		for _, d := range w.dependsOn[i] {
			s.behind[d] = max(s.behind[d], s.behind[i]+1)
		}
		s.todo = append(s.todo, i)
	}
	for len(s.merged) < len(w.dependsOn) {
		for s.start() {
		}
		next := slices.MinFunc(s.under, func(a, b step) int { return cmp.Compare(a.ends, b.ends) }).ends
		if s.now < s.killed && s.killed < next {
			s.now = s.killed
			for i := range s.under {
				s.under[i].ends = s.now + s.under[i].takes
			}
			continue
		}
		s.now = next
		s.under = slices.DeleteFunc(s.under, func(u step) bool {
			if u.ends == s.now {
				u.done()
			}
			return u.ends == s.now
		})
	}
	return s.now
}

// start starts the next step, and reports whether there was one.
func (s *schedule) start() bool {
	free := func(int) bool { return true }
	if !s.merging && (!s.own || s.reviewers > 0) && len(s.ready) > 0 {
		train := s.take(&s.ready, s.batch, free)
		s.merging = true
		if s.own {
			s.reviewers--
		}
		s.begin(s.test, func() {
			s.merging = false
			if s.own {
				s.reviewers++
			}
			for _, i := range train {
				s.merged[i] = true
			}
		})
		return true
	}
	if s.reviewers > 0 && len(s.coded) > 0 {
		task := s.take(&s.coded, 1, free)
		s.reviewers--
		s.begin(s.review, func() {
			s.reviewers++
			if i := task[0]; s.rejects(i) && !s.rejected[i] {
				s.rejected[i] = true
				s.todo = append(s.todo, i)
				return
			}
			s.ready = append(s.ready, task...)
		})
		return true
	}
	if s.coders == 0 {
		return false
	}
	task := s.take(&s.todo, 1, func(i int) bool {
		return !slices.ContainsFunc(s.dependsOn[i], func(d int) bool { return !s.merged[d] })
	})
	if len(task) == 0 {
		return false
	}
	s.coders--
	s.begin(s.code, func() { s.coders++; s.coded = append(s.coded, task...) })
	return true
}

// rejects reports whether a task's first submission is rejected.
func (w teamwork) rejects(i int) bool { return w.reject > 0 && i%w.reject == w.reject-1 }

func (s *schedule) begin(takes int, done func()) {
	s.under = append(s.under, step{takes: takes, ends: s.now + takes, done: done})
}

// take takes tasks that may be taken off a list, those with the longest chains first.
func (s *schedule) take(from *[]int, most int, may func(int) bool) (taken []int) {
	slices.SortFunc(*from, func(a, b int) int { return cmp.Or(cmp.Compare(s.behind[b], s.behind[a]), cmp.Compare(a, b)) })
	*from = slices.DeleteFunc(*from, func(i int) bool {
		if len(taken) == most || !may(i) {
			return false
		}
		taken = append(taken, i)
		return true
	})
	return taken
}

// chains are tasks in so many chains, in each of which a task depends on the one before.
func chains(tasks, wide int) [][]int {
	all := make([][]int, tasks)
	for i := wide; i < tasks; i++ {
		all[i] = []int{i - wide}
	}
	return all
}
