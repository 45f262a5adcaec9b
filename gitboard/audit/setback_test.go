package audit_test

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// atHome makes a repository that is a board's home, with three notes. All moves of its refs are
// logged.
func atHome(t *testing.T) (made string, w *world, commits []plumbing.OID) {
	t.Helper()
	made = testrepo.Init(t, true)
	repo := testrun.Must(git.Open(t.Context(), made))(t)
	t.Cleanup(func() { repo.Close() })
	check(t, repo.Settings().Set(t.Context(), "core.logAllRefUpdates", "true"))
	w = newWorld(t, repo)
	commits = []plumbing.OID{
		w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration"}),
		w.do(ada, &board.AddNote{Message: "one"}), w.do(ada, &board.AddNote{Message: "two"}), w.do(ada, &board.AddNote{Message: "three"}),
	}
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, New: commits[0]}}, ""))
	return made, w, commits
}

// copyOf copies such a repository.
func copyOf(t *testing.T, made string, w *world, commits []plumbing.OID) *lossy {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	testrepo.Copy(t, made, dir)
	repo := testrun.Must(git.Open(t.Context(), dir))(t)
	t.Cleanup(func() { repo.Close() })
	copied := *w
	copied.t, copied.store, copied.log = t, repo, log.NewReader(repo, "")
	return &lossy{&copied, repo, commits}
}

// TestFindSetBack checks that this clone notices from its own records when a board goes back, and
// that it moves forward again where that loses nothing.
func TestFindSetBack(t *testing.T) {
	made, w, commits := atHome(t)
	ref := filepath.FromSlash(plumbing.BoardRef)
	two, three := commits[2].Short(), commits[3].Short()
	type setBack struct {
		do         func(l *lossy)
		says       string // "" if nothing is missing
		repairable bool
	}
	for name, c := range testrun.Some(2, map[string]setBack{
		"nothing": {func(*lossy) {}, "", false},
		"two operations back": {func(l *lossy) { l.back(1) },
			"the board at " + commits[1].Short() + " lacks 2 operations that it had at " + three + ", by the reflog: " + three + " note: note-3 for everybody: three; " + two + " note: note-2 for everybody: two", true},
		"back, without a reflog": {func(l *lossy) { l.back(2); l.forget("logs") }, "lacks 1 operation that it had at " + three + ", by recently written objects", true},
		"a loose ref lost behind an older packed one": {func(l *lossy) {
			l.forget(ref)
			l.forget("logs")
			l.overwrite("packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+string(commits[1])+" "+plumbing.BoardRef+"\n")
		}, "lacks 2 operations", true},
		"back, with nothing left but the last ref": {func(l *lossy) {
			check(l.t, l.repo.UpdateRefs(l.ctx, []plumbing.RefUpdate{{Ref: plumbing.LastRef, New: commits[3]}}, ""))
			l.back(2)
			l.forget("logs")
			l.forget("liza", "kept")
		}, "by refs/liza/last", true},
		"back, and on from there": {func(l *lossy) { l.back(2); l.do(ada, &board.AddNote{Message: "other"}) },
			"lacks 1 operation that it had at " + three + ", by the reflog: " + three + " note: note-3 for everybody: three; since " + two + " the two have come apart; what is done again is not missing", false},
		"back, and done again": {func(l *lossy) {
			l.back(1)
			for _, message := range []string{"other", "three", "two"} {
				l.do(ada, &board.AddNote{Message: message})
			}
		}, "", false},
		"back, and done again in part, or by somebody else": {func(l *lossy) {
			l.back(1)
			l.do(board.HumanActor("Bob", "bob@example.org"), &board.AddNote{Message: "two"})
			l.do(ada, &board.AddNote{Message: "three"})
		}, "lacks 1 operation that it had at " + three + ", by the reflog: " + two + " note: note-2 for everybody: two; since ", false},
		"another board": {func(l *lossy) {
			check(l.t, l.repo.UpdateRefs(l.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: commits[3]}}, ""))
			l.do(ada, &board.Init{Goal: "Another", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
		}, "since their beginning the two have come apart", false},
		"a forged operation taken back": {func(l *lossy) {
			forged := l.forge(forgery{parent: commits[3], op: noteOf("f"), files: map[string][]byte{"README.md": []byte("hello")}})
			l.rewind(forged)
			l.rewind(commits[3])
		}, "", false},
		"back twice, first from more operations": {func(l *lossy) { l.back(1); l.do(ada, &board.AddNote{Message: "other"}); l.rewind(commits[1]) },
			"lacks 2 operations that it had at " + three, true},
		"back, and one of two that are alike done again": {func(l *lossy) {
			for range 2 {
				l.do(ada, &board.AddNote{Message: "alike"})
			}
			l.rewind(commits[3])
			l.do(ada, &board.AddNote{Message: "alike"})
		}, "lacks 1 operation that it had at ", false},
		"back, and on by hand": {func(l *lossy) {
			l.back(2)
			l.rewind(l.forge(forgery{parent: commits[2], op: noteOf("f"), message: func(string) string { return "Merge branch 'main'\n" }}))
		}, "lacks 1 operation that it had at " + three, false},
		"without its ref": {func(l *lossy) { l.forget(ref) }, "", false},
		"back where it is not at home": {func(l *lossy) {
			l.back(1)
			check(l.t, l.repo.UpdateRefs(l.ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, Old: commits[0]}}, ""))
		}, "", false},
		"back, where the newer is damaged": {func(l *lossy) { l.back(2); l.forget("liza", "kept"); l.lose(commits[3]) }, "", false},
	}) {
		t.Run(name, func(t *testing.T) {
			l := copyOf(t, made, w, commits)
			c.do(l)
			repo := l.reopened()
			found := testrun.Must(audit.FindSetBack(l.ctx, repo))(t)
			if (found == nil) != (c.says == "") || found != nil && !strings.Contains(found.String(), c.says) {
				t.Fatalf("%v does not say %q", found, c.says)
			}
			if found == nil {
				return
			}
			before := l.tip()
			err := found.Repair(l.ctx, repo)
			if (err == nil) != c.repairable || found.Repairable() != c.repairable {
				t.Fatalf("%v, repairable: %v", err, found.Repairable())
			}
			if now := l.tip(); c.repairable && now != commits[3] || !c.repairable && now != before {
				t.Errorf("after the repair it is at %s", now.Short())
			}
			done := c.repairable && !strings.HasPrefix(name, "back twice") // else the fewer ones are still missing
			if again, err := audit.FindSetBack(l.ctx, repo); err != nil || (again == nil) != done {
				t.Errorf("after the repair: %v, %v", again, err)
			}
		})
	}
}

