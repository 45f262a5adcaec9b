package share

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestAllAreWoken checks that the end of a push wakes all who wait for it, even if another process
// begins the next push at once.
func TestAllAreWoken(t *testing.T) {
	t.Parallel()
	s := New(&git.Repo{}, t.TempDir(), time.Now)
	queue := func() *pushQueue { return s.pushQueue() }
	for range 20 {
		pushing, next := queue(), queue()
		if !pushing.await(t.Context()) {
			t.Skip("files can't be locked here")
		}
		const waiting = 4
		woken := make(chan bool, waiting)
		for range waiting {
			file, err := pushing.open() // waits like a process of its own
			if err == nil {
				t.Fatal("two may push at a time")
			}
			released := file.Released()
			go func() {
				<-released
				woken <- file.Close() == nil
			}()
		}
		pushing.leave()
		for !next.try() {
		}
		for range waiting {
			select {
			case <-woken:
			case <-time.After(time.Minute):
				t.Fatal("it sleeps through the next push")
			}
		}
		next.leave()
	}
}
