package main

import (
	"fmt"
	"strings"
	"time"
)

// makespan is a row: teamwork whose makespan may exceed the ideal one by a factor.
type makespan struct {
	name string
	teamwork
	bar float64
}

var makespans = []makespan{
	{"24 tasks in 4 chains, 4 coders, 2 reviewers", teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8}, 1.10},
	{"24 tasks in 4 chains, 4 coders, 1 reviewer, a test of 4 s", teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 1, code: 6, review: 2, test: 4, batch: 8}, 1.15},
	{"8 tasks, 4 coders, 2 reviewers, a test of 20 s", teamwork{dependsOn: chains(8, 8), coders: 4, reviewers: 2, code: 6, review: 2, test: 20, batch: 8}, 1.10},
	{"60 tasks in 12 chains, 12 coders, 4 reviewers", teamwork{dependsOn: chains(60, 12), coders: 12, reviewers: 4, code: 6, review: 2, test: 1, batch: 8}, 1.25},
}

// benchMakespan lets teams of scripted agents finish tasks, against a scheduler without overhead
// that has a lane for merges.
func benchMakespan(l *lab) error {
	for i, row := range makespans {
		s, err := l.project(fmt.Sprintf("makespan-%d", i+1))
		if err != nil {
			return err
		}
		took, err := s.teamwork(row.teamwork)
		if err != nil {
			return err
		}
		if _, err := s.liza("", "verify"); err != nil {
			return err
		}
		l.row("makespan: "+row.name, samples{ms(took)}, samples{float64(1000 * row.ideal(false))}, "ideal", row.bar, 0)
		l.remark("%s: %.1f s; ideal with a lane for merges %d s, in reviewers' time %d s", row.name, took.Seconds(), row.ideal(false), row.ideal(true))
	}
	return nil
}

// teamwork lets a team finish tasks, and returns how long its command took.
func (s *site) teamwork(w teamwork) (time.Duration, error) {
	set := [][]string{{"init", "--unattended", "To be measured"}, {"config", "set", "integration_test", fmt.Sprintf("sleep %d", w.test)}}
	for i, on := range w.dependsOn {
		var ids []string
		for _, d := range on {
			ids = append(ids, taskID(d))
		}
		set = append(set, []string{"add-task", "--id", taskID(i), "--desc", "Write a file", "--done", "it is there", "--scope", "IN: the file", "--spec", "specs/vision.md",
			"--kind", "doc", "--depends", strings.Join(ids, ","), "--ready"})
	}
	for _, args := range set {
		if _, err := s.liza("", args...); err != nil {
			return 0, err
		}
	}
	return s.liza("", "team", "--quiet", "--planners", "1", "--coders", fmt.Sprint(w.coders), "--reviewers", fmt.Sprint(w.reviewers), "--exec", fmt.Sprintf(scriptedAgent, w.review, w.code))
}

// scriptedAgent is an agent of any role; it takes so many seconds for a review, and for a task.
const scriptedAgent = `
task=$(sed -n 's/^TASK ID: //p' "$LIZA_PROMPT_FILE")
case $LIZA_AGENT_ID in
code-reviewer-*) sleep %d && git liza verdict $task APPROVED --commit task/$task ;;
coder-*)
	git liza pre-exec $task --intent 'write it' --validation 'look at it' --file $task.txt &&
	sleep %d && echo $task >$task.txt && git add $task.txt && git commit -q -m $task &&
	git liza submit $task ;;
esac`
