package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRunKeepsTheLease: a command that outlasts the lease does not lose it, and its exit code is
// that of run.
func TestRunKeepsTheLease(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.liza("", "config", "set", "lease_duration_by_hand", "1")
	l.task("sums", "Add numbers")
	var out, errs bytes.Buffer
	app := l.app("coder-1", &out, &errs)
	app.Now = time.Now
	if code := Run(context.Background(), app, []string{"claim", "sums"}); code != 0 {
		t.Fatal(errs.String())
	}
	out.Reset()
	begun := time.Now()
	if code := Run(context.Background(), app, []string{"run", "--", "sh", "-c", "sleep 2; echo done; exit 7"}); code != 7 || out.String() != "done\n" {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	app = l.app("", &out, &errs)
	Run(context.Background(), app, []string{"read", "leases.coder-1.heartbeat"})
	if said := strings.TrimPrefix(strings.TrimSpace(out.String()), "done\n"); said < begun.Add(time.Second).UTC().Format(time.RFC3339) {
		t.Errorf("the last heartbeat is of %q, and the command began at %s: %s", said, begun.UTC(), errs.String())
	}
}

// TestSilentCoderAtWork: no other coder takes the task of a coder whose lease has expired while its
// worktree changes.
func TestSilentCoderAtWork(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("coder-1", "claim", "sums")
	l.write(".worktrees/sums/sum.go", "package sum\n")
	l.pass(40 * time.Minute)
	changed := l.now.Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(l.dir, ".worktrees", "sums", "sum.go"), changed, changed); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"claim sums", "claim"} {
		var out, errs bytes.Buffer
		if code := Run(context.Background(), l.app("coder-2", &out, &errs), strings.Fields(command)); code != 1 || !strings.Contains(errs.String(), "its worktree changed 1m ago: coder-1 seems to work on it") {
			t.Errorf("%s: exit %d: %s%s", command, code, out.String(), errs.String())
		}
	}
	if text := l.liza("coder-2", "sweep"); !strings.Contains(text, "seems to work on it") {
		t.Errorf("the claim is swept:\n%s", text)
	}
	l.pass(5*time.Minute).liza("coder-2", "claim", "sums")
	l.liza("", "verify")
}
