package git

import (
	"crypto/sha1"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestSoundIndexes checks that each index that git writes is taken for sound, and that none is that
// was cut off or changed, or is of another version.
func TestSoundIndexes(t *testing.T) {
	for name, options := range map[string][]string{
		"the usual": nil, "version 4": {"-c", "index.version=4"},
	} {
		sandbox(t)
		dir := t.TempDir()
		native(t, dir, "init", "-q")
		for _, file := range []string{"a", "b/c"} {
			writeIn(t, dir, file, file)
		}
		native(t, dir, append(options, "add", ".")...)
		index := must[[]byte](t)(os.ReadFile(filepath.Join(dir, ".git", "index")))
		if !soundIndex(index) {
			t.Errorf("%s: it is not sound", name)
		}
		if skipped := append(index[:len(index)-20:len(index)-20], make([]byte, 20)...); !soundIndex(skipped) {
			t.Errorf("%s, without a hash: it is not sound", name)
		}
		changed := append([]byte(nil), index...)
		changed[len(changed)-1] ^= 1
		for _, damaged := range [][]byte{nil, index[:11], index[:len(index)-1], append([]byte("x"), index...), changed} {
			if soundIndex(damaged) {
				t.Errorf("%s: %q is sound", name, damaged)
			}
		}
	}
	for version, sound := range map[byte]bool{1: false, 2: true, 3: true, 4: true, 5: false} {
		data := append([]byte("DIRC\x00\x00\x00"), version, 0, 0, 0, 0)
		sum := sha1.Sum(data)
		testrun.Equal(t, soundIndex(append(data, sum[:]...)), sound, "version %d is sound", version)
	}
}

// TestCheckoutOfADamagedIndex checks that a damaged index is named as the reason, and only where it
// is one. An index that can't be read is an error, and not the same as none.
func TestCheckoutOfADamagedIndex(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := must[string](t)(r.Worktree(path).gitDir(ctx))
	writeIn(t, record, "index", "x")
	damaged := (*DamagedIndexError)(nil)
	if _, err := r.Worktree(path).Checkout(ctx); !errors.As(err, &damaged) || damaged.Worktree != path || child.ExitCode(err) != 128 {
		t.Errorf("got %v", err)
	}
	native(t, path, "read-tree", "HEAD")
	if c := must[Checkout](t)(r.Worktree(path).Checkout(ctx)); len(c.Dirty) > 0 {
		t.Errorf("it differs: %+v", c)
	}
	writeIn(t, record, "HEAD", "")
	if _, err := r.Worktree(path).Checkout(ctx); err == nil || errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
	index := filepath.Join(record, "index")
	check(t, os.Remove(index))
	if damaged, err := r.Worktree(path).DamagedIndex(); damaged || err != nil {
		t.Errorf("without an index: %v, %v", damaged, err)
	}
	check(t, os.Mkdir(index, 0o755))
	if damaged, err := r.Worktree(path).DamagedIndex(); damaged || !errors.As(err, new(*StorageError)) {
		t.Errorf("an index that is a directory: %v, %v", damaged, err)
	}
}

// TestFailingFilter checks that a filter that fails is told apart from other errors of git, also if
// only a new file needs it, and that nothing is written without it.
func TestFailingFilter(t *testing.T) {
	ctx, r := scratch(t)
	scrap := t.TempDir()
	t.Setenv("TMPDIR", scrap)
	global(t, "filter.safe.clean", "false")
	write(t, r, ".git/info/attributes", "secret filter=safe\n")
	write(t, r, "secret", "in the clear")
	if _, err := r.Worktree(r.TopLevel()).Snapshot(ctx, "left", ada); err != nil {
		t.Errorf("one that is not required: %v", err)
	}
	global(t, "filter.safe.required", "true")
	global(t, "filter.other.required", "false")
	before := native(t, r.TopLevel(), "count-objects", "-v")
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); err != nil {
		t.Errorf("a new file is looked at: %v", err)
	}
	if _, err := r.Worktree(r.TopLevel()).Snapshot(ctx, "left", ada); !errors.As(err, new(*FilterError)) {
		t.Errorf("a new file is kept: %v", err)
	}
	write(t, r, ".git/info/attributes", "a.txt filter=safe\n")
	check(t, os.Chtimes(filepath.Join(r.TopLevel(), "a.txt"), time.Time{}, noon))
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); !errors.As(err, new(*FilterError)) {
		t.Errorf("a changed file is looked at: %v", err)
	}
	testrun.Equal(t, native(t, r.TopLevel(), "count-objects", "-v"), before, "objects were written")
	native(t, r.TopLevel(), "config", "core.excludesFile", "~nobody-here/x")
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); err == nil || errors.As(err, new(*FilterError)) {
		t.Errorf("git's settings are wrong: %v", err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(scrap)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestFailingSmudge checks that a worktree that can't be made because a filter fails is told apart
// from other failures, and that nothing is left of it.
func TestFailingSmudge(t *testing.T) {
	ctx, r := scratch(t)
	global(t, "filter.safe.smudge", "false")
	write(t, r, ".git/info/attributes", "a.txt filter=safe\n")
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	path := filepath.Join(t.TempDir(), "one")
	check(t, r.Worktree(path).Add(ctx, head))
	global(t, "filter.safe.required", "true")
	if err := r.Worktree(path).Add(ctx, head); err == nil || errors.As(err, new(*FilterError)) {
		t.Errorf("where there is one already: %v", err)
	}
	check(t, r.Worktree(path).Remove(ctx))
	if err := r.Worktree(path).Add(ctx, head); !errors.As(err, new(*FilterError)) {
		t.Errorf("the filter fails: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("its directory is left")
	}
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("git knows %+v", list)
	}
	global(t, "filter.safe.smudge", "cat")
	check(t, r.Worktree(path).Add(ctx, head))
}
