package board_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// allAlive returns leases of all agents, which expire in five minutes.
func (s *script) allAlive() map[string]board.Lease {
	leases := map[string]board.Lease{}
	for _, a := range []board.Actor{planner, coder1, coder2, coder3, reviewer1, reviewer2} {
		leases[a.ID] = board.Lease{Agent: a.ID, Expires: s.now.Add(5 * time.Minute)}
	}
	return leases
}

func (s *script) look(leases map[string]board.Lease) *report.Overview {
	s.t.Helper()
	o, err := report.Look(s.state(), report.Outside{Leases: leases}, s.now.Std())
	testrun.Check(s.t, err)
	return o
}

func outlookOf(t *testing.T, o *report.Overview, id string) report.TaskOutlook {
	t.Helper()
	for _, x := range o.Tasks {
		if x.ID == id {
			return x
		}
	}
	t.Fatalf("the overview lacks %s", id)
	return report.TaskOutlook{}
}

// TestOutlook checks, for a task in each state, who must act next and whether it is stuck.
func TestOutlook(t *testing.T) {
	gone := func(agents ...string) func(*script) map[string]board.Lease {
		return func(s *script) map[string]board.Lease {
			leases := s.allAlive()
			for _, a := range agents {
				leases[a] = board.Lease{Agent: a, Expires: s.now}
			}
			return leases
		}
	}
	unknown := func(*script) map[string]board.Lease { return nil }
	for _, c := range []struct {
		name   string
		make   func(*script)
		leases func(*script) map[string]board.Lease
		turn   roles.Role
		stuck  string
	}{
		{"draft", func(s *script) { s.in(board.Draft, "a") }, nil, roles.Planner, ""},
		{"draft for a human", func(s *script) {
			s.do(human, plansReviewedBy("human")).in(board.Draft, "a").do(planner, finalize("a"))
		}, nil, roles.Human, ""},
		{"draft for a reviewer of plans", func(s *script) {
			s.do(human, plansReviewedBy("code-reviewer")).in(board.Draft, "a").do(planner, finalize("a"))
		}, nil, roles.CodeReviewer, ""},
		{"draft that the review sent back", func(s *script) {
			s.do(human, plansReviewedBy("human")).in(board.Draft, "a").do(planner, finalize("a")).do(human, rejectDraft("a"))
		}, nil, roles.Planner, ""},
		{"unclaimed", func(s *script) { s.ready("a") }, nil, roles.Coder, ""},
		{"waits for another", func(s *script) { s.ready("b").ready("a", "b") }, nil, "", ""},
		{"waits for a stuck task", func(s *script) { s.claimed("b").do(coder1, block("b")).ready("a", "b") }, nil, "", "waits for b"},
		{"waits for a task that waits for a stuck task", func(s *script) {
			s.claimed("c").do(coder1, block("c")).ready("b", "c").ready("a", "b")
		}, nil, "", "waits for b"},
		{"claimed", func(s *script) { s.claimed("a") }, nil, "", ""},
		{"claimed, its coder gone", func(s *script) { s.claimed("a") }, gone("coder-1"), roles.Coder, "its coder is silent"},
		{"claimed, leases unknown", func(s *script) { s.claimed("a") }, unknown, "", ""},
		{"handed off", func(s *script) {
			s.claimed("a").do(coder1, &board.HandOff{About: about("a"), Summary: "half", NextAction: "the rest"})
		}, gone("coder-1"), roles.Coder, ""},
		{"submitted", func(s *script) { s.submitted("a") }, nil, roles.CodeReviewer, ""},
		{"under review", func(s *script) { s.submitted("a").do(reviewer1, review("a")) }, nil, "", ""},
		{"under review, its reviewer gone", func(s *script) { s.submitted("a").do(reviewer1, review("a")) }, gone("code-reviewer-1"), roles.CodeReviewer, "its reviewer is silent"},
		{"rejected", func(s *script) { s.rejected("a") }, nil, roles.Coder, ""},
		{"rejected, its coder gone", func(s *script) { s.rejected("a") }, gone("coder-1"), roles.Coder, "its coder is silent"},
		{"rejected and freed", func(s *script) { s.rejected("a").do(planner, &board.Reassign{About: about("a")}) }, gone("coder-1"), roles.Coder, ""},
		{"approved", func(s *script) { s.approved("a") }, nil, roles.CodeReviewer, ""},
		{"integration failed", func(s *script) { s.in(board.IntegrationFailed, "a") }, nil, roles.Coder, ""},
		{"blocked", func(s *script) { s.claimed("a").do(coder1, block("a")) }, nil, roles.Planner, "blocked"},
		{"paused", func(s *script) { s.ready("a").do(human, &board.Pause{About: about("a")}) }, nil, roles.Human, "paused"},
		{"merged", func(s *script) { s.in(board.Merged, "a") }, nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begun(t)
			c.make(s)
			leases := s.allAlive()
			if c.leases != nil {
				leases = c.leases(s)
			}
			got := outlookOf(t, s.look(leases), "a")
			equal(t, "turn", got.Turn, c.turn)
			equal(t, "stuck", got.Stuck.String(), c.stuck)
		})
	}
}

