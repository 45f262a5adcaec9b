// Package prime tells a caller without a memory who it is, its work and its next step, and keeps
// its lease while it waits or runs something long.
//
// It may import cmd/internal/call, cmd/internal/screen, gitboard, gitboard/board, gitboard/cmdline,
// gitboard/git/plumbing, gitboard/lease, gitboard/report, gitboard/roles, gitboard/text,
// roles/prompt and worktrees.
package prime

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/worktrees"
)

// Primer is the output of prime.
type Primer struct {
	Agent      string      `json:"agent"`
	Role       roles.Role  `json:"role"`
	Supervised bool        `json:"supervised"`
	Mode       board.Mode  `json:"mode"`
	Goal       string      `json:"goal"`
	GoalSpec   string      `json:"goal_spec,omitempty"`
	GoalStatus board.Phase `json:"goal_status"`
	Task       string      `json:"task,omitempty"`
	Status     string      `json:"status,omitempty"`
	Work       *primeWork  `json:"work,omitempty"`
	Expired    string      `json:"lease_expired,omitempty"` // how long ago, if the lease of the task's holder has
	Behind     []string    `json:"behind,omitempty"`        // the tasks that wait for the task then
	InReview   []string    `json:"in_review"`
	Drafts     []string    `json:"drafts"`
	// Integration is the integration branch and its commit, "name at sha".
	Integration string     `json:"integration"`
	Claimable   []string   `json:"claimable"` // by this agent, best first
	Wakes       []wakeLine `json:"wakes"`
	// Discoveries are the open ones.
	Discoveries []string `json:"discoveries,omitempty"`
	News        []string `json:"news,omitempty"` // since the caller began to wait
	Next        []string `json:"next"`
	Ahead       string   `json:"probably_next,omitempty"` // for an agent without a next command
	Notes       []string `json:"notes"`
	Docs        []string `json:"docs"`

	Inbox *report.Inbox `json:"inbox,omitempty"` // for a human

	spec  string       // of the task or goal, as it is on integration
	Seen  *call.SeenAt `json:"remote,omitempty"`
	seen  string
	apart string // another agent's id, free in this clone, if this one is registered in another clone
	steps []board.NextStep
	mark  string     // of what wakes a planner
	waits bool       // the caller has nothing to do now
	as    roles.Role // that of a reviewer while a coder reviews
	again bool       // it has waited, and has the rules already
}

// primeWork is the task of a coder or a reviewer.
type primeWork struct {
	Iteration    int                `json:"iteration"`
	Stage        string             `json:"stage,omitempty"`
	Description  string             `json:"description"`
	DoneWhen     string             `json:"done_when"`
	Scope        string             `json:"scope"`
	SpecRef      string             `json:"spec_ref"`
	NewerSpec    string             `json:"newer_spec,omitempty"` // what integration changed in it that a coder's work lacks
	Worktree     string             `json:"worktree"`
	OffBranch    string             `json:"off_branch,omitempty"` // a warning that it is not on the task's branch
	Checkpoint   bool               `json:"checkpoint_written"`
	Intent       string             `json:"intent,omitempty"`
	Commits      *int               `json:"commits,omitempty"` // for a coder whose worktree is in this clone
	Uncommitted  []string           `json:"uncommitted,omitempty"`
	Unfinished   string             `json:"unfinished,omitempty"` // a merge or the like in the worktree
	Fix          bool               `json:"integration_fix,omitempty"`
	Failed       []report.NamedText `json:"integration_failed,omitempty"` // what a fix repairs
	Handoff      string             `json:"handoff,omitempty"`            // from another coder
	Unblocked    []report.NamedText `json:"unblocked,omitempty"`          // for a coder: about the last time it was blocked
	Prior        string             `json:"prior_rejection,omitempty"`
	ReviewCommit string             `json:"review_commit,omitempty"`
	Progress     string             `json:"review_progress,omitempty"`
}

// wakeLine is a wake-up trigger and its subjects.
type wakeLine struct {
	Trigger report.WakeTrigger `json:"trigger"`
	About   []string           `json:"about"`
}

