package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(primeCommand)

func primeCommand() *edge.Command {
	return &edge.Command{
		Name: "prime", Group: "any agent", Max: 0,
		Short:   "for an agent that wakes with no memory: who am I, what is mine, what comes next",
		Example: `git liza prime`,
		Run: func(c *edge.Call) error {
			v, err := c.View()
			if err != nil {
				return err
			}
			p, err := prime(c, v)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(p)
			}
			return c.Say(p.lines()...)
		},
	}
}

// primer is what prime says.
type primer struct {
	Agent      string     `json:"agent"`
	Role       roles.Role `json:"role"`
	Supervised bool       `json:"supervised"`
	Mode       board.Mode `json:"mode"`
	Goal       string     `json:"goal"`
	GoalSpec   string     `json:"goal_spec,omitempty"`
	Task       string     `json:"task,omitempty"`
	Status     string     `json:"status,omitempty"`
	Work       *primeWork `json:"work,omitempty"`
	InReview   []string   `json:"in_review"`
	Wakes      []wakeLine `json:"wakes"`
	Next       []string   `json:"next"`
	Notes      []string   `json:"notes"`
	Docs       []string   `json:"docs"`
}

// primeWork is the task of a coder or a reviewer.
type primeWork struct {
	Iteration    int      `json:"iteration"`
	Description  string   `json:"description"`
	DoneWhen     string   `json:"done_when"`
	Scope        string   `json:"scope"`
	SpecRef      string   `json:"spec_ref"`
	Worktree     string   `json:"worktree"`
	Checkpoint   bool     `json:"checkpoint_written"`
	Intent       string   `json:"intent,omitempty"`
	Commits      *int     `json:"commits,omitempty"` // of a coder, where this clone has its worktree
	Uncommitted  []string `json:"uncommitted,omitempty"`
	Fix          bool     `json:"integration_fix,omitempty"`
	Handoff      string   `json:"handoff,omitempty"` // what another coder left
	Prior        string   `json:"prior_rejection,omitempty"`
	ReviewCommit string   `json:"review_commit,omitempty"`
}

// wakeLine is a wake-up trigger, and what it is about.
type wakeLine struct {
	Trigger report.WakeTrigger `json:"trigger"`
	About   []string           `json:"about"`
}

func prime(c *edge.Call, v *gitboard.View) (*primer, error) {
	s, id := v.State.ForRules(), c.AgentID()
	p := &primer{
		Agent: roles.HumanID, Role: roles.Human, Supervised: c.Supervised(), Mode: s.Control().Mode,
		Goal: plain.Line(s.Goal().Description, 300), GoalSpec: s.Goal().SpecRef, InReview: []string{}, Wakes: []wakeLine{}, Docs: []string{},
	}
	if id != "" {
		role, err := roles.Of(id)
		if err != nil {
			return nil, board.Refuse(board.CodeInvalid, "LIZA_AGENT_ID: "+err.Error(), "")
		}
		p.Agent, p.Role = id, role
	}
	if !p.Supervised && p.Role != roles.Human { // a supervisor's prompt says what these do
		p.Docs = append(p.Docs, "multi-agent-contract", "agent-runtime")
	}
	for _, d := range prompt.Docs(p.Role) {
		p.Docs = append(p.Docs, d.Name)
	}
	t := report.TaskOf(s, id)
	if t != nil {
		p.Task, p.Status = t.ID, string(t.Status)
		var err error
		if p.Work, err = workToPrime(c, s, t, p.Role); err != nil {
			return nil, err
		}
	}
	for _, b := range s.Tasks() {
		if b.Status == board.ReadyForReview && id != "" && b.AssignedTo == id {
			p.InReview = append(p.InReview, b.ID)
		}
	}
	p.plan(s, t)
	p.Notes = screen.NoteLines(report.NotesFor(s, p.Task, p.Agent, string(p.Role)))
	return p, s.Err()
}

// plan says what comes next.
func (p *primer) plan(s *board.State, t *board.Task) {
	p.Next = prompt.Next(p.Role, t, p.Supervised)
	if p.Role == roles.Planner {
		wakes := report.Wakes(s)
		for _, w := range wakes {
			p.Wakes = append(p.Wakes, wakeLine{w.Trigger, edge.Every(w.About)})
		}
		p.Next = prompt.NextPlan(wakes, p.Supervised)
	}
	switch {
	case p.Role == roles.Human:
	case p.Mode == board.Aborted:
		p.Next = []string{"nothing: the run is over"}
	case p.Mode != board.Running && p.Supervised:
		p.Next = []string{"leave your work in order and end your turn: the board is " + string(p.Mode)}
	case t == nil && p.Mode != board.Running && p.Role != roles.Planner:
		p.Next = []string{"wait: claims begin again when a human resumes"}
	}
}

