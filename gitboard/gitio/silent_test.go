//go:build unix

package gitio

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSilentRemote checks that a remote that says nothing is not taken for a command that its caller
// has cancelled.
func TestSilentRemote(t *testing.T) {
	ctx, r := scratch(t)
	deaf := filepath.Join(t.TempDir(), "deaf")
	check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	native(t, r.TopLevel(), "remote", "add", "hub", t.TempDir())
	native(t, r.TopLevel(), "config", "remote.hub.uploadpack", deaf)
	m := must[*Remote](t)(r.Remote(ctx, "hub"))
	m.patience = 100 * time.Millisecond
	err := m.Fetch(ctx, false, false, "refs/heads/*:refs/x/*")
	if !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) || !Unfinished(err) {
		t.Errorf("the remote says nothing: %v", err)
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("nobody has cancelled it: %#v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := m.Fetch(cancelled, false, false, "refs/heads/*:refs/x/*"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrSilent) {
		t.Errorf("it is cancelled: %v", err)
	}
}
