package clis

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type geminiStats struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cached"`
	Output int `json:"output_tokens"`
	Models map[string]any
}

func (r *Reader) geminiInit(m *message) {
	r.emit(Event{Kind: Began, Session: m.SessionID, Usage: Usage{Model: m.Model}})
}

func (r *Reader) geminiMessage(m *message) {
	if m.Role != "assistant" {
		r.nothing(m)
		return
	}
	r.emit(Event{Kind: Said, Text: textOf(m.Content)})
}

func (r *Reader) geminiTool(m *message) {
	r.emit(Event{Kind: Called, Text: called(m.ToolName, m.Parameters)})
}

func (r *Reader) geminiResult(m *message) {
	answer := m.Output
	if said := textOf(m.Error); said != "" {
		answer = strings.TrimSpace(answer + "\n" + said)
	}
	r.emit(Event{Kind: Result, Text: answer})
}

// geminiRetries handles a plain line that Gemini, or Qwen, prints when it retries.
func (r *Reader) geminiRetries(line string) bool {
	m := attempt().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	status, _ := strconv.Atoi(m[1])
	r.emit(Event{Kind: Waits, Text: line, Fault: r.fault(status, line)})
	return true
}

var attempt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:Attempt \d+ failed with status (\d+)\.|Retrying in \d+s \(attempt \d+/\d+\): )`)
})

func (r *Reader) geminiEnd(m *message) {
	if said := textOf(m.Error); said != "" || textOf(m.Status) == "error" {
		r.emit(Event{Kind: Failed, Text: said, Fault: r.fault(0, said)})
	}
	var u Usage
	if s := m.Stats; s != nil {
		u = Usage{Input: s.Input, Cached: s.Cached, Output: s.Output, Model: strings.Join(slices.Sorted(maps.Keys(s.Models)), ", ")}
	}
	r.emit(Event{Kind: Ended, Usage: u})
}
