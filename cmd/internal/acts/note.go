package acts

import (
	"context"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/roles/clis"
)

// Note leaves a note, and adds when its agent reads it.
func Note(ctx context.Context, c *call.Call, p *board.AddNote) (call.Result, error) {
	return note(ctx, c, p, false)
}

// NoteNow is Note, refused if no agent is at work that reads it.
func NoteNow(ctx context.Context, c *call.Call, p *board.AddNote) (call.Result, error) {
	return note(ctx, c, p, true)
}

func note(ctx context.Context, c *call.Call, p *board.AddNote, now bool) (call.Result, error) {
	r, err := call.One(c.Do(ctx, p.Op(), func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		if agent, _ := Reader(v.State, p.For); now && agent == "" {
			return nil, nil, board.Refusef(board.CodeWrongState, "no agent is at work on %s that could read it now", p.For).Advise("without --now it is read by the next agent")
		}
		return p, nil, nil
	}))
	if err != nil {
		return r, err
	}
	if agent, when := Reader(r.Done[0].After, p.For); agent != "" {
		r.Extra, r.Lines = map[string]any{"reader": agent, "when": when}, []string{agent + " reads it " + when}
	}
	return r, nil
}

// Reader is the agent at work that a note for an agent or a task reaches, and when; "" for none.
func Reader(s *board.State, to string) (agent, when string) {
	if t := s.Task(to); t != nil && (t.Status == board.Claimed || t.ReviewingBy != "") {
		to = report.Worker(t.Brief())
	}
	a := s.Agent(to)
	if a == nil {
		return "", ""
	}
	if c, err := clis.Find(a.CLI, nil); (err == nil && c.Hears() || a.CLI == clis.ACPName) && !a.ByHand() {
		return to, "at its next tool call"
	}
	return to, "at its next command"
}

// Ask is the note that asks an agent's supervisor to end its run, or to restart it.
func Ask(agent string, end, fresh bool) *board.AddNote {
	switch {
	case end:
		return &board.AddNote{For: agent, Run: board.AskEnd, Message: "end your run"}
	case fresh:
		return &board.AddNote{For: agent, Run: board.AskFresh, Message: "start again in a new conversation"}
	}
	return &board.AddNote{For: agent, Run: board.AskRestart, Message: "start again"}
}
