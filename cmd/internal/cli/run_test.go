package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestRunKeepsTheLease: a command that outlasts the lease does not lose it, and its exit code is
// that of run.
func TestRunKeepsTheLease(t *testing.T) {
	l := newLife(t)
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
