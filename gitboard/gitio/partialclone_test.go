package gitio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWorktreeOfAPartialClone checks that objects missing from a partial clone are fetched for a
// worktree, and that a silent server does not block that forever.
func TestWorktreeOfAPartialClone(t *testing.T) {
	testrun.Sample(t, time.Now())
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			ctx, there := scratch(t)
			check(t, os.Mkdir(filepath.Join(there.TopLevel(), "deep"), 0o755))
			write(t, there, "deep/b.txt", "old\n")
			old := commitAll(t, there, "second")
			write(t, there, "deep/b.txt", "new\n")
			commitAll(t, there, "third")
			native(t, there.TopLevel(), "config", "uploadpack.allowFilter", "true")
			native(t, there.TopLevel(), "config", "uploadpack.allowAnySHA1InWant", "true")
			dir := filepath.Join(t.TempDir(), "partial")
			native(t, there.TopLevel(), "clone", "-q", "--filter="+filter, "file://"+there.TopLevel(), dir)
			native(t, dir, "config", "liza.networktimeout", "1")
			deaf := filepath.Join(t.TempDir(), "deaf")
			check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
			native(t, dir, "config", "remote.origin.uploadpack", deaf)
			r := open(t, ctx, dir)
			tree := filepath.Join(t.TempDir(), "tree")
			if err := r.AddWorktree(ctx, tree, old); !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) {
				t.Errorf("the server says nothing, and the worktree ends with %v", err)
			}
			native(t, dir, "config", "--unset", "remote.origin.uploadpack")
			native(t, dir, "config", "--unset", "liza.networktimeout")
			native(t, dir, "config", "remote.elsewhere.url", t.TempDir())
			native(t, dir, "config", "remote.elsewhere.promisor", "yes")
			check(t, r.AddWorktree(ctx, tree, old))
			if text, err := os.ReadFile(filepath.Join(tree, "deep", "b.txt")); string(text) != "old\n" || err != nil {
				t.Errorf("the worktree has %q: %v", text, err)
			}
		})
	}
}
