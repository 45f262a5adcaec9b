package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// rule does a human's next action: something that waits for one, or a whim.
func (a *player) rule() {
	s := a.s
	if p := a.judges(); p != nil {
		a.just(p, func(*gitboard.Done, error) { a.after(s.span(time.Minute, time.Hour), a.rule) })
		return
	}
	if a.steers() {
		return
	}
	if len(s.eye.state().Running()) == 0 || !s.humanHasTime() {
		a.gone = true
		return
	}
	p := a.asked()
	if p == nil && s.policy && s.chance(100) {
		p = a.changesTeam()
	}
	if p == nil && s.chance(s.meddling) {
		p = a.whim()
	}
	again := func(*gitboard.Done, error) { a.after(s.span(10*time.Minute, 8*time.Hour), a.rule) }
	switch {
	case p != nil:
		a.just(p, again)
	case s.chance(30):
		a.land(again)
	default:
		again(nil, nil)
	}
}

// judges ends a review that the human has claimed: no lease would end it.
func (a *player) judges() board.Payload {
	for _, b := range a.s.eye.state().Tasks() {
		if b.Status != board.ReadyForReview || b.ReviewingBy != roles.HumanID {
			continue
		}
		p := &board.Verdict{About: board.About{Task: b.ID}, Verdict: board.VerdictApproved, Commit: a.s.eye.state().Task(b.ID).ReviewCommit}
		if a.s.chance(300) {
			p.Verdict, p.Rejection = board.VerdictRejected, rejection
		}
		return p
	}
	return nil
}

// asked returns an action that the board waits for and only a human can take.
func (a *player) asked() board.Payload {
	s := a.s
	state := s.eye.state()
	switch c := state.Control(); {
	case state.Breaker().Status == board.BreakerTriggered:
		return &board.Resolve{Text: "it was a hiccup"}
	case c.Mode != board.Running:
		return &board.Resume{Decision: map[bool]string{true: "CONTINUE"}[c.Mode == board.CheckpointMode], Reason: "go on"}
	}
	switch state.Sprint().Status {
	case board.Completed, board.PhaseAborted:
		p := &board.SprintStart{Deadline: board.At(s.now.Add(a.skew).Add(s.span(24*time.Hour, 200*time.Hour)))}
		for _, b := range state.Tasks() {
			if !b.Status.Terminal() {
				p.Planned = append(p.Planned, b.ID)
			}
		}
		if len(p.Planned) > 0 {
			return p
		}
	}
	for _, id := range state.List(board.NoteDir) {
		if report.Asks(state.Note(id)) {
			return &board.Answer{Note: id, Text: "as you think best"}
		}
	}
	for _, b := range state.Tasks() {
		switch {
		case b.Status == board.Blocked && (b.Failures < 2 || board.Reframed(state, state.Task(b.ID))) && s.chance(100):
			p := &board.Answer{About: board.About{Task: b.ID}, Text: "as the spec says"}
			if s.chance(200) {
				p.Afresh, p.Kept = true, string(s.commit("attic"))
			}
			return p
		case !state.Runs(b.Goal):
		case b.Status == board.ReadyForReview && b.ReviewingBy == "" && !b.Paused && s.chance(s.zeal(state, b)):
			return &board.ClaimReview{About: board.About{Task: b.ID}}
		case b.Paused && !b.Status.Terminal() && s.chance(300):
			return &board.Resume{About: board.About{Task: b.ID}}
		case inReview(state, b) && !b.Paused && s.chance(150):
			return &board.RejectDraft{About: board.About{Task: b.ID}, Reason: "it is two tasks"}
		case inReview(state, b) && !b.Paused:
			// A human reviews a plan as a whole: the other drafts follow at once.
			proposed := slices.DeleteFunc(drafts(state, true), func(id string) bool { return !state.Runs(state.Task(id).Goal) })
			for _, id := range proposed[1:] {
				a.s.seq++
				s.say(a.id, "reviews %s, too", id)
				if _, err := a.now(&board.Finalize{About: board.About{Task: id}, SpecOID: specOID}); err != nil && !isRefusal(err) {
					s.failf("finalize: %v", err)
				}
			}
			return &board.Finalize{About: board.About{Task: proposed[0]}, SpecOID: specOID}
		case b.Status == board.IntegrationFailed && s.chance(200):
			return &board.RetryMerge{About: board.About{Task: b.ID}, ReviewCommit: state.Task(b.ID).ReviewCommit, Onto: string(s.integration())}
		}
	}
	return nil
}

// whim returns something that a human may do at any time.
func (a *player) whim() board.Payload {
	s := a.s
	state := s.eye.state()
	tasks := state.Tasks()
	if len(tasks) == 0 {
		return &board.AddNote{For: string(roles.Planner), Message: "when do you begin?"}
	}
	b := tasks[s.rng.IntN(len(tasks))]
	about := board.About{Task: b.ID}
	switch s.rng.IntN(12) {
	case 0:
		return &board.Pause{Reason: "lunch"}
	case 1:
		return &board.Pause{About: about, Reason: "wait a moment"}
	case 2:
		return &board.SetCheckpoint{Reason: "let me see"}
	case 3:
		return &board.SetConfig{Key: "max_coder_iterations", Value: fmt.Sprint(2 + s.rng.IntN(9))}
	case 4:
		return &board.SetConfig{Key: "max_review_cycles", Value: fmt.Sprint(2 + s.rng.IntN(5))}
	case 5:
		return &board.Release{About: about, Reason: "I need it back", Force: true, Kept: string(s.commit("attic"))}
	case 6:
		return &board.Block{About: about, Reason: board.HumanOverride}
	case 7:
		return &board.Write{Path: board.RecordPath(board.TaskDir, b.ID), Fields: []board.FieldEdit{{Field: "priority", Value: fmt.Sprint(1 + s.rng.IntN(5))}}, Reason: "as I see it"}
	case 8:
		if s.extra < s.tasks/2+3 {
			s.extra++
			id := fmt.Sprintf("h-%d", s.extra)
			s.want(id, nil)
			return &board.AddTask{About: board.About{Task: id}, Definition: *s.wants[id], Goal: s.goalOf[id], NoSpecFile: true, Ready: true}
		}
	case 9:
		return &board.SprintEnd{Reason: "enough"}
	case 10:
		return &board.Reassign{About: about, Reason: "somebody else"}
	}
	return &board.AddNote{For: b.ID, Message: "mind the edges"}
}

// land moves integration as a human does.
func (a *player) land(then func(*gitboard.Done, error)) {
	s := a.s
	a.do(func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		before, after := s.integration(), s.commit("specs")
		s.landed[after] = landing{parent: before}
		return &board.Land{Before: string(before), Commit: string(after), Reason: "specs"},
			[]plumbing.RefUpdate{{Ref: integrationRef, Old: before, New: after}}, nil
	}, then)
}
