package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Step is one step of the fold: it checks an operation on a state and returns the next state. It
// returns a *Refusal, or the error of a record that could not be read.
func Step(s *State, op Operation) (*State, error) {
	before := s.ForRules()
	if err := check(before, op); err != nil {
		return nil, err
	}
	after := before.next(op.Time)
	Apply(after, op)
	if err := after.Err(); err != nil {
		return nil, err
	}
	err := checkMoves(before, after, op)
	if err == nil {
		err = checkNewViolations(before, after)
	}
	if err == nil {
		err = checkRoom(before, after, op)
	}
	if err = firstErr(before, firstErr(after, err)); err != nil {
		return nil, err
	}
	return &State{src: s, over: after.over, time: op.Time}, nil
}

// Apply changes a state by an operation that Check has allowed on it.
func Apply(s *State, op Operation) {
	applyRead(s, op)
	op.Payload.Apply(s, op)
	settleSprint(s, op)
}

// Check checks an operation against all rules. It returns a *Refusal, or the error of a record that
// could not be read.
func Check(s *State, op Operation) error { return check(s.ForRules(), op) }

func check(s *State, op Operation) error {
	for _, check := range []func(*State, Operation) error{checkBoard, checkActor, checkText, checkMode, checkSubject, checkSeen, checkGoal} {
		if err := check(s, op); err != nil {
			return firstErr(s, err)
		}
	}
	if err := op.Payload.Check(s, op); err != nil {
		return firstErr(s, err)
	}
	return firstErr(s, checkRead(s, op))
}

// firstErr prefers a read error to a refusal that it may have caused.
func firstErr(s *State, err error) error {
	if s.Err() != nil {
		return s.Err()
	}
	return err
}

func checkBoard(s *State, op Operation) error {
	r, known := ruleOf(op.Name())
	if !known {
		return invalid("no operation is called %q", op.Name())
	}
	if !ValidRequest(op.Request) {
		return invalid("%q is not a request id: use up to 100 letters, digits and ._/:-", op.Request)
	}
	if _, err := ParseTime(string(op.Time)); err != nil {
		return invalid("the operation's time: %v", err)
	}
	if op.Time < s.time {
		return invalid("the operation's time %s is before its parent's, %s", op.Time, s.time)
	}
	if s.Meta() == nil && !r.begins {
		return refuse(CodeNoBoard, "there is no board here yet").Advise("%s, or %s in a clone of a shared project", ActOn("init", `"GOAL"`), ActOn("init"))
	}
	return nil
}

func checkActor(s *State, op Operation) error {
	a := op.Actor
	if a.Role == roles.Human {
		if a.ID != roles.HumanID || a.Session != "" {
			return invalid("a human acts as %q, not as %q", roles.HumanID, a.ID)
		}
		if agentsName(a.Name) || agentsName(a.Email) {
			return refuse(CodeIdentity, "%s <%s> acts as a human, and that is an agent's name or address", quote(a.Name), text.Line(a.Email, 60)).
				Advise(`as yourself: git config user.name "Your Name" and git config user.email you@example.com`)
		}
		if !text.IsName(a.Name) || !text.IsAddress(a.Email) {
			return refuse(CodeIdentity, "the name or address of %s <%s> holds a control character, or one that is not seen", quote(a.Name), text.Line(a.Email, 60)).
				Advise(`git config user.name "Your Name" and git config user.email you@example.com`)
		}
	} else {
		role, err := s.RoleOf(a.ID)
		if err != nil {
			return err
		}
		if role != a.Role {
			return invalid("%s is a %s, not a %s", a.ID, role, a.Role)
		}
	}
	rule, _ := ruleOf(op.Name())
	if !slices.Contains(rule.who, a.Role) {
		if t := s.Task(op.TaskID()); t != nil {
			return notFor(t, op)
		}
		return refuse(CodePermission, "%s is for a %s, not for a %s", rule.noun, list(rule.who), a.Role)
	}
	if rule.registers || a.Role == roles.Human {
		return nil
	}
	agent := s.Agent(a.ID)
	if agent == nil {
		return refuse(CodeSession, "%s is not registered", a.ID).Way(ActOn("register"))
	}
	if agent.Session != a.Session || a.Session == "" {
		return refuse(CodeSession, "%s is registered in another session, since %s: this process has been replaced", a.ID, agent.RegisteredAt).
			Advise("stop: what %s holds is in the hands of the process that replaced this one", a.ID)
	}
	return nil
}

