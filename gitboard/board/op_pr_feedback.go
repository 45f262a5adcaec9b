package board

import (
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/text"
)

// PRFeedback brings reviews and failed checks of a goal's pull request, made at its host, to the goal's
// planner, as notes with a source. It reopens a goal that was completed. After MaxFeedback rounds the
// notes are for the human, as are those from outside the team.
type PRFeedback struct {
	Goal  string     `json:"goal"`
	Items []Feedback `json:"items"`
}

// Feedback is a review or a failing check.
type Feedback struct {
	Source string `json:"source"` // what it is at the host, different for each: "review:17"
	Author string `json:"author"` // an account of the host, or the check's name
	Text   string `json:"text"`
	// Outside marks a line about a reviewer without write access, or a bot that pr_bots does not list.
	Outside bool `json:"outside,omitempty"`
}

// Op implements Payload.
func (p *PRFeedback) Op() string { return "pr-feedback" }

// Check implements Payload.
func (p *PRFeedback) Check(s *State, _ Operation) error {
	g, err := s.offered(p.Goal)
	if err != nil {
		return err
	}
	if len(p.Items) == 0 {
		return invalid("no feedback is named")
	}
	if g.Status == PhaseAborted {
		return g.ended()
	}
	known := FeedbackSources(s, g.ID)
	for _, e := range p.Items {
		if err := word("source", e.Source); err != nil {
			return err
		}
		if err := required("author", e.Author); err != nil {
			return err
		}
		if err := required("text", e.Text); err != nil {
			return err
		}
		if known[e.Source] {
			return refuse(CodeExists, "%s of %s is on the board already", e.Source, g.PullRequest.Name())
		}
		known[e.Source] = true
	}
	return nil
}

// FeedbackSources are the sources of the feedback that a goal has.
func FeedbackSources(s *State, goal string) map[string]bool {
	known := map[string]bool{}
	for _, id := range s.List(NoteDir) {
		if n := s.Note(id); n != nil && n.Goal == goal && n.Source != "" {
			known[n.Source] = true
		}
	}
	return known
}

// Apply implements Payload.
func (p *PRFeedback) Apply(s *State, op Operation) {
	r, g, reader := s.editRequest(p.Goal), edit[Goal](s, GoalPath(p.Goal)), "human"
	if slices.ContainsFunc(p.Items, func(e Feedback) bool { return !e.Outside }) {
		if r.Rounds++; r.Rounds <= MaxFeedback {
			reader = "planner"
		}
	}
	if reader == "planner" && g.Status != InProgress {
		g.Status, g.Ended, g.EndedBy, g.Reopened = InProgress, "", "", op.Time
		align(s, op, g.ID, "reopened", "feedback on "+r.Name())
	}
	for _, e := range p.Items {
		id, to := s.nextID(NoteDir, "note"), reader
		if e.Outside {
			to = "human"
		}
		put(s, RecordPath(NoteDir, id), &Note{ID: id, Timestamp: op.Time, By: op.Actor.ID, Message: e.Text, For: to, Goal: g.ID, Source: e.Source, Author: e.Author})
	}
}

// Subject implements Payload.
func (p *PRFeedback) Subject(_, _ *State, _ Operation) (string, string) {
	return fmt.Sprintf("%s: %s: %s", p.Goal, text.Line(p.Items[0].Author, 40), text.Line(p.Items[0].Text, 60)), ""
}
