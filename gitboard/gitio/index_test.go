package gitio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestSoundIndexes checks that each index that git writes is taken for sound, and that none is that
// was cut off or changed.
func TestSoundIndexes(t *testing.T) {
	for name, options := range map[string][]string{
		"the usual": nil, "version 4": {"-c", "index.version=4"}, "sha256": {"--object-format=sha256"},
	} {
		sandbox(t)
		dir := t.TempDir()
		if name == "sha256" {
			native(t, dir, "init", "-q", options[0])
			options = nil
		} else {
			native(t, dir, "init", "-q")
		}
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
}

// TestCheckoutOfADamagedIndex checks that a damaged index is named as the reason, and only where it
// is one.
func TestCheckoutOfADamagedIndex(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := must[string](t)(r.worktreeGitDir(ctx, path))
	writeIn(t, record, "index", "x")
	damaged := (*DamagedIndexError)(nil)
	if _, err := r.Checkout(ctx, path); !errors.As(err, &damaged) || damaged.Worktree != path || exitCode(err) != 128 {
		t.Errorf("got %v", err)
	}
	check(t, r.RebuildIndex(ctx, path))
	if c := must[Checkout](t)(r.Checkout(ctx, path)); len(c.Dirty) > 0 {
		t.Errorf("it differs: %+v", c)
	}
	native(t, path, "symbolic-ref", "HEAD", "refs/heads/none")
	check(t, r.RebuildIndex(ctx, path))
	if c := must[Checkout](t)(r.Checkout(ctx, path)); c.Head != git.ZeroOID || len(c.Dirty) == 0 || !c.Dirty[0].Untracked() {
		t.Errorf("without a commit: %+v", c)
	}
	if !exists(filepath.Join(record, "index.damaged")) || !exists(filepath.Join(record, "index.damaged.2")) {
		t.Error("an index was not kept")
	}
	writeIn(t, record, "HEAD", "")
	if _, err := r.Checkout(ctx, path); err == nil || errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
}
