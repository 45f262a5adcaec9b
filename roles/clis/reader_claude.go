package clis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// claudeUsage is usage as the messages API counts it: input does not include cached tokens.
type claudeUsage struct {
	Input   int `json:"input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Cached  int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
}

func (u claudeUsage) usage() Usage {
	return Usage{Input: bounded(u.Input) + bounded(u.Written) + bounded(u.Cached), Cached: u.Cached, Output: u.Output}
}

func (r *Reader) claudeSystem(m *message) {
	switch m.Subtype {
	case "init":
		r.emit(Event{Kind: Began, Session: m.SessionID, Usage: Usage{Model: m.Model}})
	case "api_retry":
		said := fmt.Sprintf("%s (status %d), attempt %d", textOf(m.Error), m.ErrorStatus, m.Attempt)
		r.emit(Event{Kind: Waits, Text: said, Fault: r.fault(m.ErrorStatus, textOf(m.Error))})
	default:
		r.nothing(m)
	}
}

type claudeBlock struct {
	Type, Text, Name string
	Input            map[string]any
	Content          json.RawMessage
}

type claudeMessage struct {
	ID, Model string
	Content   []claudeBlock
	Usage     claudeUsage
}

func (r *Reader) claudeAssistant(m *message) {
	var said claudeMessage
	_ = json.Unmarshal(m.Message, &said) // unreadable content is not shown
	for _, b := range said.Content {
		switch b.Type {
		case "text":
			if m.APIStatus == 0 { // otherwise the result repeats it
				r.emit(Event{Kind: Said, Text: b.Text})
			}
		case "tool_use":
			r.emit(Event{Kind: Called, Text: called(b.Name, b.Input)})
		}
	}
	if said.ID != r.seen && said.Usage != (claudeUsage{}) { // a message comes in several events
		r.seen = said.ID
		u := said.Usage.usage()
		u.Requests, u.Model = 1, said.Model
		r.emit(Event{Kind: Spent, Usage: u})
	}
}

// called describes a tool's call: a shell's command, or else the tool and its main argument.
func called(name string, input map[string]any) string {
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "prompt"} {
		if value, is := input[key].(string); is {
			if key == "command" {
				return value
			}
			return name + " " + value
		}
	}
	return name
}

func (r *Reader) claudeUser(m *message) {
	var answer claudeMessage
	_ = json.Unmarshal(m.Message, &answer)
	shown := false
	for _, b := range answer.Content {
		if b.Type == "tool_result" {
			r.emit(Event{Kind: Result, Text: contentText(b.Content)})
			shown = true
		}
	}
	if !shown {
		r.nothing(m)
	}
}

// contentText decodes a string, or the texts of blocks.
func contentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []claudeBlock
	_ = json.Unmarshal(raw, &blocks)
	var texts []string
	for _, b := range blocks {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (r *Reader) claudeEnd(m *message) {
	var used claudeUsage
	_ = json.Unmarshal(m.Usage, &used)
	u := used.usage()
	u.Requests, u.Dollars = m.Turns, m.Dollars
	u.Model = strings.Join(slices.Sorted(maps.Keys(m.ModelUsage)), ", ")
	if said := cmp.Or(m.Result, textOf(m.Error)); m.IsError && said != "" { // without a text it was interrupted
		f := r.fault(m.APIStatus, said)
		if m.Reason == "prompt_too_long" {
			f.Trouble = Overflow
		}
		r.emit(Event{Kind: Failed, Text: said, Fault: f})
	}
	r.emit(Event{Kind: Ended, Usage: u})
}
