//go:build linux

package main

import (
	"fmt"
	"strings"
)

// reviews is a reviewer's run: it rejects work that is unfinished or fails its tests.
func (a *scripted) reviews() int {
	task, tree, commit := a.field("TASK ID"), a.field("WORKTREE"), a.field("REVIEW COMMIT")
	if a.once("review-crash", task) {
		return 3
	}
	if at := strings.TrimSpace(a.git(tree, "rev-parse", "HEAD")); at != commit {
		fail("the worktree of %s is at %s, not at %s", task, at, commit)
	}
	if dirty := a.git(tree, "status", "--porcelain"); dirty != "" {
		fail("the worktree of %s is dirty: %s", task, dirty)
	}
	a.liza("review", task)
	if a.once("review-kill", task) {
		kills()
	}
	if a.once("review-early", task) {
		return 42
	}
	verdict := []string{"verdict", task, "APPROVED", "--commit", commit}
	if blockers := a.faults(task, tree, commit); len(blockers) > 0 {
		verdict[2] = "REJECTED"
		for _, b := range blockers {
			verdict = append(verdict, "--blocker", b)
		}
		verdict = append(verdict, "--overall", "not yet")
		for range blockerLine.FindAllString(a.prompt, -1) {
			verdict = append(verdict, "--prior", "STILL PRESENT: it is as it was")
		}
	}
	a.liza(verdict...)
	return 0
}

// faults returns the blockers that it finds in a submission.
func (a *scripted) faults(task, tree, commit string) (blockers []string) {
	var at string
	line := 0
	for text := range strings.Lines(a.git(tree, "diff", "--unified=1000", a.field("BASE COMMIT")+".."+commit)) {
		text = strings.TrimRight(text, "\n")
		switch {
		case strings.HasPrefix(text, "+++ b/"):
			at = text[len("+++ b/"):]
		case strings.HasPrefix(text, "@@"):
			line = 0
		case strings.HasPrefix(text, "-"):
		default:
			if line++; strings.HasPrefix(text, "+# TODO") {
				blockers = append(blockers, fmt.Sprintf("%s:%d|it is unfinished|nobody buys it|polish it", at, line))
			}
		}
	}
	if out, code := run(tree, "sh", "tests/test_"+task+".sh"); code != 0 {
		blockers = append(blockers, fmt.Sprintf("tests/test_%s.sh:1|it fails: %s|it does not what it should|see it pass", task, strings.TrimSpace(out)))
	}
	return blockers
}