// Of returns what a caller is to know on a view of the board; goal narrows it, "" for all.
func Of(ctx context.Context, c *call.Call, v *gitboard.View, goal string) (*Primer, error) {
	s, id := v.State.ForRules(), c.AgentID()
	p := &Primer{
		Agent: roles.HumanID, Role: roles.Human, Supervised: c.App.Supervised(), Mode: s.Control().Mode,
		Drafts: []string{}, InReview: []string{}, Wakes: []wakeLine{}, Docs: []string{},
	}
	if id != "" {
		role, err := c.Role(ctx)
		if err != nil {
			return nil, err
		}
		p.Agent, p.Role = id, role
		if a := s.Agent(id); a != nil {
			here, err := c.Board.Clone().ID(ctx)
			if err != nil {
				return nil, err
			}
			if a.Clone != here {
				p.apart = board.FreeID(s, roles.NameOf(id))
			}
		}
	}
	t := report.TaskOf(s, id)
	if p.as = p.Role; t != nil && t.ReviewingBy == id {
		p.as = roles.CodeReviewer
	}
	if !p.Supervised && p.Role != roles.Human { // a supervisor's prompt covers these
		p.Docs = append(p.Docs, "agent-runtime#"+p.as.Prefix())
	}
	for _, d := range prompt.Docs(p.as) {
		p.Docs = append(p.Docs, d.Name)
	}
	if t != nil {
		p.Task, p.Status = t.ID, string(t.Status)
		var err error
		if p.Work, err = workToPrime(ctx, c, v, t, p.as); err != nil {
			return nil, err
		}
	}
	g := s.Goal(goal)
	if g == nil {
		g = board.GoalFor(s, id, t)
	}
	p.goal(s, g)
	tip, err := v.IntegrationTip(ctx)
	if err != nil {
		return nil, err
	}
	if p.Integration = s.Config().IntegrationBranch + " at " + tip.Short(); tip.IsZero() {
		p.Integration = s.Config().IntegrationBranch + " is missing (git liza doctor)"
	} else if p.spec, err = p.specThere(ctx, v); err != nil {
		return nil, err
	}
	if t != nil && p.as == roles.Coder {
		if p.Work.NewerSpec, err = v.NewerSpec(ctx, t); err != nil {
			return nil, err
		}
	}
	if p.Seen, err = c.Seen(ctx, false); err != nil {
		return nil, err
	}
	if p.Seen != nil {
		p.seen = ", " + p.Seen.Line(c.App.Now())
	}
	for _, b := range s.Tasks() {
		if b.Status == board.ReadyForReview && id != "" && b.AssignedTo == id {
			p.InReview = append(p.InReview, b.ID)
		}
	}
	if err := p.plan(ctx, c, v, s, t, goal); err != nil {
		return nil, err
	}
	p.Notes = screen.NoteLines(report.NotesFor(s, p.Task, p.Agent, string(p.Role)))
	return p, s.Err()
}

// InboxOf is what waits for a human.
func InboxOf(ctx context.Context, c *call.Call, goal string) (*report.Inbox, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	g, err := v.Glance(ctx)
	if err != nil {
		return nil, err
	}
	return g.Of(goal).Inbox(c.App.Now())
}