func TestSummary(t *testing.T) {
	s := begun(t)
	equal(t, "nothing planned", s.look(s.allAlive()).Summary(), "Waiting: you 0, planner 1. No task yet.")
	s.ready("a").ready("b").submitted("c")
	s.now = s.now.Add(12 * time.Minute)
	equal(t, "at work", s.look(s.allAlive()).Summary(), "Waiting: you 0, coders 2, reviewers 1. Last progress 12m ago.")
	s.do(human, &board.Pause{Reason: "lunch"})
	o := s.look(s.allAlive())
	equal(t, "paused", o.Summary(), "Waiting: you 1. Last progress 13m ago.")
	equals(t, "waiting", asks(o.Waiting), []ask{{What: "the board is PAUSED: lunch", Do: "git liza resume"}})
	s.do(human, &board.Resume{}).do(human, &board.Abort{Reason: "no money"})
	o = s.look(s.allAlive())
	equal(t, "aborted", o.Summary(), "The goal is ABORTED. Last progress 15m ago.")
	equal(t, "nothing waits any more", len(o.Waiting)+len(o.Turns), 0)
}

// TestOverviewOfAStoppedClone checks that a clone stopped by a file waits for a human to remove the
// file.
func TestOverviewOfAStoppedClone(t *testing.T) {
	s := begun(t).ready("a")
	o, err := report.Look(s.state(), report.Outside{Leases: s.allAlive(), Stopped: []report.Halt{{File: "PAUSE", Since: s.now}}}, s.now.Std())
	testrun.Check(t, err)
	equal(t, "summary", o.Summary(), "Waiting: you 1. Last progress 0s ago.")
	equals(t, "waiting", asks(o.Waiting), []ask{{What: "this clone is stopped by .liza/PAUSE", Do: "take .liza/PAUSE away"}})
}

// TestOverviewWithoutPlanner checks that a missing planner's work falls to the human.
func TestOverviewWithoutPlanner(t *testing.T) {
	s := begun(t).do(planner, &board.Deregister{})
	equals(t, "nothing planned", asks(s.look(nil).Waiting), []ask{{What: "there is no task yet, and no planner", Do: "git liza add-task -h"}})
	s.do(human, add("a")).do(human, add("b")).do(human, add("c")).do(human, finalize("c"))
	s.do(coder1, claim("c")).do(coder1, block("c")).do(human, &board.AddNote{For: "human", Message: "look here"})
	s.do(coder1, &board.Discover{During: "c", Description: "a hole", Severity: "high", Urgency: "immediate"})
	equals(t, "waiting", asks(s.look(nil).Waiting), []ask{
		{What: "c is BLOCKED, and there is no planner", Do: "git liza answer c TEXT"},
		{What: "note-1 from human: look here", Do: "git liza answer note-1 TEXT"},
		{What: "2 drafts: review the plan", Do: "git liza plan"},
		{What: "disc-1 can't wait: a hole", Do: "git liza show disc-1"},
	})
}

