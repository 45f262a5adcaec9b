package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// claim adds a detached worktree below the main one.
func claim(t *testing.T, ctx context.Context, r *Repo, name string) string {
	t.Helper()
	path := filepath.Join(r.TopLevel(), ".worktrees", name)
	check(t, r.Worktree(path).Add(ctx, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))))
	return path
}

func TestWorktreeLife(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude(".worktrees/"))
	hook := filepath.Join(r.CommonDir(), "hooks", "post-checkout")
	check(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	check(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o777))
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))

	claimed := claim(t, ctx, r, ".claim-1")
	path := filepath.Join(r.TopLevel(), ".worktrees", "tâche un")
	check(t, r.Worktree(claimed).Move(ctx, path))
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/un", Old: "", New: head}}, ""))
	check(t, r.Worktree(path).AttachHead(ctx, "task/un"))
	commit, branch, err := r.Worktree(path).Head(ctx)
	if err != nil || commit != head || branch != "refs/heads/task/un" {
		t.Errorf("Head: %s %s %v", commit, branch, err)
	}
	list := must[[]WorktreeInfo](t)(r.Worktrees(ctx))
	want := WorktreeInfo{Path: resolved(t, path), Head: head, Branch: "refs/heads/task/un"}
	if len(list) != 2 || !list[0].Main || list[0].Branch != "refs/heads/main" || list[1] != want {
		t.Errorf("Worktrees: %+v", list)
	}
	if entries := must[[]StatusEntry](t)(r.Worktree(r.TopLevel()).Status(ctx)); len(entries) != 0 {
		t.Errorf("the main worktree shows %v", entries)
	}

	other := filepath.Join(r.TopLevel(), ".worktrees", "other")
	writeIn(t, path, "untracked", "x")
	check(t, r.Worktree(path).Remove(ctx))
	native(t, r.TopLevel(), "-c", "core.hooksPath="+os.DevNull, "worktree", "add", "-q", other, "task/un")
	testrun.ErrorIs(t, r.Worktree(other).Move(ctx, r.TopLevel()), fs.ErrExist, "moved into what exists")
	check(t, os.RemoveAll(other))
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); !list[1].Prunable {
		t.Errorf("Worktrees: %+v", list)
	}
	check(t, r.Worktree(other).Remove(ctx))
	check(t, r.Worktree(other).Remove(ctx))
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("Worktrees: %+v", list)
	}
}

// TestLinkInPlace covers a symbolic link in a worktree's place: neither it nor what it leads to is
// taken for the worktree, and what it leads to stays.
func TestLinkInPlace(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	away, link := path+" away", path+" link"
	check(t, os.Rename(path, away))
	check(t, os.Symlink(away, path)) // git knows it by this path
	own := claim(t, ctx, r, "own")
	check(t, os.Symlink(own, link)) // git knows it by its own
	for at, to := range map[string]string{path: away, link: own} {
		if r.Records().Owns(at) || r.Worktree(at).Remove(ctx) == nil || r.Worktree(at).Move(ctx, at+"-moved") == nil {
			t.Errorf("%s is taken for what it leads to", at)
		}
		check(t, r.Worktree(at).Discard(ctx))
		if _, err := os.Lstat(at); err == nil {
			t.Errorf("%s is left", at)
		}
		if _, err := os.Stat(filepath.Join(to, ".git")); err != nil {
			t.Errorf("what it led to is gone: %v", err)
		}
	}
}

// TestForgetNoOthers checks that the record of a worktree whose disk is not mounted stays when
// another worktree is removed: one that is gone, one that was never made, and one that git can't
// remove since a record is damaged.
func TestForgetNoOthers(t *testing.T) {
	ctx, r := scratch(t)
	away, gone := claim(t, ctx, r, "away"), claim(t, ctx, r, "gone")
	away, record := records.LinkedDir(away), records.LinkedDir(gone)
	check(t, os.Rename(filepath.Dir(records.Link(away)), filepath.Join(t.TempDir(), "unmounted")))
	never := gone + " never made"
	check(t, r.Worktree(never).Remove(ctx))
	check(t, r.Worktree(never).Discard(ctx))
	check(t, os.RemoveAll(gone))
	damaged := claim(t, ctx, r, "damaged")
	writeIn(t, records.LinkedDir(damaged), "commondir", "")
	age(t, records.LinkedDir(damaged))
	check(t, r.Worktree(gone).Remove(ctx))
	if !exists(filepath.Join(away, "HEAD")) || exists(record) {
		t.Error("git has forgotten another worktree, or still knows the one that is gone")
	}
}

