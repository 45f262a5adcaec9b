package acp

import (
	"bytes"
	"encoding/json"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// inputs are the inputs of tools, read from the agent's output before the connection reads it: a
// request for permission may lack its input, and the connection may handle it before an earlier
// update. Kimi sends an input as text first.
type inputs struct {
	mu    sync.Mutex
	rest  []byte
	known map[sdk.ToolCallId]map[string]any
}

// Write takes output of the agent. It never fails.
func (s *inputs) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		s.rest = rest
		var m struct {
			Params struct {
				Update struct {
					ToolCallID sdk.ToolCallId
					Status     sdk.ToolCallStatus
					RawInput   map[string]any
					Content    json.RawMessage
				}
			}
		}
		_ = json.Unmarshal(line, &m) // the connection reports a faulty line
		u := m.Params.Update
		if u.ToolCallID == "" || u.Status == sdk.ToolCallStatusCompleted || u.Status == sdk.ToolCallStatusFailed {
			continue
		}
		if u.RawInput == nil {
			var content []sdk.ToolCallContent
			_ = json.Unmarshal(u.Content, &content) // other content is no input
			_ = json.Unmarshal([]byte(answerOf(content, nil)), &u.RawInput)
		}
		if u.RawInput != nil {
			s.known[u.ToolCallID] = u.RawInput
		}
	}
}

// of is the input of a call that comes with in.
func (s *inputs) of(id sdk.ToolCallId, in any) map[string]any {
	if input, is := in.(map[string]any); is {
		return input
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

func (s *inputs) forget(id sdk.ToolCallId) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}