// TestOverviewOfAGoalLeftUnplanned checks that a goal waits for the human once its planner has planned
// nothing and asked nothing, and for the planner again after a human's note.
func TestOverviewOfAGoalLeftUnplanned(t *testing.T) {
	s := begun(t)
	handled := map[string]string{}
	waiting := func() []ask {
		t.Helper()
		o, err := report.Look(s.state(), report.Outside{Leases: s.allAlive(), Handled: handled}, s.now.Std())
		testrun.Check(t, err)
		return asks(o.Waiting)
	}
	equals(t, "before it has looked", waiting(), []ask{})
	w := report.Wakes(s.state(), s.state().TheGoal().ID)[0]
	handled[w.Key()] = w.Mark
	equals(t, "after that", waiting(), []ask{{What: "planner-1 planned nothing, and asked nothing", Do: "git liza logs planner-1"}})
	inbox, err := report.InboxOf(s.state(), report.Outside{Leases: s.allAlive(), Handled: handled}, s.now.Std())
	if err != nil || len(inbox.Items) != 1 || len(inbox.Items[0].Do) != 3 {
		t.Errorf("the inbox has %+v, %v", inbox, err)
	}
	s.do(human, &board.AddNote{For: "planner-1", Message: "two files"})
	equals(t, "after a note", waiting(), []ask{})
}

// TestOverviewOfWhatAPlannerLeft checks that what a planner was woken for and left waits for the
// human, and for the planner again once it would be woken again.
func TestOverviewOfWhatAPlannerLeft(t *testing.T) {
	s := begun(t).do(human, add("c")).do(human, add("d")).do(human, finalize("c")).do(human, finalize("d"))
	s.do(coder1, claim("c")).do(coder1, block("c"))
	look := func(handled map[string]string) *report.Overview {
		t.Helper()
		o, err := report.Look(s.state(), report.Outside{Leases: s.allAlive(), Handled: handled}, s.now.Std())
		testrun.Check(t, err)
		return o
	}
	handled := func() map[string]string {
		marks := map[string]string{}
		for _, w := range report.Wakes(s.state(), s.state().TheGoal().ID) {
			marks[w.Key()] = w.Mark
		}
		return marks
	}
	equal(t, "the planner has not looked", look(nil).Waits(roles.Human), 0)
	looked := handled()
	o := look(looked)
	equals(t, "waiting", asks(o.Waiting), []ask{{What: "c is BLOCKED, and the planner left it to you", Do: "git liza answer c TEXT"}})
	equal(t, "for the planner", o.Waits(roles.Planner), 0)
	inbox, err := report.InboxOf(s.state(), report.Outside{Leases: s.allAlive(), Handled: looked}, s.now.Std())
	if err != nil || len(inbox.Items) != 1 || inbox.Items[0].Turn != roles.Human {
		t.Errorf("the inbox has %+v, %v", inbox, err)
	}
	s.do(coder1, claim("d")).do(coder1, block("d"))
	equal(t, "the planner is woken for another", look(looked).Waits(roles.Human), 0)

	// Another clone knows it by the planner's record.
	open := report.Wakes(s.state(), s.state().TheGoal().ID)
	equal(t, "not all seen", report.LeftToHuman(open, looked), "")
	left := report.LeftToHuman(open, handled())
	equal(t, "its record", left, "a human, for BLOCKED_TASKS")
	s.do(planner, &board.AgentStatusChange{Status: board.Idle, WaitingFor: left})
	equal(t, "elsewhere", look(nil).Waits(roles.Human), 2)

	// A draft that was sent back, too, which shows why.
	s = proposed(t, "human").do(human, rejectDraft("login"))
	equal(t, "for the planner", look(nil).Waits(roles.Planner), 1)
	equal(t, "left", look(handled()).Waits(roles.Human), 1)
	equals(t, "why", report.Drafts(s.state(), []string{"login"}, nil)[0].Warnings, []string{"sent back by Ada: it is two tasks"})
}

