package git

import (
	"crypto/sha1"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/child"
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
		if got := soundIndex(append(data, sum[:]...)); got != sound {
			t.Errorf("version %d is sound: %v", version, got)
		}
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
