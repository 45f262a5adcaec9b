package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func reviewCommand() *command {
	return &command{
		name: "review", group: "reviewer", args: "ID", min: 1, max: 1,
		short: "everything that a reviewer needs to judge a submission",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			t, err := v.State.FindTask(c.args[0])
			if err != nil {
				return err
			}
			if t.ReviewCommit == "" {
				return board.Refuse("wrong-state", fmt.Sprintf("%s is %s: nothing of it was submitted", t.ID, t.Status), "git liza show "+t.ID)
			}
			if id := c.agentID(); id != "" && t.ReviewingBy == id {
				if _, err := worktrees.ForReview(c.ctx, c.opened, v, t); err != nil {
					return err
				}
			}
			m, err := c.reviewMaterial(c.ctx, v, t)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(m)
			}
			return c.say(m.lines(t)...)
		},
	}
}

// reviewMaterial is what a reviewer looks at.
type reviewMaterial struct {
	Task        string            `json:"task"`
	Status      board.Status      `json:"status"`
	Author      string            `json:"author"`
	Iteration   int               `json:"iteration"`
	Worktree    string            `json:"worktree"`
	Base        string            `json:"review_base"`
	Commit      string            `json:"review_commit"`
	Description string            `json:"description"`
	DoneWhen    string            `json:"done_when"`
	Scope       string            `json:"scope"`
	SpecRef     string            `json:"spec_ref"`
	SpecChanged bool              `json:"spec_changed_since_finalized"`
	SpecDiff    string            `json:"spec_diff,omitempty"`
	Checkpoint  *board.Checkpoint `json:"checkpoint"`
	Files       []string          `json:"files"`
	Outside     []string          `json:"files_outside_checkpoint"`
	Tests       []string          `json:"tests"`
	NoTests     string            `json:"no_tests_because,omitempty"`
	Commits     []string          `json:"commits"`
	Prior       string            `json:"prior_rejection,omitempty"`
	Notes       []string          `json:"notes"`
	SpecChanges []string          `json:"spec_changes"`
}

func (c *call) reviewMaterial(ctx context.Context, v *gitboard.View, t *board.Task) (*reviewMaterial, error) {
	sub, err := c.opened.Submission(ctx, v, t)
	if err != nil {
		return nil, err
	}
	m := &reviewMaterial{
		Task: t.ID, Status: t.Status, Author: t.AssignedTo, Iteration: t.Iteration, Worktree: t.Worktree, Base: t.ReviewBase, Commit: t.ReviewCommit,
		Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef, SpecChanged: sub.SpecChanged, SpecDiff: sub.SpecDiff,
		Checkpoint: t.CheckpointOfIteration(), Files: every(sub.Files), Outside: every(sub.FilesOutside), Tests: every(sub.TestsTouched), NoTests: sub.NoTestsBecause,
		Commits: every(sub.Commits), Notes: noteLines(v.State.NotesFor(t.ID, c.agentID())), SpecChanges: []string{}, Prior: t.RejectionReason,
	}
	for _, s := range v.State.SpecChangesSince(t.Created) {
		m.SpecChanges = append(m.SpecChanges, s.Spec+": "+board.Line(s.Change, 200))
	}
	return m, v.State.Err()
}

// noteLines shows notes, each in a line.
func noteLines(notes []*board.Note) []string {
	lines := []string{}
	for _, n := range notes {
		lines = append(lines, n.ID+" by "+n.By+": "+board.Line(n.Message, 500))
	}
	return lines
}

func (m *reviewMaterial) lines(t *board.Task) []string {
	lines := labelled{fmt.Sprintf("%s, iteration %d, by %s (%s)", m.Task, m.Iteration, m.Author, m.Status), ""}
	lines.add("description", m.Description)
	lines.add("done when", m.DoneWhen)
	lines.add("scope", m.Scope)
	lines.add("spec", m.SpecRef)
	if m.SpecChanged {
		lines.add("", "the spec has changed since the task was finalized: judge by what it says now")
		lines.add("spec diff", m.SpecDiff)
	}
	if cp := m.Checkpoint; cp != nil {
		lines.add("intent", cp.Intent)
		lines.add("assumptions", strings.Join(cp.Assumptions, "\n"))
		lines.add("risks", cp.Risks)
		lines.add("validation", cp.Validation)
		lines.add("files planned", strings.Join(cp.FilesToModify, "\n"))
	}
	lines.add("commits", strings.Join(m.Commits, "\n"))
	lines.add("files", strings.Join(m.Files, "\n"))
	lines.add("not planned", strings.Join(m.Outside, "\n"))
	lines.add("tests", strings.Join(m.Tests, "\n"))
	lines.add("no tests", m.NoTests)
	lines.add("notes", strings.Join(m.Notes, "\n"))
	lines.add("spec changes", strings.Join(m.SpecChanges, "\n"))
	lines.add("rejected for", m.Prior)
	return append(lines, "",
		fmt.Sprintf("git diff %.10s..%.10s", m.Base, m.Commit),
		"the files lie in "+m.Worktree+" (read only)",
		fmt.Sprintf("git liza verdict %s APPROVED --commit %s", m.Task, m.Commit),
		fmt.Sprintf(`git liza verdict %s REJECTED --commit %s --blocker "file:line|issue|why|suggestion" --overall TEXT`, m.Task, m.Commit))
}
