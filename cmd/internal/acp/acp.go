// Package acp runs an agent of the Agent Client Protocol as the CLI of a supervisor: it opens a
// session in the worktree, prompts it, answers its permission requests, and prints what it does as
// events that roles/clis reads.
//
// It may import cmd/internal/call, cmd/internal/prime, gitboard/text and roles/clis.
package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
)

// Options are what a run is started with.
type Options struct {
	Session string   // to continue, "" for a new one
	Model   string   // "" for the agent's own choice
	Mode    string   // of the session, likewise
	Command []string // starts the agent
}

// endWithin is how long an agent may take to end once its input is closed.
const endWithin = 3 * time.Second

// bridge is the client of one agent.
type bridge struct {
	call *call.Call
	dir  string // the worktree
	conn *sdk.ClientSideConnection
	out  sync.Mutex

	mu      sync.Mutex
	session sdk.SessionId
	past    bool   // the agent repeats an earlier conversation
	said    string // text that has not been printed
	last    string // text that was printed
	worked  bool   // a tool was called
	calls   map[sdk.ToolCallId]*toolCall
	inputs  inputs
	notes   string // that interrupt the turn
	used    clis.Usage
}

// toolCall is what is known of a tool's call.
type toolCall struct {
	text  string
	shown bool
}

// Run starts the agent, lets it work on the prompt that is standard input, and ends it.
func Run(ctx context.Context, c *call.Call, o Options) error {
	prompt, err := io.ReadAll(c.App.Stdin)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Directory())
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = dir, c.App.Environ, c.App.Stderr, endWithin
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b := &bridge{call: c, dir: dir, calls: map[sdk.ToolCallId]*toolCall{}, inputs: inputs{known: map[sdk.ToolCallId]map[string]any{}}}
	b.conn = sdk.NewClientSideConnection(b, in, io.TeeReader(out, &b.inputs))
	b.conn.SetLogger(slog.New(slog.DiscardHandler))
	failed := b.converse(ctx, o, string(prompt))
	_ = in.Close()
	kill := time.AfterFunc(endWithin, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // the protocol has shown how the turn ended
	if failed == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	said := failed.Error()
	if r := (*sdk.RequestError)(nil); errors.As(failed, &r) {
		said = r.Message
		if r.Data != nil {
			said = fmt.Sprintf("%s: %v", said, r.Data)
		}
	}
	b.emit(clis.Event{Kind: clis.Failed, Text: said})
	return &call.Outcome{Exit: 1, Code: call.CodeFailed, Message: filepath.Base(o.Command[0]) + ": " + text.Line(said, 300)}
}

// converse opens the session and prompts the agent until it has nothing left to do.
func (b *bridge) converse(ctx context.Context, o Options, prompt string) error {
	if err := b.open(ctx, o); err != nil {
		return err
	}
	defer func() { b.emit(clis.Event{Kind: clis.Ended, Usage: b.used}) }()
	for asked := false; prompt != ""; {
		r, err := b.conn.Prompt(ctx, sdk.PromptRequest{SessionId: b.session, Prompt: []sdk.ContentBlock{sdk.TextBlock(prompt)}})
		b.ends(r)
		if said, is := strings.CutPrefix(b.last, "Error: "); is && err == nil && !b.worked { // Copilot
			err = errors.New(said)
		}
		if err != nil {
			return err
		}
		if prompt = b.unread(ctx); prompt == "" && r.StopReason == sdk.StopReasonEndTurn && !asked && b.call.Board != nil {
			asked = true
			held, err := prime.Unfinished(ctx, b.call)
			if err != nil {
				return err
			}
			prompt = strings.Join(held, "\n")
		}
		if prompt == "" && r.StopReason != sdk.StopReasonEndTurn {
			return fmt.Errorf("the turn ended: %s", r.StopReason)
		}
	}
	return nil
}

// retries makes Claude's agent report each request that it repeats. Otherwise it repeats one for
// minutes after a wrong key.
var retries = map[string]any{"claudeCode": map[string]any{"emitRawSDKMessages": []any{map[string]any{"type": "system", "subtype": "api_retry"}}}}

// open opens or continues the session.
func (b *bridge) open(ctx context.Context, o Options) error {
	has, err := b.conn.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber, ClientInfo: &sdk.Implementation{Name: "git-liza", Version: "1"}})
	if err != nil {
		return err
	}
	began := clis.Event{Kind: clis.Began, Usage: clis.Usage{Model: o.Model}}
	if o.Session != "" {
		b.session, b.past = sdk.SessionId(o.Session), true
		_, err = b.conn.LoadSession(ctx, sdk.LoadSessionRequest{Meta: retries, SessionId: b.session, Cwd: b.dir, McpServers: []sdk.McpServer{}})
		b.past = false
	} else {
		var r sdk.NewSessionResponse
		r, err = b.conn.NewSession(ctx, sdk.NewSessionRequest{Meta: retries, Cwd: b.dir, McpServers: []sdk.McpServer{}})
		b.session = r.SessionId
	}
	if err == nil && o.Model != "" {
		_, err = b.conn.UnstableSetSessionModel(ctx, sdk.UnstableSetSessionModelRequest{SessionId: b.session, ModelId: sdk.UnstableModelId(o.Model)})
	}
	if err == nil && o.Mode != "" {
		_, err = b.conn.SetSessionMode(ctx, sdk.SetSessionModeRequest{SessionId: b.session, ModeId: sdk.SessionModeId(o.Mode)})
	}
	if has.AgentCapabilities.LoadSession { // else no later run can continue it
		began.Session = string(b.session)
	}
	if err == nil {
		b.emit(began)
	}
	return err
}

// unread takes the messages for the agent, those first that have interrupted its turn.
func (b *bridge) unread(ctx context.Context) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listen(ctx)
	if b.notes == "" {
		return ""
	}
	notes := b.notes
	b.notes = ""
	return notes + "Follow this, and continue your task."
}

// listen adds the agent's new messages to the notes.
func (b *bridge) listen(ctx context.Context) {
	for _, line := range b.call.Messages(ctx) {
		b.notes += line + "\n"
	}
}

// ends prints the end of a turn, and counts what it has used, as far as the agent reports it.
func (b *bridge) ends(r sdk.PromptResponse) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	if u := r.Usage; u != nil { // of the whole session
		b.used.Output = u.OutputTokens
		b.used.Input = max(u.InputTokens, u.TotalTokens-u.OutputTokens)
		if u.CachedReadTokens != nil {
			b.used.Cached = *u.CachedReadTokens
		}
		return
	}
	quota, _ := r.Meta["quota"].(map[string]any) // Gemini CLI, of the turn
	count, _ := quota["token_count"].(map[string]any)
	in, _ := count["input_tokens"].(float64)
	out, _ := count["output_tokens"].(float64)
	b.used.Input, b.used.Output = b.used.Input+int(in), b.used.Output+int(out)
}

func (b *bridge) emit(e clis.Event) {
	b.print(clis.Bridged(e))
}

func (b *bridge) print(line []byte) {
	b.out.Lock()
	defer b.out.Unlock()
	_, _ = b.call.App.Stdout.Write(line)
}

// flush prints the agent's text.
func (b *bridge) flush() {
	if said := strings.TrimSpace(b.said); said != "" {
		b.emit(clis.Event{Kind: clis.Said, Text: said})
		b.last = said
	}
	b.said = ""
}
