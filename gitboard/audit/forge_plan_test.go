package audit_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
)

// TestForgedPlans forges what the review of plans forbids. verify and a server must find each.
func TestForgedPlans(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	team := board.BuiltinTeam()
	team.Roles = append(team.Roles, board.Role{Name: "plan-reviewer", Kind: board.ReviewerKind})
	team.PlanReview = "plan-reviewer"
	w.do(ada, &board.SetTeam{Team: *team})
	for _, id := range []string{"alpha", "beta"} {
		w.do(planner, &board.AddTask{About: about(id), Definition: w.definition()})
	}
	finalize := func(id string) *board.Finalize {
		return &board.Finalize{About: about(id), SpecOID: w.specOID()}
	}
	w.do(planner, finalize("alpha"))
	tip := w.tip()
	edited := func(id string, change func(*board.Task)) map[string][]byte {
		task := *w.snapshot(tip).State.Task(id)
		change(&task)
		data, err := codec.Encode(&task)
		check(t, err)
		return map[string][]byte{"tasks/" + id + ".yaml": data}
	}
	asks := func(a board.Actor, p board.Payload) forgery {
		return forgery{op: board.Operation{Actor: a, Request: "f", Payload: p}}
	}
	opened := asks(planner, finalize("beta"))
	opened.files = edited("beta", func(t *board.Task) { t.Status = board.Unclaimed })
	for name, f := range map[string]forgery{
		"finalized by another reviewer":    asks(judge1, finalize("alpha")),
		"proposed twice":                   asks(planner, finalize("alpha")),
		"rejected by another reviewer":     asks(judge1, &board.RejectDraft{About: about("alpha"), Reason: "no"}),
		"rejected by its planner":          asks(planner, &board.RejectDraft{About: about("alpha"), Reason: "no"}),
		"rejected though it is not done":   asks(ada, &board.RejectDraft{About: about("beta"), Reason: "no"}),
		"rejected without a reason":        asks(ada, &board.RejectDraft{About: about("alpha")}),
		"the review turned off by a coder": asks(coder1, &board.SetTeam{Team: *board.BuiltinTeam()}),
		"opened by its planner":            opened,
		"proposed by nobody":               {op: noteOf("f"), files: edited("beta", func(t *board.Task) { t.Plan = board.PlanProposed })},
	} {
		t.Run(name, func(t *testing.T) {
			f.parent = tip
			w.caught(t, tip, w.forge(f), board.CodePermission, board.CodeExists, board.CodeWrongState, board.CodeInvalid, audit.CodeTree)
		})
	}
	w.rewind(tip)
	w.do(ada, finalize("alpha"))
	w.clean()
}