// plan fills in the next steps.
func (p *Primer) plan(ctx context.Context, c *call.Call, v *gitboard.View, s *board.State, t *board.Task, goal string) error {
	who, err := c.CallerOn(ctx, v)
	if err != nil {
		return err
	}
	if p.Role == roles.Coder {
		if who.Busy, err = worktrees.Busy(ctx, c.Board, v, who.Leases, p.Agent); err != nil {
			return err
		}
	}
	p.Claimable = []string{}
	if l, held := who.Leases[p.Agent]; held && t != nil && l.Ended == "" && l.Session == who.Session && l.Expires <= who.Now {
		p.Expired = board.Span(who.Now.Sub(l.Expires))
		for _, b := range s.Tasks() {
			if !b.Status.Terminal() && slices.Contains(b.DependsOn, t.ID) {
				p.Behind = append(p.Behind, b.ID)
			}
		}
	}
	for _, step := range report.Next(s, who, p.Task) {
		if step.Do.Name == "answer" {
			step.Why = "it asks: " + text.Shown(strings.Join(s.Task(step.Task).BlockedQuestions, " / "))
		}
		if step.Do.Name == "claim" || step.Do.Name == "claim-review" {
			p.Claimable = append(p.Claimable, step.Task)
		}
		if step.Do.Name != "prime" {
			p.steps = append(p.steps, step)
		}
	}
	if t != nil && t.Status == board.Claimed {
		for _, step := range board.StepsOn(s, who.Asker, t.ID) {
			if step.Do.Name == "handoff" || step.Do.Name == "block" {
				p.steps = append(p.steps, step)
			}
		}
	}
	switch {
	case p.Role == roles.CodeReviewer:
		p.Drafts = append(p.Drafts, report.ToFinalize(s, who.Actor)...)
	case board.May(p.Role, "finalize"):
		p.Drafts = append(p.Drafts, report.Unfinalized(s)...)
	}
	for _, id := range s.List(board.DiscoveryDir) {
		if d := s.Discovery(id); d != nil && d.Open() {
			p.Discoveries = append(p.Discoveries, fmt.Sprintf("%s, %s: %s", id, d.Severity, d.Description))
		}
	}
	if p.Role == roles.Planner {
		wakes := report.WakesOf(s, p.Agent)
		if goal != "" {
			wakes = report.Wakes(s, goal)
		}
		for _, w := range wakes {
			p.Wakes = append(p.Wakes, wakeLine{w.Trigger, call.Every(w.About)})
			p.mark += w.Key() + " " + w.Mark + "\n"
		}
	}
	p.Next = []string{}
	only, waits := p.end(t)
	if only != "" {
		p.Next, p.steps = append(p.Next, only), nil
	}
	if p.waits = waits; waits {
		p.Ahead = report.ComesNext(s, p.Agent, p.Role)
	}
	for _, step := range p.steps {
		p.Next = append(p.Next, cmdline.Of(step.Do))
	}
	return nil
}

// goal fills in the agent's goal: goal g, or if it is nil, the only one in progress or all.
func (p *Primer) goal(s *board.State, g *board.Goal) {
	if g == nil {
		g = s.TheGoal()
	}
	if g == nil {
		p.Goal, p.GoalStatus = text.Line(s.Purpose(), 300), board.InProgress
		return
	}
	p.Goal, p.GoalSpec, p.GoalStatus = text.Line(g.Description, 300), g.SpecRef, g.Status
}

// toWait begins the advice for an agent that has to wait.
const toWait = "git liza prime --wait  # "

// end is the advice for an agent without a next command, "" for all others, and whether the agent
// has to wait.
func (p *Primer) end(t *board.Task) (only string, waits bool) {
	own := p.own(t)
	switch {
	case p.Role == roles.Human:
		return "", false
	case p.Mode == board.Aborted:
		return "nothing: the run is over", false
	case p.GoalStatus != board.InProgress && (p.Supervised || len(p.steps) == 0):
		return "nothing: the goal is " + string(p.GoalStatus), false
	case p.Mode != board.Running && p.Supervised:
		return "leave your work in order and end your turn: the board is " + string(p.Mode), false
	case p.Mode != board.Running && !own && p.Role != roles.Planner:
		return toWait + "claims begin again when a human resumes", true
	case p.Supervised && p.Role == roles.Planner && len(p.Wakes) == 0:
		return "end your turn: nothing waits for a planner", false
	case p.Supervised && p.Role != roles.Planner && !own && len(p.Drafts) == 0:
		return "end your turn: your supervisor claims work and starts you on it", false
	case p.Role == roles.Planner && len(p.steps) == 0:
		return toWait + "nothing waits for a planner now", true
	case p.Role != roles.Planner && len(p.steps) == 0 && !own:
		return toWait + "nothing is claimable for you now", true
	}
	return "", false
}

