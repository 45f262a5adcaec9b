//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func init() { programs["acp-agent"] = serveACP }

// scripted is an agent of the Agent Client Protocol. In its first turn it asks for permissions and
// runs a tool during which a note arrives; then it does what it is prompted to.
type scripted struct {
	sdk.Agent // other methods are not called
	conn      *sdk.AgentSideConnection
	cancelled chan struct{}
	turns     int
}

func serveACP() {
	a := &scripted{cancelled: make(chan struct{}, 1)}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	<-a.conn.Done()
	os.Exit(0)
}

func (a *scripted) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: sdk.AgentCapabilities{LoadSession: true}}, nil
}

func (a *scripted) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "conversation-1"}, nil
}

func (a *scripted) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	a.turns = 2
	a.says(ctx, r.SessionId, sdk.UpdateAgentMessageText("an earlier text"))
	return sdk.LoadSessionResponse{}, nil
}

func (a *scripted) Cancel(context.Context, sdk.CancelNotification) error {
	a.cancelled <- struct{}{}
	return nil
}

func (a *scripted) says(ctx context.Context, to sdk.SessionId, u sdk.SessionUpdate) {
	_ = a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: to, Update: u})
}

// may asks whether a tool may be called, with its input or, like Kimi, after that.
func (a *scripted) may(ctx context.Context, to sdk.SessionId, input map[string]any, after bool) bool {
	call := sdk.ToolCallUpdate{ToolCallId: "asked", RawInput: input}
	if after {
		text, _ := json.Marshal(input)
		a.says(ctx, to, sdk.StartToolCall("told", "Tool", sdk.WithStartContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(string(text)))})))
		call = sdk.ToolCallUpdate{ToolCallId: "told"}
	}
	r, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: to, ToolCall: call,
		Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindRejectOnce, Name: "No", OptionId: "no"}, {Kind: sdk.PermissionOptionKindAllowOnce, Name: "Yes", OptionId: "yes"}},
	})
	return err == nil && r.Outcome.Selected != nil && r.Outcome.Selected.OptionId == "yes"
}

// runs calls a shell as a tool.
func (a *scripted) runs(ctx context.Context, to sdk.SessionId, id sdk.ToolCallId, command string) {
	a.says(ctx, to, sdk.StartToolCall(id, "Shell", sdk.WithStartStatus(sdk.ToolCallStatusInProgress), sdk.WithStartRawInput(map[string]any{"command": command})))
	out, _ := exec.Command("sh", "-c", command).CombinedOutput()
	a.says(ctx, to, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(string(out)))})))
}

func (a *scripted) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	a.turns++
	done := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{InputTokens: 5000, OutputTokens: 200, TotalTokens: 5200}}
	said := p.Prompt[0].Text.Text
	switch a.turns {
	case 1:
		link := "link"
		_ = os.Symlink("/etc", link)
		for what, want := range map[string]bool{"x.txt": true, "/etc/passwd": false, "../other/x.txt": false, "link/passwd": false} {
			for _, after := range []bool{false, true} {
				if a.may(ctx, p.SessionId, map[string]any{"path": what}, after) != want {
					a.runs(ctx, p.SessionId, "wrong", "echo wrong permission for "+what)
				}
			}
		}
		_ = os.Remove(link)
		if !a.may(ctx, p.SessionId, map[string]any{"command": "git status"}, true) || a.may(ctx, p.SessionId, map[string]any{"command": "LIZA_AGENT_ID= git liza note x"}, true) {
			a.runs(ctx, p.SessionId, "wrong", "echo wrong permission for a command")
		}
		a.says(ctx, p.SessionId, sdk.UpdateAgentMessageText("I be"))
		a.says(ctx, p.SessionId, sdk.UpdateAgentMessageText("gin."))
		a.runs(ctx, p.SessionId, "first", "git liza pre-exec alpha --intent 'write x' --validation 'cat x.txt: y' --file x.txt && echo y >x.txt && git add x.txt && git commit -qm 'Write x'; >../../begun; until test -e ../../noted; do sleep 0.05; done")
		<-a.cancelled
		done.StopReason = sdk.StopReasonCancelled
	case 2:
		a.runs(ctx, p.SessionId, "second", "cat >../../second <<'EOF'\n"+said+"EOF")
	case 3:
		a.runs(ctx, p.SessionId, "third", "cat >../../third <<'EOF'\n"+said+"\nEOF")
	}
	return done, nil
}

// TestACP: a supervisor runs an agent of the Agent Client Protocol. Permission is given for the
// worktree alone, a note interrupts a turn, a turn that leaves the task in hand goes on, and the next
// run continues the session.
func TestACP(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	s := p.supervise("agent", "coder", "--cli=acp", "--exec=acp-agent")
	p.appears(filepath.Join(p.dir, "begun"))
	p.write("specs/vision.md", "# Vision\n\nIn euros.\n")
	p.git("commit", "-qam", "In euros")
	p.must("", "land", "--spec", "specs/vision.md")
	if out := p.must("", "note", "Round up", "--for", "alpha", "--now"); !strings.Contains(out, "coder-1 reads it at its next tool call") {
		t.Errorf("when it is read: %s", out)
	}
	p.write("noted", "")
	s.hears("ended", "")
	for file, parts := range map[string][]string{"second": {"Message note-1 by human for alpha: Round up", "The spec changed on integration", "+In euros."}, "third": {"You still hold alpha, CLAIMED"}} {
		data, err := os.ReadFile(filepath.Join(p.dir, file))
		for _, want := range parts {
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("turn %s begins with %q, %v", file, data, err)
			}
		}
	}
	if e := s.hears("started", "alpha"); e.Text != "acp, in the conversation it had" {
		t.Errorf("the next run: %s", e.Text)
	}
	s.stops()
	log := p.must("", "logs", "coder-1")
	if !strings.Contains(log, "I begin.") || !strings.Contains(log, "/etc/passwd is outside of the worktree") || strings.Contains(log, "wrong permission") || strings.Contains(log, "an earlier text") {
		t.Errorf("its log:\n%s", log)
	}
	if !slices.ContainsFunc(p.operations(""), func(op operation) bool { return op.op == "usage" && op.task == "alpha" }) {
		t.Error("its cost is not on the board")
	}
	p.proven()
}

// TestACPRefused: a wrong key ends the supervisor, in the words of the agent. The files have what
// Claude's and Copilot's agents answered to a run's requests.
func TestACPRefused(t *testing.T) {
	t.Parallel()
	for agent, words := range map[string]string{"claude": "authentication_failed", "copilot": "Authentication failed with provider"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			recorded := testrun.Must(filepath.Abs(filepath.Join("testdata", "acp", "refused-"+agent+".jsonl")))(t)
			p := newProject(t)
			p.addTask("alpha")
			s := p.supervise("agent", "coder", "--cli=acp", "--exec=exec 3<'"+recorded+`'; read -r _; while IFS= read -r line <&3; do printf '%s\n' "$line"; case $line in *'"id":1,'* | *'"id":2,'*) read -r _ ;; esac; done; cat >/dev/null`)
			s.ends(5)
			if story := s.story(); !strings.Contains(story, "can't work: "+words) || strings.Count(story, `"event":"started"`) != 1 {
				t.Error(story)
			}
			p.proven()
		})
	}
}
