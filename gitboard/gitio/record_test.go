package gitio

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestLostHead checks which contents of HEAD count as lost, and what is written in their place.
func TestLostHead(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := must[string](t)(r.worktreeGitDir(ctx, path))
	commit := must[git.OID](t)(r.ResolveCommit(ctx, "main"))
	for text, lost := range map[string]bool{"": true, "\n": true, "refs/heads/x\n": true, "ref: refs/heads/x\n": false, string(commit) + "\n": false, string(commit)[:20]: true} {
		writeIn(t, record, "HEAD", text)
		if got := r.LostHead(path); got != lost {
			t.Errorf("%q: lost is %v", text, got)
		}
		check(t, r.RestoreHead(path, "refs/heads/y", commit))
		if got := readIn(t, record, "HEAD"); lost != (got == "ref: refs/heads/y\n") || !lost && got != text {
			t.Errorf("%q: restored as %q", text, got)
		}
	}
	writeIn(t, record, "HEAD", "")
	check(t, r.RestoreHead(path, "", commit))
	if got := readIn(t, record, "HEAD"); got != string(commit)+"\n" {
		t.Errorf("restored as %q", got)
	}
	head := readIn(t, r.CommonDir(), "HEAD")
	writeIn(t, r.CommonDir(), "HEAD", "")
	check(t, r.RestoreHead(r.TopLevel(), "refs/heads/y", commit))
	if r.LostHead(r.TopLevel()) || readIn(t, r.CommonDir(), "HEAD") != "" {
		t.Error("the main worktree is taken for a linked one")
	}
	writeIn(t, r.CommonDir(), "HEAD", head)
}

// TestCrossed checks when a worktree's .git file names the record of another worktree.
func TestCrossed(t *testing.T) {
	ctx, r := scratch(t)
	one, two := claim(t, ctx, r, "one"), claim(t, ctx, r, "two")
	is := func(when, path, want string) {
		t.Helper()
		if got := r.Crossed(path); got != want {
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
	record := must[string](t)(r.worktreeGitDir(ctx, two))
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
