package clis

import (
	"cmp"
	"encoding/json"
)

// openPart is a piece of OpenCode's work.
type openPart struct {
	Text, Tool string
	Cost       float64
	State      struct {
		Output, Error string
		Input         map[string]any
	}
	Tokens struct {
		Input, Output, Reasoning int
		Cache                    struct{ Read, Write int }
	}
}

// openBegan handles the start of a request. Each event names the session.
func (r *Reader) openBegan(m *message) {
	if r.seen == m.Session {
		r.nothing(m)
		return
	}
	r.seen = m.Session
	r.emit(Event{Kind: Began, Session: m.Session})
}

func (r *Reader) openText(m *message) {
	if m.Part == nil {
		r.nothing(m)
		return
	}
	r.emit(Event{Kind: Said, Text: m.Part.Text})
}

func (r *Reader) openTool(p *openPart) {
	r.emit(Event{Kind: Called, Text: called(p.Tool, p.State.Input)})
	r.emit(Event{Kind: Result, Text: p.State.Output + p.State.Error})
}

func (r *Reader) openSpent(m *message) {
	if m.Part == nil {
		r.nothing(m)
		return
	}
	t := m.Part.Tokens
	r.emit(Event{Kind: Spent, Usage: Usage{
		Requests: 1, Input: bounded(t.Input) + bounded(t.Cache.Read) + bounded(t.Cache.Write), Cached: t.Cache.Read,
		Output: bounded(t.Output) + bounded(t.Reasoning), Dollars: m.Part.Cost,
	}})
}

func (r *Reader) openFailed(m *message) {
	var e struct {
		Name string
		Data struct {
			Message    string
			StatusCode int
		}
	}
	_ = json.Unmarshal(m.Error, &e) // then the words are missing
	said := cmp.Or(e.Data.Message, e.Name)
	r.emit(Event{Kind: Failed, Text: said, Fault: r.fault(e.Data.StatusCode, said)})
}
