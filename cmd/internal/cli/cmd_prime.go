package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/worktrees"
)

func primeCommand() *command {
	return &command{
		name: "prime", group: "any agent", max: 0,
		short: "for whoever wakes with no memory: who am I, what is mine, what comes next",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			p, err := c.prime(v)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(p)
			}
			return c.say(p.lines()...)
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

// wakeLine is a trigger that stands, and what it is about.
type wakeLine struct {
	Trigger board.WakeTrigger `json:"trigger"`
	About   []string          `json:"about"`
}

func (c *call) prime(v *gitboard.View) (*primer, error) {
	s, id := v.State, c.agentID()
	p := &primer{
		Agent: roles.HumanID, Role: roles.Human, Supervised: c.supervised(), Mode: s.Control().Mode,
		Goal: board.Line(s.Goal().Description, 300), GoalSpec: s.Goal().SpecRef, InReview: []string{}, Wakes: []wakeLine{}, Docs: []string{},
	}
	if id != "" {
		role, err := roles.Of(id)
		if err != nil {
			return nil, board.Refuse("invalid", "LIZA_AGENT_ID: "+err.Error(), "")
		}
		p.Agent, p.Role = id, role
	}
	for _, d := range prompt.Docs(p.Role) {
		p.Docs = append(p.Docs, d.Name)
	}
	t := taskOf(s, id)
	if t != nil {
		p.Task, p.Status = t.ID, string(t.Status)
		var err error
		if p.Work, err = c.primeWork(s, t, p.Role); err != nil {
			return nil, err
		}
	}
	for _, b := range s.Tasks() {
		if b.Status == board.ReadyForReview && id != "" && b.AssignedTo == id {
			p.InReview = append(p.InReview, b.ID)
		}
	}
	p.plan(s, t)
	p.Notes = noteLines(s.NotesFor(p.Task, p.Agent, string(p.Role)))
	return p, s.Err()
}

// plan says what comes next.
func (p *primer) plan(s *board.State, t *board.Task) {
	p.Next = prompt.Next(p.Role, t, p.Supervised)
	if p.Role == roles.Planner {
		wakes := board.Wakes(s)
		for _, w := range wakes {
			p.Wakes = append(p.Wakes, wakeLine{w.Trigger, every(w.About)})
		}
		p.Next = prompt.NextPlan(wakes, p.Supervised)
	}
	switch {
	case p.Role == roles.Human:
	case p.Mode == board.Aborted:
		p.Next = []string{"nothing: the run is over"}
	case p.Mode != board.Running && p.Supervised:
		p.Next = []string{"leave your work in order and exit with 42: the board is " + string(p.Mode)}
	case t == nil && p.Mode != board.Running && p.Role != roles.Planner:
		p.Next = []string{"wait: claims begin again when a human resumes"}
	}
}

func (c *call) primeWork(s *board.State, t *board.Task, role roles.Role) (*primeWork, error) {
	root, err := c.opened.Root(c.ctx)
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
	st, err := worktrees.Standing(c.ctx, c.opened, t)
	if err != nil || !st.Exists {
		return w, err
	}
	commits, err := c.opened.Repo().CountCommits(c.ctx, gitio.OID(t.BaseCommit), st.Head)
	w.Commits, w.Uncommitted = &commits, st.Dirty
	return w, err
}

// taskOf is the task that an agent works on or reviews, else the one that comes back to it; nil for none.
func taskOf(s *board.State, id string) *board.Task {
	next := ""
	for _, b := range s.Tasks() {
		switch {
		case id == "":
		case b.Holds(id), b.ReviewingBy == id:
			return s.Task(b.ID)
		case next == "" && (b.AssignedTo == id && b.Status == board.Rejected || b.ApprovedBy == id && b.Status == board.Approved):
			next = b.ID
		}
	}
	if next == "" {
		return nil
	}
	return s.Task(next)
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
		about := board.Line(strings.Join(w.About, ", "), 200)
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("Wake trigger: %s: %s", w.Trigger, about), ": "))
	}
	lines = append(lines, "", "Next:")
	lines = append(lines, prefixed("  ", p.Next)...)
	if len(p.Notes) > 0 {
		lines = append(lines, "", "Notes:")
		lines = append(lines, prefixed("  ", p.Notes)...)
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
	lines := labelled{""}
	lines.add("description", briefly(w.Description, task))
	lines.add("done when", briefly(w.DoneWhen, task))
	lines.add("scope", briefly(w.Scope, task))
	lines.add("spec", w.SpecRef)
	lines.add("iteration", fmt.Sprint(w.Iteration))
	lines.add("worktree", w.Worktree)
	if w.Fix {
		lines.add("fix", "an integration fix: make the work merge, nothing else")
	}
	lines.add("hand-off", briefly(w.Handoff, task))
	if role == roles.CodeReviewer {
		lines.add("submitted", w.ReviewCommit)
		return append(lines, w.feedback(task)...)
	}
	if w.Commits != nil {
		said := plural(*w.Commits, "commit")
		if n := len(w.Uncommitted); n > 0 {
			said += ", " + plural(n, "file") + " not committed: " + board.Line(strings.Join(w.Uncommitted, ", "), 200)
		}
		lines.add("work so far", said)
	}
	lines.add("checkpoint", "not written in this iteration: that comes before the first commit")
	if w.Checkpoint {
		lines[len(lines)-1] = pad("checkpoint", labelWidth) + "written: " + board.Line(w.Intent, 200)
	}
	return append(lines, w.feedback(task)...)
}

func (w *primeWork) feedback(task string) []string {
	lines := labelled{}
	lines.add("rejected for", briefly(w.Prior, task))
	return lines
}

// briefly cuts a text so that a few of them fit on one page.
func briefly(text, task string) string {
	const most = 12
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", len(l)-len(strings.TrimLeft(l, " "))) + board.Line(l, 200)
	}
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("(%d lines more: git liza show %s)", len(lines)-most, task))
	}
	return strings.Join(lines, "\n")
}
