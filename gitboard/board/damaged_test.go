package board_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// bad returns the board with a record that no operation writes, as an import or a hand can.
func (s *script) bad(path string, r any) *board.State {
	state := s.state()
	state.Changes()[path] = r
	return state
}

// bent returns the board with a changed copy of a task.
func (s *script) bent(id string, change func(*board.Task)) *board.State {
	t := *s.task(id)
	change(&t)
	return s.bad(board.RecordPath(board.TaskDir, id), &t)
}

// refusedOn checks how an operation is refused on a state.
func (s *script) refusedOn(state *board.State, code board.ErrorCode, a board.Actor, p board.Payload, words ...string) {
	s.t.Helper()
	_, err := board.Step(state, board.Operation{Actor: a, Time: s.now, Request: "r", Payload: p})
	var r *board.Refusal
	if !errors.As(err, &r) || r.Code != code {
		s.t.Fatalf("%s by %s: %v, not refused as %s", p.Op(), a.ID, err, code)
	}
	for _, w := range words {
		if !strings.Contains(r.Message+"\n"+cmdline.Hint(r.Hint), w) {
			s.t.Fatalf("the refusal of %s does not say %q: %s\n%s", p.Op(), w, r.Message, cmdline.Hint(r.Hint))
		}
	}
}

// TestDamagedBoards checks what rules say on boards that no operation leads to.
func TestDamagedBoards(t *testing.T) {
	s := begun(t).submitted("login").do(reviewer1, review("login")).ready("logout")
	held := func(ids ...string) *board.State {
		state := s.state()
		for _, id := range ids {
			c := *s.task("logout")
			c.ID, c.Status, c.AssignedTo, c.Worktree, c.BaseCommit = id, board.Claimed, "coder-1", ".worktrees/"+id, baseCommit
			state.Changes()[board.RecordPath(board.TaskDir, id)] = &c
		}
		return state
	}
	for range 20 { // briefs come in no order
		s.refusedOn(held("c", "b", "d"), "wrong-state", coder1, &board.Deregister{}, "works on b")
	}
	s.refusedOn(held("b"), "wrong-state", coder1, &board.Withdraw{About: about("login"), Evidence: s.lease("code-reviewer-1", -1e12)}, "coder-1 works on b now")
	s.refusedOn(s.bent("logout", func(t *board.Task) {
		t.AssignedTo, t.Status, t.ReviewCommit = "code-reviewer-2", board.ReadyForReview, workCommit
	}),
		"permission", reviewer2, review("logout"), "code-reviewer-2 worked on logout")
	bare := *s.agent("coder-2")
	bare.Session = ""
	nobody := board.Actor{ID: "coder-2", Role: roles.Coder}
	s.refusedOn(s.bad(board.RecordPath(board.AgentDir, "coder-2"), &bare), "session", nobody, claim("logout"))
	s.refusedOn(s.bent("logout", func(t *board.Task) {
		t.Status, t.Worktree, t.AssignedTo, t.BlockedReason = board.Blocked, ".worktrees/logout", "coder-2", "r"
	}),
		"wrong-state", human, &board.Unblock{About: about("logout"), Mode: board.UnblockSameCoder}, "has no work to continue with")
	s.refusedOn(s.bent("logout", func(t *board.Task) { t.Status, t.BlockedReason, t.AssignedTo = board.Blocked, "r", "coder-2" }),
		"wrong-state", human, &board.Unblock{About: about("logout"), Mode: board.UnblockSameCoder}, "has no work to continue with")
	s.refusedOn(s.bent("logout", func(t *board.Task) { t.Status, t.ApprovedBy = board.IntegrationFailed, "code-reviewer-1" }),
		"wrong-state", reviewer1, &board.RetryMerge{About: about("logout"), ReviewCommit: workCommit, Onto: mergedCommit}, "no merge of it failed")
	s.refusedOn(s.bad(board.ControlPath, &board.Control{Mode: board.Aborted, Since: start}), "mode", planner, &board.SetCheckpoint{}, "ABORTED")

	// A task of a goal that is not there is still listed, found, and archived.
	s = side(t).in(board.Merged, "login").in(board.Unclaimed, "logout")
	lost := s.bent("login", func(t *board.Task) { t.Goal = "gone" })
	equal(t, "tasks", len(lost.Tasks()), 2)
	equal(t, "the goal that its agent works for", board.GoalFor(lost, "planner-2", lost.Task("login")).ID, "billing")
	after, err := board.Step(lost, board.Operation{Actor: human, Time: s.now, Request: "r", Payload: archive("sprint-1", "login")})
	testrun.Check(t, err)
	equals(t, "tasks after it was archived", after.Tasks()[0].ID+" "+string(after.Task("login").Status), "logout MERGED")
	equal(t, "where", board.ArchivedIn(after, "login")+board.ArchivedIn(after, "logout"), "sprint-1")
	brief, is := after.BriefOf("login")
	equals(t, "brief", []any{brief.ID, is, after.Merged("login")}, []any{"login", true, true})
	if part := board.OfGoal(s.state(), "billing"); part.Merged("login") || len(part.Tasks()) > 0 {
		t.Error("the task of another goal is among those of billing")
	}
	nothing := board.OfGoal(s.state(), "nothing")
	equal(t, "goals", len(nothing.List(board.GoalDir)), 0)
	whole := board.NewMemory()
	whole.Absorb(after)
	plain := board.Unarchived(board.NewState(whole, s.last))
	equals(t, "unarchived", plain.List(board.TaskDir), []string{"login"})
	whole.Absorb(plain)
	if path, _, _ := whole.Archived("login"); path != "" {
		t.Errorf("it is archived as well, at %s", path)
	}
}