// Line is who the caller is, its task and its next step, in one line.
func (p *Primer) Line() string {
	line := "You are " + p.Agent
	if p.Task != "" {
		line += ", with " + p.Task + ", " + p.Status
	}
	if len(p.Next) > 0 {
		line += ". Next: " + p.Next[0]
	}
	return line
}

// Unfinished describes the task that the caller still holds on a running board, and its next steps.
func Unfinished(ctx context.Context, c *call.Call) ([]string, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	halts, err := c.Board.Clone().Halts(ctx)
	if err != nil || len(halts) > 0 {
		return nil, err
	}
	p, err := Of(ctx, c, v, "")
	if err != nil || !p.holds(v.State) {
		return nil, err
	}
	return append([]string{fmt.Sprintf("You still hold %s, %s. Next:", p.Task, p.Status)}, p.Next...), nil
}

// holds reports whether the caller has a task in its hands, on a board that runs.
func (p *Primer) holds(s *board.State) bool {
	t := s.Task(p.Task)
	return t != nil && p.own(t) && p.Mode == board.Running && p.GoalStatus == board.InProgress && !t.Paused
}

// own reports whether a task is in the caller's hands.
func (p *Primer) own(t *board.Task) bool {
	return t != nil && (t.Status == board.Claimed || t.Status == board.ReadyForReview && p.as == roles.CodeReviewer)
}

// feedback is the content of the last rejection, without its form.
func feedback(t *board.Task) string {
	var parts []string
	if t.Rejection != nil {
		parts = append(parts, t.Rejection.Brief())
	}
	if t.Status != board.ReadyForReview {
		for _, c := range t.CommentsOn(t.Submissions()) {
			parts = append(parts, c.Where()+" "+c.Text)
		}
	}
	return strings.Join(parts, "; ")
}

func workToPrime(ctx context.Context, c *call.Call, v *gitboard.View, t *board.Task, role roles.Role) (*primeWork, error) {
	s := v.State.ForRules()
	root, err := c.Board.Root(ctx)
	if err != nil {
		return nil, err
	}
	w := &primeWork{
		Iteration: t.Iteration, Stage: report.StageOf(s, t.Brief()), Progress: report.ReviewOf(s, t.Brief()), Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef,
		Worktree: filepath.Join(c.Board.WorktreesFolder(root), t.ID), Fix: t.IntegrationFix, Failed: report.Fix(s, t), Prior: feedback(t),
	}
	if cp := t.CheckpointOfIteration(); cp != nil {
		w.Checkpoint, w.Intent = true, cp.Intent
	}
	if h := board.HandoffTo(s, role, t); h != nil {
		w.Handoff = h.Summary + "\nnext: " + h.NextAction
	}
	if role == roles.CodeReviewer {
		w.ReviewCommit = t.ReviewCommit
		return w, nil
	}
	w.Unblocked = report.Unblocking(t)
	st, err := worktrees.StatusHere(ctx, c.Board, t)
	if err != nil || !st.Exists {
		return w, err
	}
	if w.OffBranch, err = v.OffBranch(ctx, t.ID, w.Worktree); err != nil {
		return nil, err
	}
	commits, err := c.Board.Repo().History().CountCommits(ctx, plumbing.OID(t.BaseCommit), st.Head)
	w.Commits, w.Uncommitted, w.Unfinished = &commits, st.Dirty, st.Advice
	return w, err
}

// MaxSize bounds the bytes that prime prints, since agents read it at the start of every turn.
const MaxSize = 4000

// lines shortens texts as needed to keep what an agent can't do without.
func (p *Primer) Lines() []string {
	var lines []string
	for share := 100; share > 0; share -= 10 {
		if lines = p.at(share); len(strings.Join(lines, "\n")) < MaxSize {
			break
		}
	}
	return lines
}

// cycles are the commands of each role's whole cycle.
var cycles = map[roles.Role]string{
	roles.Planner:      "add-task, finalize; then: answer, unblock, amend-task, supersede, reassign",
	roles.Coder:        "claim, pre-exec, commit in the worktree, submit; stuck: block; short of context: handoff",
	roles.CodeReviewer: "claim-review, review, verdict, merge",
	roles.Human:        "add-task, finalize; watch: status; steer: note, answer, pause, resume",
}

