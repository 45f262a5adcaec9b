package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestLostHead checks which contents of HEAD count as lost.
func TestLostHead(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := must[string](t)(r.Worktree(path).gitDir(ctx))
	commit := must[plumbing.OID](t)(r.ResolveCommit(ctx, "main"))
	for text, lost := range map[string]bool{"": true, "\n": true, "refs/heads/x\n": true, "ref: refs/heads/x\n": false, string(commit) + "\n": false, string(commit)[:20]: true} {
		writeIn(t, record, "HEAD", text)
		if got := r.Worktree(path).LostHead(); got != lost {
			t.Errorf("%q: lost is %v", text, got)
		}
	}
	head := readIn(t, r.CommonDir(), "HEAD")
	writeIn(t, r.CommonDir(), "HEAD", "")
	if r.Worktree(r.TopLevel()).LostHead() {
		t.Error("the main worktree is taken for a linked one")
	}
	writeIn(t, r.CommonDir(), "HEAD", head)
}

// TestRecordsOfWorktrees checks which records count as damaged or nameless, which worktree a record
// belongs to, and that it can be completed.
func TestRecordsOfWorktrees(t *testing.T) {
	ctx, r := scratch(t)
	one, two := claim(t, ctx, r, "one"), claim(t, ctx, r, "two")
	first, second := LinkedDir(one), LinkedDir(two)
	writeIn(t, r.common, "worktrees/file", "x") // no record
	is := func(when string, damaged, nameless []string) {
		t.Helper()
		if got := r.Records().Damaged(); !slices.Equal(got, damaged) {
			t.Errorf("%s: %q are damaged, not %q", when, got, damaged)
		}
		if got := r.Records().Nameless(); !slices.Equal(got, nameless) {
			t.Errorf("%s: %q are nameless, not %q", when, got, nameless)
		}
	}
	of := func(when, record, want string, among ...string) {
		t.Helper()
		if got := r.Records().WorktreeOf(record, among); got != want {
			t.Errorf("%s: it belongs to %q, not to %q", when, got, want)
		}
	}
	is("at first", nil, nil)
	of("at first", first, one)
	link := readIn(t, first, "gitdir")
	for _, text := range []string{"", "../nowhere\n", t.TempDir() + "\n"} {
		writeIn(t, first, "commondir", text)
		is(fmt.Sprintf("with %q", text), []string{first}, nil)
	}
	check(t, os.Remove(filepath.Join(first, "commondir")))
	is("without a commondir", []string{first}, nil)
	for _, text := range []string{"", filepath.Dir(link) + "\n"} {
		writeIn(t, first, "gitdir", text)
		is(fmt.Sprintf("with %q", text), []string{first}, []string{first})
		of("which is not said", first, "")
		of("which only the worktree says", first, one, two, one)
	}
	check(t, r.Records().Complete(first, one))
	is("completed", nil, nil)
	if native(t, one, "status", "--porcelain") != "" || readIn(t, first, "gitdir") != link {
		t.Error("git can't use the worktree")
	}
	relative := must[string](t)(filepath.Rel(first, filepath.Join(one, ".git"))) + "\n"
	writeIn(t, first, "gitdir", relative)
	check(t, r.Records().Complete(first, one))
	if got := readIn(t, first, "gitdir"); got != relative {
		t.Errorf("%q was as good as %q", relative, got)
	}
	stored := (*StorageError)(nil)
	if err := r.Records().Complete(filepath.Join(r.common, "worktrees", "gone"), one); !errors.As(err, &stored) {
		t.Errorf("a record that is gone: %v", err)
	}
	// The record names a place that is another worktree's by now, a repository, or nothing any more.
	writeIn(t, first, "gitdir", filepath.Join(two, ".git")+"\n")
	of("in the place of another", first, "")
	of("in the place of another", second, two)
	writeIn(t, first, "gitdir", link)
	writeIn(t, one, ".git", "gitdir: "+second+"\n")
	of("whose worktree names another's", first, one)
	check(t, os.Remove(filepath.Join(one, ".git")))
	of("without a link", first, one)
	check(t, os.Mkdir(filepath.Join(one, ".git"), 0o755))
	of("in the place of a repository", first, "")
	check(t, os.RemoveAll(one))
	of("gone", first, one)
}

// TestBegunRecord checks which records nobody has worked with, and what the HEAD of one was.
func TestBegunRecord(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := LinkedDir(path)
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	headIs := func(want plumbing.OID) {
		t.Helper()
		if got, err := RecordedHead(record); err != nil || got != want {
			t.Errorf("its HEAD is %q, not %q: %v", got, want, err)
		}
	}
	logged := plumbing.OID(strings.Repeat("1", 40))
	writeIn(t, record, "logs/HEAD", fmt.Sprintf("%s %s Ada <ada@example.org> 1 +0000\tcommit: x\n", head, logged))
	headIs(head)
	for _, text := range []string{"ref: refs/heads/one\n", "", string(plumbing.ZeroOID) + "\n"} {
		writeIn(t, record, "HEAD", text)
		headIs(logged)
	}
	if OnlyBegun(record) || OnlyBegun(record+"-none") {
		t.Error("somebody has worked with it")
	}
	begun := filepath.Join(r.common, "worktrees", "begun")
	for _, name := range []string{"HEAD", "commondir", "gitdir", "locked"} {
		writeIn(t, begun, name, "x")
	}
	if !OnlyBegun(begun) {
		t.Error("nobody has worked with it")
	}
}

