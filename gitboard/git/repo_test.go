package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func resolved(t *testing.T, path string) string {
	t.Helper()
	return must[string](t)(filepath.EvalSymlinks(path))
}

func TestOpen(t *testing.T) {
	ctx, r := scratch(t)
	top := resolved(t, r.TopLevel())
	common := filepath.Join(top, ".git")
	linked := filepath.Join(t.TempDir(), "linked")
	check(t, r.Worktree(linked).Add(ctx, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))))
	linked = resolved(t, linked)
	check(t, os.MkdirAll(filepath.Join(top, "sub", "dir"), 0o777))
	bare := filepath.Join(resolved(t, t.TempDir()), "bare.git")
	testrun.InitRepository(t, bare, true)

	for _, test := range []struct {
		name, dir, common, gitDir, top string
		bare                           bool
	}{
		{"top", top, common, common, top, false},
		{"subdirectory", filepath.Join(top, "sub", "dir"), common, common, top, false},
		{"linked worktree", linked, common, filepath.Join(common, "worktrees", "linked"), linked, false},
		{"git directory", common, common, common, "", false},
		{"bare", bare, bare, bare, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := open(t, ctx, test.dir)
			if r.CommonDir() != test.common || r.GitDir() != test.gitDir || r.TopLevel() != test.top || r.Bare() != test.bare {
				t.Errorf("got %+v, want %+v", r, test)
			}
			if r.Shallow() {
				t.Error("it is not shallow")
			}
		})
	}
	writeIn(t, filepath.Dir(bare), ".git", "gitdir: bare.git\n")
	if open(t, ctx, bare).Bare() {
		t.Error("a .git file beside it leads to a bare repository, and nobody works in it")
	}
}

func TestIsMadeFrom(t *testing.T) {
	ctx, r := scratch(t)
	linked := filepath.Join(t.TempDir(), "linked")
	check(t, r.Worktree(linked).Add(ctx, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))))
	apart := t.TempDir()
	native(t, apart, "init", "-q", "--separate-git-dir=../apart.git", "work")
	work := filepath.Join(apart, "work")
	for _, test := range []struct {
		from, dir string
		want      bool
	}{
		{r.TopLevel(), r.TopLevel(), true},
		{linked, r.TopLevel(), true},
		{linked, linked, false},
		{r.TopLevel(), work, false},
		{work, work, true},
		{work, r.TopLevel(), false},
		{work, filepath.Join(apart, "missing"), false},
		{work, "", false},
	} {
		testrun.Equal(t, open(t, ctx, test.from).IsMadeFrom(test.dir), test.want, "repository of %s, directory %s", test.from, test.dir)
	}
	t.Chdir(r.TopLevel())
	if open(t, ctx, r.TopLevel()).IsMadeFrom("") {
		t.Error("no directory stands for the current one")
	}
}