// TestOverviewWithoutHands checks that work for a role without agents waits for the human, and that
// an agent whose lease expired does not count.
func TestOverviewWithoutHands(t *testing.T) {
	s := begun(t).ready("a").ready("b").in(board.ReadyForReview, "c")
	nobody := s.look(map[string]board.Lease{}).Waiting
	equals(t, "all gone", asks(nobody), []ask{
		{What: "2 tasks wait for a coder, and there is none", Do: "git liza agent coder"},
		{What: "a task waits for a reviewer, and there is none", Do: "git liza agent code-reviewer"},
	})
	equal(t, "all there", len(s.look(s.allAlive()).Waiting), 0)
	equal(t, "not known", len(s.look(nil).Waiting), 0)
	leases := s.allAlive()
	delete(leases, reviewer2.ID)
	leases[reviewer1.ID] = board.Lease{Agent: reviewer1.ID, Heartbeat: s.now.Add(-7 * time.Minute), Expires: s.now.Add(-2 * time.Minute)}
	equals(t, "silent", asks(s.look(leases).Waiting), []ask{{What: "a task waits for a reviewer, and code-reviewer-1 is silent for 7m", Do: "git liza agent code-reviewer"}})
}

// TestWorkThatNoAgentTakes checks that work waits for the human if no agent that lives may take it,
// although others of its kind live: a role of the team is missing, or reviewers are too few.
func TestWorkThatNoAgentTakes(t *testing.T) {
	s := begun(t).do(human, withDocs())
	manual := add("manual")
	manual.Stage = "docs"
	s.do(planner, manual).do(planner, finalize("manual"))
	equals(t, "no writer", asks(s.look(s.allAlive()).Waiting), []ask{{What: "a task waits for a docs-writer, and there is none", Do: "git liza agent docs-writer"}})

	s = underPolicy(t, board.ReviewPolicy{Approvals: 2})
	leases := s.allAlive()
	equal(t, "two reviewers", len(s.look(leases).Waiting), 0)
	delete(leases, reviewer2.ID)
	equals(t, "one reviewer", asks(s.look(leases).Waiting), []ask{{What: "login needs 1 more approval than live reviewers can give", Do: "git liza show login"}})
	equal(t, "inbox", lined(s.inbox(report.Outside{Leases: leases})), "quorum human [login]: git liza show login")
	delete(leases, reviewer1.ID)
	equals(t, "none", asks(s.look(leases).Waiting), []ask{{What: "a task waits for a reviewer, and there is none", Do: "git liza agent code-reviewer"}})

	s = underPolicy(t, board.ReviewPolicy{By: []string{roles.HumanID}})
	equals(t, "a human", asks(s.look(s.allAlive()).Waiting), []ask{{What: "login waits for your review", Do: "git liza review login --diff"}})
	s = begun(t).in(board.Approved, "login")
	merge := ask{What: "login is approved and waits for its merge by a reviewer, and there is none", Do: "git liza agent code-reviewer"}
	equals(t, "a merge", asks(s.look(map[string]board.Lease{}).Waiting), []ask{merge})
}

// TestOverviewOfMuchThatWaits checks that many similar tasks do not hide other items and that
// commands are never cut off.
func TestOverviewOfMuchThatWaits(t *testing.T) {
	s := begun(t).do(planner, &board.Deregister{})
	for i := range 30 {
		s.do(human, add(fmt.Sprintf("draft-%02d", i)))
	}
	for i := range 6 {
		id := fmt.Sprintf("task-%d", i)
		s.do(human, add(id)).do(human, finalize(id)).do(human, block(id))
	}
	waiting := s.look(nil).Waiting
	equal(t, "asks", len(waiting), 2)
	equals(t, "blocked", asks(waiting)[0], ask{What: "6 tasks are BLOCKED, and no planner deals with them", Do: "git liza inbox"})
	equals(t, "drafts", asks(waiting)[1], ask{What: "30 drafts: review the plan", Do: "git liza plan"})
}

