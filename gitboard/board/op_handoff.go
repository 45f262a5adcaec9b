package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// HandOff hands over what an agent was doing to the next agent of its role, with the information
// needed to continue: a coder its task, a reviewer its review, and a planner, which holds no task,
// its plans.
type HandOff struct {
	About
	Summary       string   `json:"summary"`
	NextAction    string   `json:"next_action"`
	ContextUsed   string   `json:"context_used,omitempty"`
	Approach      string   `json:"approach,omitempty"`
	Blockers      string   `json:"blockers,omitempty"`
	FilesModified []string `json:"files_modified,omitempty"`
	NextSteps     []string `json:"next_steps,omitempty"`
}

// Op implements Payload.
func (p *HandOff) Op() string { return "handoff" }

// Check implements Payload.
func (p *HandOff) Check(s *State, op Operation) error {
	if err := p.owned(s, op); err != nil {
		return err
	}
	return together(phrase("summary", p.Summary), phrase("next_action", p.NextAction))
}

// owned refuses to hand off what the agent does not hold.
func (p *HandOff) owned(s *State, op Operation) error {
	t := s.Task(p.Task)
	switch {
	case t == nil && op.Actor.Role != roles.Planner:
		return invalid("a %s hands off a task, and none is named", op.Actor.Role)
	case t == nil:
		return nil
	case op.Actor.Role == roles.CodeReviewer && t.ReviewingBy != op.Actor.ID:
		return refuse(CodePermission, "%s is %s, not reviewed by %s", t.ID, t.describe(), op.Actor.ID).on(t)
	case op.Actor.Role == roles.CodeReviewer:
		return nil
	}
	return holds(t, op)
}

// Apply implements Payload. A planner's hand-off is a note to the planner, which stays in its
// prompt until acknowledged; its goal is free for the next planner.
func (p *HandOff) Apply(s *State, op Operation) {
	if p.Task == "" {
		id := s.nextID(NoteDir, "note")
		n := &Note{ID: id, Timestamp: op.Time, By: op.Actor.ID, For: string(roles.Planner), Message: p.message()}
		free(s, op.Actor.ID, "", HandedOff)
		if a := s.Agent(op.Actor.ID); a != nil && a.Goal != "" {
			n.Goal = a.Goal
			edit[Agent](s, RecordPath(AgentDir, op.Actor.ID)).Goal = "" // any planner may plan it
		}
		put(s, RecordPath(NoteDir, id), n)
		return
	}
	t := s.editTask(p.Task)
	if t.Status == ReadyForReview {
		t.endReview()
		t.event(op, EventReviewReleased).Reason = p.Summary
	} else {
		t.HandoffPending = true
		t.event(op, EventHandedOff).Reason = p.Summary
	}
	put(s, RecordPath(HandoffDir, t.ID), &Handoff{
		Agent: op.Actor.ID, ContextUsed: p.ContextUsed, Timestamp: op.Time, Summary: p.Summary, NextAction: p.NextAction,
		Approach: p.Approach, Blockers: p.Blockers, FilesModified: p.FilesModified, NextSteps: p.NextSteps,
	})
	free(s, op.Actor.ID, t.ID, HandedOff)
}

// handOffMark begins the note of a planner's hand-off.
const handOffMark = "hand-off: "

// HandsOff reports whether the note is a planner's hand-off.
func (n *Note) HandsOff() bool {
	return n.For == string(roles.Planner) && strings.HasPrefix(n.Message, handOffMark)
}

// message returns the hand-off as text.
func (p *HandOff) message() string {
	text := handOffMark + p.Summary + "\nnext: " + p.NextAction
	for _, part := range [][2]string{{"approach", p.Approach}, {"blockers", p.Blockers}, {"steps", strings.Join(p.NextSteps, "; ")}} {
		if part[1] != "" {
			text += "\n" + part[0] + ": " + part[1]
		}
	}
	return text
}

// Subject implements Payload.
func (p *HandOff) Subject(_, _ *State, _ Operation) (string, string) {
	return text.Line(p.Summary, 90), "Next: " + p.NextAction
}
