package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/child"
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

// fewFiles lets this process open only so many more files at once.
func fewFiles(t *testing.T, free int) (lift func()) {
	t.Helper()
	var open []*os.File
	lifted := limit(t, syscall.RLIMIT_NOFILE, 256)
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		open = append(open, file)
	}
	for i := range free {
		open[i].Close()
	}
	return func() {
		lifted()
		for _, file := range open[free:] {
			file.Close()
		}
	}
}

// TestFewFiles lets each file that a call opens be one too many. The call fails then, or does as
// well as with enough of them; and when there are enough again, it succeeds.
func TestFewFiles(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	linked := claim(t, ctx, r, "one")
	writeIn(t, linked, "added", "x\n")
	native(t, r.TopLevel(), "branch", "packed")
	native(t, r.TopLevel(), "pack-refs", "--all", "--no-prune")
	check(t, os.Remove(filepath.Join(r.common, "refs", "heads", "packed")))
	big := plumbing.NewObject(plumbing.BlobObject, make([]byte, 2*4096))
	for name, call := range map[string]func(r *Repo) (any, error){
		"Open": func(r *Repo) (any, error) {
			r, err := Open(ctx, r.TopLevel())
			if err != nil {
				return nil, err
			}
			return fmt.Sprint(r.top, r.gitDir, r.common), r.Close()
		},
		"Object":         func(r *Repo) (any, error) { return one(r.Object(ctx, string(head))) },
		"Object by name": func(r *Repo) (any, error) { return one(r.Object(ctx, "main")) },
		"Ref":            func(r *Repo) (any, error) { return one(r.Ref(ctx, "refs/heads/main")) },
		"Ref, packed":    func(r *Repo) (any, error) { return one(r.Ref(ctx, "refs/heads/packed")) },
		"Ref, none":      func(r *Repo) (any, error) { return one(r.Ref(ctx, "refs/heads/none")) },
		"PackedRefs":     func(r *Repo) (any, error) { return one(r.PackedRefs("refs/heads/main")) },
		"CheckedOut":     func(r *Repo) (any, error) { return one(r.CheckedOut(ctx, "refs/heads/main")) },
		"Head": func(r *Repo) (any, error) {
			commit, branch, err := r.Worktree(linked).Head(ctx)
			return branch + string(commit), err
		},
		"Shared":       func(r *Repo) (any, error) { return one(r.Shared(ctx)) },
		"Remotes":      func(r *Repo) (any, error) { return one(r.Settings().Remotes(ctx)) },
		"Sizes":        func(r *Repo) (any, error) { return one(r.History().SizesOf(ctx, []string{string(head)})) },
		"Gitlinks":     func(r *Repo) (any, error) { return one(r.Worktree(linked).Gitlinks(ctx)) },
		"Reflog":       func(r *Repo) (any, error) { return one(r.Reflog("HEAD")) },
		"Snapshot":     func(r *Repo) (any, error) { return one(r.Worktree(linked).Snapshot(ctx, "m", ada)) },
		"WriteObjects": func(r *Repo) (any, error) { return only(r.WriteObjects(ctx, []plumbing.Object{big, blob("small")})) },
		"UpdateRefs": func(r *Repo) (any, error) {
			return only(r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/main", Old: head, New: head}}, ""))
		},
		"EditConfigFile": func(r *Repo) (any, error) {
			return only(r.Settings().Edit(func(text []byte) ([]byte, error) { return text, nil }))
		},
		"Exclude": func(r *Repo) (any, error) { return only(r.Settings().Exclude("x")) },
		"OpenQueue": func(r *Repo) (any, error) {
			file, err := r.OpenQueue(filepath.Join(r.common, "liza", "queue"))
			if err == nil {
				err = file.Close()
			}
			return nil, err
		},
		"ReplaceFile": func(r *Repo) (any, error) { return only(disk.Replace(filepath.Join(r.common, "x"), []byte("x"))) },
	} {
		want, err := call(r)
		check(t, err)
		for free := range 4 {
			fresh := *r // has nothing at hand, and no child
			fresh.known, fresh.batch = &known{}, child.NewBatch(r.environ, r.command("cat-file", "cat-file", "--batch"))
			lift := fewFiles(t, free)
			got, err := call(&fresh)
			lift()
			check(t, fresh.Close())
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s, with %d files: %v, not %v", name, free, got, want)
			}
		}
		if again, err := call(r); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s, with enough files again: %v, %v", name, again, err)
		}
	}
}

// TestWatchWithoutFiles checks that where no more files can be opened nothing is watched, and that
// what can't be watched takes none.
func TestWatchWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	lift := fewFiles(t, 0)
	replaced, stop := disk.Watch(filepath.Join(dir, "x"))
	lift()
	if stop(); replaced != nil {
		t.Error("it is watched")
	}
	taken := func() int { return len(must[[]os.DirEntry](t)(os.ReadDir("/proc/self/fd"))) }
	before := taken()
	if replaced, _ := disk.Watch(filepath.Join(dir, "missing", "x")); replaced != nil || taken() > before {
		t.Errorf("%d files are open, and were %d", taken(), before)
	}
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
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
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
	if err := loose.Write(r.objectDir(), small); err != nil {
		t.Errorf("an object that is there already: %v", err)
	}
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
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
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
	if err := (&Remote{Name: "hub", repo: there}).Upload(ctx, []LargeFile{{"x", "1"}}); err != ErrNoLFS {
		t.Errorf("without git-lfs: %v", err)
	}
}

// TestUnwritableRefs: where only the refs, or their reflogs, may not be written to, that is said, as
// for the repository.
func TestUnwritableRefs(t *testing.T) {
	for _, dir := range []string{"refs/heads", "logs/refs/heads"} {
		t.Run(dir, func(t *testing.T) {
			ctx, r := scratch(t)
			head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
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
