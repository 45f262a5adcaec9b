package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestAdvanceCutInHalf covers a full disk or a killed git that left the files new or partly written
// and the index old. Resume completes the update, and does not take any other file for one that was
// written already. Without knowing of the interruption, nothing is overwritten.
func TestAdvanceCutInHalf(t *testing.T) {
	ctx, r := scratch(t)
	old := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	path := claim(t, ctx, r, "one")
	writeIn(t, path, "a.txt", "new\n")
	writeIn(t, path, "dir/added", "new\n")
	writeIn(t, path, "dir/other", "new\n")
	next := plumbing.OID(testrun.CommitAll(t, path, "next"))
	top := r.TopLevel()
	write(t, r, "a.txt", "new\n")
	write(t, r, "dir/added", "new\n")
	write(t, r, "dir/other", "a human's\n")
	if overlap := must[[]string](t)(r.Worktree(top).CanAdvance(ctx, old, next)); strings.Join(overlap, "|") != "a.txt|dir/added|dir/other" {
		t.Errorf("in the way: %q", overlap)
	}
	if overlap := must[[]string](t)(r.Worktree(top).Resume(ctx, old, next)); strings.Join(overlap, "|") != "dir/other" {
		t.Errorf("in the way of a second try: %q", overlap)
	}
	native(t, top, "diff", "--cached", "--exit-code", string(old))
	check(t, os.Remove(filepath.Join(top, "dir", "other")))
	// A killed git has removed a.txt in order to rewrite it, and written only the first bytes of
	// another file.
	check(t, os.Remove(filepath.Join(top, "a.txt")))
	write(t, r, "dir/added", "ne")
	write(t, r, "dir/other", "")
	if err := r.Worktree(top).Advance(ctx, old, next); err == nil {
		t.Error("it overwrote the beginning of a file, which may be a human's")
	}
	if overlap, err := r.Worktree(top).Resume(ctx, old, next); overlap != nil || err != nil {
		t.Errorf("in the way: %q, %v", overlap, err)
	}
	native(t, top, "diff", "--cached", "--exit-code", string(next))
	native(t, top, "diff", "--exit-code", string(next))
}

// TestAdvanceBesideSubmodules: even with submodule.recurse, a submodule that lacks its new commit is not
// in the way, unless somebody has staged another one, and a new one is not checked out. Their files
// stay.
func TestAdvanceBesideSubmodules(t *testing.T) {
	ctx, r := scratch(t)
	top, lib := r.TopLevel(), filepath.Join(t.TempDir(), "lib")
	check(t, os.Mkdir(lib, 0o755))
	native(t, lib, "init", "-q")
	writeIn(t, lib, "lib.txt", "one\n")
	testrun.CommitAll(t, lib, "one")
	native(t, top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "lib")
	native(t, top, "config", "submodule.recurse", "true")
	old := commitAll(t, r, "with a submodule")
	path := claim(t, ctx, r, "one")
	writeIn(t, path, "a.txt", "new\n")
	writeIn(t, path, ".gitmodules", readIn(t, path, ".gitmodules")+"[submodule \"more\"]\n\tpath = more\n\turl = "+lib+"\n")
	commit := "160000," + strings.Repeat("1", 40) + ","
	native(t, path, "update-index", "--add", "--cacheinfo", commit+"lib", "--cacheinfo", commit+"more")
	native(t, path, "add", "a.txt", ".gitmodules")
	native(t, path, "commit", "-q", "-m", "next")
	next := plumbing.OID(native(t, path, "rev-parse", "HEAD"))
	if overlap, err := r.Worktree(top).CanAdvance(ctx, old, next); overlap != nil || err != nil {
		t.Fatalf("in the way: %q, %v", overlap, err)
	}
	check(t, r.Worktree(top).Advance(ctx, old, next))
	native(t, top, "diff", "--cached", "--exit-code", string(next))
	native(t, top, "-c", "submodule.recurse=false", "reset", "-q", "--hard", string(old))
	native(t, top, "update-ref", "HEAD", string(next))
	write(t, r, "a.txt", "new\n") // and git was killed
	native(t, top, "update-index", "--cacheinfo", "160000,"+strings.Repeat("2", 40)+",lib")
	if overlap := must[[]string](t)(r.Worktree(top).Resume(ctx, old, next)); strings.Join(overlap, "|") != "lib" {
		t.Errorf("in the way of what is staged: %q", overlap)
	}
	native(t, top, "reset", "-q", string(old), "lib")
	if overlap, err := r.Worktree(top).Resume(ctx, old, next); overlap != nil || err != nil {
		t.Errorf("in the way: %q, %v", overlap, err)
	}
	native(t, top, "diff", "--cached", "--exit-code", string(next))
	if found := must[[]string](t)(r.Worktree(top).StrayModules(ctx)); strings.Join(found, "|") != "lib" {
		t.Errorf("stray: %q", found)
	}
	if readIn(t, top, "lib/lib.txt") != "one\n" || exists(filepath.Join(top, "more", ".git")) {
		t.Error("a file of a submodule is gone, or a new one is checked out")
	}
}

