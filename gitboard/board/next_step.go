package board

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// NextStep is a step that a caller may take, complete except for texts in capital letters.
type NextStep struct {
	Do   Act
	Task string // the task, "" for none
	Why  string // why it comes next, briefly
}

// Hint returns the step as a hint.
func (n NextStep) Hint() Hint {
	if n.Why == "" {
		return n.Do.Hint()
	}
	return Advice("%s: %s", n.Why, n.Do)
}

// Asker is a caller who wants to know what it may do, and the time of asking. An agent that is not
// registered yet may have no session.
type Asker struct {
	Actor
	Now    Time
	Leases map[string]Lease // by agent
}

// way is a request for an operation: a complete example payload and the act. The payload is nil if
// this caller can't use it.
type way func(s *State, t *Task, who Actor) (example Payload, act Act)

// Placeholders: for a text in an act, and for a commit in an example.
const (
	exampleText   = "TEXT"
	exampleCommit = "0123456789012345678901234567890123456789"
)

// StepsOn lists what a caller may do with a task now, in the order of the table of operations. Each
// operation's own Check decides whether it is allowed.
func StepsOn(s *State, who Asker, task string) []NextStep {
	s = who.registered(s)
	t := s.Task(task)
	if t == nil {
		return nil
	}
	var steps []NextStep
	for _, r := range rules {
		if r.way != nil && !r.creates() && r.startsFrom(t.Status, who.Role) {
			if step, legal := who.step(s, r, t); legal {
				steps = append(steps, step)
			}
		}
	}
	return steps
}

// StepOf returns how a caller requests an operation on a task, "" for an operation on the board. It
// returns false if the operation is not allowed now, or if no single command requests it.
func StepOf(s *State, who Asker, op, task string) (NextStep, bool) {
	r, known := ruleOf(op)
	if !known || r.way == nil {
		return NextStep{}, false
	}
	s = who.registered(s)
	t := s.Task(task)
	if t == nil {
		t = &Task{ID: task}
	}
	return who.step(s, r, t)
}

// registered returns the state on which an asker's steps are planned. That state registers an
// unregistered agent, as its first command would do.
func (a *Asker) registered(s *State) *State {
	a.Now = max(a.Now, s.Time())
	if a.Role == roles.Human || s.Agent(a.ID) != nil {
		return s
	}
	a.Session = cmp.Or(a.Session, "new")
	after, err := Step(s, a.asks(&Register{Session: a.Session}))
	if err != nil {
		return s
	}
	return after
}

func (a *Asker) asks(p Payload) Operation {
	return Operation{Actor: a.Actor, Time: a.Now, Clock: a.Now, Request: "next-step", Payload: p}
}

func (a *Asker) step(s *State, r rule, t *Task) (NextStep, bool) {
	p, act := r.way(s, t, a.Actor)
	if p == nil {
		return NextStep{}, false
	}
	op := a.asks(p)
	if taker, takes := p.(interface{ ShowLease(*Lease) }); takes {
		if l, has := a.Leases[LeaseWanted(s, op)]; has {
			taker.ShowLease(&l)
		}
	}
	if HandsOver(op.Name()) { // its notes will be shown to it
		for _, n := range Unread(s, a.Actor.ID, op.TaskID()) {
			op.Read = append(op.Read, n.ID)
		}
	}
	return NextStep{Task: op.TaskID(), Do: act}, Check(s, op) == nil
}

func wayToRegister(_ *State, _ *Task, who Actor) (Payload, Act) {
	return &Register{Session: who.Session + "-next"}, ActOn("register")
}