// rules are what matters most in each role, for an agent that no prompt tells.
var rules = map[roles.Role][]string{
	roles.Planner: {
		"Plan only: write no code, tests or specs; don't claim, review or merge.", "A task has a falsifiable done_when, a scope with IN and OUT, and a spec on integration.",
		"Answer questions from the spec; a question that only a human can answer: git liza note --for human TEXT.", "Each change of an open task has a reason; two failed attempts mean a wrong framing.",
		"A reported discovery becomes a task, or is settled with a reason.",
	},
	roles.Coder: {
		"Work only in the worktree of your task, on its branch; never push, or move other branches.", "The checkpoint (pre-exec) comes before the first commit.",
		"Do all of done_when and nothing else; a test shows each criterion.", "In doubt, block with a question; log adjacent problems with git liza discover.",
		"Follow the blockers of a rejection as they are written.",
	},
	roles.CodeReviewer: {
		"Read only: change and commit nothing; judge the submitted commit.", "Judge by done_when, scope and the spec as it is now, not by taste.",
		"Run the checkpoint's validation yourself; read every changed file.", "Each blocker names file:line, the reason and a suggestion.",
		"A verdict is binding; never review what you wrote.",
	},
}

// at is the output of prime if texts get this share, in percent, of the room that they would like.
func (p *Primer) at(share int) []string {
	cut := func(raw string, most int) string { return text.Line(raw, max(20, most*share/100)) }
	lines := []string{fmt.Sprintf("You are %s (%s). The board is %s%s.", p.Agent, p.Role, p.Mode, p.seen)}
	if p.apart != "" {
		lines = append(lines, fmt.Sprintf("But %s is registered in another clone, and its work lies there. An agent of this clone: git liza register %s", p.Agent, p.apart))
	}
	if p.Supervised {
		lines = append(lines, "Your supervisor claims, renews your lease and merges: never do that yourself.")
	}
	goal := "Goal: " + cut(p.Goal, 160)
	if p.GoalStatus != board.InProgress {
		goal = fmt.Sprintf("The goal is %s: %s", p.GoalStatus, cut(p.Goal, 160))
	}
	lines = append(lines, goal, "Integration: "+p.Integration+p.spec)
	list := func(name string, ids []string, most int) {
		if len(ids) > 0 {
			lines = append(lines, name+": "+cut(strings.Join(ids, ", "), most))
		}
	}
	switch {
	case p.Task != "":
		lines = append(lines, fmt.Sprintf("Your task: %s, %s.", p.Task, p.Status))
		if p.Expired != "" {
			lines = append(lines, "Your lease expired "+p.Expired+" ago: others may take the task over. Your commands renew it; something long: git liza run -- COMMAND")
		}
		list("Behind it wait", p.Behind, 120)
		lines = append(lines, p.Work.lines(p.as, cut)...)
	case p.Role != roles.Planner && p.Role != roles.Human:
		lines = append(lines, "You have no task.")
	}
	list("Submitted, waiting for a verdict", p.InReview, 120)
	list("Drafts", p.Drafts, 160)
	for _, w := range p.Wakes[:min(len(p.Wakes), 3)] {
		list("Wakes you: "+string(w.Trigger), w.About, 80)
	}
	for _, news := range p.News {
		lines = append(lines, "New: "+cut(news, 200))
	}
	lines = append(lines, "Next:")
	for i, do := range p.Next[:min(len(p.Next), 4)] {
		line := "  " + do
		if i < len(p.steps) && p.steps[i].Why != "" {
			line += "  # " + p.steps[i].Why
		}
		lines = append(lines, line)
	}
	if p.Ahead != "" {
		lines = append(lines, "Probably next: "+cut(p.Ahead, 160))
	}
	cycle := cycles[p.as]
	if p.as != p.Role { // a coder does not merge
		cycle = strings.TrimSuffix(cycle, ", merge")
	}
	lines = append(lines, "Your cycle: "+cycle)
	if said := rules[p.as]; len(said) > 0 && !p.Supervised && !p.again {
		lines = append(lines, "Rules:")
		for _, rule := range said {
			lines = append(lines, "  "+rule)
		}
	}
	if len(p.Discoveries) > 0 {
		head := "Open discoveries:"
		if p.Role == roles.Planner {
			head = "Open discoveries (git liza convert-discovery ID --task TASK, or settle-discovery):"
		}
		lines = append(lines, head)
		for _, d := range p.Discoveries {
			lines = append(lines, "  "+cut(d, 160))
		}
	}
	if len(p.Notes) > 0 {
		lines = append(lines, "Notes:")
		for _, note := range p.Notes[max(0, len(p.Notes)-3):] {
			head, said, _ := strings.Cut(note, ": ")
			id, _, _ := strings.Cut(head, " ")
			lines = append(lines, "  "+head+": "+screen.Whole(said, 6*share, id))
		}
		if n := len(p.Notes) - 3; n > 0 {
			lines = append(lines, fmt.Sprintf("  and %d older: git liza read human_notes", n))
		}
	}
	if p.Task != "" {
		lines = append(lines, "In full: git liza show "+p.Task)
	}
	return append(lines, "Details: git liza COMMAND -h, git liza docs "+p.Docs[0])
}

