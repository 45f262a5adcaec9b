package board_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func (s *script) inbox(outside report.Outside) *report.Inbox {
	s.t.Helper()
	in, err := report.InboxOf(s.state(), outside, s.now.Std())
	testrun.Check(s.t, err)
	return in
}

// lined formats an inbox, one item per line.
func lined(in *report.Inbox) string {
	var lines []string
	for _, i := range in.Items {
		lines = append(lines, fmt.Sprintf("%s %s %v: %s", i.Kind, i.Turn, i.Holds, cmdline.Hint(i.Do[0].Do)))
	}
	return strings.Join(lines, "\n")
}

// TestInboxOrder checks the order of the inbox: first what stops the whole board, then what blocks
// most tasks. Items that a present planner handles come last.
func TestInboxOrder(t *testing.T) {
	nobody := map[string]board.Lease{}
	for _, c := range []struct {
		name    string
		make    func(*script)
		outside func(*script) report.Outside
		want    []string
	}{
		{"nothing waits", func(s *script) { s.claimed("one") }, nil, nil},
		{"no plan", func(*script) {}, func(*script) report.Outside { return report.Outside{Leases: nobody} }, []string{"no_plan human []: git liza agent planner"}},
		{"a planner is there, and looks at it first", func(s *script) { s.in(board.Blocked, "one") }, nil, []string{"blocked planner [one]: git liza answer one TEXT"}},
		{"two blocked tasks, one with dependents", func(s *script) {
			s.in(board.Blocked, "alone").in(board.Blocked, "base").ready("upper", "base").do(planner, add("top", "upper"))
		}, func(*script) report.Outside { return report.Outside{Leases: nobody} }, []string{
			"blocked human [base upper top]: git liza answer base TEXT",
			"blocked human [alone]: git liza answer alone TEXT",
			"drafts human [top]: git liza finalize top",
		}},
		{"a pause comes before all else", func(s *script) {
			s.in(board.Blocked, "one").do(human, &board.Pause{Reason: "lunch"})
		}, nil, []string{"stopped human [one]: git liza resume", "blocked planner [one]: git liza answer one TEXT"}},
		{"a task that is paused", func(s *script) {
			s.ready("one").do(human, &board.Pause{About: about("one"), Reason: "wait for the key"})
		}, nil, []string{"paused human [one]: git liza resume --task one"}},
		{"a planner's question, and an agent's", func(s *script) {
			s.claimed("one").do(planner, &board.AddNote{For: "human", Message: "May it cost money?"})
			s.do(coder1, &board.LogAnomaly{Type: "system_ambiguity", Task: "one", Details: map[string]board.Scalar{"protocol_section": "2", "question": "who merges?"}})
		}, nil, []string{"ambiguity human [one]: git liza note TEXT --for one", "question human []: git liza answer note-1 TEXT"}},
		{"every task is over", func(s *script) { s.in(board.Merged, "one") }, func(*script) report.Outside { return report.Outside{Leases: nobody} },
			[]string{"goal_over human []: git liza goal complete"}},
		{"a finished goal", func(s *script) { s.in(board.Merged, "one").do(human, &board.GoalComplete{}) },
			func(*script) report.Outside {
				return report.Outside{Leases: nobody, Ahead: &report.Ahead{Integration: "integration", Into: "main", Commits: 24, CheckedOut: true}}
			}, []string{"ahead human []: git merge integration"}},
		{"a finished goal whose work is on main", func(s *script) { s.in(board.Merged, "one").do(human, &board.GoalComplete{}) },
			func(*script) report.Outside {
				return report.Outside{Leases: nobody, Ahead: &report.Ahead{Integration: "integration", Into: "main"}}
			}, nil},
		{"no coder", func(s *script) { s.ready("one").ready("two", "one") }, func(s *script) report.Outside {
			return report.Outside{Leases: map[string]board.Lease{"planner-1": s.allAlive()["planner-1"]}}
		}, []string{"no_agent human [one two]: git liza agent coder"}},
		{"a coder that is gone, with work in hand", func(s *script) { s.claimed("one") }, func(s *script) report.Outside {
			leases := s.allAlive()
			leases["coder-1"] = board.Lease{Agent: "coder-1", Expires: s.now}
			return report.Outside{Leases: leases, GaveUp: map[string]report.GaveUp{"coder-1": {Since: s.now, Reason: "three crashes"}}}
		}, []string{"agent_gone human [one]: git liza logs coder-1"}},
		{"a coder that gave up, with nothing in hand", func(s *script) { s.do(coder2, &board.Deregister{}) }, func(s *script) report.Outside {
			leases := s.allAlive()
			return report.Outside{Leases: leases, GaveUp: map[string]report.GaveUp{
				"coder-2": {Since: s.now, Reason: "it can't work"},
				"coder-1": {Since: s.now, Reason: "it was started again elsewhere"},
			}}
		}, []string{"agent_gone human []: git liza logs coder-2"}},
		{"a coder that can't claim, and is alive", func(s *script) {
			s.do(coder1, &board.Deregister{}).do(coder1, &board.Register{Session: coder1.Session, PID: 7})
		}, func(s *script) report.Outside {
			return report.Outside{Leases: s.allAlive(), GaveUp: map[string]report.GaveUp{"coder-1": {Since: s.now, Reason: "worktree_setup fails"}}}
		}, []string{"agent_gone human []: git liza logs coder-1"}},
		{"a reservation for a coder that is gone", func(s *script) {
			s.in(board.Blocked, "one").do(planner, &board.Unblock{About: about("one"), To: "coder-2"}).do(coder2, &board.Deregister{})
		}, nil, []string{"reserved planner [one]: git liza reassign one"}},
	} {
		s := begun(t)
		c.make(s)
		outside := report.Outside{Leases: s.allAlive()}
		if c.outside != nil {
			outside = c.outside(s)
		}
		if got, want := lined(s.inbox(outside)), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// TestInboxBlocked checks that the item of a blocked task has everything needed to answer it.
func TestInboxBlocked(t *testing.T) {
	s := begun(t).rejected("one").do(coder1, goOn("one")).do(coder1, block("one"))
	i := s.inbox(report.Outside{Leases: map[string]board.Lease{}}).Items[0]
	switch {
	case i.Kind != report.ItemBlocked || i.ID != "one" || i.Turn != roles.Human || i.By != "coder-1" || i.Since != s.now:
		t.Errorf("%+v", i)
	case i.Text != "the spec names no port" || !slices.Equal(i.Questions, []string{"Which port?"}) || !slices.Equal(i.Attempted, []string{"8080"}):
		t.Errorf("%+v", i)
	case !slices.Equal(i.FailedBy, []string{"coder-1"}):
		t.Errorf("failed by %v", i.FailedBy)
	case i.Work == nil || i.Work.Branch != "task/one" || i.Work.Coder != "coder-1" || i.Work.Submitted != workCommit || i.Work.Iteration != 2:
		t.Errorf("%+v", i.Work)
	case len(i.Evidence) != 1 || !strings.Contains(i.Evidence[0], "an empty name is accepted"):
		t.Errorf("%q", i.Evidence)
	}
}

// TestInboxExhausted checks that, after two attempts failed, the inbox asks for a new definition
// before an answer.
func TestInboxExhausted(t *testing.T) {
	s := begun(t).claimed("one").fails(coder1, "one").do(human, &board.Unblock{About: about("one")}).do(coder2, goOn("one")).fails(coder2, "one")
	first := func() string {
		return cmdline.Hint(s.inbox(report.Outside{Leases: map[string]board.Lease{}}).Items[0].Do[0].Do)
	}
	if do := first(); do != "git liza amend-task one --done TEXT --reason TEXT" {
		t.Error(do)
	}
	s.do(human, &board.AmendTask{About: about("one"), Definition: board.Definition{DoneWhen: "port 80 answers"}, Set: []string{"done_when"}, Reason: "it was unclear"})
	if do := first(); do != "git liza answer one TEXT" {
		t.Error(do)
	}
}

// TestInboxDrafts checks that a plan that waits for approval is one item, with all drafts in the
// order in which they can start.
func TestInboxDrafts(t *testing.T) {
	s := begun(t).do(planner, add("base")).do(planner, add("upper", "base"))
	vague := add("vague")
	vague.DoneWhen = "it works correctly"
	s.do(planner, vague)
	items := s.inbox(report.Outside{Leases: map[string]board.Lease{}}).Items
	if len(items) != 1 || items[0].Kind != report.ItemDrafts || items[0].By != "planner-1" {
		t.Fatalf("%+v", items)
	}
	var ids []string
	for _, d := range items[0].Drafts {
		ids = append(ids, fmt.Sprintf("%s %d %v %v %d", d.ID, d.Level, d.DependsOn, d.NeededBy, len(d.Warnings)))
	}
	want := []string{"base 0 [] [upper] 0", "vague 0 [] [] 1", "upper 1 [base] [] 0"}
	if !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
}

// TestInboxOfUnfinishedDrafts checks that a draft that no gate would let through says what it
// lacks, and that the first command to copy is the one that adds it.
func TestInboxOfUnfinishedDrafts(t *testing.T) {
	bare := add("bare")
	bare.DoneWhen, bare.Scope, bare.SpecRef = "", " ", ""
	s := begun(t).do(planner, add("base")).do(planner, bare)
	item := s.inbox(report.Outside{Leases: map[string]board.Lease{}}).Items[0]
	equals(t, "warnings", item.Drafts[1].Warnings, []string{"it can't be finalized: it has no done_when, scope, spec_ref"})
	equals(t, "the other", item.Drafts[0].Warnings, []string{})
	equals(t, "first", asks(item.Do)[0], ask{What: "complete it first", Do: "git liza amend-task bare --done TEXT --scope TEXT --spec FILE"})
	s.refused("gate", human, finalize("bare"), "bare has no done_when")
}

// TestInboxBreaker checks that a tripped breaker shows the anomalies that form its pattern.
func TestInboxBreaker(t *testing.T) {
	s := begun(t).claimed("one").ready("two").do(coder2, claim("two"))
	for _, c := range []struct {
		a    board.Actor
		task string
	}{{coder1, "one"}, {coder2, "two"}} {
		s.do(c.a, &board.LogAnomaly{Type: "external_blocker", Task: c.task, Details: map[string]board.Scalar{"blocker_service": "pypi"}})
	}
	s.do(human, &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY"})
	items := s.inbox(report.Outside{Leases: s.allAlive()}).Items
	if len(items) != 1 || items[0].Kind != report.ItemBreaker || cmdline.Hint(items[0].Do[0].Do) != "git liza resolve --text TEXT" {
		t.Fatalf("%+v", items)
	}
	want := []string{"common factor: pypi", "anomaly-1 external_blocker by coder-1 on one; blocker_service: pypi", "anomaly-2 external_blocker by coder-2 on two; blocker_service: pypi"}
	if !slices.Equal(items[0].Evidence, want) {
		t.Errorf("%q", items[0].Evidence)
	}
}

// TestInboxElsewhere checks what a clone offers when an agent of another clone is gone: nothing
// that is refused because its transcript and its worktree are not here.
func TestInboxElsewhere(t *testing.T) {
	commands := func(s *script, clone string) string {
		leases := s.allAlive()
		for _, id := range []string{"coder-1", "code-reviewer-1"} {
			leases[id] = board.Lease{Agent: id, Expires: s.now}
		}
		var lines []string
		for _, i := range s.inbox(report.Outside{Leases: leases, Clone: clone}).Items {
			for _, do := range i.Do {
				lines = append(lines, cmdline.Hint(do.Do))
			}
			if w := i.Work; w != nil {
				lines = append(lines, fmt.Sprintf("elsewhere: %t", w.Elsewhere))
			}
		}
		return strings.Join(lines, "\n")
	}
	claimed := begun(t).claimed("one")
	equal(t, "a coder of this clone", commands(claimed, "here"), "git liza logs coder-1\ngit liza recover-agent coder-1")
	equal(t, "a coder of another clone", commands(claimed, "there"), "git liza show one\ngit liza release one --role coder --reason TEXT")
	equal(t, "a clone that is not known", commands(claimed, ""), "git liza logs coder-1\ngit liza recover-agent coder-1")

	review := begun(t).submitted("one").do(reviewer1, review("one"))
	equal(t, "a reviewer of another clone", commands(review, "there"), "git liza show one\ngit liza recover-agent code-reviewer-1")

	blocked := begun(t).in(board.Blocked, "one")
	testrun.Contains(t, commands(blocked, "here"), "elsewhere: false", "a blocked task of this clone")
	testrun.Contains(t, commands(blocked, "there"), "elsewhere: true", "a blocked task of another clone")
}

// TestReplan checks that a human's replan, a note, an answer, a spec change and an ambiguity wake
// the goal's planner until it has dealt with them.
func TestReplan(t *testing.T) {
	said := func(s *script, goal string) (about []string) {
		for _, w := range report.Wakes(s.state(), goal) {
			if w.Trigger == report.Replan {
				about = w.About
			}
		}
		return about
	}
	supervised := func(s *script) *script {
		by := agent("planner-3")
		return s.do(by, &board.Register{Session: by.Session, PID: 1}).do(by, &board.HandOff{Summary: "half", NextAction: "the rest"})
	}
	ambiguity := &board.LogAnomaly{Type: "system_ambiguity", Task: "ledger", Details: map[string]board.Scalar{"protocol_section": "x", "question": "which?"}}
	for name, c := range map[string]struct {
		do   func(*script)
		mine []string // of goal-1
		both bool     // billing has the same
	}{
		"replan": {func(s *script) {
			s.do(human, &board.SetCheckpoint{}).do(human, &board.Resume{Decision: "REPLAN", Reason: "smaller"})
		}, []string{"note-2"}, true},
		"continue":                {func(s *script) { s.do(human, &board.SetCheckpoint{}).do(human, &board.Resume{Decision: "CONTINUE"}) }, nil, true},
		"a note of the goal":      {func(s *script) { s.do(human, &board.AddNote{For: "planner", Goal: "goal-1", Message: "smaller"}) }, []string{"note-1"}, false},
		"a note":                  {func(s *script) { s.do(human, &board.AddNote{For: "planner", Message: "smaller"}) }, []string{"note-1"}, true},
		"a note for a coder":      {func(s *script) { s.do(human, &board.AddNote{For: "coder-1", Message: "smaller"}) }, nil, true},
		"a hand-off":              {func(s *script) { s.do(planner, &board.HandOff{Summary: "half", NextAction: "the rest"}) }, []string{"note-1"}, false},
		"of a supervised one":     {func(s *script) { supervised(s) }, nil, false},
		"of one that is gone now": {func(s *script) { supervised(s).do(agent("planner-3"), &board.Deregister{}) }, []string{"note-1"}, true},
		"a spec change": {func(s *script) {
			s.do(human, &board.RecordSpecChange{Spec: "s.md", Change: "c", TriggeredBy: "ledger"})
		}, []string{"change-1"}, false},
		"its own":      {func(s *script) { s.do(planner, &board.RecordSpecChange{Spec: "s.md", Change: "c"}) }, nil, true},
		"an ambiguity": {func(s *script) { s.do(coder1, ambiguity) }, []string{"anomaly-1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := side(t).do(planner, add("ledger")).do(planner2, add("invoice"))
			c.do(s)
			equals(t, "goal-1", said(s, "goal-1"), c.mine)
			equal(t, "billing", len(said(s, "billing")) == len(c.mine), c.both || len(c.mine) == 0)
			if len(c.mine) > 0 {
				s.do(planner, &board.Ack{IDs: c.mine})
				equal(t, "once dealt with", len(said(s, "goal-1")), 0)
			}
		})
	}
}

func TestWakes(t *testing.T) {
	stands := func(s *script, want ...report.WakeTrigger) map[report.WakeTrigger]report.Wake {
		t.Helper()
		found := map[report.WakeTrigger]report.Wake{}
		var names []report.WakeTrigger
		for _, w := range report.Wakes(s.state(), "goal-1") {
			found[w.Trigger] = w
			names = append(names, w.Trigger)
		}
		if !slices.Equal(names, want) {
			t.Fatalf("%v stand, not %v", names, want)
		}
		return found
	}
	stands(begun(t), report.InitialPlanning)
	stands(begun(t).do(planner, add("login")))
	stands(begun(t).claimed("login"))
	stands(begun(t).in(board.IntegrationFailed, "login"), report.IntegrationFailures)
	stands(begun(t).do(planner, add("login")).do(planner, &board.Abandon{About: about("login"), Reason: "not wanted"}), report.AllTerminal)
	stands(begun(t).do(human, &board.Abort{}))

	s := begun(t).in(board.Blocked, "login")
	first := stands(s, report.BlockedTasks)[report.BlockedTasks]
	equals(t, "about", first.About, []string{"login"})
	s.do(planner, &board.AddNote{For: "human", Message: "I leave it"})
	equal(t, "mark of an ignored trigger", stands(s, report.BlockedTasks)[report.BlockedTasks].Mark, first.Mark)
	s.do(human, &board.AddNote{For: "login", Message: "The port is 8080"})
	if stands(s, report.BlockedTasks)[report.BlockedTasks].Mark == first.Mark {
		t.Error("a human's answer changes nothing")
	}
	noted := stands(s, report.BlockedTasks)[report.BlockedTasks]
	s.do(human, &board.Answer{Note: "note-1", Text: "Don't: ask the team next door"})
	answered := stands(s, report.Replan, report.BlockedTasks)
	equals(t, "about", answered[report.Replan].About, []string{"note-1"})
	equal(t, "mark of the block", answered[report.BlockedTasks].Mark, noted.Mark)
	s.do(planner, &board.Ack{IDs: []string{"note-1"}})
	s.do(planner, &board.Unblock{About: about("login")}).do(coder2, goOn("login")).fails(coder2, "login")
	s.do(planner, &board.Unblock{About: about("login")}).do(coder3, goOn("login")).fails(coder3, "login")
	stands(s, report.BlockedTasks, report.HypothesisExhausted)
	if stands(s, report.BlockedTasks, report.HypothesisExhausted)[report.BlockedTasks].Mark == first.Mark {
		t.Error("the second block looks like the first")
	}

	s = begun(t).claimed("login").do(coder1, &board.Discover{Description: "The port is open", Severity: "high", Urgency: "immediate"})
	found := stands(s, report.ImmediateDiscovery)[report.ImmediateDiscovery]
	equal(t, "discoveries", len(found.About), 1)
	s.do(planner, &board.SettleDiscovery{Discovery: found.About[0], How: "rejected", Reason: "it is meant so"})
	stands(s)
}