func wayToAddTask(s *State, t *Task, who Actor) (Payload, Act) {
	d := Definition{Description: exampleText, Kind: Code, Priority: 1}
	p, act := &AddTask{About: About{t.ID}, Definition: d}, ActOn("add-task").With("id", t.ID)
	g, err := s.goalMeant(Operation{Actor: who}, "")
	if running := s.Running(); err != nil && len(running) > 0 {
		g = running[max(0, slices.IndexFunc(running, func(g *Goal) bool { return !s.Planned(g) }))]
		p.Goal, act = g.ID, act.With("goal", g.ID)
	}
	spec := "FILE"
	if g != nil {
		spec = cmp.Or(g.SpecRef, spec)
	}
	return p, act.With("description", exampleText, "spec_ref", spec, "done_when", exampleText, "scope", exampleText)
}

func wayToFinalize(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &Finalize{About: About{t.ID}, SpecOID: exampleCommit}, ActOn("finalize", t.ID)
}

func wayToRejectDraft(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &RejectDraft{About{t.ID}, exampleText}, ActOn("reject-draft", t.ID).With("reason", exampleText)
}

// wayToAmend fills in the fields that finalize requires and the task lacks. If it lacks none, it
// fills in the one that is amended most often.
func wayToAmend(_ *State, t *Task, _ Actor) (Payload, Act) {
	p := &AmendTask{About: About{t.ID}, Definition: Definition{DoneWhen: exampleText, Scope: exampleText, SpecRef: "FILE", SpecOID: exampleCommit}}
	act := ActOn("amend-task", t.ID)
	set := func(missing bool, field, example string) {
		if missing {
			p.Set, act = append(p.Set, field), act.With(field, example)
		}
	}
	set(t.DoneWhen == "", "done_when", exampleText)
	set(t.Scope == "", "scope", exampleText)
	set(t.SpecRef == "", "spec_ref", "FILE")
	set(len(p.Set) == 0, "done_when", exampleText)
	if t.Status != Draft {
		p.Reason, act = exampleText, act.With("reason", exampleText)
	}
	return p, act
}

func wayToClaim(_ *State, t *Task, who Actor) (Payload, Act) {
	p := &Claim{About: About{t.ID}, Clone: "here"}
	if KindOfClaim(t, who.ID).Fresh {
		p.BaseCommit = exampleCommit
	}
	return p, ActOn("claim", t.ID)
}

func wayToPreExec(_ *State, t *Task, _ Actor) (Payload, Act) {
	c := Checkpoint{Intent: exampleText, Validation: exampleText, FilesToModify: []string{"PATH"}}
	return &PreExec{About{t.ID}, c}, ActOn("pre-exec", t.ID).With("intent", exampleText, "validation", exampleText, "file", "PATH")
}

func wayToHandOff(_ *State, t *Task, who Actor) (Payload, Act) {
	p, act := &HandOff{About: About{t.ID}, Summary: exampleText, NextAction: exampleText}, ActOn("handoff", t.ID)
	if who.Role == roles.Planner {
		p.Task, act = "", ActOn("handoff")
	}
	return p, act.With("summary", exampleText, "next", exampleText)
}

func wayToRelease(_ *State, t *Task, who Actor) (Payload, Act) {
	if who.Role == roles.Human {
		return &Release{About: About{t.ID}, Force: true, Reason: exampleText}, ActOn("release", t.ID).With("force", "", "reason", exampleText)
	}
	return &Release{About: About{t.ID}}, ActOn("release", t.ID)
}

func wayToSubmit(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &Submit{About: About{t.ID}, Commit: exampleCommit, ReviewBase: exampleCommit, Commits: 1, Files: 1, NoTestsBecause: exampleText}, ActOn("submit", t.ID).With("verified", "COMMAND")
}

func wayToBlock(_ *State, t *Task, who Actor) (Payload, Act) {
	p, act := &Block{About: About{t.ID}, Reason: exampleText}, ActOn("block", t.ID).With("reason", exampleText)
	if who.Role == roles.Coder {
		p.Questions, act = []string{exampleText}, act.With("question", exampleText)
	}
	return p, act
}

func wayToClaimReview(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &ClaimReview{About: About{t.ID}}, ActOn("claim-review", t.ID)
}

func wayToWithdraw(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &Withdraw{About: About{t.ID}}, ActOn("withdraw", t.ID)
}

