package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// otherDisk returns a directory on another file system than the given one.
func otherDisk(t *testing.T, than string) string {
	t.Helper()
	for _, dir := range []string{"/dev/shm", os.TempDir(), "/var/tmp", "."} {
		made, err := os.MkdirTemp(dir, "other-disk-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(made) })
		writeIn(t, than, "probe", "")
		if errors.Is(os.Rename(filepath.Join(than, "probe"), filepath.Join(made, "probe")), syscall.EXDEV) {
			return must[string](t)(filepath.Abs(made))
		}
	}
	t.Skip("there is one file system only")
	return ""
}

// TestKeepModulesElsewhere checks that repositories are kept as they are when the worktree is on
// another disk than the repository: below a folder that git ignores, and of a submodule. Files are
// moved there, too.
func TestKeepModulesElsewhere(t *testing.T) {
	ctx, r := scratch(t)
	worktree := claim(t, ctx, r, "one")
	writeIn(t, worktree, ".gitignore", "vendor/\n")
	own, lib := filepath.Join(worktree, "vendor", "own"), filepath.Join(records.LinkedDir(worktree), "modules", "lib")
	native(t, worktree, "init", "-q", own)
	native(t, own, "commit", "-q", "--allow-empty", "-m", "own")
	native(t, worktree, "clone", "-q", "--bare", own, lib)
	native(t, lib, "remote", "remove", "origin")
	writeIn(t, own, "not committed", "x")
	to := filepath.Join(otherDisk(t, t.TempDir()), "kept")
	if !must[bool](t)(r.Worktree(worktree).KeepModules(ctx, to)) {
		t.Error("nothing was kept")
	}
	for _, dir := range []string{"vendor/own", "lib"} {
		testrun.Equal(t, native(t, filepath.Join(to, dir), "log", "--format=%s"), "own", "%s has", dir)
	}
	if readIn(t, to, "vendor/own/not committed") != "x" || exists(own) || exists(lib) {
		t.Error("a file is missing, or a repository is still in its place")
	}
	check(t, disk.MoveFiles(worktree, to, []string{".gitignore"}))
	if readIn(t, to, ".gitignore") != "vendor/\n" || exists(filepath.Join(worktree, ".gitignore")) {
		t.Error("a file was not moved")
	}
}

// TestKeepModulesInside checks which repositories inside a worktree are kept when it goes: those
// with commits that no remote of theirs is known to have. Those that a dependency manager clones
// again may go.
func TestKeepModulesInside(t *testing.T) {
	ctx, r := scratch(t)
	worktree := claim(t, ctx, r, "one")
	writeIn(t, worktree, ".gitignore", "vendor/\n")
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
	native(t, r.TopLevel(), "worktree", "add", "-q", "--detach", at("linked"))

	to := filepath.Join(t.TempDir(), "kept")
	writeIn(t, to, "vendor/stashed", "in the way")
	if !must[bool](t)(r.Worktree(worktree).KeepModules(ctx, to)) {
		t.Error("nothing was kept")
	}
	var kept []string
	for _, dir := range must[[]string](t)(repositoriesIn(to)) {
		kept = append(kept, strings.TrimPrefix(dir, to+"/vendor/"))
	}
	if want := []string{"deep/own", "deep/own/inner", "stashed.2", "worked in"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, not %q", kept, want)
	}
	testrun.Equal(t, readIn(t, to, "vendor/worked in/not committed"), "x", "a file is missing")
	for _, name := range []string{"cloned", "of one tag", "begun", "linked"} {
		if !exists(at(name)) {
			t.Errorf("%s is gone before its worktree", name)
		}
	}
	if kept, err := r.Worktree(worktree).KeepModules(ctx, to); kept || err != nil {
		t.Errorf("again: %v %v", kept, err)
	}
}

// TestTrackingRefs checks where a repository is taken to have its remotes' branches.
func TestTrackingRefs(t *testing.T) {
	ctx, r := scratch(t)
	if globs, remote := trackingRefs(ctx, r.CommonDir()); remote || len(globs) > 0 {
		t.Errorf("without a remote: %q, %v", globs, remote)
	}
	for _, spec := range []string{"+refs/heads/*:refs/remotes/a/*", "refs/heads/x:refs/remotes/a/x", "refs/heads/*:other/*", "refs/heads/*:", "^refs/heads/y"} {
		native(t, r.TopLevel(), "config", "--add", "remote.a.fetch", spec)
	}
	if globs, remote := trackingRefs(ctx, r.CommonDir()); !remote || len(globs) != 1 || globs[0] != "--glob=refs/remotes/a/*" {
		t.Errorf("%q, %v", globs, remote)
	}
}

// TestCheckOutModules checks that submodules which are checked out follow the worktree's commit,
// clean, with those inside them, and that one which is not checked out stays so. A commit that is
// nowhere is an error, and so is a remote that says nothing, which is asked for missing commits only.
func TestCheckOutModules(t *testing.T) {
	ctx, r := scratch(t)
	lib, inner := filepath.Join(t.TempDir(), "lib"), filepath.Join(t.TempDir(), "inner")
	for _, dir := range []string{inner, lib} {
		testrun.InitRepository(t, dir, false)
		writeIn(t, dir, "v", "1\n")
		testrun.CommitAll(t, dir, "1")
	}
	// refers has a repository name a submodule at a commit, without checking it out there.
	refers := func(dir, of, at string, paths ...string) {
		modules := ""
		for _, path := range paths {
			modules += "[submodule \"" + path + "\"]\n\tpath = " + path + "\n\turl = " + of + "\n"
			native(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+at+","+path)
		}
		writeIn(t, dir, ".gitmodules", modules)
		native(t, dir, "add", ".gitmodules")
	}
	refers(lib, inner, native(t, inner, "rev-parse", "HEAD"), "inner")
	native(t, lib, "commit", "-q", "-m", "with another one")
	refers(r.TopLevel(), lib, native(t, lib, "rev-parse", "HEAD"), "used", "unused")
	native(t, r.TopLevel(), "commit", "-q", "-m", "first")
	first := plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD"))
	place := filepath.Join(t.TempDir(), "place")
	check(t, r.Worktree(place).Add(ctx, first))
	check(t, r.Worktree(place).CheckOutModules(ctx))
	if exists(filepath.Join(place, "used", "v")) {
		t.Error("a submodule is checked out that was not")
	}
	native(t, place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive", "used")
	writeIn(t, inner, "v", "2\n")
	refers(lib, inner, testrun.CommitAll(t, inner, "2"), "inner")
	next := func(v string) string {
		writeIn(t, lib, "v", v+"\n")
		native(t, lib, "add", "v")
		native(t, lib, "commit", "-q", "-m", v)
		return native(t, lib, "rev-parse", "HEAD")
	}
	two := next("2")
	three := next("3") // which no ref of the remote has
	native(t, lib, "update-ref", "HEAD", two)
	moved := func(to string) {
		native(t, r.TopLevel(), "update-index", "--cacheinfo", "160000,"+to+",used", "--cacheinfo", "160000,"+to+",unused")
		native(t, r.TopLevel(), "commit", "-qm", "moved")
	}
	moved(two)
	second := native(t, r.TopLevel(), "rev-parse", "HEAD")
	moved(three)
	third := native(t, r.TopLevel(), "rev-parse", "HEAD")

	deaf := filepath.Join(t.TempDir(), "deaf")
	check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	modules := []string{filepath.Join(place, "used"), filepath.Join(place, "used", "inner")}
	for _, module := range modules {
		native(t, module, "config", "protocol.file.allow", "always")
		native(t, module, "config", "remote.origin.uploadpack", deaf)
	}
	native(t, r.TopLevel(), "config", "liza.networktimeout", "1")
	check(t, r.Worktree(place).CheckOutModules(ctx))
	check(t, r.Worktree(place).CheckoutDetached(ctx, plumbing.OID(second)))
	for _, module := range modules {
		if err := r.Worktree(place).CheckOutModules(ctx); !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) {
			t.Errorf("%s has a silent remote: %v", module, err)
		}
		native(t, module, "config", "--unset", "remote.origin.uploadpack")
		native(t, modules[0], "fetch", "-q", "--no-recurse-submodules", lib, "HEAD:refs/remotes/origin/next")
	}
	native(t, r.TopLevel(), "config", "--unset", "liza.networktimeout")
	stray := func(when string, want ...string) {
		t.Helper()
		testrun.EqualSlices(t, must[[]string](t)(r.Worktree(place).StrayModules(ctx)), want, "%s", when)
	}
	for commit, v := range map[string]string{string(first): "1\n", second: "2\n", third: "3\n"} {
		writeIn(t, place, "used/v", "changed\n")
		writeIn(t, place, "used/left", "left\n")
		check(t, r.Worktree(place).CheckoutDetached(ctx, plumbing.OID(commit)))
		check(t, r.Worktree(place).CheckOutModules(ctx))
		stray(v)
		if inside := readIn(t, place, "used/inner/v"); inside != min(v, "2\n") {
			t.Errorf("inside it has %q beside %q", inside, v)
		}
		if got := string(must[[]byte](t)(os.ReadFile(filepath.Join(place, "used/v")))); got != v || exists(filepath.Join(place, "used/left")) || exists(filepath.Join(place, "unused/v")) {
			t.Errorf("it has %q, and should have %q", got, v)
		}
	}
	moved(strings.Repeat("a", 40))
	check(t, r.Worktree(place).CheckoutDetached(ctx, plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD"))))
	stray("at a commit that is nowhere", "used")
	if err := r.Worktree(place).CheckOutModules(ctx); err == nil {
		t.Error("a commit that is nowhere is checked out")
	}
}
