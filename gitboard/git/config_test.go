package git

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

func TestConfig(t *testing.T) {
	ctx, r := scratch(t)
	if value, found, err := r.Settings().Get(ctx, "liza.none"); value != "" || found || err != nil {
		t.Errorf("got %q %t %v", value, found, err)
	}
	for _, want := range []string{"one", "", " two\nlines \n", "-x"} {
		native(t, r.TopLevel(), "config", "--add", "liza.key", "another")
		check(t, r.Settings().Set(ctx, "liza.key", want))
		if value, found, err := r.Settings().Get(ctx, "liza.key"); value != want || !found || err != nil {
			t.Errorf("got %q %t %v, want %q", value, found, err, want)
		}
	}
	var failed *CommandError
	if err := r.Settings().Set(ctx, "nosection", "x"); !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	for _, setting := range [][2]string{{"liza.cli.Command", "old"}, {"liza.cli.command", " two\nlines"}, {"liza.cli.x.install", "other"}, {"lizaxcli.model", "other"}} {
		native(t, r.TopLevel(), "config", "--add", setting[0], setting[1])
	}
	asGit(t, r.TopLevel(), "config")
	writeIn(t, r.CommonDir(), "config.lock", "")
	edit := func([]byte) ([]byte, error) { return nil, nil }
	for _, err := range []error{hurry(r).Settings().Set(ctx, "liza.key", "x"), r.Settings().Edit(edit)} {
		if !errors.Is(err, ErrBusy) || errors.As(err, new(*StorageError)) {
			t.Errorf("got %v", err)
		}
	}
	t.Setenv("GIT_CONFIG_COUNT", "1") // as git -c does for its children
	t.Setenv("GIT_CONFIG_KEY_0", "liza.key")
	t.Setenv("GIT_CONFIG_VALUE_0", "given")
	if value, _, err := r.Settings().Get(ctx, "liza.key"); value != "given" || err != nil {
		t.Errorf("from the command line: %q %v", value, err)
	}
	for section, want := range map[string]map[string]string{"liza.cli": {"command": " two\nlines"}, "liza": {"key": "given"}, "liza.none": {}} {
		if got, err := r.Settings().Section(ctx, section); err != nil || !maps.Equal(got, want) {
			t.Errorf("the section %s is %q, %v", section, got, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	ctx, r := scratch(t)
	t.Setenv("GIT_AUTHOR_NAME", "Grace <Hopper>")
	who, author := must[plumbing.Signature](t)(r.Settings().Identity(ctx)), must[plumbing.Signature](t)(r.Settings().Author(ctx))
	if who.Name != ada.Name || who.Email != ada.Email || who.When.IsZero() {
		t.Errorf("Identity: %+v", who)
	}
	if author.Name != "Grace Hopper" {
		t.Errorf("Author: %+v", author)
	}
	os.Unsetenv("GIT_COMMITTER_NAME")
	os.Unsetenv("GIT_COMMITTER_EMAIL")
	check(t, r.Settings().Set(ctx, "user.useConfigOnly", "true"))
	var failed *CommandError
	if who, err := r.Settings().Identity(ctx); !errors.As(err, &failed) {
		t.Errorf("nobody: %+v %v", who, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	ctx, r := scratch(t)
	top := r.TopLevel()
	expect := func(want string) {
		t.Helper()
		if got := must[string](t)(r.History().DefaultBranch(ctx)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	expect("main")
	native(t, top, "checkout", "-q", "-b", "trunk/x")
	expect("trunk/x")
	native(t, top, "checkout", "-q", "--detach")
	expect("main")
	native(t, top, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk/x")
	expect("trunk/x")
	native(t, top, "branch", "-m", "trunk/x", "other")
	native(t, top, "branch", "-m", "main", "master")
	expect("master")
	native(t, top, "branch", "-m", "master", "third")
	if _, err := r.History().DefaultBranch(ctx); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
	native(t, top, "checkout", "-q", "third")
	native(t, top, "worktree", "add", "-q", filepath.Join(t.TempDir(), "linked"), "other")
	expect("third")
}

func TestExclude(t *testing.T) {
	_, r := scratch(t)
	path := filepath.Join(r.CommonDir(), "info", "exclude")
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	check(t, os.WriteFile(path, []byte("# mine\r\n.liza/"), 0o666))
	for range 2 {
		check(t, r.Settings().Exclude(".worktrees/", ".liza/"))
	}
	if got := readIn(t, filepath.Dir(path), "exclude"); got != "# mine\r\n.liza/\n.worktrees/\n" {
		t.Errorf("got %q", got)
	}
	check(t, r.Settings().Include(".liza/", ".worktrees/"))
	if got := readIn(t, filepath.Dir(path), "exclude"); got != "# mine\r\n" {
		t.Errorf("without our lines: %q", got)
	}
	before := must[os.FileInfo](t)(os.Stat(path))
	if check(t, r.Settings().Include(".liza/")); !os.SameFile(before, must[os.FileInfo](t)(os.Stat(path))) {
		t.Error("a file without our lines is written")
	}
	check(t, os.WriteFile(path, []byte("x"), 0o666))
	if check(t, r.Settings().Exclude("x")); readIn(t, filepath.Dir(path), "exclude") != "x" {
		t.Error("a file that has the line already is changed")
	}
	check(t, errors.Join(os.RemoveAll(filepath.Dir(path)), r.Settings().Include("x"), r.Settings().Exclude("x")))
	if got := readIn(t, filepath.Dir(path), "exclude"); got != "x\n" {
		t.Errorf("without a directory: %q", got)
	}
	fails := func(how, where string) {
		t.Helper()
		storage := (*StorageError)(nil)
		if err := r.Settings().Exclude("y"); !errors.As(err, &storage) || storage.Dir != where || errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", how, err)
		}
	}
	check(t, errors.Join(os.Remove(path), os.Symlink("none/exclude", path)))
	fails("a link into no directory", filepath.Dir(path))
	check(t, errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o666)))
	fails("below a file", filepath.Dir(path))
	check(t, os.Rename(r.common, r.common+".away"))
	fails("a repository that was moved", r.common)
	if exists(r.common) {
		t.Error("its old place is taken")
	}
}

func TestErrors(t *testing.T) {
	commit := blob("x").OID
	damaged := "objects of the history of " + commit.Short() + " are missing or damaged"
	for want, err := range map[string]error{
		"git worktree add failed (exit 128): it is there already":        &CommandError{Op: "worktree add", Exit: 128, Stderr: "warning: x\nfatal: it is there already\nhint: do not\n\n"},
		"git x failed (exit 1)":                                          &CommandError{Op: "x", Exit: 1, Stderr: "hint: x\n"},
		"git x did not finish: why":                                      &CommandError{Op: "x", Exit: -1, Stderr: "fatal: y\n", Err: errors.New("why")},
		"the ref refs/x is broken: its file is empty":                    &BrokenRefError{Ref: "refs/x"},
		`the ref refs/x is broken: it leads to "abc", which is not here`: &BrokenRefError{Ref: "refs/x", Text: "abc"},
		damaged:                         &DamagedError{Commit: commit},
		damaged + " (why)":              &DamagedError{Commit: commit, Err: errors.New("why")},
		damaged + ": " + string(commit): &DamagedError{Commit: commit, Err: errors.New("why"), Object: commit},
		damaged + ": a.go (" + string(commit) + ")": &DamagedError{Commit: commit, Object: commit, Path: "a.go"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, not %q", got, want)
		}
	}
}

// TestIncludedWithin checks where git includes the file: in the repository and its worktrees, and
// not in repositories of submodules, which are others, wherever git keeps them.
func TestIncludedWithin(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	file := filepath.Join(t.TempDir(), "included")
	writeIn(t, filepath.Dir(file), "included", "[liza]\n\ttest = yes\n")
	t.Setenv(gitenv.ParametersVar, gitenv.AddSettings("", gitenv.IncludeWithin(r.CommonDir(), file)...))
	for dir, want := range map[string]string{
		r.TopLevel(): "yes",
		path:         "yes",
		filepath.Join(r.CommonDir(), "modules", "lib"):                   "no",
		filepath.Join(records.LinkedDir(path), "modules", "lib"):         "no",
		filepath.Join(records.LinkedDir(path), "modules", "deep", "lib"): "no",
	} {
		if !exists(dir) {
			native(t, r.TopLevel(), "init", "-q", "--bare", dir)
		}
		if got := native(t, dir, "config", "--default=no", "--get", "liza.test"); got != want {
			t.Errorf("%s: %s, not %s", dir, got, want)
		}
	}
}
