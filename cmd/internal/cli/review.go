package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(func() *call.Command {
	show := false
	return &call.Command{
		Name: "claim-review", Group: "reviewer", Args: "[ID]", Max: 1, Writes: true,
		Short:   "claim a submission for review",
		Long:    "Without an id: what most tasks wait for, then what has the lowest priority number and is oldest.",
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&show, "show", false, "show it, as git liza review does") },
		Example: `git liza claim-review login`,
		Run: func(ctx context.Context, c *call.Call) error {
			r, err := acts.ClaimReview(ctx, c, call.First(c.Args))
			if err != nil || !show {
				return c.Show(r, err)
			}
			done := r.Done[0]
			t := done.After.Task(done.Op.TaskID())
			m, err := materialFor(ctx, c, done.View, t)
			if err != nil {
				return err
			}
			r.Extra["review"], r.Next, r.Lines = m, "", append([]string{""}, m.lines(t)...)
			return c.Show(r, nil)
		},
	}
})

var _ = add(func() *call.Command {
	var diff, since, checkout bool
	return &call.Command{
		Name: "review", Group: "reviewer", Args: "ID", Min: 1, Max: 1,
		Short: "show everything that a reviewer needs to judge a submission",
		Long: `--diff shows what it changes; with --since-last, what is new since the submission before (git range-diff where commits
were rewritten). Files of other tasks that came by a merge of integration are left out. --checkout makes a worktree of the
submission in which you may change files, or makes it anew; a verdict from this clone removes it.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&diff, "diff", false, "the patch")
			f.BoolVar(&since, "since-last", false, "with --diff: since the submission before")
			f.BoolVar(&checkout, "checkout", false, "make a worktree to try things in, and print its path")
		},
		Example: `git liza review login --diff --since-last`,
		Run: func(ctx context.Context, c *call.Call) error {
			if since && !diff {
				return call.Usage(c.Cmd, "--since-last selects a --diff: give both")
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
			if checkout {
				path, err := merge.Scratch(ctx, c.Board, v, t)
				if err != nil {
					return err
				}
				return c.Answer(map[string]any{"worktree": path, "commit": t.ReviewCommit}, path)
			}
			m, err := materialFor(ctx, c, v, t)
			if err != nil {
				return err
			}
			return call.Tell(c, m, m.lines(t)...)
		},
	}
})

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
	Verified    string            `json:"verified,omitempty"`
	Files       []string          `json:"files"`
	Outside     []string          `json:"files_outside_checkpoint"`
	Tests       []string          `json:"tests"`
	Deleted     []string          `json:"tests_deleted"`
	Early       []string          `json:"commits_before_checkpoint"`
	Unresolved  []string          `json:"conflict_markers,omitempty"`
	NoTests     string            `json:"no_tests_because,omitempty"`
	Commits     []string          `json:"commits"`
	Unshown     []string          `json:"commits_not_shown"`
	Prior       string            `json:"prior_rejection,omitempty"`
	Checked     []string          `json:"checked"` // by the approvers so far
	Former      *board.Definition `json:"amended_since_claim,omitempty"`
	Progress    string            `json:"review_progress,omitempty"`
	Comments    []report.Remark   `json:"comments"`
	Notes       []string          `json:"notes"`
	SpecChanges []string          `json:"spec_changes"`
}

func materialFor(ctx context.Context, c *call.Call, v *gitboard.View, t *board.Task) (*reviewMaterial, error) {
	sub, err := v.Submission(ctx, t)
	if err != nil {
		return nil, err
	}
	m := &reviewMaterial{
		Task: t.ID, Status: t.Status, Author: t.AssignedTo, Iteration: t.Iteration, Worktree: t.Worktree, Base: t.ReviewBase, Commit: t.ReviewCommit,
		Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef, SpecChanged: sub.SpecChanged, SpecDiff: sub.SpecDiff,
		Checkpoint: t.CheckpointOfIteration(), Files: call.Every(sub.Files), Outside: call.Every(sub.FilesOutside), Tests: call.Every(sub.TestsTouched), Deleted: call.Every(sub.TestsDeleted),
		Verified: sub.Verified, Early: call.Every(sub.EarlyCommits), NoTests: sub.NoTestsBecause, Unresolved: sub.Unresolved,
		Stage: report.StageOf(v.State, t.Brief()), Progress: report.ReviewOf(v.State, t.Brief()), Commits: call.Every(sub.Commits), Unshown: call.Every(sub.Unshown), Notes: screen.NoteLines(report.NotesFor(v.State, t.ID, c.AgentID())), SpecChanges: []string{}, Prior: t.Rejection.Text(),
	}
	if m.Comments, err = c.Board.Remarks(ctx, t); err != nil {
		return nil, err
	}
	m.Comments = call.Every(m.Comments)
	for _, s := range report.SpecChangesFor(v.State, t) {
		m.SpecChanges = append(m.SpecChanges, s.Spec+": "+text.Line(s.Change, 200))
	}
	m.Former, m.Checked = t.AmendedSinceClaim(), []string{}
	for _, e := range t.History {
		switch {
		case e.Event == board.EventReady:
			m.Checked = []string{}
		case e.Checked != "":
			m.Checked = append(m.Checked, e.Agent+": "+e.Checked)
		}
	}
	return m, v.State.Err()
}

func (m *reviewMaterial) lines(t *board.Task) []string {
	lines := call.Labelled{fmt.Sprintf("%s, iteration %d, by %s (%s)", m.Task, m.Iteration, m.Author, m.Status), ""}
	lines.Add("stage", m.Stage)
	lines.Add("description", m.Description)
	lines.Add("done when", m.DoneWhen)
	lines.Add("scope", m.Scope)
	if was := m.Former; was != nil {
		lines.Add("AMENDED", "since the claim; before it was:")
		lines.Add("done when", was.DoneWhen)
		lines.Add("scope", was.Scope)
	}
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
		lines.Add("run", cmp.Or(m.Verified, "not recorded with the submission"))
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
	lines.AddEach("conflict markers", m.Unresolved)
	lines.AddEach("before the checkpoint", m.Early)
	lines.Add("no tests", m.NoTests)
	lines.Add("notes", strings.Join(m.Notes, "\n"))
	lines.Add("spec changes", strings.Join(m.SpecChanges, "\n"))
	lines.Add("rejected for", m.Prior)
	lines.Add("approvals", m.Progress)
	lines.Add("checked", strings.Join(m.Checked, "\n"))
	var comments []string
	for _, r := range m.Comments {
		comments = append(comments, r.String())
	}
	lines.Add("comments", strings.Join(comments, "\n"))
	if lines = append(lines, "", "the change: git liza diff "+m.Task); t.Status != board.ReadyForReview {
		return lines
	}
	return append(lines,
		"the files lie in "+m.Worktree+" (read only)",
		fmt.Sprintf("git liza verdict %s APPROVED --commit %s --checked TEXT", m.Task, m.Commit),
		cmdline.Of(board.Rejecting(t)))
}

var _ = add(func() *call.Command {
	var file, commit string
	return &call.Command{
		Name: "comment", Group: "reviewer", Args: `ID FILE:LINE ["TEXT"]`, Min: 2, Max: 3, Writes: true,
		Short: "comment on a line of the submission under review",
		Long: `LINE is counted in the file as it was submitted; of a file that the submission deletes, as it was before. A rejection
takes the comments along, so that its reason may be short; the coder sees each with its line, and the next review shows
which of them were acted upon.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&commit, "commit", "", "the `COMMIT` that was read; without it, the one under review")
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza comment login api/login.go:17 "An empty password gets in"`,
		Run: func(ctx context.Context, c *call.Call) error {
			raw, err := c.Text("text", strings.Join(c.Args[2:], ""), file)
			if err != nil {
				return err
			}
			path, line, ok := text.ParsePlace(c.Args[1])
			if !ok {
				return call.Usage(c.Cmd, "%q is not FILE:LINE, like api/login.go:17", c.Args[1])
			}
			return c.Show(acts.Comment(ctx, c, gitboard.CommentRequest{Task: c.Args[0], Commit: commit, Path: path, Line: line, Text: raw}))
		},
	}
})

// rejectionFlags are the parts of a rejection that is not given as one text.
type rejectionFlags struct {
	blockers, concerns, prior []string
	overall, spec, anomaly    string
}

func (o *rejectionFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.blockers, "blocker", nil, "`\"file:line|issue|why|suggestion\"`; once for each. Of a place that the submission lacks: \"file:line (missing)|...\"")
	f.StringArrayVar(&o.concerns, "concern", nil, "`\"file:line|issue\"`; once for each")
	f.StringVar(&o.overall, "overall", "", "your assessment in a sentence or two")
	f.StringVar(&o.spec, "spec", "", "the part of the spec that it is about, or n/a")
	f.StringVar(&o.anomaly, "anomaly", "", "the `ID` of an anomaly that you logged, or none")
	f.StringArrayVar(&o.prior, "prior", nil, "`\"RESOLVED: ...\"`, \"STILL PRESENT: ...\" or \"PARTIAL: ...\"; from the second rejection on")
}

