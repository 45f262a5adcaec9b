package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestHeadAgrees checks that the HEAD read from git's files equals what git reports for a worktree.
func TestHeadAgrees(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "tâche un")
	detached := must[plumbing.OID](t)(r.ResolveCommit(ctx, "main"))
	states := []struct {
		name   string
		make   func()
		head   plumbing.OID
		branch string
	}{
		{"detached", func() {}, detached, ""},
		{"on a branch", func() { native(t, path, "checkout", "-q", "-b", "task/un") }, detached, "refs/heads/task/un"},
		{"packed", func() { native(t, path, "pack-refs", "--all") }, detached, "refs/heads/task/un"},
		{"beside a tag of the same name", func() { native(t, path, "tag", "refs/heads/task/un", "HEAD") }, detached, "refs/heads/task/un"},
		{"unborn", func() { native(t, path, "symbolic-ref", "HEAD", "refs/heads/to-come") }, plumbing.ZeroOID, "refs/heads/to-come"},
	}
	for _, s := range states {
		s.make()
		if head, branch, known := r.Worktree(path).plainHead(ctx); head != s.head || branch != s.branch || !known {
			t.Errorf("%s: plainHead: %q %q %v", s.name, head, branch, known)
		}
		if c := must[Checkout](t)(r.Worktree(path).Checkout(ctx)); c.Head != s.head || c.Branch != s.branch {
			t.Errorf("%s: Checkout: %q %q", s.name, c.Head, c.Branch)
		}
	}
	for _, text := range []string{"", "ref: refs/heads/.invalid\n", "ref: refs/bisect/bad\n", string(plumbing.ZeroOID) + "\n", "1234567890123456789012345678901234567890\n"} {
		check(t, os.WriteFile(filepath.Join(r.CommonDir(), "worktrees", "tâche-un", "HEAD"), []byte(text), 0o666))
		if head, branch, known := r.Worktree(path).plainHead(ctx); known {
			t.Errorf("HEAD is %q: %q %q", text, head, branch)
		}
	}
}

// TestCheckoutOfBrokenBranch: a worktree whose branch is broken is not one full of new files.
func TestCheckoutOfBrokenBranch(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	native(t, path, "checkout", "-q", "-b", "task/one")
	for _, text := range []string{"", "garbage\n", "1234567890123456789012345678901234567890\n"} {
		check(t, os.WriteFile(filepath.Join(r.CommonDir(), "refs", "heads", "task", "one"), []byte(text), 0o666))
		c, err := r.Worktree(path).Checkout(ctx)
		if broken := (*BrokenRefError)(nil); !errors.As(err, &broken) || broken.Ref != "refs/heads/task/one" {
			t.Errorf("the branch is %q: %+v, %v", text, c, err)
		}
	}
}

func TestOwns(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	_, other := scratch(t)
	for where, want := range map[string]bool{path: true, path + "/.": true, r.TopLevel(): false, filepath.Dir(path): false, path + "-not": false} {
		testrun.Equal(t, r.Records().Owns(where), want, "%s: %v", where, !want)
	}
	if other.Records().Owns(path) {
		t.Error("another repository owns it, too")
	}
	// The .git file of a copy points here, but git has no worktree at that path.
	copied := path + "-copied"
	check(t, os.Mkdir(copied, 0o777))
	check(t, os.WriteFile(filepath.Join(copied, ".git"), []byte(readIn(t, path, ".git")), 0o666))
	if r.Records().Owns(copied) {
		t.Error("a copy is taken for the worktree")
	}
	if err := r.Worktree(copied).Move(ctx, path+"-moved"); err == nil || !r.Records().Owns(path) || !exists(copied) {
		t.Errorf("a copy is moved, and takes the record over: %v", err)
	}
}

func TestParseStatus(t *testing.T) {
	const id = "1234567890123456789012345678901234567890"
	c := plumbing.ParseStatus([]string{
		"# branch.oid " + id, "# branch.head task/un",
		"1 .M N... 100644 100644 100644 " + id + " " + id + " a file  with blanks",
		"1 A. N... 000000 100644 100644 " + id + " " + id + " new",
		"1 .M SCMU 160000 160000 160000 " + id + " " + id + " module",
		"u UU N... 100644 100644 100644 100644 " + id + " " + id + " " + id + " both sides",
		"? not known/",
	})
	want := []StatusEntry{{Code: " M", Path: "a file  with blanks"}, {Code: "A ", Path: "new"}, {Code: " M", Path: "module"}, {Code: "UU", Path: "both sides"}, {Code: "??", Path: "not known/"}}
	if c.Head != id || c.Branch != "refs/heads/task/un" || len(c.Dirty) != len(want) {
		t.Fatalf("%+v", c)
	}
	for i, e := range c.Dirty {
		testrun.Equal(t, e, want[i], "the value")
	}
	other := strings.Repeat("a", 40) // a branch may be called so
	if c := plumbing.ParseStatus([]string{"# branch.oid " + id, "# branch.head " + other}); c.Head != id || c.Branch != "refs/heads/"+other {
		t.Errorf("%+v", c)
	}
}

// TestIgnored checks that ignored files, but no links, are kept and copied, and replace none.
func TestIgnored(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude("*.env", "made/"))
	for _, name := range []string{"local.env", "b.env", "made/run"} {
		write(t, r, name, name)
	}
	check(t, os.Symlink(t.TempDir(), filepath.Join(r.TopLevel(), "made", "linked")))
	check(t, os.Symlink("local.env", filepath.Join(r.TopLevel(), "link.env")))
	check(t, os.Chmod(filepath.Join(r.TopLevel(), "made", "run"), 0o755))
	w := r.Worktree(r.TopLevel())
	files := must[[]IgnoredFile](t)(w.Ignored(ctx, func(string) bool { return false }))
	kept := must[plumbing.OID](t)(w.KeepIgnored(ctx, files, "m", ada))
	testrun.Equal(t, native(t, r.TopLevel(), "ls-tree", "-r", "--format=%(objectmode) %(path)", string(kept)), "100644 b.env\n100644 local.env\n100755 made/run", "kept")
	to := t.TempDir()
	writeIn(t, to, "b.env", "theirs")
	testrun.EqualSlices(t, must[[]string](t)(w.CopyIgnored(ctx, to, func(string) bool { return true })), []string{"local.env", "made/run"}, "copied")
	for name, perm := range map[string]os.FileMode{"local.env": 0o600, "made/run": 0o700} {
		if info := must[os.FileInfo](t)(os.Stat(filepath.Join(to, name))); info.Mode().Perm() != perm || readIn(t, to, name) != name {
			t.Errorf("%s is copied as %v", name, info.Mode())
		}
	}
	testrun.Equal(t, readIn(t, to, "b.env"), "theirs", "a file is replaced")
}
