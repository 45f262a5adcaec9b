package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/git-liza/git-liza/roles/clis"
)

// SessionUpdate prints what the agent does.
func (b *bridge) SessionUpdate(ctx context.Context, n sdk.SessionNotification) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := n.Update
	if b.past {
		return nil
	}
	if u.AgentMessageChunk != nil {
		if t := u.AgentMessageChunk.Content.Text; t != nil {
			b.said += t.Text
		}
		return nil
	}
	b.flush()
	switch {
	case u.ToolCall != nil:
		b.tool(ctx, u.ToolCall.ToolCallId, u.ToolCall.Title, u.ToolCall.RawInput, u.ToolCall.Status, u.ToolCall.Content, u.ToolCall.RawOutput)
	case u.ToolCallUpdate != nil:
		c, status, title := u.ToolCallUpdate, sdk.ToolCallStatus(""), ""
		if c.Status != nil {
			status = *c.Status
		}
		if c.Title != nil {
			title = *c.Title
		}
		b.tool(ctx, c.ToolCallId, title, c.RawInput, status, c.Content, c.RawOutput)
	case u.UsageUpdate != nil:
		if c := u.UsageUpdate.Cost; c != nil && c.Currency == "USD" {
			b.used.Dollars = c.Amount
		}
	default:
		b.emit(clis.Event{Kind: clis.Other, Text: "acp"}) // a sign of life
	}
	return nil
}

// tool prints a call once it runs, and its answer. Unread notes interrupt the turn after it.
func (b *bridge) tool(ctx context.Context, id sdk.ToolCallId, title string, in any, status sdk.ToolCallStatus, content []sdk.ToolCallContent, out any) {
	b.worked = true
	c := b.calls[id]
	if c == nil {
		c = &toolCall{}
		b.calls[id] = c
	}
	if command := commandOf(b.inputs.of(id, in)); command != "" {
		title = command
	}
	if title != "" {
		c.text = title
	}
	over := status == sdk.ToolCallStatusCompleted || status == sdk.ToolCallStatusFailed
	if !c.shown && (over || status == sdk.ToolCallStatusInProgress) {
		c.shown = true
		b.emit(clis.Event{Kind: clis.Called, Text: c.text})
	}
	if !over {
		return
	}
	delete(b.calls, id)
	b.inputs.forget(id)
	b.emit(clis.Event{Kind: clis.Result, Text: answerOf(content, out)})
	b.listen(ctx)
	if b.notes != "" {
		_ = b.conn.Cancel(ctx, sdk.CancelNotification{SessionId: b.session})
	}
}

// HandleExtensionMethod prints an event of Claude Code as it is.
func (b *bridge) HandleExtensionMethod(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method != "_claude/sdkMessage" {
		return nil, sdk.NewMethodNotFound(method)
	}
	var p struct{ Message json.RawMessage }
	err := json.Unmarshal(params, &p)
	b.print(append(p.Message, '\n'))
	return nil, err
}

// commandOf is the shell command in a tool's input, "" for none.
func commandOf(input map[string]any) string {
	switch command := input["command"].(type) {
	case string:
		return command
	case []any:
		var words []string
		for _, w := range command {
			if word, is := w.(string); is {
				words = append(words, word)
			}
		}
		return strings.Join(words, " ")
	}
	return ""
}

// answerOf is the text of a tool's answer.
func answerOf(content []sdk.ToolCallContent, out any) string {
	var texts []string
	for _, c := range content {
		switch {
		case c.Content != nil && c.Content.Content.Text != nil:
			texts = append(texts, c.Content.Content.Text.Text)
		case c.Diff != nil:
			texts = append(texts, "changes "+c.Diff.Path)
		}
	}
	if len(texts) == 0 && out != nil {
		if said, is := out.(string); is {
			return said
		}
		data, _ := json.Marshal(out)
		return string(data)
	}
	return strings.Join(texts, "\n")
}

// RequestPermission allows what stays in the worktree and keeps the agent's identity.
func (b *bridge) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	kinds := []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowOnce, sdk.PermissionOptionKindAllowAlways}
	if why := b.forbids(p.ToolCall); why != "" {
		kinds = []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways}
		b.emit(clis.Event{Kind: clis.Result, Text: "not permitted: " + why})
	}
	for _, kind := range kinds {
		for _, o := range p.Options {
			if o.Kind == kind {
				return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
			}
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// identity are the variables that no command of an agent may change.
var identity = []string{"LIZA_AGENT_ID", "LIZA_SESSION", "LIZA_SUPERVISED"}

// forbids is why a tool may not be called, "" if it may.
func (b *bridge) forbids(t sdk.ToolCallUpdate) string {
	input := b.inputs.of(t.ToolCallId, t.RawInput)
	command := commandOf(input)
	if slices.ContainsFunc(identity, func(name string) bool { return strings.Contains(command, name) }) {
		return "a command may not change who the agent is"
	}
	var paths []string
	for _, l := range t.Locations {
		paths = append(paths, l.Path)
	}
	for _, c := range t.Content {
		if c.Diff != nil {
			paths = append(paths, c.Diff.Path)
		}
	}
	for _, key := range []string{"file_path", "filePath", "path", "abs_path", "absolute_path", "filename"} {
		if path, is := input[key].(string); is {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if !b.within(path) {
			return path + " is outside of the worktree"
		}
	}
	return ""
}

// within reports whether a path, with its links followed, is in the worktree.
func (b *bridge) within(path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	rest := ""
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			path = filepath.Join(real, rest)
			break
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	rel, err := filepath.Rel(b.dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// The agent has its own files and terminals: none are offered.

func (b *bridge) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (r sdk.ReadTextFileResponse, err error) {
	return r, sdk.NewMethodNotFound("fs/read_text_file")
}

func (b *bridge) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (r sdk.WriteTextFileResponse, err error) {
	return r, sdk.NewMethodNotFound("fs/write_text_file")
}

func (b *bridge) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (r sdk.CreateTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("terminal/create")
}

func (b *bridge) KillTerminal(context.Context, sdk.KillTerminalRequest) (r sdk.KillTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("terminal/kill")
}

func (b *bridge) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (r sdk.TerminalOutputResponse, err error) {
	return r, sdk.NewMethodNotFound("terminal/output")
}

func (b *bridge) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (r sdk.ReleaseTerminalResponse, err error) {
	return r, sdk.NewMethodNotFound("terminal/release")
}

func (b *bridge) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (r sdk.WaitForTerminalExitResponse, err error) {
	return r, sdk.NewMethodNotFound("terminal/wait_for_exit")
}
