//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// plainly describes what a repository holds besides its branches: its settings, ignored files,
// worktrees, and refs and directories of other programs.
func plainly(p *project) string {
	p.t.Helper()
	var about []string
	for _, name := range []string{".git/config", ".git/info/exclude"} {
		data := testrun.Must(os.ReadFile(filepath.Join(p.dir, name)))(p.t)
		about = append(about, string(data))
	}
	for _, dir := range []string{".", ".git", ".git/hooks"} {
		entries := testrun.Must(os.ReadDir(filepath.Join(p.dir, dir)))(p.t)
		for _, e := range entries {
			if !slices.Contains([]string{"COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "index", "logs", "packed-refs"}, e.Name()) {
				about = append(about, dir+"/"+e.Name())
			}
		}
	}
	about = append(about, p.git("for-each-ref", "--format=%(refname)", "refs"), p.git("worktree", "list", "--porcelain"))
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(about, "\n"), p.dir, "DIR"), p.git("rev-parse", "HEAD"), "HEAD")
}

// TestUninstall: a repository that git liza leaves is as one that never had it, but for integration
// and, with --keep, branches of unmerged work. A person's worktree at the place of a task's stays.
func TestUninstall(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	p.git("remote", "add", "origin", bareHub(p))
	p.git("branch", "integration")
	p.git("push", "-q", "origin", "main", "integration")
	control := &project{t: t, dir: filepath.Join(t.TempDir(), "control"), env: p.env}
	testrun.Check(t, copyTree(p.dir, control.dir, func(_ string, data []byte) []byte { return data }))
	p.must("", "init", "--unattended", "A goal")
	p.must("", "share", "origin")
	p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.must("code-reviewer-1", "merge", "alpha")
	theirs := filepath.Join(".worktrees", "alpha")
	for _, of := range []*project{p, control} {
		of.git("worktree", "add", "-q", "-b", "mine", theirs)
	}
	p.must("", "uninstall", "--yes")
	if got, want := plainly(p), plainly(control); got != want {
		t.Errorf("after uninstall:\n%s\nwant:\n%s", got, want)
	}
	control.git("worktree", "remove", theirs)
	control.git("branch", "-q", "-D", "mine")
	if err := os.Remove(filepath.Join(control.dir, ".worktrees")); err != nil {
		t.Fatal(err)
	}
	p.must("", "uninstall", "--yes") // again, as after an interruption

	p = &project{t: t, dir: filepath.Join(t.TempDir(), "alone"), env: p.env}
	testrun.Check(t, copyTree(control.dir, p.dir, func(_ string, data []byte) []byte { return data }))
	p.must("", "init", "--unattended", "--alone", "--agents", "A goal")
	p.begun("beta")
	refused := func(want string, args ...string) {
		t.Helper()
		if out, errs, code := p.inside(append([]string{"uninstall"}, args...)...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("exit %d: %s%s", code, out, errs)
		}
	}
	refused("work is not merged: beta\nhint: to keep it in branches like kept/beta/1: git liza uninstall --keep", "--yes")
	refused("it takes --yes\nhint: git liza export --log FILE", "--keep")
	if out := p.must("", "uninstall", "--keep", "--yes"); out != "removed: the board, its refs and worktrees, hooks and settings\nthe branch integration stays\nthe branch kept/beta/1 stays\n" {
		t.Error(out)
	}
	for name, text := range halfDone {
		if got := p.git("show", "kept/beta/1:"+name); got != text {
			t.Errorf("%s is %q", name, got)
		}
	}
	p.git("branch", "-q", "-D", "kept/beta/1")
	if got, want := plainly(p), plainly(control); got != want {
		t.Errorf("after uninstall --keep:\n%s\nwant:\n%s", got, want)
	}
}
