package supervisor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLane checks that a merge runs while the reviewer reviews, that another merge in progress is
// not a failure, that any other failure is tried again, and that an abort ends a merge.
func TestLane(t *testing.T) {
	ctx, s, hands, clock := supervised(t)
	var events []string
	s.Report = func(e Event) { events = append(events, e.Line()) }
	on := newScene(t).approved("login").submitted("cart")
	look := func() *Look {
		l := on.look(reviewer1)
		l.Now, l.Merging = clock.Now(), s.lane.tasks
		if _, err := s.merge(ctx, &l); err != nil {
			t.Fatal(err)
		}
		return &l
	}
	ends := func(landed []Landed, err error) {
		t.Helper()
		look()
		look() // it is running
		events = nil
		hands.merges <- func([]string) ([]Landed, error) { return landed, err }
		must(t, s.merged(ctx, <-s.lane.done))
	}
	if l := look(); said(Next(*l, s.memory), l.Now) != "claim-review cart" || len(l.Merging) != 1 {
		t.Errorf("while it merges %s, its next step is %s", l.Merging, said(Next(*l, s.memory), l.Now))
	}
	ends(nil, board.Refuse(board.CodeBusy, "code-reviewer-2 merges logout at the moment", ""))
	if len(events)+len(s.memory.Merges) > 0 {
		t.Errorf("a merge in progress is reported as %q, and waited for: %v", events, s.memory.Merges)
	}
	ends([]Landed{{Task: "login", Merged: true, Text: "merge login"}}, nil)
	if got := strings.Join(events, "\n"); got != "merged login: merge login" {
		t.Errorf("it reports %q", got)
	}
	ends(nil, errors.New("the disk is full"))
	if got := strings.Join(events, "\n"); got != "trouble login: the merge is tried again later: the disk is full" || s.memory.Merges["login"].Times != 1 {
		t.Errorf("it reports %q, and has failed %d times", got, s.memory.Merges["login"].Times)
	}
	if look(); s.lane.tasks != nil {
		t.Error("it merges again at once")
	}
	s.memory.Merges, events = nil, nil
	look()
	aborted := on.look(reviewer1)
	aborted.Halt, aborted.Merging = &report.Halt{File: "ABORT", Mode: board.Aborted}, s.lane.tasks
	testrun.Must(s.merge(ctx, &aborted))(t)
	must(t, s.merged(ctx, <-s.lane.done))
	if got := strings.Join(events, "\n"); got != "merge_failed login: the run is aborted: the merge has been given up" {
		t.Errorf("an abort: it reports %q", got)
	}
	if n := strings.Count(strings.Join(hands.did, " "), "merge"); n != 4 {
		t.Errorf("it has begun %d merges", n)
	}
}

// TestOutgrown checks that a merge begins again for further approved work while it is young, and
// not later, with a full batch, or before a merge has shown how long one takes.
func TestOutgrown(t *testing.T) {
	ctx, s, hands, clock := supervised(t)
	l := newScene(t).approved("login").approved("cart").look(reviewer1)
	l.Now = clock.Now()
	for name, want := range map[string]struct {
		lane lane
		is   bool
	}{
		"young":                {lane{tasks: []string{"login"}, began: l.Now.Add(-time.Second), took: 10 * time.Second}, true},
		"a fifth is over":      {lane{tasks: []string{"login"}, began: l.Now.Add(-2 * time.Second), took: 10 * time.Second}, false},
		"the first merge":      {lane{tasks: []string{"login"}, began: l.Now}, false},
		"with all that can be": {lane{tasks: []string{"login", "cart"}, began: l.Now, took: time.Second}, false},
		"a full batch":         {lane{tasks: slices.Repeat([]string{"login"}, 8), began: l.Now, took: time.Second}, false},
		"free":                 {lane{began: l.Now, took: time.Second}, false},
	} {
		l := l
		l.Merging = want.lane.tasks
		if is := l.outgrown(s.memory, want.lane); is != want.is {
			t.Errorf("%s: %v", name, is)
		}
	}

	merge := func(l Look) {
		l.Now, l.Merging = clock.Now(), s.lane.tasks
		testrun.Must(s.merge(ctx, &l))(t)
	}
	merge(newScene(t).approved("login").look(reviewer1))
	s.lane.took = time.Second
	merge(l)
	must(t, s.merged(ctx, <-s.lane.done))
	merge(l)
	if !slices.Equal(s.lane.tasks, []string{"login", "cart"}) {
		t.Errorf("it merges %q", s.lane.tasks)
	}
	go func() { hands.merges <- func([]string) ([]Landed, error) { return nil, nil } }()
	<-s.lane.done
	if n := strings.Count(strings.Join(hands.did, " "), "merge"); n != 2 {
		t.Errorf("it has begun %d merges", n)
	}
}
