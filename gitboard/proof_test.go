package gitboard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// TestProvenOtherwise: operations that were proven otherwise are only covered by a clone's proof if
// they follow what it covers.
func TestProvenOtherwise(t *testing.T) {
	b := open(t, project(t), newClock())
	begin(t, b)
	commits := []git.OID{tipOf(t, b.Repo())}
	for range 3 {
		_, err := b.Do(t.Context(), gitboard.Request{Actor: ada}, gitboard.Just(&board.AddNote{For: "human", Message: "hello"}))
		check(t, err)
		commits = append(commits, tipOf(t, b.Repo()))
	}
	// proof is the text of a proof of the commits after one, up to another.
	proof := func(from, to, settled int) string {
		return fmt.Sprintf("%s %s %s", commits[from], commits[to], commits[settled])
	}
	for _, c := range []struct {
		kept string
		on   int
		want string
	}{
		{proof(0, 1, 1), 1, proof(0, 3, 3)},
		{proof(0, 2, 1), 1, proof(0, 3, 3)}, // on the settled commit
		{proof(0, 1, 1), 2, proof(0, 1, 1)},
		{proof(1, 2, 2), 0, proof(1, 2, 2)},
	} {
		check(t, b.Keep("proven", c.kept))
		b.Proven(commits[c.on], commits[3])
		if got, err := b.Kept("proven"); got != c.want || err != nil {
			t.Errorf("%s becomes %s: %v", c.kept, got, err)
		}
	}
	// What a killed process has left beside its files goes.
	left, long := filepath.Join(b.Dir(), ".new-1"), time.Now().Add(-2*gitio.LeftAfter)
	check(t, os.WriteFile(left, nil, 0o600))
	check(t, os.Chtimes(left, long, long))
	check(t, b.Keep("proven", proof(0, 1, 1)))
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	clean(t, b.Repo())
}