func workToPrime(c *edge.Call, s *board.State, t *board.Task, role roles.Role) (*primeWork, error) {
	root, err := c.Opened.Root(c.Ctx)
	if err != nil {
		return nil, err
	}
	w := &primeWork{
		Iteration: t.Iteration, Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef,
		Worktree: filepath.Join(root, filepath.FromSlash(board.WorktreeOf(t.ID))), Fix: t.IntegrationFix, Prior: t.RejectionReason,
	}
	if cp := t.CheckpointOfIteration(); cp != nil {
		w.Checkpoint, w.Intent = true, cp.Intent
	}
	if role == roles.CodeReviewer {
		w.ReviewCommit = t.ReviewCommit
		return w, nil
	}
	if h := s.Handoff(t.ID); h != nil && t.TookOverHandoff() {
		w.Handoff = h.Summary + "\nnext: " + h.NextAction
	}
	st, err := worktrees.Standing(c.Ctx, c.Opened, t)
	if err != nil || !st.Exists {
		return w, err
	}
	commits, err := c.Opened.Repo().CountCommits(c.Ctx, git.OID(t.BaseCommit), st.Head)
	w.Commits, w.Uncommitted = &commits, st.Dirty
	return w, err
}

func (p *primer) lines() []string {
	lines := []string{fmt.Sprintf("You are %s (%s). The board is %s.", p.Agent, p.Role, p.Mode)}
	if p.Supervised {
		lines = append(lines, strings.Split(prompt.Supervision, "\n")...)
	}
	lines = append(lines, "Goal: "+p.Goal)
	switch {
	case p.Task != "":
		lines = append(lines, fmt.Sprintf("Your task: %s, %s.", p.Task, p.Status))
		lines = append(lines, p.Work.lines(p.Task, p.Role)...)
	case p.Role != roles.Planner && p.Role != roles.Human:
		lines = append(lines, "You have no task.")
	}
	if len(p.InReview) > 0 {
		lines = append(lines, "Submitted, not judged yet: "+strings.Join(p.InReview, ", "))
	}
	for _, w := range p.Wakes {
		about := plain.Line(strings.Join(w.About, ", "), 200)
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("Wake trigger: %s: %s", w.Trigger, about), ": "))
	}
	lines = append(lines, "", "Next:")
	lines = append(lines, edge.Prefixed("  ", p.Next)...)
	if len(p.Notes) > 0 {
		lines = append(lines, "", "Notes:")
		lines = append(lines, edge.Prefixed("  ", p.Notes)...)
	}
	lines = append(lines, "", "Read before you act:")
	for _, d := range p.Docs {
		lines = append(lines, "  git liza docs "+d)
	}
	if len(p.Wakes) > 0 || p.Task != "" && p.Status != string(board.Approved) {
		lines = append(lines, "", "What you were started with: git liza prompt "+p.Role.Prefix())
	}
	return lines
}

func (w *primeWork) lines(task string, role roles.Role) []string {
	lines := edge.Labelled{""}
	lines.Add("description", briefly(w.Description, task))
	lines.Add("done when", briefly(w.DoneWhen, task))
	lines.Add("scope", briefly(w.Scope, task))
	lines.Add("spec", w.SpecRef)
	lines.Add("iteration", fmt.Sprint(w.Iteration))
	lines.Add("worktree", w.Worktree)
	if w.Fix {
		lines.Add("fix", "an integration fix: make the work merge, nothing else")
	}
	lines.Add("hand-off", briefly(w.Handoff, task))
	if role == roles.CodeReviewer {
		lines.Add("submitted", w.ReviewCommit)
		return append(lines, w.feedback(task)...)
	}
	if w.Commits != nil {
		said := plain.Plural(*w.Commits, "commit")
		if n := len(w.Uncommitted); n > 0 {
			said += ", " + plain.Plural(n, "file") + " not committed: " + plain.Line(strings.Join(w.Uncommitted, ", "), 200)
		}
		lines.Add("work so far", said)
	}
	lines.Add("checkpoint", "not written in this iteration: that comes before the first commit")
	if w.Checkpoint {
		lines[len(lines)-1] = edge.Pad("checkpoint", edge.LabelWidth) + "written: " + plain.Line(w.Intent, 200)
	}
	return append(lines, w.feedback(task)...)
}

func (w *primeWork) feedback(task string) []string {
	lines := edge.Labelled{}
	lines.Add("rejected for", briefly(w.Prior, task))
	return lines
}

// briefly cuts a text so that a few of them fit on one page.
func briefly(text, task string) string {
	const most = 12
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", len(l)-len(strings.TrimLeft(l, " "))) + plain.Line(l, 200)
	}
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("(%d lines more: git liza show %s)", len(lines)-most, task))
	}
	return strings.Join(lines, "\n")
}