// TestOriginal checks that a copy of a repository knows the original, whose worktrees are live, and
// that a repository of its own does not.
func TestOriginal(t *testing.T) {
	ctx, r := scratch(t)
	one := claim(t, ctx, r, "one")
	is := func(when string, r *Repo, want string, paths ...string) {
		t.Helper()
		if got := r.Records().Original(paths...); got != want {
			t.Errorf("%s: %q, not %q", when, got, want)
		}
	}
	is("the original", r, "", one, r.TopLevel(), filepath.Join(one, "none"))
	dir := filepath.Join(t.TempDir(), "copy")
	check(t, os.CopyFS(dir, os.DirFS(r.TopLevel())))
	copied := open(t, ctx, dir)
	is("a copy", copied, r.CommonDir())
	check(t, os.RemoveAll(filepath.Join(copied.CommonDir(), "worktrees")))
	is("a copy without records", copied, "")
	is("a copy without records, asked for a worktree", copied, r.CommonDir(), copied.TopLevel(), one)
	check(t, os.RemoveAll(filepath.Join(LinkedDir(one), "gitdir")))
	is("a worktree that is not recorded", copied, "", one)
	writeIn(t, LinkedDir(one), "gitdir", filepath.Join(one, "gone", ".git")+"\n")
	is("a worktree that is recorded elsewhere", copied, "", one)
	writeIn(t, LinkedDir(one), "gitdir", filepath.Join(one, ".git")+"\n")
	check(t, os.Rename(copied.CommonDir(), copied.CommonDir()+"-moved"))
	is("a copy that is gone", copied, "", one)
}

// TestCrossed checks when a worktree's .git file names the record of another worktree.
func TestCrossed(t *testing.T) {
	ctx, r := scratch(t)
	one, two := claim(t, ctx, r, "one"), claim(t, ctx, r, "two")
	is := func(when, path, want string) {
		t.Helper()
		if got := r.Worktree(path).Crossed(); got != want {
			t.Errorf("%s: %q, not %q", when, got, want)
		}
	}
	own, other := readIn(t, one, ".git"), readIn(t, two, ".git")
	is("each names its own", one, "")
	writeIn(t, one, ".git", other)
	is("the neighbour's", one, two)
	is("one's own, which the neighbour names too", two, "")
	writeIn(t, one, ".git", "gitdir: "+t.TempDir()+"\n")
	is("of no repository", one, "")
	writeIn(t, one, ".git", "gitdir: "+r.CommonDir()+"\n")
	is("the repository's", one, "")
	check(t, os.Remove(filepath.Join(one, ".git")))
	check(t, os.Link(filepath.Join(two, ".git"), filepath.Join(one, ".git")))
	is("the same file", one, "")
	check(t, os.Remove(filepath.Join(one, ".git")))
	writeIn(t, one, ".git", other)
	record := must[string](t)(r.Worktree(two).gitDir(ctx))
	back := readIn(t, record, "gitdir")
	writeIn(t, record, "gitdir", two+"\n")
	is("the record names a directory", one, "")
	writeIn(t, record, "gitdir", back)
	writeIn(t, two, ".git", own)
	is("the neighbour names this one's", one, "")
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

// TestUnfinishedRecord checks that a record whose HEAD git has not written to the end is finished by
// the next command that git refuses for it, and not while a git may still be writing it.
func TestUnfinishedRecord(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells who is left")
	}
	ctx, r := scratch(t)
	claim(t, ctx, r, "one")
	record := filepath.Join(r.common, "worktrees", "one")
	head, long := filepath.Join(record, "HEAD"), time.Now().Add(-time.Hour)
	check(t, os.WriteFile(head, []byte(string(plumbing.ZeroOID)+"\n"), 0o644))
	check(t, os.Chtimes(head, long, long))
	all := r.command("rev-list", "rev-list", "--all", "--count")
	r.patience.Watch = 2 * time.Hour
	if err := all.Run(ctx); child.ExitCode(err) != child.Died || len(r.Records().Unfinished()) != 1 {
		t.Errorf("it may be being written: %v, %q", err, r.Records().Unfinished())
	}
	r.patience.Watch = time.Minute
	if err := all.Run(ctx); err != nil || len(r.Records().Unfinished()) != 0 {
		t.Errorf("%v, %q", err, r.Records().Unfinished())
	}
	main := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	if line, _ := plainFile(head); line != string(main) {
		t.Errorf("it is at %q, not at %s", line, main)
	}
	check(t, r.Records().Finish(ctx, record))
	check(t, os.Rename(head, head+"-away"))
	if got := r.Records().Unfinished(); len(got) > 0 {
		t.Errorf("a lost HEAD is not finished: %q", got)
	}
	check(t, os.Rename(head+"-away", head))
	// From another worktree, and from the very one, it is the same.
	two := claim(t, ctx, r, "two")
	native(t, two, "commit", "-q", "--allow-empty", "-m", "another")
	for _, at := range []string{two, filepath.Join(r.TopLevel(), ".worktrees", "one")} {
		from := open(t, ctx, at)
		check(t, os.WriteFile(head, []byte(string(plumbing.ZeroOID)+"\n"), 0o644))
		check(t, os.Chtimes(head, long, long))
		if err := from.command("rev-list", "rev-list", "--all", "--count").Run(ctx); err != nil {
			t.Errorf("in %s: %v", at, err)
		}
		if line, _ := plainFile(head); line != string(main) {
			t.Errorf("finished in %s, it is at %q, not at %s", at, line, main)
		}
	}
}
