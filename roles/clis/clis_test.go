package clis_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	var r *board.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("%v is not a refusal", err)
	}
	for _, p := range parts {
		if !strings.Contains(r.Message+"\n"+cmdline.Hint(r.Hint), p) {
			t.Errorf("%q, hint %q: lacks %q", r.Message, cmdline.Hint(r.Hint), p)
		}
	}
}

func TestFind(t *testing.T) {
	c, err := clis.Find("codex", []clis.CLI{{Name: "codex", Program: "mine"}})
	if err != nil || c.Program != "mine" {
		t.Errorf("one's own comes first: %v, %v", c, err)
	}
	_, err = clis.Find("claud", nil)
	refused(t, err, `"claud"`, "nearest: claude", "liza.claud.command", "--exec")
	_, err = clis.Find("zzzzzzzzzz", []clis.CLI{{Name: "mine"}})
	refused(t, err, "mine", "claude", "codex", "gemini", "vibe")
	_, err = clis.Find("a b'; x", nil)
	refused(t, err, "liza.NAME.command")
}

var start = clis.Start{Prompt: "the prompt", File: "p.txt"}

// TestCommands checks that the program gets the prompt in one piece, also as root and in a
// continued conversation.
func TestCommands(t *testing.T) {
	for _, c := range clis.Known {
		args, stdin := c.Command(start)
		if (stdin == "the prompt") == slices.Contains(args, "the prompt") {
			t.Errorf("%s gets its prompt by %q and %q on standard input", c.Name, args, stdin)
		}
		i := c.InteractiveCommand("p.txt", nil)
		if len(i) != len(c.Interactive)+1 || !strings.Contains(i[len(i)-1], "p.txt") {
			t.Errorf("%s interactively: %q", c.Name, i)
		}
		if c.Install == "" {
			t.Errorf("nobody learns how to install %s", c.Name)
		}
	}
	codex, _ := clis.Find("codex", nil)
	claude, _ := clis.Find("claude", nil)
	args, _ := claude.Command(clis.Start{Root: true, Session: "s-1"})
	if got := strings.Join(args, " "); strings.Contains(got, "dangerously") || !strings.HasSuffix(got, " --allowedTools Bash,Edit,Write --resume s-1") {
		t.Errorf("claude as root, continued: %s", got)
	}
	if args, _ = codex.Command(clis.Start{Session: "s-1"}); strings.Join(args[len(args)-3:], " ") != "resume s-1 -" {
		t.Errorf("codex, continued: %q", args)
	}
	args, stdin := clis.CLI{Args: []string{"-f"}, Prompt: clis.File}.Command(start)
	equal(t, "file", append(args, stdin), []string{"-f", "p.txt", ""})
	vibe, _ := clis.Find("vibe", nil)
	args, _ = vibe.Command(start)
	equal(t, "vibe", args, []string{"--auto-approve", "--trust", "-p", "the prompt"})
}

// TestSandbox checks that codex's commands can write to git's directories and those that the user
// names if its sandbox starts, and that codex works without a sandbox otherwise. A command
// configured by the user is left unchanged.
func TestSandbox(t *testing.T) {
	config := map[string]string{}
	codex := func() clis.CLI {
		t.Helper()
		return testrun.Must(clis.FromConfig("codex", func(key string) string { return config[key] }))(t)
	}
	git := []string{"/a b/.git", "/c"}
	for _, args := range [][]string{codex().InteractiveCommand("p.txt", git), first(codex().Command(clis.Start{Folders: git}))} {
		got := strings.Join(args, " ")
		if !strings.Contains(got, "--sandbox workspace-write") || !strings.Contains(got, `sandbox_workspace_write.writable_roots=["/a b/.git","/c"]`) || strings.Contains(got, "bypass") {
			t.Errorf("codex's sandbox does not let it commit: %s", got)
		}
	}
	if got := strings.Join(first(codex().Command(start)), " "); strings.Contains(got, "--sandbox ") || !strings.Contains(got, " --dangerously-bypass-approvals-and-sandbox ") {
		t.Errorf("without its sandbox: %s", got)
	}
	for value, want := range map[string]clis.Use{"": clis.WhereItStarts, "on": clis.Always, "True": clis.Always, "no": clis.Never} {
		if config["liza.codex.sandbox"] = value; codex().Sandbox.Use != want {
			t.Errorf("liza.codex.sandbox %q is %q", value, codex().Sandbox.Use)
		}
	}
	config["liza.codex.writable"] = "/home/ann/go:/d"
	if got := first(codex().Command(clis.Start{Folders: []string{"/g"}})); !slices.Contains(got, `sandbox_workspace_write.writable_roots=["/g","/home/ann/go","/d"]`) {
		t.Errorf("%q", got)
	}
	if known, _ := clis.Find("codex", nil); known.Sandbox.Use != "" || known.Sandbox.Writable != nil {
		t.Errorf("the settings of one user are everybody's: %+v", known.Sandbox)
	}
	for key, value := range map[string]string{"liza.codex.sandbox": "maybe", "liza.codex.writable": "go", "liza.gemini.sandbox": "true"} {
		name := strings.Split(key, ".")[1]
		_, err := clis.FromConfig(name, func(k string) string { return map[string]string{key: value}[k] })
		refused(t, err, key[:len("liza."+name)])
	}
	_, err := clis.FromConfig("codex", func(k string) string {
		return map[string]string{"liza.codex.command": "codex exec", "liza.codex.sandbox": "true"}[k]
	})
	refused(t, err, "liza.codex.sandbox")
}

