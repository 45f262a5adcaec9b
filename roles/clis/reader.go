package clis

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// How much of an unfinished line is kept: more if it may be an event, which can hold a file that
// was read.
const (
	maxLine  = 4 << 20
	maxEvent = 32 << 20
)

// Reader turns a CLI's output into events. It knows the structured output of every known CLI,
// whichever was started, since a script may wrap one of them. Any other output becomes Plain lines.
type Reader struct {
	cli  CLI
	now  func() time.Time
	emit func(Event)
	rest []byte
	past int    // how much of rest has no line end
	seen string // the last message whose usage was counted
	call string // calls since the last answer
	liza bool   // git liza has answered, so the CLI's tools can find it
}

// NewReader returns a reader that passes events to emit, in order. now must be in the CLI's time
// zone.
func NewReader(c CLI, now func() time.Time, emit func(Event)) *Reader {
	r := &Reader{cli: c, now: now}
	r.emit = func(e Event) {
		r.notice(&e)
		e.Usage = e.Usage.bounded()
		emit(e)
	}
	return r
}

// notice marks an answer which shows that the CLI's tools can't find git liza. Once git liza was
// found, answers are not examined any more: its output may be about anything.
func (r *Reader) notice(e *Event) {
	switch e.Kind {
	case Called:
		r.call += e.Text + "\n"
	case Result:
		if callsLiza(r.call) && !r.liza {
			e.Fault = r.cli.noLiza(e.Text)
			r.liza = e.Fault == nil
		}
		r.call = ""
	}
}

// Write takes output. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		end := bytes.IndexByte(r.rest[r.past:], '\n')
		if end < 0 {
			if r.past = len(r.rest); r.past > maxEvent || r.past > maxLine && r.rest[0] != '{' {
				r.line(r.rest)
				r.rest, r.past = nil, 0
			}
			return len(p), nil
		}
		end += r.past
		r.line(r.rest[:end])
		r.rest, r.past = r.rest[end+1:], 0
	}
}

// Close passes on a last line without a newline.
func (r *Reader) Close() error {
	if len(r.rest) > 0 {
		r.line(r.rest)
		r.rest, r.past = nil, 0
	}
	return nil
}

// message is an event of any of the CLIs. Fields with one name mean the same in all of them, or
// differ by the event's type; unknown fields are ignored.
type message struct {
	Type, Subtype string
	SessionID     string          `json:"session_id"`
	Session       string          `json:"sessionID"` // opencode, copilot
	Model         string          `json:"model"`
	Error         json.RawMessage `json:"error"`

	// Claude Code: --output-format stream-json
	Message      json.RawMessage `json:"message"` // codex: an error's text
	Result       string          `json:"result"`
	IsError      bool            `json:"is_error"`
	Status       json.RawMessage `json:"status"` // gemini: success or error
	ErrorStatus  int             `json:"error_status"`
	APIStatus    int             `json:"api_error_status"`
	Reason       string          `json:"terminal_reason"`
	Attempt      int             `json:"attempt"`
	RetryDelayMS int             `json:"retry_delay_ms"`
	Dollars      float64         `json:"total_cost_usd"`
	Turns        int             `json:"num_turns"`
	ModelUsage   map[string]any  `json:"modelUsage"`
	Usage        json.RawMessage `json:"usage"`

	// Codex: exec --json
	ThreadID string `json:"thread_id"`
	Item     *item  `json:"item"`

	// Gemini CLI: --output-format stream-json
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolName   string          `json:"tool_name"`
	Parameters map[string]any  `json:"parameters"`
	Output     string          `json:"output"`
	Stats      *geminiStats    `json:"stats"`

	Part *openPart `json:"part"` // opencode run --format json

	Data *copilotData `json:"data"` // copilot --output-format json

	Event *Event `json:"event"` // git liza acp
}

// known are the types of events, which distinguish events from a script's own lines of JSON.
var known = map[string]func(*Reader, *message){
	"system": (*Reader).claudeSystem, "assistant": (*Reader).claudeAssistant, "user": (*Reader).claudeUser,
	"result": (*Reader).result, "rate_limit_event": (*Reader).nothing, "stream_event": (*Reader).nothing,

	"thread.started": (*Reader).codexStarted, "turn.started": (*Reader).nothing, "turn.completed": (*Reader).codexCompleted,
	"turn.failed": (*Reader).codexFailed, "error": (*Reader).mishap, "item.started": (*Reader).codexItem,
	"item.updated": (*Reader).nothing, "item.completed": (*Reader).codexItem,

	"init": (*Reader).geminiInit, "message": (*Reader).geminiMessage, "tool_use": (*Reader).toolUse,
	"tool_result": (*Reader).geminiResult,

	"step_start": (*Reader).openBegan, "text": (*Reader).openText, "reasoning": (*Reader).nothing, "step_finish": (*Reader).openSpent,

	"assistant.message": (*Reader).copilotSaid, "tool.execution_start": (*Reader).copilotCalled, "tool.execution_complete": (*Reader).copilotResult,
	"model.call_failure": (*Reader).copilotRetries, "session.error": (*Reader).copilotFailed,

	bridged: (*Reader).bridged,
}

func (r *Reader) line(line []byte) {
	line = bytes.TrimRight(line, "\r")
	if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] == '{' {
		var m message
		var kind struct{ Type string }
		if json.Unmarshal(trimmed, &kind) == nil && kind.Type != "" {
			_ = json.Unmarshal(trimmed, &m) // a field with an unexpected type stays empty
			if read, is := known[kind.Type]; is {
				m.Type = kind.Type
				read(r, &m)
				return
			}
			if strings.ContainsAny(kind.Type, "._") || m.SessionID != "" {
				r.emit(Event{Kind: Other, Text: kind.Type})
				return
			}
		}
	}
	if said := strings.ToValidUTF8(string(line), "\uFFFD"); !r.geminiRetries(said) {
		r.emit(Event{Kind: Plain, Text: said})
	}
}

func (r *Reader) nothing(m *message) { r.emit(Event{Kind: Other, Text: m.Type}) }

func (r *Reader) fault(status int, text string) *Fault { return r.cli.FaultOf(status, text, r.now()) }

// textOf decodes a JSON string, or an object's "message".
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct{ Message string }
	_ = json.Unmarshal(raw, &o) // otherwise it has none
	return o.Message
}

// toolUse handles a call of Gemini, or one of OpenCode, which has its answer.
func (r *Reader) toolUse(m *message) {
	if m.Part != nil {
		r.openTool(m.Part)
		return
	}
	r.geminiTool(m)
}

// mishap handles an "error" event: Codex uses it for its own retries, Gemini and OpenCode for a failure.
func (r *Reader) mishap(m *message) {
	if m.Session != "" {
		r.openFailed(m)
		return
	}
	said := textOf(m.Message)
	if said == "" {
		said = textOf(m.Error)
	}
	r.emit(Event{Kind: Waits, Text: said, Fault: r.fault(0, said)})
}

// result handles the last event of Claude, Gemini and Copilot.
func (r *Reader) result(m *message) {
	if m.Session != "" {
		r.copilotEnd(m)
		return
	}
	if m.Stats != nil || textOf(m.Status) != "" {
		r.geminiEnd(m)
		return
	}
	r.claudeEnd(m)
}