func (o *rejectionFlags) given() bool {
	return len(o.blockers)+len(o.concerns)+len(o.prior) > 0 || o.overall != ""
}

// rejection is the rejection that the flags describe.
func (o *rejectionFlags) rejection(cmd *call.Command) (*board.Rejection, error) {
	r := &board.Rejection{Overall: o.overall, Spec: o.spec, Anomaly: o.anomaly, Prior: o.prior}
	for _, b := range o.blockers {
		if strings.Count(b, "|") < 3 {
			return nil, call.Usage(cmd, `--blocker needs four parts: "file:line|issue|why|suggestion"`)
		}
		r.Blockers = append(r.Blockers, board.ParseFinding(b))
	}
	for _, b := range o.concerns {
		if strings.Count(b, "|") < 1 {
			return nil, call.Usage(cmd, `--concern needs two parts: "file:line|issue"`)
		}
		r.Concerns = append(r.Concerns, board.ParseFinding(b))
	}
	return r, nil
}

var _ = add(func() *call.Command {
	var r worktrees.VerdictRequest
	var file string
	var merges bool
	var o rejectionFlags
	return &call.Command{
		Name: "verdict", Group: "reviewer", Args: "ID APPROVED|REJECTED", Min: 2, Max: 2, Writes: true,
		Short: "give the binding verdict on a submission",
		Long: `A rejection is given as text in the required form (--reason, --reason-file; "-" is standard input), or as its
parts: --blocker, --concern, --overall, --spec, --anomaly, --prior. Work that meets each criterion and misses the intent of
its spec is rejected against the spec: --spec, and a blocker at the spec's own line.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&r.Commit, "commit", "", "the `COMMIT` that was reviewed")
			f.StringVar(&r.Checked, "checked", "", "what you ran, and how it ended; an agent's approval needs it")
			f.BoolVar(&merges, "merge", false, "with APPROVED: merge it if it has all approvals")
			f.StringVar(&r.Reason, "reason", "", "the rejection, or a comment on an approval")
			f.StringVar(&file, "reason-file", "", "a `FILE` that holds the reason")
			o.add(f)
		},
		Example: `git liza verdict login REJECTED --commit 3f2a91c --overall "Not yet" --blocker "api/login.go:17|no check|anyone gets in|refuse it" --spec specs/login.md --anomaly none`,
		Run: func(ctx context.Context, c *call.Call) error {
			r.Task, r.Verdict = c.Args[0], strings.ToUpper(c.Args[1])
			role, err := c.Role(ctx)
			switch {
			case err != nil:
				return err
			case merges && r.Verdict != board.VerdictApproved:
				return call.Usage(c.Cmd, "--merge goes with APPROVED")
			case merges && (c.App.Supervised() || !board.May(role, "merge")):
				return board.Refuse(board.CodePermission, "--merge is for a reviewer without a supervisor; agents merge what others approve", "git liza verdict "+r.Task+" APPROVED, without --merge")
			case r.Commit == "":
				return &call.UsageError{
					Message: "--commit is missing: a verdict names the commit that was reviewed",
					Hint:    "git liza read tasks." + c.Args[0] + ".review_commit",
				}
			}
			if r.Reason, err = c.Text("reason", r.Reason, file); err != nil {
				return err
			}
			if o.given() {
				if r.Reason != "" {
					return call.Usage(c.Cmd, "a reason is given as text or in parts, not both")
				}
				if r.Rejection, err = o.rejection(c.Cmd); err != nil {
					return err
				}
			}
			said, err := acts.Judge(ctx, c, r, false)
			if err == nil {
				err = merge.DropScratch(ctx, c.Board, r.Task)
			}
			if err != nil || !merges || said.Done[0].After.Task(r.Task).Status != board.Approved {
				return c.Show(said, err)
			}
			return mergeApproved(ctx, c, said)
		},
	}
})