// wayToVerdict is a rejection: an approval has no text to fill in, and no hint proposes it.
func wayToVerdict(_ *State, t *Task, _ Actor) (Payload, Act) {
	r := &Rejection{Overall: exampleText, Blockers: []Finding{exampleFinding}, Spec: noSpec, Anomaly: noAnomaly}
	if t.HasPriorFeedback() {
		r.Prior = []string{examplePrior}
	}
	return &Verdict{About: About{t.ID}, Verdict: VerdictRejected, Commit: t.ReviewCommit, Rejection: r}, Rejecting(t)
}

const examplePrior = "PARTIAL: TEXT"

var exampleFinding = Finding{"PATH:1", "ISSUE", "WHY", "SUGGESTION"}

// Rejecting is the rejection of a task's submission, with placeholders.
func Rejecting(t *Task) Act {
	act := ActOn("verdict", t.ID).With("verdict", VerdictRejected, "commit", t.ReviewCommit)
	if len(t.OpenComments()) > 0 { // the comments have the rest
		return act.With("reason", exampleText)
	}
	act = act.With("overall", exampleText, "blocker", exampleFinding.Flag(), "spec", "REF", "anomaly", noAnomaly)
	if t.HasPriorFeedback() {
		act = act.With("prior", examplePrior)
	}
	return act
}

func wayToMerge(s *State, t *Task, _ Actor) (Payload, Act) {
	p := &Merge{About: About{t.ID}, ReviewCommit: t.ReviewCommit, Before: exampleCommit, MergeCommit: t.ReviewCommit, MergeType: FastForward}
	if s.Config().RequireIntegrationTest {
		p.Test = exampleText
	}
	return p, ActOn("merge", t.ID)
}

func wayToUnblock(_ *State, t *Task, _ Actor) (Payload, Act) {
	p, act := &Unblock{About: About{t.ID}}, ActOn("unblock", t.ID)
	if t.BlockedReason == ReviewDeadlock {
		p.Assessment, act = exampleText, act.With("assessment", exampleText)
	}
	return p, act
}

func wayToAnswer(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &Answer{About: About{t.ID}, Text: exampleText}, ActOn("answer", t.ID).With("text", exampleText)
}

// noteOn is a note for a task.
func noteOn(t *Task) Act { return ActOn("note").With("for", t.ID, "message", exampleText) }

func wayToReassign(_ *State, t *Task, _ Actor) (Payload, Act) {
	return &Reassign{About: About{t.ID}}, ActOn("reassign", t.ID)
}

func wayToResume(s *State, t *Task, _ Actor) (Payload, Act) {
	if t.ID == "" {
		return &Resume{}, ActOn("resume")
	}
	return &Resume{About: About{t.ID}}, ActOn("resume").With("task", t.ID)
}

func wayToResolve(*State, *Task, Actor) (Payload, Act) {
	return &Resolve{Text: exampleText}, ActOn("resolve").With("text", exampleText)
}

func wayToGoalComplete(s *State, _ *Task, _ Actor) (Payload, Act) {
	if s.TheGoal() != nil {
		return &GoalComplete{}, ActOn("goal-complete")
	}
	for _, g := range s.Running() {
		if _, open := s.unfinished(g.ID); !open && s.Planned(g) {
			return &GoalComplete{Goal: g.ID}, ActOn("goal-complete", g.ID)
		}
	}
	return nil, Act{}
}

func wayToNote(s *State, _ *Task, who Actor) (Payload, Act) {
	switch who.Role {
	case roles.Human:
		return &AddNote{Message: exampleText}, ActOn("note").With("message", exampleText)
	case roles.Coder:
		own := s.heldBy(who.ID)
		return &AddNote{For: own, Message: exampleText}, ActOn("note").With("for", own, "message", exampleText)
	}
	return &AddNote{For: roles.HumanID, Message: exampleText}, ActOn("note").With("for", roles.HumanID, "message", exampleText)
}