// TestOverviewOfAReservationForNobody checks that work reserved for an agent that is gone waits for
// the human if there is no planner.
func TestOverviewOfAReservationForNobody(t *testing.T) {
	s := begun(t).in(board.Blocked, "login").do(planner, &board.Deregister{})
	s.do(human, &board.Unblock{About: about("login"), Mode: board.UnblockKeepWork, To: "coder-2"}).do(coder2, &board.Deregister{})
	equals(t, "waiting", asks(s.look(s.allAlive()).Waiting), []ask{
		{What: "login is kept for coder-2, who is gone, and there is no planner", Do: "git liza reassign login"},
	})
}

func TestOverviewCounts(t *testing.T) {
	s := begun(t)
	s.in(board.Merged, "old")
	s.now = s.now.Add(2 * time.Hour)
	s.in(board.Merged, "new").claimed("login").do(coder1, block("login"))
	o := s.look(s.allAlive())
	equal(t, "done", o.Done, 2)
	equal(t, "blocked", o.Blocked, 1)
	equal(t, "stuck", o.Stuck, 1)
	equal(t, "merged lately", o.MergedLately, 1)
	equal(t, "planned, before the sprint was complete", o.Planned, 1)
	equal(t, "planned and done", o.PlannedDone, 1)
}

func TestSpent(t *testing.T) {
	s := begun(t).ready("a")                          // 2 operations, one minute apart
	s.now = s.now.Add(9 * time.Minute)                // 10 more minutes until the claim
	s.do(coder1, claim("a")).do(coder1, preExec("a")) // one minute
	s.now = s.now.Add(28 * time.Minute)
	s.do(coder1, submit("a")) // 29 minutes after the checkpoint
	s.do(reviewer1, review("a")).do(reviewer1, reject("a"))
	got := report.SpentOf(s.task("a"), s.now.Add(5*time.Minute))
	equal(t, "spent", got, report.Spent{Waiting: 16 * time.Minute, Work: 30 * time.Minute, Review: 2 * time.Minute})
	s.do(coder1, goOn("a")).do(coder1, block("a"))
	equal(t, "blocked", report.SpentOf(s.task("a"), s.now.Add(time.Hour)).Blocked, time.Hour)
}

// TestOverviewUnread checks that the overview of a board that becomes unreadable returns an error,
// whichever record is affected.
func TestOverviewUnread(t *testing.T) {
	s := begun(t).claimed("a").do(coder1, block("a")).do(human, &board.AddNote{For: "human", Message: "look here"})
	s.do(planner, &board.Deregister{}).do(coder1, &board.Discover{During: "a", Description: "a hole", Severity: "high", Urgency: "immediate"})
	for left := 0; ; left++ {
		source := &failing{Source: s.mem, left: left}
		_, err := report.Look(board.NewState(source, s.last), report.Outside{}, s.now.Std())
		if source.met && !errors.Is(err, errUnread) {
			t.Errorf("after %d readings: %v", left, err)
		}
		if !source.met {
			break
		}
	}
}

// TestOutlookOfNobodysTask checks that a rejected task of an imported board that names no coder
// waits for one, and that nobody is asked to free an agent without a name.
func TestOutlookOfNobodysTask(t *testing.T) {
	records := least(t)
	records[5].YAML = strings.Replace(leastTask, "ABANDONED", "REJECTED", 1) + "done_when: d\nscope: s\nspec_ref: specs/vision.md\nrejection_reason:\n  overall: no\n"
	s := newScript(t).do(human, &board.Import{Source: "state.yaml", Records: records})
	got := outlookOf(t, s.look(s.allAlive()), "a")
	equals(t, "outlook", []string{string(got.Turn), got.Stuck.String()}, []string{string(roles.Coder), ""})
	equal(t, "inbox", lined(s.inbox(report.Outside{Leases: map[string]board.Lease{}})), "no_agent human [a]: git liza agent coder")
}