// TestNoBoard checks what a state says before the first operation, and on records that can't be
// read.
func TestNoBoard(t *testing.T) {
	none := board.NewState(nil, "")
	_, known := none.BriefOf("login")
	equals(t, "nothing", []any{known, len(none.Tasks()), len(none.List(board.KeyDir)), none.Task("login") == nil}, []any{false, 0, 0, true})
	rules := board.NewState(board.NewMemory(), "").ForRules()
	equals(t, "no goals, and none is missing", []any{len(rules.Goals()), rules.Err()}, []any{0, nil})

	s := begun(t)
	unread := func(left int) *board.State { return board.NewState(&failing{Source: s.mem, left: left}, s.last) }
	for left := range 2 {
		equal(t, "a task", unread(left).Task("login") == nil, true)
		if _, err := unread(left).FindTask("login"); err != errUnread {
			t.Errorf("after %d readings: %v", left, err)
		}
	}
	if _, err := unread(0).FindGoal("goal-1"); err != errUnread {
		t.Error(err)
	}
	for left := 0; ; left++ {
		source := &failing{Source: s.mem, left: left}
		if found := board.Violations(board.NewState(source, s.last)); len(found) > 0 {
			t.Errorf("after %d readings: %v", left, found)
		}
		if !source.met {
			break
		}
	}
}

// TestCycles checks which tasks are said to depend on themselves.
func TestCycles(t *testing.T) {
	s := begun(t).in(board.Merged, "over")
	for _, id := range []string{"a", "b", "c", "leaf"} {
		s.do(planner, add(id))
	}
	state := s.state()
	for id, on := range map[string][]string{"a": {"leaf", "over", "nobody", "b"}, "b": {"leaf", "c"}, "c": {"b", "leaf", "a"}} {
		c := *s.task(id)
		c.DependsOn = on
		state.Changes()[board.RecordPath(board.TaskDir, id)] = &c
	}
	over := *s.task("over")
	over.DependsOn = []string{"a"}
	state.Changes()[board.RecordPath(board.TaskDir, "over")] = &over
	var cycles []string
	for _, v := range board.Violations(state) {
		if strings.Contains(v.What, "cycle") {
			cycles = append(cycles, v.Record+" "+v.What)
		}
	}
	equals(t, "cycles", strings.Join(cycles, "\n"), "tasks/a.yaml dependency cycle: a -> b -> c -> a\n"+
		"tasks/b.yaml dependency cycle: b -> c -> b\ntasks/c.yaml dependency cycle: c -> b -> c")
}

