package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
		if got := must[[]string](t)(r.Worktree(place).StrayModules(ctx)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", when, got)
		}
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