func checkMode(s *State, op Operation) error {
	if Begins(op.Name()) {
		return nil
	}
	c := s.Control()
	if AllowedIn(c.Mode, op.Name()) {
		return nil
	}
	r := refuse(CodeMode, "the board is %s since %s (by %s%s)", c.Mode, c.Since, c.By, because(c.Reason))
	if g := s.TheGoal(); c.Mode == Aborted && g != nil {
		return r.Advise("%s", g.ended().Hint)
	}
	return r
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + text.Line(reason, 120)
}

// checkSubject checks an operation on a task against the table of transitions, as far as the task's
// current state decides.
func checkSubject(s *State, op Operation) error {
	tp, about := op.Payload.(TaskPayload)
	if !about {
		return nil
	}
	rule, _ := ruleOf(op.Name())
	id := tp.TaskID()
	if id == "" {
		if !rule.taskless {
			return invalid("%s is about a task, and none is named", rule.noun)
		}
		return nil
	}
	if !ValidTaskID(id) {
		return invalid("%s is not a task id: use lower-case letters, digits and hyphens, 64 at most, like add-auth; con, nul and the like are devices on Windows", quote(id))
	}
	if rule.creates() {
		return nil
	}
	t := s.Task(id)
	if t == nil {
		return s.unknownTask(id)
	}
	if rule.moves == nil || rule.anyState {
		return nil // an anomaly names a task but does not change it
	}
	from := rule.starts(op.Actor.Role)
	switch {
	case len(from) == 0:
		return notFor(t, op)
	case !slices.Contains(from, t.Status):
		return wrongState(t, op, from)
	}
	return nil
}

func wrongState(t *Task, op Operation, from []Status) *Refusal {
	rule, _ := ruleOf(op.Name())
	r := refuse(CodeWrongState, "%s is %s; %s needs %s", t.ID, t.describe(), rule.noun, list(from)).on(t)
	if rule.instead != nil && !t.Status.Terminal() {
		return r.Way(rule.instead(t))
	}
	return r
}

// notFor refuses an operation that a role may not request, whatever the task's state.
func notFor(t *Task, op Operation) *Refusal {
	rule, _ := ruleOf(op.Name())
	who := rule.who
	if rule.moves != nil {
		who = slices.DeleteFunc(slices.Clone(who), func(r roles.Role) bool { return len(rule.starts(r)) == 0 })
	}
	return refuse(CodePermission, "%s is for a %s, not for a %s; %s is %s", rule.noun, list(who), op.Actor.Role, t.ID, t.describe()).on(t)
}

// describe returns a task's state and its holder.
func (t *Task) describe() string {
	switch {
	case t.Status == Claimed:
		return "CLAIMED by " + t.AssignedTo
	case t.Status == ReadyForReview && t.ReviewingBy != "":
		return "READY_FOR_REVIEW, reviewed by " + t.ReviewingBy
	}
	return string(t.Status)
}

// checkMoves checks the effects of an operation on tasks against the table: only its own task may
// change its state, and only as a row permits.
func checkMoves(before, after *State, op Operation) error {
	rule, _ := ruleOf(op.Name())
	if rule.begins {
		return nil // imported tasks come as they are
	}
	for _, r := range after.Changes() {
		t, ok := r.(*Task)
		if !ok {
			continue
		}
		from := None
		if old := before.Task(t.ID); old != nil {
			from = old.Status
			if len(t.History) < len(old.History) {
				return invalid("%s would shorten the history of %s", op.Name(), t.ID)
			}
		}
		if from != t.Status && (t.ID != op.TaskID() || !rule.allow(op.Actor.Role, from, t.Status)) {
			return refuse(CodeWrongState, "%s may not take %s from %s to %s", op.Name(), t.ID, orNone(from), t.Status)
		}
	}
	return nil
}

func orNone(s Status) string {
	if s == None {
		return "nothing"
	}
	return string(s)
}