func first(args []string, _ string) []string { return args }

func TestFromConfig(t *testing.T) {
	config := map[string]string{
		"liza.claude.command":     "nice claude -p --model opus",
		"liza.vibe.install":       "ask Ann",
		"liza.gemini.interactive": "gemini -s -i",
		"liza.aider.command":      "aider --yes --message-file",
		"liza.aider.prompt":       "file",
		"liza.aider.quota":        `^out of tokens(?:, back in (?P<in>\d+m))?`,
		"liza.cursor.command":     "cursor-agent -p --force --output-format stream-json",
		"liza.cursor.prompt":      "argument",
		"liza.cursor.resume":      "--resume SESSION",
		"liza.cursor.model":       "--model MODEL",
		"liza.broken.command":     "x",
		"liza.broken.prompt":      "telepathy",
		"liza.worse.command":      "x",
		"liza.worse.quota":        "(",
	}
	get := func(key string) string { return config[key] }

	c, err := clis.FromConfig("codex", get)
	if err != nil || c.Program != "codex" {
		t.Errorf("a known one without configuration: %v, %v", c, err)
	}
	c, _ = clis.FromConfig("claude", get)
	args, stdin := c.Command(start)
	equal(t, "claude", append([]string{c.Program, stdin}, args...), []string{"sh", "the prompt", "-c", `nice claude -p --model opus "$@"`, "claude"})
	equal(t, "claude interactively", c.InteractiveCommand("p.txt", nil), []string{"-c", `claude --allowedTools 'Bash(git liza:*)' 'Read(/./**)' -- "$@"`, "claude", "Read p.txt and follow it."})
	c, _ = clis.FromConfig("gemini", get)
	args, _ = c.Command(start)
	equal(t, "gemini", args, []string{"-c", `gemini --approval-mode=yolo --skip-trust --output-format stream-json "$@"`, "gemini"})
	c, _ = clis.FromConfig("vibe", get)
	if c.Program != "vibe" || c.Install != "ask Ann" {
		t.Errorf("vibe: %v", c)
	}
	c = testrun.Must(clis.FromConfig("aider", get))(t)
	args, stdin = c.Command(start)
	equal(t, "aider", append(args, stdin), []string{"-c", `aider --yes --message-file "$@"`, "aider", "p.txt", ""})
	if _, is := c.Limited("out of tokens, back in 5m", noon); !is {
		t.Error("aider's own quota message is not found")
	}
	if _, is := c.Limited("You've hit your limit · resets 3pm (UTC)", noon); is {
		t.Error("liza.aider.quota takes the place of all others")
	}

	c, err = clis.FromConfig("cursor", get)
	if err == nil {
		c, err = c.WithModel("large")
	}
	testrun.Check(t, err)
	args, _ = c.Command(clis.Start{Prompt: "the prompt", Session: "s-1"})
	equal(t, "cursor", args, []string{"-c", `cursor-agent -p --force --output-format stream-json "$@"`, "cursor", "--model", "large", "--resume", "s-1", "the prompt"})

	_, err = clis.FromConfig("aidr", get)
	refused(t, err, `"aidr"`, "liza.aidr.command")
	_, err = clis.FromConfig("a.b", func(string) string { return "x" })
	refused(t, err, `"a.b"`)
	_, err = clis.FromConfig("broken", get)
	refused(t, err, "liza.broken.prompt", "telepathy", "stdin")
	_, err = clis.FromConfig("worse", get)
	refused(t, err, "liza.worse.quota")
}

// TestBridge checks that a CLI which speaks the Agent Client Protocol, as the user's configuration
// adds it, is started by git liza acp, with its session and model.
func TestBridge(t *testing.T) {
	config := map[string]string{"liza.mine.command": "mine --acp", "liza.mine.prompt": "acp"}
	c, err := clis.FromConfig("mine", func(key string) string { return config[key] })
	if err == nil {
		c, err = c.WithModel("large")
	}
	testrun.Check(t, err)
	equal(t, "start", c.Bridge("/bin/sh", "s-1"), []string{"acp", "--session", "s-1", "--model", "large", "--", "/bin/sh", "-c", `mine --acp "$@"`, "mine"})
	known, _ := clis.Find("opencode-acp", nil)
	claude, _ := clis.Find("claude-acp", nil)
	equal(t, "one with a mode", claude.Bridge("/bin/claude-agent-acp", ""), []string{"acp", "--mode", "default", "--", "/bin/claude-agent-acp"})
	equal(t, "a known one", known.Bridge("/bin/opencode", ""), []string{"acp", "--", "/bin/opencode", "acp"})
}
