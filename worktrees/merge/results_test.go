package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
)

// TestTested checks which results of tests are known: failures to this train, and what passed to
// all later ones, the newest for longest, unless they ask for tests afresh.
func TestTested(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tested")
	train := func(afresh bool) *tests {
		return &tests{file: file, afresh: afresh, failed: map[string]*failure{}, running: map[string]chan struct{}{}}
	}
	is := func(s *tests, key string, want *failure, tested bool) {
		t.Helper()
		if f, known := s.known(key); f != want || known != tested {
			t.Errorf("%s: %v %v", key, f, known)
		}
	}
	first, bad := train(false), &failure{log: "bad"}
	first.learn("fails", bad)
	first.learn("passes", nil)
	is(first, "fails", bad, true)
	is(first, "passes", nil, true)
	is(train(false), "fails", nil, false)
	is(train(false), "passes", nil, true)
	again := train(true)
	is(again, "passes", nil, false)
	for _, key := range []string{"passes again", "another"} {
		again.learn(key, nil)
	}
	is(again, "passes again", nil, true)
	is(again, "another", nil, true)

	var old strings.Builder
	for n := 0; old.Len() < maxTested; n++ {
		fmt.Fprintf(&old, "old %d\n", n)
	}
	must(t, os.WriteFile(file, []byte(old.String()), 0o644))
	first.learn("newest", nil)
	text, err := os.ReadFile(file)
	if err != nil || len(text) > maxTested/2+10 || !strings.HasPrefix(string(text), "old ") {
		t.Errorf("%d bytes are left: %v", len(text), err)
	}
	is(train(false), "newest", nil, true)
	is(train(false), "old 0", nil, false)
}

// TestTestedOnce checks that one tests and others wait for the result.
func TestTestedOnce(t *testing.T) {
	s := &tests{file: filepath.Join(t.TempDir(), "tested"), failed: map[string]*failure{}, running: map[string]chan struct{}{}}
	_, known, end, err := s.begin(t.Context(), "one")
	if known || err != nil {
		t.Fatalf("%v %v", known, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, _, err := s.begin(ended, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait: %v", err)
	}
	waited := make(chan bool)
	go func() {
		_, known, _, err := s.begin(t.Context(), "one")
		waited <- known && err == nil
	}()
	s.learn("one", nil)
	end()
	if !<-waited {
		t.Error("it is tested twice")
	}
}

// TestLeaves checks which refusals let a train go on without the task.
func TestLeaves(t *testing.T) {
	of := func(code board.ErrorCode, task string) error {
		r := board.Refuse(code, "no", "")
		r.Task = task
		return fmt.Errorf("it is refused: %w", r)
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the task is paused":        {of(board.CodeMode, "one"), true},
		"the board is paused":       {of(board.CodeMode, ""), false},
		"another state":             {of(board.CodeWrongState, "one"), true},
		"another commit":            {of(board.CodeStale, "one"), true},
		"nobody may":                {of(board.CodePermission, "one"), false},
		"a forged approval":         {&log.RecordError{}, true},
		"the disk is full":          {errors.New("no space"), false},
		"the commit is not here":    {of(board.CodeMissing, "one"), true},
		"integration is not proven": {of(board.CodeIntegration, ""), true},
	} {
		if got := leaves(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