func TestAdvance(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude(".worktrees/"))
	write(t, r, "mine.txt", "mine\n")
	old := commitAll(t, r, "second")
	path := claim(t, ctx, r, "one")
	writeIn(t, path, "a.txt", "new\n")
	writeIn(t, path, "dir/added", "new\n")
	next := plumbing.OID(testrun.CommitAll(t, path, "next"))
	top := r.TopLevel()
	can := func(want ...string) {
		t.Helper()
		before := native(t, top, "status", "--porcelain")
		overlap := must[[]string](t)(r.Worktree(top).CanAdvance(ctx, old, next))
		testrun.Equal(t, strings.Join(overlap, "|"), strings.Join(want, "|"), "overlap: %q, want %q", overlap, want)
		if len(want) > 0 {
			var failed *CommandError
			if err := r.Worktree(top).Advance(ctx, old, next); !errors.As(err, &failed) {
				t.Errorf("it advanced: %v", err)
			}
		}
		testrun.Equal(t, before, native(t, top, "status", "--porcelain"), "something changed")
	}

	write(t, r, "mine.txt", "a human's edit\n")
	write(t, r, "untracked", "x")
	can()
	write(t, r, "a.txt", "in the way\n")
	can("a.txt")
	native(t, top, "add", "a.txt")
	can("a.txt")
	write(t, r, "a.txt", "new\n")
	can("a.txt") // what is staged is in the way
	native(t, top, "reset", "-q", "--hard")
	write(t, r, "mine.txt", "a human's edit\n")
	write(t, r, "dir/added", "in the way\n")
	can("dir/added")
	check(t, os.RemoveAll(filepath.Join(top, "dir")))
	write(t, r, "dir", "a file where a directory will be\n")
	can("dir")
	check(t, os.Remove(filepath.Join(top, "dir")))

	// A changed time alone is not a change.
	later := time.Now().Add(time.Hour)
	check(t, os.Chtimes(filepath.Join(top, "a.txt"), later, later))
	can()

	asGit(t, top, "commit")
	writeIn(t, r.GitDir(), "index.lock", "")
	hurry(r)
	if _, err := r.Worktree(top).CanAdvance(ctx, old, next); !errors.Is(err, ErrBusy) {
		t.Errorf("locked: %v", err)
	}
	testrun.ErrorIs(t, r.Worktree(top).Advance(ctx, old, next), ErrBusy, "locked")
	check(t, os.Remove(filepath.Join(r.GitDir(), "index.lock")))
	check(t, r.Worktree(top).busy(ctx))
	testrun.ErrorIs(t, r.Worktree(t.TempDir()).busy(ctx), ErrNotRepository, "the index of no worktree")

	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/main", Old: old, New: next}}, "land"))
	check(t, r.Worktree(top).Advance(ctx, old, next))
	if readIn(t, top, "a.txt") != "new\n" || readIn(t, top, "mine.txt") != "a human's edit\n" {
		t.Error("files are wrong")
	}
	testrun.Equal(t, native(t, top, "status", "--porcelain"), " M mine.txt\n?? untracked", "status")
}

// TestIsBegun checks which files count as written in part: never one that can't be read.
func TestIsBegun(t *testing.T) {
	ctx, r := scratch(t)
	for _, name := range []string{"whole", "part", "gone", "other", "link", "dir", "proc/mem"} {
		write(t, r, name, "content\n")
	}
	head := commitAll(t, r, "files")
	top := r.TopLevel()
	for _, name := range []string{"gone", "link", "dir", "proc"} {
		check(t, os.RemoveAll(filepath.Join(top, name)))
	}
	write(t, r, "part", "cont")
	write(t, r, "other", "contents\n")
	write(t, r, "dir/file", "content\n")
	write(t, r, "added", "")
	check(t, errors.Join(os.Symlink("whole", filepath.Join(top, "link")), os.Symlink("/proc/self", filepath.Join(top, "proc"))))
	cases := map[string]string{
		"whole": "true <nil>", "part": "true <nil>", "gone": "true <nil>", "other": "false <nil>", "link": "false <nil>",
		"dir": "false <nil>", "whole/below": "false <nil>", "added": "false <nil>",
	}
	if exists("/proc/self/mem") {
		cases["proc/mem"] = "false read " + filepath.Join(top, "proc/mem") + ": input/output error"
	}
	for name, want := range cases {
		is, err := r.Worktree(top).isBegun(ctx, head, name)
		testrun.Equal(t, fmt.Sprint(is, " ", err), want, "%s", name)
	}
	instead(t, "kill -9 $$")
	if is, err := r.Worktree(top).isBegun(ctx, head, "part"); is || !Unfinished(err) {
		t.Errorf("git was killed, and it is %v, %v", is, err)
	}
}
