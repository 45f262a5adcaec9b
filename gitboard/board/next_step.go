package board

import (
	"cmp"
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// NextStep is a step that a caller may take: a command line, complete except for texts in capital
// letters.
type NextStep struct {
	Op   string // the operation; "" for a command that only reads
	Task string // the task, "" for none
	Why  string // why it comes next, briefly
	Do   string
}

// String returns the step as a hint.
func (n NextStep) String() string {
	if n.Why == "" {
		return n.Do
	}
	return n.Why + ": " + n.Do
}

// Asker is a caller who wants to know what it may do, and the time of asking. An agent that is not
// registered yet may have no session.
type Asker struct {
	Actor
	Now    Time
	Leases map[string]Lease // by agent
}

// way is a request for an operation: a complete example payload and the command line. The payload
// is nil if this caller can't use it.
type way func(s *State, t *Task, who Actor) (example Payload, command string)

// Placeholders: for a text in a command line, and for a commit in an example.
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
	p, command := r.way(s, t, a.Actor)
	if p == nil {
		return NextStep{}, false
	}
	op := a.asks(p)
	if taker, takes := p.(interface{ ShowLease(*Lease) }); takes {
		if l, has := a.Leases[LeaseWanted(s, op)]; has {
			taker.ShowLease(&l)
		}
	}
	return NextStep{Op: op.Name(), Task: op.TaskID(), Do: "git liza " + command}, Check(s, op) == nil
}

func wayToRegister(_ *State, _ *Task, who Actor) (Payload, string) {
	return &Register{Session: who.Session + "-next"}, "register"
}

func wayToAddTask(s *State, t *Task, who Actor) (Payload, string) {
	d := Definition{Description: exampleText, Kind: Code, Priority: 1}
	p, where := &AddTask{About: About{t.ID}, Definition: d}, ""
	g, err := s.goalMeant(Operation{Actor: who}, "")
	if running := s.Running(); err != nil && len(running) > 0 {
		g = running[max(0, slices.IndexFunc(running, func(g *Goal) bool { return !s.Planned(g) }))]
		p.Goal, where = g.ID, " --goal "+g.ID
	}
	spec := "FILE"
	if g != nil {
		spec = cmp.Or(g.SpecRef, spec)
	}
	return p, "add-task --id " + t.ID + where + " --desc TEXT --spec " + spec + " --done TEXT --scope TEXT"
}

func wayToFinalize(_ *State, t *Task, _ Actor) (Payload, string) {
	return &Finalize{About: About{t.ID}, SpecOID: exampleCommit}, "finalize " + t.ID
}

func wayToRejectDraft(_ *State, t *Task, _ Actor) (Payload, string) {
	return &RejectDraft{About{t.ID}, exampleText}, "reject-draft " + t.ID + " --reason TEXT"
}

// wayToAmend fills in the fields that finalize requires and the task lacks. If it lacks none, it
// fills in the one that is amended most often.
func wayToAmend(_ *State, t *Task, _ Actor) (Payload, string) {
	p := &AmendTask{About: About{t.ID}, Definition: Definition{DoneWhen: exampleText, Scope: exampleText, SpecRef: "FILE", SpecOID: exampleCommit}}
	command := "amend-task " + t.ID
	set := func(missing bool, field, flag string) {
		if missing {
			p.Set, command = append(p.Set, field), command+flag
		}
	}
	set(t.DoneWhen == "", "done_when", " --done TEXT")
	set(t.Scope == "", "scope", " --scope TEXT")
	set(t.SpecRef == "", "spec_ref", " --spec FILE")
	set(len(p.Set) == 0, "done_when", " --done TEXT")
	if t.Status != Draft {
		p.Reason, command = exampleText, command+" --reason TEXT"
	}
	return p, command
}

func wayToClaim(_ *State, t *Task, who Actor) (Payload, string) {
	p := &Claim{About: About{t.ID}, Clone: "here"}
	if KindOfClaim(t, who.ID).Fresh {
		p.BaseCommit = exampleCommit
	}
	return p, "claim " + t.ID
}

func wayToPreExec(_ *State, t *Task, _ Actor) (Payload, string) {
	c := Checkpoint{Intent: exampleText, Validation: exampleText, FilesToModify: []string{"PATH"}}
	return &PreExec{About{t.ID}, c}, "pre-exec " + t.ID + " --intent TEXT --validation TEXT --file PATH"
}

func wayToHandOff(_ *State, t *Task, who Actor) (Payload, string) {
	p, command := &HandOff{About: About{t.ID}, Summary: exampleText, NextAction: exampleText}, "handoff "+t.ID
	if who.Role == roles.Planner {
		p.Task, command = "", "handoff"
	}
	return p, command + " --summary TEXT --next TEXT"
}

