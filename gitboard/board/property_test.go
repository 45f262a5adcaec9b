package board_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// TestAnyOperations runs random operations by random actors. After any allowed operation the board
// is sound (script checks that), finished tasks stay finished, and nobody holds two tasks. At the
// end replaying the messages gives the same bytes.
func TestAnyOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := begun(t)
		if rapid.Bool().Draw(t, "short limits") {
			s.do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "2"}).do(human, &board.SetConfig{Key: "max_review_cycles", Value: "2"})
		}
		over := map[string]board.Status{}
		history := map[string]int{}
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			who, p := anyOperation(t, s)
			_ = s.step(who, p, rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "minutes"))
			held := map[string]bool{}
			for _, b := range s.state().Tasks() {
				if was, ok := over[b.ID]; ok && was != b.Status {
					t.Fatalf("%s went from %s to %s", b.ID, was, b.Status)
				}
				if b.Status.Terminal() {
					over[b.ID] = b.Status
				}
				if b.Status == board.Claimed && !b.HandoffPending {
					if held[b.AssignedTo] {
						t.Fatalf("%s holds two tasks", b.AssignedTo)
					}
					held[b.AssignedTo] = true
				}
				n := len(s.task(b.ID).History)
				if n < history[b.ID] {
					t.Fatalf("the history of %s is shorter", b.ID)
				}
				history[b.ID] = n
			}
		}
		replay(t, s)
	})
}

// replay applies the messages of a script to an empty board.
func replay(t failer, s *script) {
	t.Helper()
	mem, at := board.NewMemory(), board.Time("")
	for i, message := range s.messages {
		head, err := codec.ParseHead(message)
		if err != nil {
			t.Fatalf("%v", err)
		}
		op, err := head.Operation(s.payloads[i], plumbing.Signature{Name: "Ada", Email: "ada@example.org", When: s.times[i].Std()})
		if err != nil {
			t.Fatalf("%v", err)
		}
		before := board.NewState(mem, at)
		after, err := board.Step(before, op)
		if err != nil {
			t.Fatalf("replay: %v\n%s", err, message)
		}
		if again, _, err := codec.Message(before, after, op); err != nil || again != message {
			t.Fatalf("replay: the message is\n%s, not\n%s", again, message)
		}
		mem.Absorb(after)
		at = op.Time
	}
	if !slices.Equal(mem.Paths(), s.mem.Paths()) {
		t.Fatalf("replay: records %v, not %v", mem.Paths(), s.mem.Paths())
	}
	for _, path := range mem.Paths() {
		r, _ := mem.Record(path)
		if data, err := codec.Encode(r); err != nil || string(data) != s.bytes[path] {
			t.Fatalf("replay: %s is\n%s, not\n%s", path, data, s.bytes[path])
		}
	}
}

var somebody = []board.Actor{planner, coder1, coder2, coder3, reviewer1, reviewer2, human}

