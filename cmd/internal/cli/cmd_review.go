package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(reviewCommand)

func reviewCommand() *edge.Command {
	var diff, since bool
	return &edge.Command{
		Name: "review", Group: "reviewer", Args: "ID", Min: 1, Max: 1,
		Short: "show everything that a reviewer needs to judge a submission",
		Long: `--diff shows what it changes; with --since-last, what is new since the submission before (git range-diff where commits
were rewritten). Files of other tasks that came by a merge of integration are left out.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&diff, "diff", false, "the patch")
			f.BoolVar(&since, "since-last", false, "with --diff: since the submission before")
		},
		Example: `git liza review login --diff --since-last`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if since && !diff {
				return edge.Usage(c.Cmd, "--since-last selects a --diff: give both")
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			t, err := v.State.FindTask(c.Args[0])
			if err != nil {
				return err
			}
			if diff {
				return screen.ShowPatch(ctx, c, t, since)
			}
			if t.ReviewCommit == "" && len(t.Submitted()) > 0 {
				return board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: no submission of it is under review", t.ID, t.Status), "its last one: git liza diff "+t.ID)
			}
			if t.ReviewCommit == "" {
				return board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: nothing of it was submitted", t.ID, t.Status), "git liza show "+t.ID)
			}
			if id := c.AgentID(); id != "" && t.ReviewingBy == id {
				if _, err := worktrees.ForReview(ctx, c.Board, v, t); err != nil {
					return err
				}
			}
			m, err := materialFor(ctx, c, v, t)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(m)
			}
			return c.Say(m.lines(t)...)
		},
	}
}

// reviewMaterial is a reviewer's material.
type reviewMaterial struct {
	Task        string            `json:"task"`
	Status      board.Status      `json:"status"`
	Author      string            `json:"author"`
	Iteration   int               `json:"iteration"`
	Stage       string            `json:"stage,omitempty"`
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
	Deleted     []string          `json:"tests_deleted"`
	Early       []string          `json:"commits_before_checkpoint"`
	NoTests     string            `json:"no_tests_because,omitempty"`
	Commits     []string          `json:"commits"`
	Unshown     []string          `json:"commits_not_shown"`
	Prior       string            `json:"prior_rejection,omitempty"`
	Progress    string            `json:"review_progress,omitempty"`
	Comments    []report.Remark   `json:"comments"`
	Notes       []string          `json:"notes"`
	SpecChanges []string          `json:"spec_changes"`
}

func materialFor(ctx context.Context, c *edge.Call, v *gitboard.View, t *board.Task) (*reviewMaterial, error) {
	sub, err := c.Board.Submission(ctx, v, t)
	if err != nil {
		return nil, err
	}
	m := &reviewMaterial{
		Task: t.ID, Status: t.Status, Author: t.AssignedTo, Iteration: t.Iteration, Worktree: t.Worktree, Base: t.ReviewBase, Commit: t.ReviewCommit,
		Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef, SpecChanged: sub.SpecChanged, SpecDiff: sub.SpecDiff,
		Checkpoint: t.CheckpointOfIteration(), Files: edge.Every(sub.Files), Outside: edge.Every(sub.FilesOutside), Tests: edge.Every(sub.TestsTouched), Deleted: edge.Every(sub.TestsDeleted),
		Early: edge.Every(sub.EarlyCommits), NoTests: sub.NoTestsBecause,
		Stage: report.StageOf(v.State, t.Brief()), Progress: report.ReviewOf(v.State, t.Brief()), Commits: edge.Every(sub.Commits), Unshown: edge.Every(sub.Unshown), Notes: screen.NoteLines(report.NotesFor(v.State, t.ID, c.AgentID())), SpecChanges: []string{}, Prior: t.Rejection.Text(),
	}
	if m.Comments, err = c.Board.Remarks(ctx, t); err != nil {
		return nil, err
	}
	m.Comments = edge.Every(m.Comments)
	for _, s := range report.SpecChangesSince(v.State, t.Created) {
		m.SpecChanges = append(m.SpecChanges, s.Spec+": "+plain.Line(s.Change, 200))
	}
	return m, v.State.Err()
}

func (m *reviewMaterial) lines(t *board.Task) []string {
	lines := edge.Labelled{fmt.Sprintf("%s, iteration %d, by %s (%s)", m.Task, m.Iteration, m.Author, m.Status), ""}
	lines.Add("stage", m.Stage)
	lines.Add("description", m.Description)
	lines.Add("done when", m.DoneWhen)
	lines.Add("scope", m.Scope)
	lines.Add("spec", m.SpecRef)
	if m.SpecChanged {
		lines.Add("", "the spec has changed since the task was finalized: judge by the present text")
		lines.Add("spec diff", m.SpecDiff)
	}
	if cp := m.Checkpoint; cp != nil {
		lines.Add("intent", cp.Intent)
		lines.Add("assumptions", strings.Join(cp.Assumptions, "\n"))
		lines.Add("risks", cp.Risks)
		lines.Add("validation", cp.Validation)
		lines.AddEach("files planned", cp.FilesToModify)
	}
	lines.AddEach("commits", m.Commits)
	if len(m.Unshown) > 0 {
		lines.AddEach("NOT SHOWN", m.Unshown)
		lines.Add("", "integration lacks these commits, and the diff below begins after them: this can't be merged as it was submitted")
	}
	lines.AddEach("files", m.Files)
	lines.AddEach("not planned", m.Outside)
	lines.AddEach("tests", m.Tests)
	lines.AddEach("tests deleted", m.Deleted)
	lines.AddEach("before the checkpoint", m.Early)
	lines.Add("no tests", m.NoTests)
	lines.Add("notes", strings.Join(m.Notes, "\n"))
	lines.Add("spec changes", strings.Join(m.SpecChanges, "\n"))
	lines.Add("rejected for", m.Prior)
	lines.Add("approvals", m.Progress)
	var comments []string
	for _, r := range m.Comments {
		comments = append(comments, r.String())
	}
	lines.Add("comments", strings.Join(comments, "\n"))
	return append(lines, "",
		"the change: git liza diff "+m.Task,
		"the files lie in "+m.Worktree+" (read only)",
		fmt.Sprintf("git liza verdict %s APPROVED --commit %s", m.Task, m.Commit),
		board.Rejecting(t))
}