// TestHeldUp checks that the first line of an overview names what keeps all agents from working that
// would work, and only that.
func TestHeldUp(t *testing.T) {
	const limit = "limit of claude, until 00:30Z"
	for name, c := range map[string]struct {
		does func(*script)
		want string
	}{
		"all idle": {func(s *script) {}, ""},
		"the one with work waits": {func(s *script) {
			s.claimed("login").do(coder1, &board.AgentStatusChange{Status: board.Working, WaitingFor: limit})
		}, limit},
		"another one works": {func(s *script) {
			s.claimed("login").do(coder2, &board.AgentStatusChange{Status: board.Idle, WaitingFor: limit})
		}, ""},
		"it waited, and works again": {func(s *script) {
			s.claimed("login").do(coder1, &board.AgentStatusChange{Status: board.Working, WaitingFor: limit}).do(coder1, &board.AgentStatusChange{Status: board.Working})
		}, ""},
	} {
		s := begun(t)
		for _, a := range []board.Actor{planner, coder1, coder2, coder3, reviewer1, reviewer2} {
			if agent := s.state().Agent(a.ID); agent != nil && agent.Status == board.Starting {
				s.do(a, &board.AgentStatusChange{Status: board.Idle})
			}
		}
		c.does(s)
		o := s.look(s.allAlive())
		if o.HeldUp != c.want || strings.HasPrefix(o.Summary(), "Everybody waits: "+limit+". Waiting: ") != (c.want != "") {
			t.Errorf("%s: held up by %q: %s", name, o.HeldUp, o.Summary())
		}
	}
}

// drawn lists each node in order as its id and level, with "*" if it is on the critical path.
func drawn(g report.Graph) string {
	var parts []string
	for _, n := range g.Nodes {
		mark := ""
		if n.Critical {
			mark = "*"
		}
		parts = append(parts, fmt.Sprintf("%s %d%s", n.ID, n.Level, mark))
	}
	return strings.Join(parts, ", ")
}

func TestGraph(t *testing.T) {
	task := func(id string, s board.Status, depends ...string) board.Brief {
		return board.Brief{ID: id, Status: s, DependsOn: depends}
	}
	const todo, over = board.Unclaimed, board.Merged
	for _, c := range []struct {
		name     string
		tasks    []board.Brief
		nodes    string
		critical string
	}{
		{"nothing", nil, "", ""},
		{"one", []board.Brief{task("a", todo)}, "a 0*", "a"},
		{"all over", []board.Brief{task("a", over), task("b", over, "a")}, "a 0, b 0", ""},
		{"a chain, in no order", []board.Brief{task("c", todo, "b"), task("a", todo), task("b", todo, "a")}, "a 0*, b 1*, c 2*", "a b c"},
		{"a finished task holds nothing up", []board.Brief{task("a", over), task("b", todo, "a"), task("c", todo)}, "a 0, b 0*, c 0", "b"},
		{"the longer way counts", []board.Brief{task("a", todo), task("b", todo, "a"), task("c", todo, "b"), task("d", todo, "a", "c")}, "a 0*, b 1*, c 2*, d 3*", "a b c d"},
		{"of equals the first", []board.Brief{task("x", todo), task("a", todo), task("y", todo, "x"), task("b", todo, "a")}, "x 0*, a 0, y 1*, b 1", "x y"},
		{"an unknown dependency", []board.Brief{task("a", todo, "nobody")}, "a 0*", "a"},
		{"a circle", []board.Brief{task("a", todo, "b"), task("b", todo, "a"), task("c", todo, "a")}, "b 0*, a 1*, c 2*", "b a c"},
		{"itself", []board.Brief{task("a", todo, "a")}, "a 0*", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := report.GraphOf(c.tasks)
			equal(t, "nodes", drawn(g), c.nodes)
			equal(t, "critical path", strings.Join(g.Critical, " "), c.critical)
		})
	}
}
