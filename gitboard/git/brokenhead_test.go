package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestBrokenHead checks that a HEAD that git can't use is named, wherever a command runs, and what
// was checked out.
func TestBrokenHead(t *testing.T) {
	ctx, r := scratch(t)
	main, bare := r.TopLevel(), filepath.Join(t.TempDir(), "bare.git")
	native(t, main, "clone", "-q", "--bare", main, bare)
	native(t, main, "branch", "one")
	native(t, main, "checkout", "-q", "-b", "a/b")
	linked := filepath.Join(t.TempDir(), "linked")
	native(t, main, "worktree", "add", "-q", linked, "one")
	own, at := LinkedDir(linked), string(must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD")))
	for name, c := range map[string]struct{ gitDir, dir, branch string }{
		"the main worktree":                       {r.CommonDir(), main, "refs/heads/a/b"},
		"the main worktree, seen from another":    {r.CommonDir(), linked, "refs/heads/a/b"},
		"another worktree":                        {own, linked, ""},
		"a bare repository, which has no reflogs": {bare, bare, ""},
	} {
		path := filepath.Join(c.gitDir, "HEAD")
		sound := readIn(t, c.gitDir, "HEAD")
		for _, text := range []string{"", "garbage\n", "ref: foo\n", strings.Repeat("z", 40) + "\n", "none"} {
			check(t, os.Remove(path))
			if text != "none" {
				check(t, os.WriteFile(path, []byte(text), 0o644))
			} else {
				text = ""
			}
			found := (*HeadError)(nil)
			if _, err := Open(ctx, c.dir); !errors.As(err, &found) || found.Path != path || found.Text != text || found.Branch != c.branch {
				t.Errorf("%s, %q: %v, %+v", name, text, err, found)
			}
			check(t, os.RemoveAll(path))
			check(t, os.WriteFile(path, []byte(sound), 0o644))
		}
		open(t, ctx, c.dir)
		for _, text := range []string{"ref:refs/heads/a/b\n", "ref:\t refs/heads/a/b", at, at + " \n"} { // git takes these as well
			check(t, os.WriteFile(path, []byte(text), 0o644))
			open(t, ctx, c.dir)
		}
		check(t, os.WriteFile(path, []byte(sound), 0o644))
	}
	check(t, os.RemoveAll(filepath.Join(main, ".git", "HEAD")))
	check(t, os.Symlink("refs/heads/unborn", filepath.Join(main, ".git", "HEAD")))
	open(t, ctx, main)
	if err := checkHead(r.CommonDir()); err != nil {
		t.Errorf("a link to a branch without a commit: %v", err)
	}
}

// TestLastBranch checks which branch a reflog of HEAD says was checked out last.
func TestLastBranch(t *testing.T) {
	moved := func(said string) string {
		return strings.Repeat("1", 40) + " " + strings.Repeat("2", 40) + " Ada <ada@example.org> 1 +0000\t" + said + "\n"
	}
	for log, want := range map[string]string{
		"": "", moved("commit: x"): "", moved("checkout: moving from a to b"): "refs/heads/b",
		moved("checkout: moving from a to b") + moved("checkout: moving from b to c") + moved("commit: x"): "refs/heads/c",
		moved("checkout: moving from a to "):                           "",
		moved("checkout: moving from a"):                               "",
		moved("checkout: moving from a to " + strings.Repeat("1", 40)): "",
		moved("checkout: moving from a to v1~2"):                       "",
	} {
		dir := t.TempDir()
		writeIn(t, dir, "logs/HEAD", log)
		if got := lastBranch(dir); got != want {
			t.Errorf("%q: %q, not %q", log, got, want)
		}
	}
}

// TestHeadSentences checks that a HEAD that is empty is not quoted.
func TestHeadSentences(t *testing.T) {
	for text, want := range map[string]string{
		" \n": "git can't use this repository: HEAD is missing or empty",
		"x":   `git can't use this repository: HEAD, "x", names no branch and no commit`,
	} {
		if got := (&HeadError{Path: "HEAD", Text: text}).Error(); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