// forged is an operation with another effect than its own.
type forged struct {
	board.TaskPayload
	op    string
	apply func(s *board.State)
}

func (f *forged) Op() string                                { return f.op }
func (f *forged) Check(*board.State, board.Operation) error { return nil }
func (f *forged) Apply(s *board.State, _ board.Operation)   { f.apply(s) }

// TestEffectsOutsideTheTable checks that a step is refused whose effect the table of transitions
// does not have.
func TestEffectsOutsideTheTable(t *testing.T) {
	s := begun(t).ready("login")
	put := func(id string, change func(*board.Task)) func(*board.State) {
		return func(state *board.State) {
			c := *s.task("login")
			c.ID = id
			change(&c)
			state.Changes()[board.RecordPath(board.TaskDir, id)] = &c
		}
	}
	as := func(status board.Status) func(*board.Task) { return func(t *board.Task) { t.Status = status } }
	amend := &board.AmendTask{About: about("login")}
	for _, c := range []struct {
		who  board.Actor
		p    forged
		code board.ErrorCode
		says string
	}{
		{planner, forged{amend, "amend-task", put("login", func(t *board.Task) { t.History = nil })}, "invalid", "amend-task would shorten the history of login"},
		{planner, forged{amend, "amend-task", put("login", as(board.Blocked))}, "wrong-state", "amend-task may not take login from UNCLAIMED to BLOCKED"},
		{planner, forged{add("new"), "add-task", put("new", as(board.Unclaimed))}, "wrong-state", "add-task may not take new from nothing to UNCLAIMED"},
		{planner, forged{amend, "tidy-up", put("login", as(board.Draft))}, "invalid", `no operation is called "tidy-up"`},
	} {
		s.refusedOn(s.state(), c.code, c.who, &c.p, c.says)
	}
	s.do(human, &board.AddTask{About: about("given"), Definition: withSpec(definition()), Ready: true})
}

