package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/find"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// limit sets one of this process's limits, which its children inherit, until the function that it
// returns is called.
func limit(t *testing.T, resource int, most uint64) (lift func()) {
	t.Helper()
	var was syscall.Rlimit
	check(t, syscall.Getrlimit(resource, &was))
	check(t, syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: was.Max}))
	lift = sync.OnceFunc(func() { check(t, syscall.Setrlimit(resource, &was)) })
	t.Cleanup(lift)
	return lift
}

// apart is set for a test in a process of its own: go test writes files, too.
const apart = "GITIO_TEST_APART"

// TestNoRoom lets no file grow, as on a full disk: what is written reports that, leaves nothing
// behind, and succeeds once there is room.
func TestNoRoom(t *testing.T) {
	if os.Getenv(apart) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestNoRoom$")
		cmd.Env = append(os.Environ(), apart+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	linked := claim(t, ctx, r, "one")
	writeIn(t, r.common, "info/exclude", "before\n")
	check(t, os.MkdirAll(r.Upkeep().KeptDir(), 0o755))
	check(t, disk.Replace(filepath.Join(r.common, "whole"), []byte("whole")))
	writeIn(t, r.common, "refs/heads/broken", "")
	small, large := blob("x"), plumbing.NewObject(plumbing.BlobObject, make([]byte, 2*4096))
	for name, write := range map[string]func() error{
		"WriteObjects": func() error { return r.WriteObjects(ctx, []plumbing.Object{small}) },
		"ReplaceBroken": func() error {
			return r.ReplaceBroken(ctx, &BrokenRefError{Ref: "refs/heads/broken", Text: ""}, head)
		},
		"many, no copy":  func() error { return r.write(ctx, many(packFrom)) },
		"small, no copy": func() error { return r.writeLoose(ctx, []plumbing.Object{blob("y")}) },
		"large, no copy": func() error { return r.writeLoose(ctx, []plumbing.Object{large}) },
		"SetConfig":      func() error { return r.Settings().Set(ctx, "liza.x", "y") },
		"EditConfigFile": func() error {
			return r.Settings().Edit(func(text []byte) ([]byte, error) { return append(text, "# x\n"...), nil })
		},
		"Exclude":             func() error { return r.Settings().Exclude("after") },
		"UpdateRefs":          func() error { return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/x", New: head}}, "") },
		"index of a worktree": func() error { _, err := r.Worktree(linked).Snapshot(ctx, "m", ada); return err },
	} {
		before := filesBelow(t, r.common)
		lift := limit(t, syscall.RLIMIT_FSIZE, 0)
		err := write()
		lift()
		if !errors.As(err, new(*StorageError)) {
			t.Errorf("%s: %v", name, err)
		}
		left := slices.DeleteFunc(filesBelow(t, r.common), func(path string) bool {
			name := filepath.Base(path)
			return slices.Contains(before, path) || name == "looked-after" || strings.HasPrefix(name, "tmp_pack_") // git's, until the next gc
		})
		if len(left) > 0 {
			t.Errorf("%s leaves %q", name, left)
		}
		check(t, write())
	}
	check(t, r.writeLoose(ctx, []plumbing.Object{small}))
	lift := limit(t, syscall.RLIMIT_FSIZE, 0)
	testrun.ErrorIs(t, loose.Write(r.objectDir(), small), nil, "an object that is there already")
	err := disk.Replace(filepath.Join(r.common, "whole"), []byte("half of it"))
	lift()
	if got := readIn(t, r.common, "whole"); !errors.Is(err, syscall.EFBIG) || got != "whole" {
		t.Errorf("a file that can't be replaced: %q, %v", got, err)
	}
}

// filesBelow lists the files below a directory.
func filesBelow(t *testing.T, dir string) (files []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// TestGoneDirectory checks that a relative path in a directory that has been removed is an error, or
// no repository, and never taken for one elsewhere.
func TestGoneDirectory(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	gone := t.TempDir()
	t.Chdir(gone)
	check(t, os.Remove(gone))
	if find.Meant(gitenv.List{}, "x") {
		t.Error("a repository is meant")
	}
	for name, err := range map[string]error{
		"status of a worktree": second(r.Worktree("x").Status(ctx)),
		"add a worktree":       r.Worktree("x").Add(ctx, head),
		"remove a worktree":    r.worktreeCommand(ctx, "remove", nil, "x"),
	} {
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoGit checks that each way to start git reports that it is missing.
func TestNoGit(t *testing.T) {
	ctx, r := scratch(t)
	there := must[*Repo](t)(Open(ctx, r.TopLevel()))
	t.Cleanup(func() { check(t, there.Close()) })
	t.Setenv("PATH", t.TempDir())
	for name, err := range map[string]error{
		"open":   second(Open(ctx, r.TopLevel())),
		"run":    second(there.ResolveCommit(ctx, "HEAD")),
		"read":   second(there.Object(ctx, "HEAD")),
		"update": there.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/x", New: blob("x").OID}}, ""),
		"talk":   (&Remote{Name: "hub", repo: there, patience: networkPatience}).Push(ctx, nil),
	} {
		if !errors.As(err, new(*UnsupportedError)) || errors.As(err, new(*NetworkError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	testrun.Equal(t, (&Remote{Name: "hub", repo: there}).Upload(ctx, []LargeFile{{"x", "1"}}), ErrNoLFS, "without git-lfs")
}

// TestUnwritableRefs: where only the refs, or their reflogs, may not be written to, that is said, as
// for the repository.
func TestUnwritableRefs(t *testing.T) {
	for _, dir := range []string{"refs/heads", "logs/refs/heads"} {
		t.Run(dir, func(t *testing.T) {
			ctx, r := scratch(t)
			head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
			fixed := filepath.Join(r.common, filepath.FromSlash(dir))
			if err := exec.Command("chattr", "+i", fixed).Run(); err != nil {
				t.Skip("nothing can be made immutable here: ", err)
			}
			loosen := sync.OnceFunc(func() { check(t, exec.Command("chattr", "-i", fixed).Run()) })
			t.Cleanup(loosen)
			err := r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/new", New: head}}, "a new one")
			storage := (*StorageError)(nil)
			if !errors.As(err, &storage) || storage.Dir != fixed || !strings.Contains(err.Error(), "it is read-only here") {
				t.Errorf("%v", err)
			}
			loosen()
			check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/new", New: head}}, "a new one"))
		})
	}
}

// asNobody gives a directory away to a user without rights of its own, and makes this thread use
// files as that user would, for as long as the test lasts. The directory becomes the current one,
// since that user may not be allowed to look at those above it. Unless root runs the test, it does
// no more than that.
func asNobody(t *testing.T, dir string) {
	t.Helper()
	const nobody = 65534
	t.Chdir(dir)
	if os.Geteuid() != 0 {
		return
	}
	check(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	runtime.LockOSThread()
	check(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		check(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

// TestRemoveTree removes what Go's module cache is like: files in directories that nobody may write
// to, or even list. What a link leads to stays as it is.
func TestRemoveTree(t *testing.T) {
	dir := t.TempDir()
	tree, other := filepath.Join(dir, "tree"), filepath.Join(dir, "other")
	check(t, os.MkdirAll(other, 0o755))
	check(t, os.Chmod(other, 0o555))
	writeIn(t, tree, "mod/pkg@v1/below/x.go", "x")
	writeIn(t, tree, "hidden/x", "x")
	check(t, os.Symlink("../../other", filepath.Join(tree, "mod", "link")))
	for name, mode := range map[string]fs.FileMode{"mod/pkg@v1/below": 0o555, "mod/pkg@v1": 0o555, "mod": 0o555, "hidden": 0} {
		check(t, os.Chmod(filepath.Join(tree, filepath.FromSlash(name)), mode))
	}
	asNobody(t, dir)
	tree, other = filepath.Base(tree), filepath.Base(other)
	if err := os.RemoveAll(tree); err == nil {
		t.Fatal("nothing is in the way")
	}
	check(t, disk.RemoveTree(tree))
	if exists(tree) {
		t.Error("it is still there")
	}
	if info := must[os.FileInfo](t)(os.Stat(other)); info.Mode().Perm() != 0o555 {
		t.Errorf("what the link leads to is %s", info.Mode())
	}
	check(t, disk.RemoveTree(tree)) // what is gone is no error
}