// anyOperation draws an operation that often makes sense, by an actor that may often run it.
func anyOperation(t *rapid.T, s *script) (board.Actor, board.Payload) {
	id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "task")
	other := rapid.SampledFrom([]string{"a", "b", "c", "d", "nowhere"}).Draw(t, "other")
	word := rapid.SampledFrom([]string{"", "a reason", "two\nlines\n", "yes", "Liza-Op: merge", "\n\nLiza-Op: merge\n"}).Draw(t, "word")
	lapse := func(holder string) board.Evidence {
		if holder == "" || rapid.Bool().Draw(t, "no lease") {
			return board.Evidence{}
		}
		return s.lease(holder, rapid.SampledFrom([]time.Duration{-time.Hour, time.Hour}).Draw(t, "left"))
	}
	var task board.Task
	if found := s.task(id); found != nil {
		task = *found
	}
	named := &board.AmendTask{About: about(id), Set: []string{rapid.SampledFrom([]string{"scope", "depends_on", "priority", "max_review_cycles"}).Draw(t, "field")}, Reason: word,
		Definition: board.Definition{Scope: "scope of " + word, DependsOn: []string{other}, Priority: 2, MaxReviewCycles: 1}}
	base := rapid.SampledFrom([]string{"", baseCommit}).Draw(t, "base")
	definition := add(id)
	if rapid.Bool().Draw(t, "depends") {
		definition.DependsOn = []string{other}
	}
	definition.Ready, definition.SpecOID = rapid.Bool().Draw(t, "ready"), sha("5")
	type move struct {
		who []board.Actor
		p   board.Payload
	}
	plan, code, judge := []board.Actor{planner, human}, []board.Actor{coder1, coder2, coder3}, []board.Actor{reviewer1, reviewer2}
	moves := []move{
		{plan, definition}, {plan, finalize(id)}, {plan, named}, {plan, &board.Abandon{About: about(id), Reason: word}},
		{plan, &board.Supersede{About: about(id), By: []string{other}, Reason: "r" + word}}, {plan, &board.Reassign{About: about(id)}},
		{plan, &board.Unblock{About: about(id), Mode: rapid.SampledFrom([]string{"", "afresh", "same-coder"}).Draw(t, "mode"), Assessment: word}},
		{plan, &board.Answer{About: about(id), Text: word, Afresh: rapid.Bool().Draw(t, "afresh")}},
		{code, &board.Claim{About: about(id), Clone: "here", BaseCommit: base, Evidence: lapse(task.AssignedTo)}},
		{code, &board.IterationLimit{About: about(id), Evidence: lapse(task.AssignedTo)}},
		{code, preExec(id)}, {code, submit(id)}, {code, block(id)}, {code, &board.HandOff{About: about(id), Summary: "half", NextAction: "rest"}},
		{code, &board.Withdraw{About: about(id), Evidence: lapse(task.ReviewingBy)}},
		{somebody, &board.Release{About: about(id), Reason: word, Force: rapid.Bool().Draw(t, "force"), Evidence: lapse(task.AssignedTo)}},
		{append(judge, human), &board.ClaimReview{About: about(id), Evidence: lapse(task.ReviewingBy)}}, {append(judge, human), approve(id)}, {append(judge, human), reject(id)},
		{append(judge, human), on(id, rapid.SampledFrom([]int{0, 1, 40}).Draw(t, "line"), word)}, {append(judge, human), &board.Verdict{About: about(id), Verdict: "REJECTED", Commit: workCommit, Rejection: &board.Rejection{Overall: word}}},
		{judge, merge(id)}, {judge, conflict(id)}, {[]board.Actor{reviewer1, human}, retry(id)}, {[]board.Actor{human}, block(id)},
	}
	rare := []move{
		{somebody, &board.FinishMerge{About: about(id), ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward}},
		{somebody, &board.Discover{During: id, Description: word, Severity: "high", Urgency: "immediate"}},
		{plan, &board.ConvertDiscovery{Discovery: "disc-1", Task: id}}, {plan, &board.SettleDiscovery{Discovery: "disc-1", How: "deferred", Reason: word}},
		{somebody, &board.LogAnomaly{Type: "external_blocker", Task: id, Details: map[string]board.Scalar{"blocker_service": "npm"}}},
		{plan, &board.AddNote{For: "human", Message: word}}, {plan, &board.Answer{Note: "note-1", Text: word}}, {plan, &board.Ack{IDs: []string{"note-1"}}}, {plan, &board.GoalComplete{}},
		{plan, &board.SetCheckpoint{}}, {plan, &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY"}},
		{plan, &board.Deadline{}}, {somebody, &board.Usage{Task: id, CLI: "claude", Model: "m", Cost: board.Cost{Input: 7, Cached: 3, Output: 2, Seconds: 1}}}, {plan, &board.AlignmentEntry{Event: "e", Summary: word}}, {plan, &board.RecordSpecChange{Spec: "s", Change: word}},
		{[]board.Actor{human}, &board.Pause{About: about(rapid.SampledFrom([]string{"", id}).Draw(t, "paused"))}},
		{[]board.Actor{human}, &board.Resume{}}, {[]board.Actor{human}, &board.Resume{About: about(id)}}, {[]board.Actor{human}, &board.Resolve{Text: "t"}},
		{[]board.Actor{human}, &board.SprintEnd{}}, {[]board.Actor{human}, &board.SprintStart{Planned: []string{id}}}, {[]board.Actor{human}, &board.Archive{Sprint: rapid.SampledFrom([]string{"sprint-1", "sprint-2"}).Draw(t, "sprint"), Tasks: []string{id}}}, {[]board.Actor{human}, &board.Retrospective{Text: word}},
		{[]board.Actor{human}, write("tasks/"+id+".yaml", "scope", fmt.Sprintf("%q", word), "depends_on", "["+other+"]")},
		{[]board.Actor{human}, write("tasks/"+id+".yaml", "attempted", "[]")},
		{[]board.Actor{human}, &board.Revert{About: about(id), Commit: sha("a"), Before: sha("b"), Merged: sha("c"), Reason: word}},
		{[]board.Actor{human}, &board.Land{Commit: sha("a"), Before: sha("b"), Reason: word}},
		{somebody, &board.Deregister{}}, {somebody, &board.AgentStatusChange{Status: rapid.SampledFrom([]board.AgentStatus{board.Idle, board.Starting, board.HandedOff}).Draw(t, "status")}},
	}
	if rapid.IntRange(0, 300).Draw(t, "end") == 300 {
		return human, &board.Abort{Reason: word}
	}
	if rapid.IntRange(0, 4).Draw(t, "rare") == 4 {
		moves = rare
	}
	m := rapid.SampledFrom(moves).Draw(t, "move")
	who := rapid.SampledFrom(m.who).Draw(t, "who")
	if rapid.IntRange(0, 9).Draw(t, "wrong") == 9 {
		who = rapid.SampledFrom(somebody).Draw(t, "anybody")
	}
	if s.agent(who.ID) == nil && who.ID != "human" && rapid.Bool().Draw(t, "registers") {
		return who, &board.Register{Session: who.Session}
	}
	return who, m.p
}