// TestViolations breaks one invariant after the other, by hand, on a board that keeps all of them,
// and checks that exactly this is found. TestDecisionsOnRecords breaks those that one other field breaks.
func TestViolations(t *testing.T) {
	on := func(id string, change func(*board.Task)) func(*board.State) {
		return func(s *board.State) {
			c := *s.Task(id)
			change(&c)
			s.Changes()[board.RecordPath(board.TaskDir, id)] = &c
		}
	}
	agent := func(change func(*board.Agent)) func(*board.State) {
		return func(s *board.State) {
			c := *s.Agent("coder-2")
			change(&c)
			s.Changes()[board.RecordPath(board.AgentDir, "coder-2")] = &c
		}
	}
	set := func(path string, r any) func(*board.State) {
		return func(s *board.State) { s.Changes()[path] = r }
	}
	scene := begun(t)
	for i, status := range board.Statuses {
		switch status {
		case board.Claimed:
		case board.Blocked:
			scene.ready("blocked").do(coder1, claim("blocked")).do(coder1, block("blocked"))
		default:
			scene.in(status, strings.ToLower(strings.ReplaceAll(string(board.Statuses[i]), "_", "-")))
		}
	}
	scene.claimed("claimed")
	if v := board.Violations(scene.state()); len(v) > 0 {
		t.Fatal(v)
	}
	for _, c := range []struct {
		want   string
		change func(*board.State)
	}{
		{"tasks/claimed.yaml: depends_on: unclaimed is not MERGED",
			on("claimed", func(t *board.Task) { t.DependsOn = []string{"unclaimed"} })},
		{"tasks/approved.yaml: approved_by: coder-1 approved its own work",
			on("approved", func(t *board.Task) { t.ApprovedBy = t.AssignedTo })},
		{"tasks/rejected.yaml: rejection_reason: missing in REJECTED",
			on("rejected", func(t *board.Task) { t.Rejection = nil })},
		{"tasks/draft.yaml: depends_on: abandoned is ABANDONED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"abandoned"} })},
		{"tasks/draft.yaml: depends_on: superseded is SUPERSEDED",
			on("draft", func(t *board.Task) { t.DependsOn = []string{"superseded"} })},
		{"agents/coder-2.yaml: current_task: WORKING without a task", agent(func(a *board.Agent) { a.Status = board.Working })},
		{"agents/coder-2.yaml: role: \"human\" is not an agent's role", agent(func(a *board.Agent) { a.Role = roles.Human })},
		{board.BreakerPath + ": status: \"TRIGGERED\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerTriggered})},
		{board.BreakerPath + ": status: \"OK\" does not fit its trigger",
			set(board.BreakerPath, &board.Breaker{Status: board.BreakerOK, CurrentTrigger: &board.Trigger{}})},
		{"tasks/claimed.yaml: assigned_to: coder-1 holds unclaimed already", on("unclaimed", func(t *board.Task) {
			t.Status, t.AssignedTo, t.Worktree, t.BaseCommit = board.Claimed, "coder-1", "w", sha("1")
		})},
	} {
		s := scene.state()
		c.change(s)
		var found []string
		for _, v := range board.Violations(s) {
			found = append(found, v.String())
		}
		if !slices.Equal(found, []string{c.want}) {
			t.Errorf("found %q, not %q", found, c.want)
		}
	}
}

// TestSprintGetsUnknownTask checks that a sprint gets no task that is not there, in whatever place
// of its lists, while one that it had already does not stop work.
func TestSprintGetsUnknownTask(t *testing.T) {
	scene := begun(t).ready("a").ready("b")
	write := func(scope string) *board.Write {
		return &board.Write{Path: board.SprintPath, Fields: []board.FieldEdit{{Field: "scope", Value: scope}}}
	}
	for _, scope := range []string{
		"{planned: [nobody, a, b], stretch: []}", "{planned: [a, nobody, b], stretch: []}", "{planned: [a, b, nobody], stretch: []}",
		"{planned: [a, nobody], stretch: []}", "{planned: [a, b], stretch: [nobody]}", "{planned: [], stretch: [b, nobody]}",
	} {
		scene.refused("invariant", human, write(scope), "there is no task nobody")
	}
	scene.do(human, write("{planned: [b, a], stretch: []}"))
	old := scene.state()
	sprint := *old.Sprint()
	sprint.Scope.Planned = []string{"b", "nobody", "a"}
	old.Changes()[board.SprintPath] = &sprint
	for text, want := range map[string]bool{"{planned: [b, nobody, a], stretch: [a]}": true, "{planned: [nobody, b, a], stretch: []}": true, "{planned: [b, nobody, a, none], stretch: []}": false} {
		_, err := board.Step(old, board.Operation{Actor: human, Time: old.Time(), Request: "r", Payload: write(text)})
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// failing is a source that returns errors after a number of reads.
type failing struct {
	board.Source
	left int
	met  bool
}

var errUnread = errors.New("the disk is gone")

func (f *failing) Record(path string) (any, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Record(path)
}

func (f *failing) LastID(dir string) (string, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return "", errUnread
	}
	return f.Source.LastID(dir)
}

func (f *failing) IDs(dir string) ([]string, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.IDs(dir)
}

func (f *failing) Briefs() (map[string]board.Brief, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Briefs()
}

func (f *failing) Archived(id string) (string, board.Brief, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return "", board.Brief{}, errUnread
	}
	return f.Source.Archived(id)
}

// TestUnread checks that a record that can't be read makes a step fail and never counts as missing.
// The message of a goal's step needs no record to be read again.
func TestUnread(t *testing.T) {
	s := begun(t)
	s.in(board.Merged, "b").in(board.Claimed, "a").do(planner, add("c", "b"))
	all := slices.Clone(decisions())
	for _, op := range []board.Operation{
		{Actor: human, Payload: withDocs()}, {Actor: human, Payload: write("tasks/c.yaml", "depends_on", "[b, a]")}, {Actor: coder2, Payload: claim("c")},
		{Actor: planner, Payload: &board.Ack{IDs: []string{"note-9"}}}, {Actor: human, Payload: &board.Answer{Note: "note-9", Text: "t"}}, {Actor: human, Payload: write("tasks/c.yaml", "reserved_for", "coder-9")},
		{Actor: planner, Payload: add("d", "nobody")}, {Actor: planner, Payload: &board.Abandon{About: about("nobody"), Reason: "r"}}, {Actor: planner, Payload: of("nothing", "d")},
	} {
		all = append(all, decision{s, op.Actor, op.Payload})
	}
	for _, d := range all {
		op := board.Operation{Actor: d.who, Time: d.on.now.Add(time.Minute), Request: "r", Payload: d.p}
		for left := 0; ; left++ {
			source := &failing{Source: d.on.mem, left: left}
			after, err := board.Step(board.NewState(source, d.on.last), op)
			if source.met && !errors.Is(err, errUnread) {
				t.Errorf("%s, after %d readings: %v", op.Name(), left, err)
			}
			if source.met {
				continue
			}
			if err == nil && strings.HasPrefix(op.Name(), "goal-") {
				d.p.Subject(board.NewState(&failing{Source: d.on.mem}, d.on.last), after, op)
			}
			break
		}
	}
}

// TestMissing checks that, if a record that every board has is missing, only steps that need it
// fail.
func TestMissing(t *testing.T) {
	met := map[string]bool{}
	s := begun(t).ready("other").in(board.Claimed, "login")
	for _, path := range []string{board.SprintPath, board.ConfigPath, board.ControlPath, board.BreakerPath} {
		damaged := &lacking{Source: s.mem, path: path}
		for _, p := range append(taskOps("login"), &board.SetCheckpoint{}, &board.Resume{}, &board.Abort{}, &board.GoalComplete{},
			&board.Trip{Pattern: "retry_loop"}, &board.Resolve{Text: "r"}, &board.SprintEnd{}, &board.SprintStart{}, &board.Deadline{},
			&board.SetConfig{Key: "merge_style", Value: "squash"}, &board.AlignmentEntry{Event: "e", Summary: "s"}, &board.AddNote{Message: "m"}) {
			for _, who := range everybody {
				op := board.Operation{Actor: who, Time: s.now, Request: "r", Payload: p}
				after, err := board.Step(board.NewState(damaged, s.last), op)
				missing := (*board.MissingError)(nil)
				if errors.As(err, &missing) {
					met[path] = met[path] || missing.Path == path
				} else if err == nil {
					if _, _, err := codec.Message(board.NewState(damaged, s.last), after, op); err != nil {
						t.Errorf("%s without %s: %v", p.Op(), path, err)
					}
				}
			}
		}
		if !met[path] {
			t.Errorf("nothing missed %s", path)
		}
	}
}

// TestTriggeredForNothing checks that a breaker that tripped without a recorded reason stops the
// board and can be resolved.
func TestTriggeredForNothing(t *testing.T) {
	s := begun(t)
	s.do(human, &board.SetCheckpoint{})
	damaged := board.NewState(s.mem, s.last)
	damaged.Changes()[board.BreakerPath] = &board.Breaker{Status: board.BreakerTriggered}
	for _, p := range []board.Payload{&board.Trip{Pattern: "retry_cluster"}, &board.Resume{}, &board.Resolve{Text: "a hand edit"}} {
		op := board.Operation{Actor: human, Time: s.now, Request: "r", Payload: p}
		after, err := board.Step(damaged, op)
		if _, resolves := p.(*board.Resolve); resolves != (err == nil) {
			t.Errorf("%s: %v", p.Op(), err)
		}
		if err == nil {
			_, _, err = codec.Message(damaged, after, op)
			equal(t, "message", err, nil)
		}
	}
}

// lacking is a source without one of its records.
type lacking struct {
	board.Source
	path string
}

func (l *lacking) Record(path string) (any, error) {
	if path == l.path {
		return nil, nil
	}
	return l.Source.Record(path)
}
