//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	testrun.Contains(t, p.must("", "note", "Round up", "--for", "alpha", "--now"), "coder-1 reads it at its next tool call", "when it is read")
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

// smallImage builds an image of a shell, git and little else from programs of this machine.
func smallImage(t *testing.T) string {
	t.Helper()
	full(t)
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed: what runs in a container is not tested")
	}
	root, paths := t.TempDir(), regexp.MustCompile(`/[^ ()]+`)
	add := func(file, as string) {
		t.Helper()
		data, err := os.ReadFile(file)
		to := filepath.Join(root, as)
		testrun.Check(t, errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), testrun.WriteProgram(to, string(data))))
	}
	self := testrun.Must(os.Executable())(t)
	files := []string{self}
	for _, name := range strings.Fields("sh git cat sed env mkdir rm mv sleep") {
		file := testrun.Must(exec.LookPath(name))(t)
		add(file, "bin/"+name)
		files = append(files, file)
	}
	for _, file := range files {
		needs, _ := exec.Command("ldd", file).Output() // empty for a static program
		for _, library := range paths.FindAllString(string(needs), -1) {
			add(library, library)
		}
	}
	testrun.Check(t, os.MkdirAll(filepath.Join(root, "tmp"), 0o777))
	name := "liza-test-" + strings.ToLower(filepath.Base(filepath.Dir(root)))
	if out, err := exec.Command("sh", "-c", `tar -C "$0" -c . | podman import -q - "$1"`, root, name).CombinedOutput(); err != nil {
		t.Skipf("podman makes no image here: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("podman", "rmi", "-f", name).Run() })
	if out, err := exec.Command("podman", "run", "--rm", name, "sh", "-c", "exit 0").CombinedOutput(); err != nil {
		t.Skipf("podman runs no container here: %v\n%s", err, out)
	}
	return name
}

// TestContainer: an agent in a container commits and submits, sees its worktree, the git directory
// and no other file of its user, and ends with its supervisor.
func TestContainer(t *testing.T) {
	t.Parallel()
	image := smallImage(t)
	p := newProject(t)
	p.git("config", "user.name", "Ann")
	p.git("config", "user.email", "ann@example.com")
	p.addTask("alpha")
	p.addTask("beta")
	hidden := filepath.Join(t.TempDir(), "secret")
	testrun.Check(t, os.WriteFile(hidden, nil, 0o644))
	s := p.supervise("agent", "coder", "--once", "--container", image, "--exec=test ! -e '"+hidden+"' || exit 9\n"+submits)
	s.ends(0)
	p.stands("alpha", "READY_FOR_REVIEW")

	s = p.supervise("agent", "coder", "--container", image, "--exec=echo begun >began.txt; exec sleep 1000")
	p.appears(filepath.Join(p.dir, ".worktrees", "beta", "began.txt"))
	s.stops()
	if left, err := exec.Command("podman", "ps", "-q", "--filter", "name=liza-coder-1").CombinedOutput(); err != nil || strings.TrimSpace(string(left)) != "" {
		t.Errorf("its container is left: %v %s", err, left)
	}
	p.proven()
}

// engine replaces podman: what it runs receives no signal that is sent to its client.
const engine = `#!/bin/sh
case $1 in
run) : >"$STARTED"; exec sleep 1000 ;;
kill) echo "$2" >"$KILLED" ;;
esac
`

// TestContainerIsEnded: ending a run ends its container even when the client that started it can't.
func TestContainerIsEnded(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.addTask("alpha")
	bin := t.TempDir()
	testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "podman"), engine))
	started, killed := filepath.Join(bin, "started"), filepath.Join(bin, "killed")
	p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "STARTED="+started, "KILLED="+killed)
	s := p.supervise("agent", "coder", "--container", "agents:1", "--exec=true")
	p.appears(started)
	s.stops()
	if name, err := os.ReadFile(killed); err != nil || !strings.HasPrefix(string(name), "liza-coder-1-") {
		t.Errorf("killed %q: %v", name, err)
	}
	p.proven()
}

// mounts replaces podman: it runs the command with the mounts of its container, and with nothing else of
// one.
const mounts = `#!/bin/sh
[ "$1" = run ] || exit 0
[ "$INSIDE" ] || { export INSIDE=1; exec unshare --mount "$0" "$@"; }
while shift; do case $1 in
--volume) shift; at=${1%%:*}; mount --bind "$at" "$at" && case $1 in *:ro) mount -o remount,bind,ro "$at" ;; esac || exit 7 ;;
--env|--user|--name|--security-opt|--userns) shift ;;
--workdir) shift; cd "$1" || exit 7 ;;
agents:1) shift; exec "$@" ;;
esac; done
`

// breaksOut writes a program to each place by which git outside may be made to run it, and succeeds if
// the mounts refuse it.
const breaksOut = `
common=$(git rev-parse --path-format=absolute --git-common-dir) own=$(git rev-parse --path-format=absolute --git-dir)
printf '#!/bin/sh\necho "$0 $*" >>"%s"\ncat\n' "$RAN" >evil.sh && chmod +x evil.sh
set -- filter.evil.clean filter.evil.smudge core.fsmonitor diff.external merge.evil.driver alias.status
for key; do git config $key "$PWD/evil.sh" 2>/dev/null && echo "$key" >>"$RAN"; done
for file in config info/attributes hooks/post-checkout hooks/reference-transaction liza/hooks/gitconfig liza/agents/x; do
  echo >>"$common/$file" && echo "$file" >>"$RAN"
done 2>/dev/null
for place in . config hooks info; do mv "$common/$place" "$common/../moved" && echo "$place is moved" >>"$RAN"; done 2>/dev/null
git config --file "$common/evil/config" core.bare false 2>/dev/null || { mkdir "$common/evil" && cp "$common/config" "$common/evil/config"; }
for name in objects refs liza worktrees packed-refs; do ln -s "$common/$name" "$common/evil/$name"; done; cp "$common/HEAD" "$common/evil/HEAD"
for key; do git config --file "$common/evil/config" $key "$PWD/evil.sh"; done
echo '* filter=evil merge=evil diff=evil' >.gitattributes
git config --file "$own/config.worktree" core.fsmonitor "$PWD/evil.sh"
touch -d 2001-01-01 *
` + "BECOMES"

// TestContainersReach: an agent that writes whatever its container lets it write has no program run
// outside of it.
func TestContainersReach(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace can be made here: %v %s", err, out)
	}
	for name, becomes := range map[string]string{
		"its record leads to another directory": `echo "$common/evil" >"$own/commondir"`,
		"its worktree is another repository":    `rm .git && cp -R "$common/evil" .git`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			bin, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
			testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "podman"), mounts))
			p.env = append(p.env, "PATH="+bin+":"+os.Getenv("PATH"), "RAN="+ran)
			p.addTask("alpha")
			s := p.supervise("agent", "coder", "--once", "--container", "agents:1", "--exec="+strings.ReplaceAll(breaksOut, "BECOMES", becomes))
			<-s.over
			if text, err := os.ReadFile(filepath.Join(p.dir, ".git", "evil", "config")); !strings.Contains(string(text), "evil.sh") {
				t.Errorf("it wrote nothing: %v", err)
			}
			for _, args := range []string{"worktree status alpha", "doctor --fix", "recover-task alpha --force", "worktree delete alpha"} {
				p.liza("", strings.Fields(args)...)
			}
			if text, err := os.ReadFile(ran); err == nil {
				t.Errorf("it reached\n%s", text)
			}
		})
	}
}