// TestMoveUnrecorded checks that a worktree stays where it is if the new place can't be written into
// its record: git would empty the record first, and write then. A human's lock is no obstacle, and stays.
func TestMoveUnrecorded(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := records.LinkedDir(path)
	// What is written there does not arrive, as on a full disk.
	check(t, os.Symlink("/dev/full", filepath.Join(record, fmt.Sprintf(".gitdir-%d", os.Getpid()))))
	moved := filepath.Join(filepath.Dir(path), "moved")
	if err := r.Worktree(path).Move(ctx, moved); !errors.As(err, new(*StorageError)) {
		t.Errorf("%v", err)
	}
	if !r.Records().Owns(path) || exists(moved) {
		t.Errorf("the record names %q", records.Link(record))
	}
	check(t, r.Worktree(path).Move(ctx, moved))
	for _, reason := range []string{"mine", ""} {
		path := claim(t, ctx, r, "locked"+reason)
		native(t, r.TopLevel(), "worktree", "lock", "--reason", reason, path)
		check(t, r.Worktree(path).Move(ctx, path+"-moved"))
		check(t, r.Worktree(path+"-moved").Move(ctx, path))
		if got := readIn(t, records.LinkedDir(path), "locked"); strings.TrimSpace(got) != reason || !r.Records().Owns(path) {
			t.Errorf("locked for %q, not for %q", got, reason)
		}
	}
}