// movedMeanwhile is a context that does something as soon as FindSetBack waits.
type movedMeanwhile struct {
	context.Context
	do func()
}

func (c *movedMeanwhile) Done() <-chan struct{} {
	if pc, _, _, ok := runtime.Caller(1); ok && strings.HasSuffix(runtime.FuncForPC(pc).Name(), "audit.FindSetBack") {
		c.do()
	}
	return c.Context.Done()
}

// TestSetBackMeanwhile checks that an operation whose reflog is written, and whose ref is about to
// move, is not missing.
func TestSetBackMeanwhile(t *testing.T) {
	repo := testrepo.Bare(t)
	check(t, repo.Settings().Set(t.Context(), "core.logAllRefUpdates", "true"))
	w := newWorld(t, repo)
	first := w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, New: first}}, ""))
	second := w.do(ada, &board.AddNote{Message: "one"})
	w.rewind(first)
	waits := 0
	ctx := &movedMeanwhile{t.Context(), func() { waits++; w.rewind(second) }}
	if found, err := audit.FindSetBack(ctx, repo); found != nil || err != nil || waits != 1 {
		t.Errorf("it waits %d times, and finds %v, %v", waits, found, err)
	}
}

// TestSetBackNames checks that an id is shown with the zeros that it begins or ends with, and how
// many operations are named.
func TestSetBackNames(t *testing.T) {
	b := &audit.SetBack{At: "1111111111", Newest: "2222222222", Since: "0123456780", Missing: []string{"one"}}
	if text := b.String(); !strings.HasSuffix(text, "; since 0123456780 the two have come apart; what is done again is not missing") {
		t.Error(text)
	}
	for missing, want := range map[int]string{20: "one; one", 21: "one; one; ..."} {
		b = &audit.SetBack{At: "1111111111", Newest: "2222222222", Since: "1111111111", Missing: slices.Repeat([]string{"one"}, missing)}
		if text := b.String(); strings.Count(text, "one") != 20 || !strings.HasSuffix(text, want) {
			t.Errorf("of %d: %s", missing, text)
		}
	}
}
