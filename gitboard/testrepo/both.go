package testrepo

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// Both runs a test on a store in memory and on one in git.
func Both(t *testing.T, test func(t *testing.T, s log.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, NewMemory()) })
	t.Run("git", func(t *testing.T) {
		repo := Bare(t)
		test(t, repo)
		testrun.Fsck(t, repo.CommonDir())
	})
}
