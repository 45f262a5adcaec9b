package clis

import (
	"encoding/json"
	"fmt"
)

// item is a step of Codex.
type item struct {
	Type, Text, Command, Message, Tool, Query string
	Output                                    string `json:"aggregated_output"`
	Exit                                      *int   `json:"exit_code"`
	Changes                                   []struct{ Path string }
	Status                                    json.RawMessage `json:"status"`
}

func (r *Reader) codexStarted(m *message) { r.emit(Event{Kind: Began, Session: m.ThreadID}) }

func (r *Reader) codexItem(m *message) {
	i := m.Item
	if i == nil {
		r.nothing(m)
		return
	}
	begins := m.Type == "item.started"
	switch {
	case i.Type == "command_execution" && begins:
		r.emit(Event{Kind: Called, Text: i.Command})
	case i.Type == "command_execution":
		answer := i.Output
		if i.Exit != nil && *i.Exit != 0 {
			answer = fmt.Sprintf("exit %d\n%s", *i.Exit, answer)
		}
		r.emit(Event{Kind: Result, Text: answer})
	case begins:
		r.nothing(m)
	case i.Type == "agent_message":
		r.emit(Event{Kind: Said, Text: i.Text})
	case i.Type == "file_change":
		for _, c := range i.Changes {
			r.emit(Event{Kind: Called, Text: "edit " + c.Path})
		}
	case i.Type == "mcp_tool_call", i.Type == "web_search":
		r.emit(Event{Kind: Called, Text: i.Type + " " + i.Tool + i.Query})
	case i.Type == "error":
		r.emit(Event{Kind: Plain, Text: i.Message})
	default:
		r.nothing(m)
	}
}

func (r *Reader) codexCompleted(m *message) {
	var used struct {
		Input  int `json:"input_tokens"`
		Cached int `json:"cached_input_tokens"`
		Output int `json:"output_tokens"`
	}
	_ = json.Unmarshal(m.Usage, &used)
	r.emit(Event{Kind: Ended, Usage: Usage{Input: used.Input, Cached: used.Cached, Output: used.Output}})
}

func (r *Reader) codexFailed(m *message) {
	said := textOf(m.Error)
	r.emit(Event{Kind: Failed, Text: said, Fault: r.fault(0, said)})
	r.emit(Event{Kind: Ended})
}
