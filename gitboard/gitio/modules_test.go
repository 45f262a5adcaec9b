package gitio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKeepModulesInside checks which repositories inside a worktree are kept when it goes: those
// with commits that no remote of theirs is known to have. Those that a dependency manager clones
// again may go.
func TestKeepModulesInside(t *testing.T) {
	ctx, r := scratch(t)
	worktree := claim(t, ctx, r, "one")
	writeIn(t, worktree, ".gitignore", "vendor/\n")
	fixture := filepath.Join(worktree, "testdata", "repo.git")
	native(t, worktree, "init", "-q", "--bare", fixture)
	native(t, worktree, "--git-dir="+fixture, "update-ref", "refs/heads/main", native(t, worktree, "--git-dir="+fixture, "commit-tree", "-m", "x", native(t, worktree, "--git-dir="+fixture, "hash-object", "-w", "-t", "tree", os.DevNull)))
	writeIn(t, fixture, "refs/keep", "")
	native(t, worktree, "add", "-f", ".")
	hub := filepath.Join(t.TempDir(), "hub")
	native(t, r.TopLevel(), "init", "-q", hub)
	commit := func(path, message string) {
		t.Helper()
		native(t, path, "commit", "-q", "--allow-empty", "-m", message)
	}
	commit(hub, "first")
	commit(hub, "release")
	native(t, hub, "tag", "v1")
	native(t, hub, "reset", "-q", "--hard", "HEAD~1") // no branch has the release
	commit(hub, "second")

	at := func(name string) string { return filepath.Join(worktree, "vendor", name) }
	clone := func(name string, options ...string) {
		t.Helper()
		native(t, worktree, slices.Concat([]string{"-c", "advice.detachedHead=false", "clone", "-q"}, options, []string{"file://" + hub, at(name)})...)
	}
	clone("cloned")
	clone("of one tag", "--depth=1", "--branch=v1")
	clone("mirrored", "--mirror")
	native(t, worktree, "init", "-q", at("begun")) // and nothing committed
	clone("worked in")
	commit(at("worked in"), "own")
	writeIn(t, at("worked in"), "not committed", "x")
	native(t, worktree, "init", "-q", at("deep/own"))
	commit(at("deep/own"), "own")
	clone("deep/own/inner")
	commit(at("deep/own/inner"), "own")
	clone("stashed")
	writeIn(t, at("stashed"), "f", "x")
	native(t, at("stashed"), "add", "f")
	native(t, at("stashed"), "stash", "-q")
	native(t, worktree, "clone", "-q", "--bare", at("worked in"), at("bare"))
	native(t, r.TopLevel(), "worktree", "add", "-q", "--detach", at("linked"))

	to := filepath.Join(t.TempDir(), "kept")
	writeIn(t, to, "vendor/stashed", "in the way")
	if !must[bool](t)(r.KeepModules(ctx, worktree, to)) {
		t.Error("nothing was kept")
	}
	var kept []string
	for _, dir := range must[[]string](t)(repositoriesIn(to)) {
		kept = append(kept, strings.TrimPrefix(dir, to+"/vendor/"))
	}
	if want := []string{"bare", "deep/own", "deep/own/inner", "stashed.2", "worked in"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, not %q", kept, want)
	}
	if readIn(t, to, "vendor/worked in/not committed") != "x" {
		t.Error("a file is missing")
	}
	for _, name := range []string{"cloned", "of one tag", "mirrored", "begun", "linked"} {
		if !exists(at(name)) {
			t.Errorf("%s is gone before its worktree", name)
		}
	}
	if !exists(fixture) {
		t.Error("test data of the project is gone")
	}
	if kept, err := r.KeepModules(ctx, worktree, to); kept || err != nil {
		t.Errorf("again: %v %v", kept, err)
	}
}