func wayToRelease(_ *State, t *Task, who Actor) (Payload, string) {
	if who.Role == roles.Human {
		return &Release{About: About{t.ID}, Force: true, Reason: exampleText}, "release " + t.ID + " --force --reason TEXT"
	}
	return &Release{About: About{t.ID}}, "release " + t.ID
}

func wayToSubmit(_ *State, t *Task, _ Actor) (Payload, string) {
	return &Submit{About: About{t.ID}, Commit: exampleCommit, ReviewBase: exampleCommit, Commits: 1, Files: 1, NoTestsBecause: exampleText}, "submit " + t.ID
}

func wayToBlock(_ *State, t *Task, who Actor) (Payload, string) {
	p := &Block{About: About{t.ID}, Reason: exampleText}
	if who.Role != roles.Coder {
		return p, "block " + t.ID + " --reason TEXT"
	}
	p.Questions = []string{exampleText}
	return p, "block " + t.ID + " --reason TEXT --question TEXT"
}

func wayToClaimReview(_ *State, t *Task, _ Actor) (Payload, string) {
	return &ClaimReview{About: About{t.ID}}, "claim-review " + t.ID
}

func wayToWithdraw(_ *State, t *Task, _ Actor) (Payload, string) {
	return &Withdraw{About: About{t.ID}}, "withdraw " + t.ID
}

// wayToVerdict is a rejection: an approval has no text to fill in, and no hint proposes it.
func wayToVerdict(_ *State, t *Task, _ Actor) (Payload, string) {
	r := &Rejection{Overall: exampleText, Blockers: []Finding{exampleFinding}}
	if t.HasPriorFeedback() {
		r.Prior = []string{examplePrior}
	}
	return &Verdict{About: About{t.ID}, Verdict: VerdictRejected, Commit: t.ReviewCommit, Rejection: r}, rejecting(t)
}

const examplePrior = "PARTIAL: TEXT"

var exampleFinding = Finding{"PATH:1", "ISSUE", "WHY", "SUGGESTION"}

func rejecting(t *Task) string {
	command := "verdict " + t.ID + " REJECTED --commit " + t.ReviewCommit
	if len(t.OpenComments()) > 0 { // the comments have the rest
		return command + " --reason TEXT"
	}
	command += ` --overall TEXT --blocker "` + exampleFinding.Flag() + `"`
	if t.HasPriorFeedback() {
		command += ` --prior "` + examplePrior + `"`
	}
	return command
}

// Rejecting is the command that rejects a task's submission, with placeholders.
func Rejecting(t *Task) string { return "git liza " + rejecting(t) }

func wayToMerge(s *State, t *Task, _ Actor) (Payload, string) {
	p := &Merge{About: About{t.ID}, ReviewCommit: t.ReviewCommit, Before: exampleCommit, MergeCommit: t.ReviewCommit, MergeType: FastForward}
	if s.Config().RequireIntegrationTest {
		p.Test = exampleText
	}
	return p, "merge " + t.ID
}

func wayToUnblock(_ *State, t *Task, _ Actor) (Payload, string) {
	p, command := &Unblock{About: About{t.ID}}, "unblock "+t.ID
	if t.BlockedReason == ReviewDeadlock {
		p.Assessment, command = exampleText, command+" --assessment TEXT"
	}
	return p, command
}

func wayToAnswer(_ *State, t *Task, _ Actor) (Payload, string) {
	return &Answer{About: About{t.ID}, Text: exampleText}, "answer " + t.ID + " TEXT"
}

func wayToReassign(_ *State, t *Task, _ Actor) (Payload, string) {
	return &Reassign{About: About{t.ID}}, "reassign " + t.ID
}

func wayToResume(s *State, t *Task, _ Actor) (Payload, string) {
	if t.ID == "" {
		return &Resume{}, "resume"
	}
	return &Resume{About: About{t.ID}}, "resume --task " + t.ID
}

func wayToResolve(*State, *Task, Actor) (Payload, string) {
	return &Resolve{Text: exampleText}, "resolve --text TEXT"
}

func wayToGoalComplete(s *State, _ *Task, _ Actor) (Payload, string) {
	if s.TheGoal() != nil {
		return &GoalComplete{}, "goal complete"
	}
	for _, g := range s.Running() {
		if _, open := s.unfinished(g.ID); !open && s.Planned(g) {
			return &GoalComplete{Goal: g.ID}, "goal complete " + g.ID
		}
	}
	return nil, ""
}

func wayToNote(_ *State, _ *Task, who Actor) (Payload, string) {
	if who.Role == roles.Human {
		return &AddNote{Message: exampleText}, "note TEXT"
	}
	return &AddNote{For: roles.HumanID, Message: exampleText}, "note --for human TEXT"
}
