//go:build linux

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// plans is a planner's run.
func (a *scripted) plans() int {
	trigger := a.field("WAKE TRIGGER")
	switch trigger {
	case "INITIAL_PLANNING":
		a.initialPlan()
	case "BLOCKED_TASKS", "HYPOTHESIS_EXHAUSTED":
		for _, id := range a.about() {
			a.unblocks(id)
		}
	case "IMMEDIATE_DISCOVERY":
		for _, id := range a.about() {
			a.liza("settle-discovery", id, "--defer", "--reason", "the goal is reached without it")
		}
	case "INTEGRATION_FAILED": // for a coder to repair
	case "ALL_TERMINAL":
	default:
		fail("it is woken by %q", trigger)
	}
	return 0
}

// initialPlan adds the plan to the board. An earlier run may have begun it.
func (a *scripted) initialPlan() {
	steps, there := a.plan(), a.tasks()
	for i, s := range steps {
		if _, is := there[s.id]; is {
			continue
		}
		args := []string{
			"add-task", "--id", s.id, "--priority", s.priority, "--spec", "specs/vision.md", "--desc", "Build the " + s.id,
			"--done", fmt.Sprintf("sh src/%s.sh prints what it is made of, and last %s", s.id, s.id), "--scope", "IN: src/" + s.id + ".sh, its test and prices.txt",
		}
		if len(s.depends) > 0 {
			args = append(args, "--depends", strings.Join(s.depends, ","))
		}
		a.liza(args...)
		if i == len(steps)/2 && a.first("plan-crash") {
			kills()
		}
	}
	finalize := []string{"finalize"}
	there = a.tasks()
	for _, s := range steps {
		if there[s.id].Status == "DRAFT" {
			finalize = append(finalize, s.id)
		}
	}
	if len(finalize) > 1 {
		a.liza(finalize...)
	}
	a.liza("alignment", fmt.Sprintf("initial plan: %d tasks", len(steps)))
}

var aboutLine = regexp.MustCompile(`^([a-z0-9-]+), `)

// about returns the task ids in the prompt's wake-up reason.
func (a *scripted) about() (ids []string) {
	for _, line := range a.below("ABOUT") {
		if m := aboutLine.FindStringSubmatch(line); m != nil {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// unblocks answers the question of a task's coder.
func (a *scripted) unblocks(id string) {
	t := a.tasks()[id]
	if t.Status != "BLOCKED" {
		return
	}
	done := t.DoneWhen
	if !strings.Contains(done, "Answer") {
		done += "."
	}
	a.liza("amend-task", id, "--done", done+" Answer: in plain letters.", "--reason", "answer: in plain letters")
	args := []string{"unblock", id}
	if len(id)%2 == 0 {
		args = append(args, "--afresh")
	}
	if t.BlockedReason == "review_deadlock" {
		args = append(args, "--assessment", "its coder did not do what was asked")
	}
	a.liza(args...)
}