func TestOpenFails(t *testing.T) {
	ctx := sandbox(t)
	dir, left := t.TempDir(), t.TempDir()
	testrun.Check(t, os.MkdirAll(filepath.Join(left, ".git"), 0o755))
	for _, dir := range []string{dir, filepath.Join(dir, "missing"), left} {
		if _, err := Open(ctx, dir); !errors.Is(err, ErrNotRepository) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
	native(t, dir, "init", "-q", "--object-format=sha256")
	var unsupported *UnsupportedError
	if _, err := Open(ctx, dir); !errors.As(err, &unsupported) {
		t.Errorf("sha256: got %v", err)
	}
	below := filepath.Join(dir, "below", "it")
	check(t, errors.Join(os.MkdirAll(below, 0o755), os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[broken\n"), 0o644)))
	for _, dir := range []string{dir, below, filepath.Join(dir, ".git")} {
		if _, err := Open(ctx, dir); errors.Is(err, ErrNotRepository) || child.ExitCode(err) != child.Died {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

func TestShallow(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "a.txt", "more\n")
	commitAll(t, r, "second")
	clone := filepath.Join(t.TempDir(), "clone")
	native(t, t.TempDir(), "clone", "-q", "--depth=1", "file://"+r.TopLevel(), clone)
	s := open(t, ctx, clone)
	if !s.Shallow() {
		t.Error("a clone of depth 1 is shallow")
	}
	base := must[plumbing.OID](t)(s.ResolveCommit(ctx, "HEAD"))
	write(t, s, "b.txt", "b\n")
	ours := commitAll(t, s, "ours")
	native(t, clone, "checkout", "-q", "--detach", string(base))
	write(t, s, "c.txt", "c\n")
	if _, conflicts, err := s.History().MergeTree(ctx, ours, commitAll(t, s, "theirs")); err != nil || len(conflicts) > 0 {
		t.Errorf("a merge in it: %v, %v", conflicts, err)
	}
}

// TestEnvironment covers hooks and aliases of git, which set environment variables.
func TestEnvironment(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "x")[0]
	rubbish := filepath.Join(t.TempDir(), "rubbish")
	for _, key := range []string{
		"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_CONFIG",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_EXTERNAL_DIFF",
	} {
		t.Setenv(key, rubbish)
	}
	t.Setenv("GIT_LITERAL_PATHSPECS", "1")
	if o := must[[]plumbing.Object](t)(r.batch.Ask(ctx, []string{string(id)}))[0]; o.OID != id {
		t.Errorf("cat-file: %v", o)
	}
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/x", New: id}}, ""))
	write(t, r, "b.txt", "b")
	if entries := must[[]StatusEntry](t)(r.Worktree(r.TopLevel()).Status(ctx)); len(entries) != 1 || !entries[0].Untracked() {
		t.Errorf("status: %v", entries)
	}
	must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "snap", ada))
	check(t, r.Settings().Set(ctx, "liza.x", "y"))
	store(t, ctx, r, "written below objects")
	if _, err := os.Lstat(rubbish); !os.IsNotExist(err) {
		t.Error("something was written where GIT_* pointed")
	}
	apart := t.TempDir()
	given := gitenv.With(ctx, append(gitenv.List{"GIT_OBJECT_DIRECTORY=" + apart}, r.environ...))
	store(t, ctx, open(t, given, r.TopLevel()), "y")
	if left := must[[]os.DirEntry](t)(os.ReadDir(apart)); len(left) > 0 {
		t.Errorf("outside of a push, %v was written where GIT_OBJECT_DIRECTORY pointed", left)
	}
}

func TestQuarantine(t *testing.T) {
	ctx, r := scratch(t)
	quarantine := t.TempDir()
	t.Setenv("GIT_QUARANTINE_PATH", quarantine)
	t.Setenv("GIT_OBJECT_DIRECTORY", quarantine)
	t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", filepath.Join(r.CommonDir(), "objects"))
	inside := open(t, ctx, r.TopLevel())
	id := string(store(t, ctx, inside, "quarantined")[0])
	must[plumbing.Object](t)(inside.Object(ctx, id))
	must[plumbing.Object](t)(inside.Object(ctx, "HEAD"))
	if _, err := os.Lstat(filepath.Join(quarantine, id[:2], id[2:])); err != nil {
		t.Error(err)
	}
	objects := many(packFrom)
	check(t, inside.WriteObjects(ctx, objects))
	if exists(inside.Upkeep().KeptDir()) {
		t.Error("what may be refused is kept")
	}
	must[plumbing.Object](t)(inside.Object(ctx, string(objects[1].OID)))
	for dir, packs := range map[string]int{quarantine: 1, filepath.Join(r.CommonDir(), "objects"): 0} {
		if found := must[[]string](t)(filepath.Glob(filepath.Join(dir, "pack", "*.pack"))); len(found) != packs {
			t.Errorf("of many objects %s has the packs %q", dir, found)
		}
	}
}

// TestSeparateWorkTree covers GIT_DIR and GIT_WORK_TREE, which allow a worktree without .git.
func TestSeparateWorkTree(t *testing.T) {
	ctx, r := scratch(t)
	tree := resolved(t, t.TempDir())
	t.Setenv("GIT_DIR", r.GitDir())
	t.Setenv("GIT_WORK_TREE", tree)
	apart := open(t, ctx, tree)
	os.Unsetenv("GIT_DIR")
	os.Unsetenv("GIT_WORK_TREE")
	if apart.TopLevel() != tree {
		t.Fatalf("top level %s", apart.TopLevel())
	}
	entries := must[[]StatusEntry](t)(apart.Worktree(tree).Status(ctx))
	if len(entries) != 1 || entries[0] != (StatusEntry{Code: " D", Path: "a.txt"}) {
		t.Errorf("status: %v", entries)
	}
}

func TestVersion(t *testing.T) {
	ctx := sandbox(t)
	check(t, RequireVersion(ctx))
	for said, want := range map[string][2]int{
		"git version 2.39.5 (Apple Git-154)": {2, 39},
		"git version 2.45.1.windows.1\n":     {2, 45},
		"git version 3.0.rc0":                {3, 0},
	} {
		major, minor, _, err := parseVersion(said)
		if err != nil || [2]int{major, minor} != want {
			t.Errorf("%q: got %d.%d, %v", said, major, minor, err)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	ctx, r := scratch(t)
	var failed *CommandError
	t.Setenv("GIT_CONFIG_PARAMETERS", "rubbish")
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &failed) || errors.Is(err, ErrNotRepository) {
		t.Errorf("settings: got %v", err)
	}
	os.Unsetenv("GIT_CONFIG_PARAMETERS")
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &failed) || errors.Is(err, ErrNotRepository) {
		t.Errorf("GIT_DIR: got %v", err)
	}
	os.Unsetenv("GIT_DIR")
	broken := filepath.Join(t.TempDir(), "a\nb")
	native(t, t.TempDir(), "init", "-q", broken)
	bare := filepath.Join(t.TempDir(), "a\nb.git")
	native(t, t.TempDir(), "init", "-q", "--bare", bare)
	for _, dir := range []string{broken, bare} {
		var unsupported *UnsupportedError
		if _, err := Open(ctx, dir); !errors.As(err, &unsupported) {
			t.Errorf("%q: got %v", dir, err)
		}
	}
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	var foreign *ForeignError
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &foreign) || foreign.Dir != resolved(t, r.TopLevel()) {
		t.Errorf("of another owner: got %v", err)
	}
}

// TestBrokenHead checks that a HEAD that git can't use is named, in any kind of git directory.
func TestBrokenHead(t *testing.T) {
	ctx, r := scratch(t)
	main, bare, linked := r.TopLevel(), filepath.Join(t.TempDir(), "bare.git"), filepath.Join(t.TempDir(), "linked")
	native(t, main, "clone", "-q", "--bare", main, bare)
	native(t, main, "worktree", "add", "-q", "--detach", linked)
	for dir, gitDir := range map[string]string{main: r.CommonDir(), linked: records.LinkedDir(linked), bare: bare} {
		sound := readIn(t, gitDir, "HEAD")
		for text, want := range map[string]string{"": "is missing or empty", "ref: foo\n": "names no branch"} {
			writeIn(t, gitDir, "HEAD", text)
			if _, err := Open(ctx, dir); err == nil || !strings.Contains(err.Error(), filepath.Join(gitDir, "HEAD")) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: %v", dir, text, err)
			}
		}
		check(t, os.Remove(filepath.Join(gitDir, "HEAD")))
		writeIn(t, gitDir, "HEAD", sound)
		open(t, ctx, dir)
	}
}

// TestMovedRepository: what writes to a repository that is moved away meanwhile does not take its
// old place, so that it can come back.
func TestMovedRepository(t *testing.T) {
	ctx, r := scratch(t)
	queue := filepath.Join(r.common, "liza", "hooks", "sequence")
	file := testrun.Must(r.OpenQueue(queue))(t)
	check(t, file.Close())
	check(t, os.Rename(r.common, r.common+".away"))
	if _, err := r.OpenQueue(queue); err == nil {
		t.Error("a queue could be opened")
	}
	if err := r.WriteObjects(ctx, []plumbing.Object{plumbing.NewObject(plumbing.BlobObject, []byte("a word\n"))}); err == nil {
		t.Error("an object could be written")
	}
	if _, err := os.Stat(r.common); !os.IsNotExist(err) {
		t.Errorf("the old place: %v, not %v", err, fs.ErrNotExist)
	}
	check(t, os.Rename(r.common+".away", r.common))
}
