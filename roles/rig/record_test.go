//go:build linux

package rig

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// structured lists the arguments with which the CLIs print events. roles/clis has the same.
var structured = map[string][]string{
	"claude": {"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"},
	"codex":  {"codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--color", "never", "-c", "allow_login_shell=false", "-"},
	"gemini": {"gemini", "--approval-mode=yolo", "--skip-trust", "--output-format", "stream-json"},

	"qwen": {"qwen", "--yolo", "-o", "stream-json"}, "opencode": {"opencode", "run", "--format", "json", "--auto"},
	"copilot": {"copilot", "--allow-all-tools", "--allow-all-paths", "--no-ask-user", "--output-format", "json"},
}

// failures lists the ways in which a service fails, as the fake model does it.
var failures = map[string]Reply{
	"unauthorized": {Status: 401, Error: "invalid x-api-key"},
	"no-model":     {Status: 404, Error: "model: fake-model is not found"},
	"rate-limit":   {Status: 429, Error: "Rate limit reached for fake-model in organization org-x on tokens per min. Please try again in 34s."},
	"credits":      {Status: 400, Error: "Your credit balance is too low to access the API"},
	"overloaded":   {Status: 529, Error: "Overloaded"},
	"unavailable":  {Status: 503, Error: "The model is overloaded. Please try again later."},
	"internal":     {Status: 500, Error: "Internal server error"},
	"overflow":     {Status: 400, Error: "prompt is too long: 210000 tokens > 200000 maximum"},
}

// TestRealRecord writes the output of the CLIs to $LIZA_RIG_RECORD as <cli>-<case>.txt. These are
// the samples of roles/clis.
func TestRealRecord(t *testing.T) {
	to := os.Getenv("LIZA_RIG_RECORD")
	if to == "" {
		t.Skip("LIZA_RIG_RECORD names no folder to record into")
	}
	script := Script(func(Run) []string { return []string{"echo hello", "git liza version; exit 3"} })
	each(t, func(t *testing.T, cli string) {
		t.Parallel()
		t.Run("goes-well", func(t *testing.T) { record(t, to, cli, "goes-well", script.Play) })
		for name, reply := range failures {
			t.Run(name, func(t *testing.T) { record(t, to, cli, name, func(Conversation) Reply { return reply }) })
		}
	})
}

func record(t *testing.T, to, cli, name string, play func(Conversation) Reply) {
	t.Helper()
	s := newScene(t, cli, play)
	ctx, end := context.WithTimeout(context.Background(), 100*time.Second)
	defer end()
	var out bytes.Buffer
	cmd := s.Command(ctx, structured[cli]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("ROLE: coder\nTASK ID: one\n"), &out, &out
	err := cmd.Run()
	out.WriteString("\n# " + cli + ": ")
	if err != nil {
		out.WriteString(err.Error())
	}
	if err := os.WriteFile(filepath.Join(to, cli+"-"+name+".txt"), out.Bytes(), 0o644); err != nil {
		t.Error(err)
	}
}
