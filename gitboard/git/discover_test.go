package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/find"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestDiscover compares what discover finds with what git finds. Where git alone can tell, discover
// must find nothing.
func TestDiscover(t *testing.T) {
	ctx, r := scratch(t)
	top := resolved(t, r.TopLevel())
	at := func(elements ...string) string { return filepath.Join(append([]string{top}, elements...)...) }
	apart := resolved(t, t.TempDir())
	for _, args := range [][]string{
		{"init", "-q", "--separate-git-dir=../apart.git", "work"}, {"init", "-q", "--bare", "bare"}, {"init", "-q", "--object-format=sha256", "sha"},
		{"init", "-q", "moved"}, {"-C", "moved", "config", "core.worktree", "../work"}, {"init", "-q", "said"}, {"-C", "said", "config", "core.bare", "true"},
		{"init", "-q", "own"}, {"-C", "own", "config", "extensions.worktreeConfig", "true"}, {"init", "-q", "headless"}, {"init", "-q", "flat"}, {"init", "-q", "half"},
		{"init", "-q", "later"}, {"-C", "later", "config", "core.repositoryFormatVersion", "2"}, {"init", "-q", "--bare", "shared"},
		{"init", "-q", "--bare", "unsaid"}, {"-C", "unsaid", "config", "--unset", "core.bare"}, {"init", "-q", "--bare", "treed"}, {"-C", "treed", "config", "core.worktree", "../work"},
	} {
		native(t, apart, args...)
	}
	linked := filepath.Join(apart, "linked")
	check(t, errors.Join(
		r.Worktree(linked).Add(ctx, must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))), os.MkdirAll(at("sub", "dir"), 0o777),
		os.Symlink(at("sub"), filepath.Join(apart, "link")), os.MkdirAll(at("empty", ".git"), 0o777),
		os.WriteFile(filepath.Join(apart, "headless", ".git", "HEAD"), []byte("nothing\n"), 0o666),
		os.RemoveAll(filepath.Join(apart, "flat", ".git", "refs")), os.WriteFile(filepath.Join(apart, "flat", ".git", "refs"), nil, 0o666),
		os.RemoveAll(filepath.Join(apart, "half", ".git", "refs")), os.MkdirAll(filepath.Join(apart, "lost"), 0o777),
		os.CopyFS(filepath.Join(apart, "record"), os.DirFS(filepath.Join(apart, "own", ".git"))),
		os.WriteFile(filepath.Join(apart, "record", "commondir"), []byte("none\n"), 0o666),
		os.WriteFile(filepath.Join(apart, "shared", "commondir"), []byte("../bare\n"), 0o666),
		os.WriteFile(filepath.Join(apart, "lost", ".git"), []byte("gitdir: ../record\n"), 0o666),
		os.MkdirAll(filepath.Join(apart, "astray"), 0o777), os.WriteFile(filepath.Join(apart, "astray", ".git"), []byte("gitdir: "+filepath.Join(apart, "nowhere")+"\n"), 0o666),
		os.MkdirAll(filepath.Join(apart, "byLink"), 0o777), os.Symlink(r.GitDir(), filepath.Join(apart, "byLink", ".git")),
	))
	in := func(dir string) string { return filepath.Join(apart, dir) }
	t.Chdir(at(".git")) // whatever this process's directory has
	for _, test := range []struct {
		dir   string
		found bool
		env   []string
	}{
		{top, true, nil}, {at("sub", "dir"), true, nil}, {in("link"), true, nil}, {linked, true, nil}, {in("work"), true, nil},
		{at("empty"), false, nil}, {at(".git"), false, nil}, {at(".git", "objects"), false, nil}, {in("bare"), false, nil}, {apart, false, nil},
		{in("sha"), false, nil}, {in("moved"), false, nil}, {in("said"), false, nil}, {in("own"), false, nil}, {in("headless"), false, nil},
		{in("byLink"), false, nil}, {in("missing"), false, nil}, {in("flat"), false, nil}, {in("astray"), false, nil}, {in("half"), false, nil}, {in("later"), false, nil}, {in("lost"), false, nil},
		{top, true, []string{"GIT_DIR=" + in("bare")}}, {in("bare"), true, []string{"GIT_DIR=."}}, {in("bare"), false, []string{"GIT_DIR="}},
		{apart, true, []string{"GIT_DIR=bare"}}, {in("bare"), false, []string{"GIT_DIR=.", "GIT_WORK_TREE=" + top}}, {in("unsaid"), false, []string{"GIT_DIR=."}},
		{in("shared"), false, []string{"GIT_DIR=."}}, {in("treed"), false, []string{"GIT_DIR=."}}, {top, false, []string{"GIT_DIR=.git"}}, {linked, false, []string{"GIT_DIR=" + at(".git", "worktrees", "linked")}}, {at("sub"), false, []string{"GIT_CEILING_DIRECTORIES=" + top}},
		{top, false, []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}},
	} {
		ctx := gitenv.With(ctx, append(os.Environ(), test.env...))
		found := find.Discover(ctx, test.dir, gitenv.Of(ctx))
		if (found != nil) != test.found {
			t.Errorf("%s, %v: found %+v", test.dir, test.env, found)
		}
		if found == nil {
			continue
		}
		asked, err := ask(ctx, test.dir)
		if err != nil || found.Top != asked.top || found.GitDir != asked.gitDir || found.Common != asked.common || found.Bare != asked.bare {
			t.Errorf("%s: found %+v, git finds %+v (%v)", test.dir, found, asked, err)
		}
	}
	t.Chdir(in("bare"))
	if got := find.Discover(ctx, "", gitenv.List{"GIT_DIR=missing"}); got != nil {
		t.Errorf("a directory that is missing is found: %+v", got)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if find.Discover(ended, top, nil) != nil {
		t.Error("it continues after its context has ended")
	}
}

// TestDiscoverOwner: a repository of another user is left to git, which refuses it.
func TestDiscoverOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	ctx, r := scratch(t)
	top := resolved(t, r.TopLevel())
	for _, path := range []string{top, filepath.Join(top, ".git")} {
		check(t, os.Lchown(path, 12345, -1))
		if find.Discover(ctx, top, nil) != nil {
			t.Errorf("%s is another user's", path)
		}
		check(t, os.Lchown(path, 0, -1))
	}
	if find.Discover(ctx, top, nil) == nil {
		t.Error("nothing found")
	}
}
