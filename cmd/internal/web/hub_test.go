package web

import (
	"errors"
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestFollowedOnce: a page is made once for all who follow it; one that could not be made is tried
// again.
func TestFollowedOnce(t *testing.T) {
	l, made := &look{}, map[string]int{}
	ask := func(url string, err error) {
		p, got := l.followed(url, func() (*page, error) { made[url]++; return &page{Title: url}, err })
		if !errors.Is(got, err) || p.Title != url {
			t.Errorf("%s: %v, %v", url, p, got)
		}
	}
	ask("/", errors.New("not now"))
	for range 3 {
		ask("/", nil)
		ask("/graph", nil)
	}
	if made["/"] != 2 || made["/graph"] != 1 {
		t.Errorf("made %v", made)
	}
	(&hub{newest: l}).forget()
	ask("/graph", nil)
	testrun.Equal(t, made["/graph"], 2, "an old look is kept")
}

// TestNeededBy checks which tasks wait for one, and that a look goes through all tasks once, not
// once for every page: a report has a page of each task.
func TestNeededBy(t *testing.T) {
	all, m := board.NewState(board.NewMemory(), ""), board.NewMemory()
	for n := range 100 {
		task := &board.Task{ID: fmt.Sprintf("t%02d", n), Status: board.Unclaimed, Priority: 3}
		if n%10 > 0 {
			task.DependsOn = []string{fmt.Sprintf("t%02d", n/10*10)}
		}
		all.Changes()[board.RecordPath(board.TaskDir, task.ID)] = task
	}
	m.Absorb(all)
	var n needs
	s := board.NewState(m, "")
	if got := n.of(s, "t20"); len(got) != 9 || got[0] != (other{"t21", board.Unclaimed}) {
		t.Errorf("t20 is needed by %v", got)
	}
	if got := n.of(s, "t99"); len(got) != 0 {
		t.Errorf("t99 is needed by %v", got)
	}
	if most := testing.AllocsPerRun(5, func() { n.of(s, "t20") }); most > 0 {
		t.Errorf("a second page of one look allocates %v times", most)
	}
}