// TestKeepNoOthersModules checks that where git has no record of a worktree, nothing is moved: not what
// the current directory happens to have.
func TestKeepNoOthersModules(t *testing.T) {
	ctx, r := scratch(t)
	dir := t.TempDir()
	check(t, os.CopyFS(filepath.Join(dir, "modules", "lib"), os.DirFS(r.common)))
	t.Chdir(dir)
	kept, err := r.Worktree(filepath.Join(dir, "none")).KeepModules(ctx, filepath.Join(t.TempDir(), "to"))
	if kept || err != nil || !exists(filepath.Join(dir, "modules", "lib", "HEAD")) {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// TestDamagedWorktree covers a worktree that lost its .git: the human's checkout, which is in a
// directory above it, must not be used instead.
func TestDamagedWorktree(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	write(t, r, "a.txt", "the human's work")
	breakage := map[string]func() error{
		"missing": func() error { return os.Remove(filepath.Join(path, ".git")) },
		"empty":   func() error { return os.WriteFile(filepath.Join(path, ".git"), nil, 0o666) },
		"empty directory": func() error {
			return errors.Join(os.Remove(filepath.Join(path, ".git")), os.Mkdir(filepath.Join(path, ".git"), 0o777))
		},
	}
	for _, name := range []string{"missing", "empty", "empty directory"} {
		check(t, breakage[name]())
		if err := r.Worktree(path).CheckoutDetached(ctx, head); err == nil {
			t.Errorf("%s: it was checked out", name)
		}
		if _, _, err := r.Worktree(path).Head(ctx); err == nil {
			t.Errorf("%s: it has a HEAD", name)
		}
		if got := readIn(t, r.TopLevel(), "a.txt"); got != "the human's work" {
			t.Fatalf("%s: the human's checkout was touched", name)
		}
	}
}

// TestWorktreeGoneUnderneath checks that commands still work if the worktree they were started in
// is gone.
func TestWorktreeGoneUnderneath(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	inside := open(t, ctx, path)
	check(t, inside.Worktree(path).Remove(ctx))
	id := store(t, ctx, inside, "x")[0]
	check(t, inside.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/x", Old: "", New: id}}, ""))
	must[plumbing.OID](t)(inside.ResolveCommit(ctx, "main"))
	must[plumbing.Signature](t)(inside.Settings().Identity(ctx))
}

func TestUnborn(t *testing.T) {
	ctx := sandbox(t)
	dir := t.TempDir()
	testrun.InitRepository(t, dir, false)
	r := open(t, ctx, dir)
	commit, branch, err := r.Worktree(dir).Head(ctx)
	if err != nil || commit != plumbing.ZeroOID || branch != "refs/heads/main" {
		t.Errorf("Head: %s %s %v", commit, branch, err)
	}
	testrun.Equal(t, must[plumbing.OID](t)(r.Worktree(dir).Snapshot(ctx, "nothing", ada)), plumbing.ZeroOID, "Snapshot of nothing")
	write(t, r, "a", "a")
	first := must[plumbing.Commit](t)(plumbing.DecodeCommit(must[plumbing.Object](t)(r.Object(ctx, string(must[plumbing.OID](t)(r.Worktree(dir).Snapshot(ctx, "first", ada)))))))
	testrun.Equal(t, len(first.Parents), 0, "Snapshot: %+v", first)
}

// TestCheckoutDetached checks that a checkout leaves nothing that git does not ignore, not even
// repositories or an unfinished merge, and everything that it ignores.
func TestCheckoutDetached(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude("cache/"))
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	write(t, r, "a.txt", "theirs\n")
	theirs := commitAll(t, r, "theirs")
	path := filepath.Join(r.TopLevel(), ".worktrees", ".integration")
	check(t, r.Worktree(path).Add(ctx, base))
	writeIn(t, path, "a.txt", "ours\n")
	testrun.CommitAll(t, path, "ours")
	if conflicts := must[[]string](t)(r.Worktree(path).MergeInto(ctx, theirs, "merge", ada)); len(conflicts) != 1 {
		t.Fatalf("conflicts: %v", conflicts)
	}
	writeIn(t, path, "cache/kept", "x")
	writeIn(t, path, "dir/untracked", "x")
	for _, fixture := range []string{"fixture", "deep/fixture", "cache/fixture"} {
		testrun.InitRepository(t, filepath.Join(path, fixture), false)
		writeIn(t, path, fixture+"/file", "text")
	}
	check(t, r.Worktree(path).CheckoutDetached(ctx, theirs))
	for name, want := range map[string]bool{"fixture": false, "deep": false, "dir": false, "cache/fixture/file": true} {
		testrun.Equal(t, exists(filepath.Join(path, name)), want, "%s exists: %v", name, !want)
	}
	commit, branch, err := r.Worktree(path).Head(ctx)
	if err != nil || commit != theirs || branch != "" {
		t.Errorf("Head: %s %s %v", commit, branch, err)
	}
	if readIn(t, path, "a.txt") != "theirs\n" || readIn(t, path, "cache/kept") != "x" {
		t.Error("files are wrong")
	}
	if entries := must[[]StatusEntry](t)(r.Worktree(path).Status(ctx)); len(entries) != 0 {
		t.Errorf("Status: %v", entries)
	}
}

func TestMergeInto(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	check(t, r.Settings().Exclude(".worktrees/"))
	for key, value := range map[string]string{"merge.ff": "only", "commit.gpgSign": "true", "merge.autoStash": "true"} {
		check(t, r.Settings().Set(ctx, key, value))
	}
	merge := func(commit plumbing.OID) []string {
		t.Helper()
		return must[[]string](t)(r.Worktree(path).MergeInto(ctx, commit, "bring integration in", ada))
	}
	write(t, r, "b.txt", "b\n")
	second := commitAll(t, r, "second")
	if conflicts := merge(second); conflicts != nil { // fast-forward
		t.Errorf("conflicts: %v", conflicts)
	}
	if conflicts := merge(second); conflicts != nil { // up to date
		t.Errorf("conflicts: %v", conflicts)
	}
	writeIn(t, path, "né.txt", "ours\n")
	testrun.CommitAll(t, path, "ours")
	write(t, r, "b.txt", "bb\n")
	if conflicts := merge(commitAll(t, r, "third")); conflicts != nil {
		t.Errorf("conflicts: %v", conflicts)
	}
	head, _, err := r.Worktree(path).Head(ctx)
	check(t, err)
	commit := must[plumbing.Commit](t)(plumbing.DecodeCommit(must[plumbing.Object](t)(r.Object(ctx, string(head)))))
	if len(commit.Parents) != 2 || commit.Message != "bring integration in\n" || commit.Committer.Name != ada.Name || !commit.Author.When.Equal(noon) {
		t.Errorf("got %+v", commit)
	}

	var failed *CommandError
	writeIn(t, path, "b.txt", "in the way\n")
	write(t, r, "b.txt", "bbb\n")
	fourth := commitAll(t, r, "fourth")
	if conflicts, err := r.Worktree(path).MergeInto(ctx, fourth, "m", ada); !errors.As(err, &failed) {
		t.Errorf("dirty: %v %v", conflicts, err)
	}
	write(t, r, "né.txt", "theirs\n")
	fifth := commitAll(t, r, "fifth")
	testrun.CommitAll(t, path, "ours again")
	if conflicts := merge(fifth); strings.Join(conflicts, "|") != "b.txt|né.txt" {
		t.Errorf("conflicts: %v", conflicts)
	}
	if conflicts, err := r.Worktree(path).MergeInto(ctx, fifth, "m", ada); !errors.As(err, &failed) {
		t.Errorf("open merge: %v %v", conflicts, err)
	}
}

// TestCheckedOut checks that git is started only for a branch that may be checked out somewhere.
func TestCheckedOut(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	for _, name := range []string{"free", "taken"} {
		native(t, r.TopLevel(), "branch", name, string(head))
	}
	path := filepath.Join(t.TempDir(), "taken")
	native(t, r.TopLevel(), "worktree", "add", "-q", path, "taken")
	check(t, r.Worktree(path+"-detached").Add(ctx, head))
	names := func(ref string) (tops []string) {
		for _, w := range must[[]WorktreeInfo](t)(r.CheckedOut(ctx, ref)) {
			tops = append(tops, filepath.Base(w.Path))
		}
		return tops
	}
	testrun.EqualSlices(t, names("refs/heads/taken"), []string{"taken"}, "taken is checked out in")
	native(t, r.TopLevel(), "symbolic-ref", "refs/heads/other-name", "refs/heads/taken")
	native(t, path, "symbolic-ref", "HEAD", "refs/heads/other-name")
	testrun.EqualSlices(t, names("refs/heads/taken"), []string{"taken"}, "by another name taken is checked out in")
	native(t, path, "symbolic-ref", "HEAD", "refs/heads/taken")
	t.Setenv("PATH", "") // no git can be started after this
	if got := names("refs/heads/free"); len(got) > 0 {
		t.Errorf("free is checked out in %v", got)
	}
	if _, err := r.CheckedOut(ctx, "refs/heads/taken"); err == nil {
		t.Error("git was not asked who has taken: the test shows nothing")
	}
}

// TestWorktreesAtOnce adds, moves, lists and removes worktrees concurrently.
func TestWorktreesAtOnce(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude(".worktrees/"))
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			path := filepath.Join(r.TopLevel(), ".worktrees", fmt.Sprint(i))
			for range 2 {
				_, listed := r.Worktrees(ctx)
				for _, err := range []error{listed, r.Worktree(path).Add(ctx, head), r.Worktree(path).Move(ctx, path+"-b"), r.Worktree(path + "-b").Remove(ctx)} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

// TestMainWorktree checks which directory is listed as the main worktree, wherever the git directory
// is, and from wherever it is asked.
func TestMainWorktree(t *testing.T) {
	dir := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	native(t, dir, "init", "-q", "--separate-git-dir=apart.git", "work")
	native(t, dir, "init", "-q", "--bare", "hub.git")
	native(t, dir, "init", "-q", "--bare", filepath.Join("bare", ".git"))
	_, plain := scratch(t)
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	for _, c := range []struct{ git, main, inside string }{
		{at("apart.git"), at("work"), at("work", "linked")},
		{at("hub.git"), at("hub.git"), at("linked")},
		{at("bare", ".git"), at("bare"), at("bare", "linked")},
		{plain.common, plain.TopLevel(), filepath.Join(plain.TopLevel(), "linked")},
	} {
		in, outside := "--git-dir="+c.git, filepath.Join(t.TempDir(), "outside")
		commit := strings.TrimSpace(native(t, dir, in, "commit-tree", "-m", "first", strings.TrimSpace(native(t, dir, in, "write-tree"))))
		for _, linked := range []string{c.inside, outside} {
			native(t, dir, in, "worktree", "add", "-q", "--detach", linked, commit)
		}
		for _, linked := range []string{c.inside, outside} {
			if all := must[[]WorktreeInfo](t)(open(t, t.Context(), linked).Worktrees(t.Context())); len(all) != 3 || all[0].Path != c.main {
				t.Errorf("asked in %s: %+v, not %s first", linked, all, c.main)
			}
		}
	}
}

// age has a record look as if no process was writing it.
func age(t *testing.T, record string) {
	t.Helper()
	then := time.Now().Add(-LockAge)
	check(t, os.Chtimes(record, then, then))
}

// TestUnwrittenRecord checks that a record that a crash left empty results in an error that names it
// and not in endless retries.
func TestUnwrittenRecord(t *testing.T) {
	ctx, r := scratch(t)
	claim(t, ctx, r, "one")
	record := filepath.Join(r.CommonDir(), "worktrees", "one", "commondir")
	check(t, os.WriteFile(record, nil, 0o666))
	lists := func(when string) {
		t.Helper()
		damaged := (*DamagedRecordError)(nil)
		if _, err := r.Worktrees(ctx); child.ExitCode(err) != 128 || !errors.As(err, &damaged) || damaged.Path != filepath.Dir(record) {
			t.Errorf("%s: got %v", when, err)
		}
	}
	age(t, filepath.Dir(record))
	lists("an old record")
	if check(t, os.Remove(record)); !r.unwritten() {
		t.Error("a record without the file is complete")
	}
	instead(t, "exit 128")
	lists("one that may be being written")
	if age(t, filepath.Dir(record)); r.unwritten() {
		t.Error("an old record is being written")
	}
}

// TestCheckoutDetachedOfASparseWorktree checks that a worktree which was made from a sparse one, or
// made sparse later, gets all files of a commit, those that were left out before among them.
func TestCheckoutDetachedOfASparseWorktree(t *testing.T) {
	for name, sparse := range map[string][]string{"patterns": {"set", "--no-cone", "/in/"}, "a sparse index": {"set", "--cone", "--sparse-index", "in"}} {
		t.Run(name, func(t *testing.T) {
			ctx, r := scratch(t)
			for _, file := range []string{"in/a", "out/deep/b", "out/c"} {
				writeIn(t, r.TopLevel(), file, "first\n")
			}
			first := commitAll(t, r, "first")
			writeIn(t, r.TopLevel(), "out/c", "second\n")
			second := commitAll(t, r, "second")
			place := filepath.Join(t.TempDir(), "place")
			check(t, r.Worktree(place).Add(ctx, first))
			is := func(when string, want bool) {
				t.Helper()
				testrun.Equal(t, must[bool](t)(r.Worktree(place).Sparse(ctx)), want, "%s: sparse", when)
				if !want && (!exists(filepath.Join(place, "out/deep/b")) || strings.Contains(native(t, place, "ls-files", "-t"), "S ")) {
					t.Errorf("%s: files are missing: %s", when, native(t, place, "ls-files", "-t"))
				}
			}
			is("made from a whole one", false)
			native(t, r.TopLevel(), append([]string{"sparse-checkout"}, sparse...)...)
			check(t, r.Worktree(place).Remove(ctx))
			check(t, r.Worktree(place).Add(ctx, first))
			is("made from a sparse one", true)
			check(t, r.Worktree(place).CheckoutDetached(ctx, first))
			is("checked out", false)
			native(t, place, append([]string{"sparse-checkout"}, sparse...)...)
			is("made sparse", true)
			check(t, r.Worktree(place).CheckoutDetached(ctx, second))
			is("checked out again", false)
			testrun.Equal(t, native(t, place, "status", "--porcelain"), "", "it has changes")
			if exists(filepath.Join(r.TopLevel(), "out/deep/b")) {
				t.Error("the main worktree is not sparse any more")
			}
		})
	}
}
