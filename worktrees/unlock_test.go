package worktrees_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

// TestUnlock checks that a task's locks are removed once no process can hold them. Locks of other
// tasks and of shared files stay.
func TestUnlock(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("nobody can see here whether a lock is held")
	}
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	common := s.b.Repo().CommonDir()
	record := testrun.Must(os.ReadFile(filepath.Join(s.dir, ".worktrees", "one", ".git")))(s.t)
	record = bytes.TrimSpace(bytes.TrimPrefix(record, []byte("gitdir: "+common+"/")))
	own := []string{"refs/heads/task/one.lock", "refs/liza/review/one/1.lock", string(record) + "/index.lock"}
	others := []string{"packed-refs.lock", "refs/heads/task/two.lock", "refs/liza/review/one-more/1.lock"}
	written := func(at time.Time) {
		for _, lock := range slices.Concat(own, others) {
			s.write(common, lock, "")
			s.check(os.Chtimes(filepath.Join(common, lock), at, at))
		}
	}
	now := time.Now()
	written(now)
	did, err := worktrees.Unlock(s.ctx, s.b, "one")
	if s.check(err); len(did) > 0 && time.Since(now) < git.LockAge { // also on a slow machine
		t.Errorf("at once: %q", did)
	}
	written(time.Now().Add(-time.Hour))
	did, err = worktrees.Unlock(s.ctx, s.b, "one")
	if s.check(err); len(did) != len(own) {
		t.Errorf("%q", did)
	}
	for _, lock := range own {
		if _, err := os.Stat(filepath.Join(common, lock)); err == nil {
			t.Errorf("%s is there", lock)
		}
	}
	s.check(os.MkdirAll(filepath.Join(common, own[0], "in it"), 0o755))
	long := time.Now().Add(-time.Hour)
	s.check(os.Chtimes(filepath.Join(common, own[0]), long, long))
	if did, err := worktrees.Unlock(s.ctx, s.b, "one"); err == nil {
		t.Errorf("what can't be removed: %q", did)
	}
	s.check(os.RemoveAll(filepath.Join(common, own[0])))
	for _, lock := range others {
		if _, err := os.Stat(filepath.Join(common, lock)); err != nil {
			t.Errorf("%s: %v", lock, err)
		}
	}
}
