//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
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
}

// TestSilentModule checks that a submodule's remote that says nothing is given up on, also if the
// submodule is inside another one, and that no remote is asked for a commit that is here.
func TestSilentModule(t *testing.T) {
	ctx, r := scratch(t)
	deaf := filepath.Join(t.TempDir(), "deaf")
	check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	outer, inner := filepath.Join(t.TempDir(), "outer"), filepath.Join(t.TempDir(), "inner")
	for _, lib := range []string{inner, outer} {
		testrun.InitRepository(t, lib, false)
		writeIn(t, lib, "v", "1\n")
		testrun.CommitAll(t, lib, "1")
	}
	add := []string{"-c", "protocol.file.allow=always", "submodule", "--quiet", "add"}
	native(t, outer, append(add, inner, "inner")...)
	testrun.CommitAll(t, outer, "with another one")
	native(t, r.TopLevel(), append(add, outer, "outer")...)
	first := commitAll(t, r, "first")
	moved := func(lib string) string {
		writeIn(t, lib, "v", "2\n")
		return testrun.CommitAll(t, lib, "2")
	}
	place := filepath.Join(t.TempDir(), "place")
	check(t, r.Worktree(place).Add(ctx, first))
	native(t, place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	native(t, r.TopLevel(), "config", "liza.networktimeout", "1")
	at := func(silent, commit string) error {
		for _, module := range []string{"outer", "outer/inner"} {
			native(t, filepath.Join(place, module), "config", "protocol.file.allow", "always")
			native(t, filepath.Join(place, module), "config", "remote.origin.uploadpack", "git-upload-pack")
		}
		native(t, filepath.Join(place, silent), "config", "remote.origin.uploadpack", deaf)
		native(t, place, "update-index", "--cacheinfo", "160000,"+commit+",outer")
		return r.Worktree(place).CheckOutModules(ctx)
	}
	there := native(t, outer, "rev-parse", "HEAD")
	check(t, at("outer", there))
	two := moved(inner)
	native(t, filepath.Join(outer, "inner"), "pull", "-q", "origin", "HEAD")
	native(t, outer, "update-index", "--cacheinfo", "160000,"+two+",inner")
	next := moved(outer)
	for _, silent := range []string{"outer", "outer/inner"} {
		if err := at(silent, next); !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) {
			t.Errorf("%s has a silent remote: %v", silent, err)
		}
		native(t, filepath.Join(place, "outer"), "fetch", "-q", "--no-recurse-submodules", outer, "HEAD:refs/remotes/origin/next")
	}
	native(t, r.TopLevel(), "config", "--unset", "liza.networktimeout")
	native(t, filepath.Join(place, "outer/inner"), "config", "--unset", "remote.origin.uploadpack")
	check(t, r.Worktree(place).CheckOutModules(ctx))
	if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(place, "outer/inner/v")))); got != "2\n" {
		t.Errorf("it has %q", got)
	}
}