// specThere names the spec of the task or goal as it is on integration.
func (p *Primer) specThere(ctx context.Context, v *gitboard.View) (string, error) {
	ref := p.GoalSpec
	if p.Work != nil {
		ref = cmp.Or(p.Work.SpecRef, ref)
	}
	file, _, _ := strings.Cut(cmp.Or(ref, board.UsualSpec), "#")
	oid, err := v.SpecOID(ctx, file)
	if oid == "" || err != nil {
		return ", without the spec " + text.Quote(file), err
	}
	branch, _, _ := strings.Cut(p.Integration, " ")
	return "; its spec: git show " + text.Quote(branch+":"+file), nil
}

// maxWhole is how long a text may be that is shown in whole or not at all.
const maxWhole = 1200

func (w *primeWork) lines(role roles.Role, cut func(string, int) string) []string {
	lines := call.Labelled{}
	add := func(name, text string, most int) { lines.Add(name, cut(text, most)) }
	whole := func(name, said string) {
		if len(said) > maxWhole {
			said = fmt.Sprintf("%d characters: git liza show %s", len(said), filepath.Base(w.Worktree))
		}
		lines.Add(name, said)
	}
	add("description", w.Description, 120)
	add("done when", w.DoneWhen, 240)
	add("scope", w.Scope, 140)
	lines.Add("spec", w.SpecRef)
	if w.NewerSpec != "" {
		lines.Add("spec changed", call.NewerSpec(filepath.Base(w.Worktree), w.NewerSpec))
	}
	lines.Add("stage", w.Stage)
	lines.Add("iteration", fmt.Sprint(w.Iteration))
	lines.Add("worktree", w.Worktree)
	lines.Add("", w.OffBranch)
	lines.Add("unfinished", w.Unfinished)
	whole("hand-off", text.Line(w.Handoff, len(w.Handoff)+3))
	for _, u := range append(w.Failed, w.Unblocked...) {
		whole(u.Name, u.Text)
	}
	if role == roles.CodeReviewer {
		lines.Add("submitted", w.ReviewCommit)
		add("approvals", w.Progress, 160)
	} else {
		w.progress(&lines, cut)
	}
	whole("rejected for", w.Prior)
	return lines
}

// progress describes a coder's progress.
func (w *primeWork) progress(lines *call.Labelled, cut func(string, int) string) {
	if w.Commits != nil {
		said := text.Plural(*w.Commits, "commit")
		if n := len(w.Uncommitted); n > 0 {
			said += ", " + text.Plural(n, "file") + " not committed: " + cut(strings.Join(w.Uncommitted, ", "), 80)
		}
		lines.Add("work so far", said)
	}
	if w.Checkpoint {
		lines.Add("checkpoint", "written: "+cut(w.Intent, 100))
	} else {
		lines.Add("checkpoint", "not written in this iteration")
	}
}
