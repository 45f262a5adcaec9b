package audit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/testrepo"
)

// TestFindSetBack checks that a board that goes back is noticed by what this clone has had, and
// moves forward again where that loses nothing.
func TestFindSetBack(t *testing.T) {
	made := testrepo.Init(t, true)
	repo, err := gitio.Open(t.Context(), made)
	check(t, err)
	defer repo.Close()
	check(t, repo.SetConfig(t.Context(), "core.logAllRefUpdates", "true"))
	w := newWorld(t, repo)
	commits := []git.OID{
		w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration"}),
		w.do(ada, &board.AddNote{Message: "one"}), w.do(ada, &board.AddNote{Message: "two"}), w.do(ada, &board.AddNote{Message: "three"}),
	}
	check(t, repo.UpdateRefs(w.ctx, []git.RefUpdate{{Ref: git.HomeRef, New: commits[0]}}, ""))
	ref := filepath.FromSlash(git.BoardRef)
	back := func(l *lossy, to int) {
		check(l.t, l.repo.UpdateRefs(l.ctx, []git.RefUpdate{{Ref: git.BoardRef, Old: commits[3], New: commits[to]}}, "back"))
	}
	two, three := commits[2].Short(), commits[3].Short()
	for name, c := range map[string]struct {
		do         func(l *lossy)
		says       string // "" if nothing is missing
		repairable bool
	}{
		"nothing": {func(*lossy) {}, "", false},
		"two operations back": {func(l *lossy) { back(l, 1) },
			"the board at " + commits[1].Short() + " lacks 2 operations that it had at " + three + ", by the reflog: " + three + " note: note-3 for everybody: three; " + two + " note: note-2 for everybody: two", true},
		"back, without a reflog": {func(l *lossy) { back(l, 2); l.forget("logs") }, "lacks 1 operation that it had at " + three + ", by what was written lately", true},
		"a loose ref lost behind an older packed one": {func(l *lossy) {
			l.forget(ref)
			l.forget("logs")
			l.overwrite("packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+string(commits[1])+" "+git.BoardRef+"\n")
		}, "lacks 2 operations", true},
		"back, with nothing left but the last ref": {func(l *lossy) {
			check(l.t, l.repo.UpdateRefs(l.ctx, []git.RefUpdate{{Ref: git.LastRef, New: commits[3]}}, ""))
			back(l, 2)
			l.forget("logs")
			l.forget("liza", "kept")
		}, "by refs/liza/last", true},
		"back, and on from there": {func(l *lossy) { back(l, 2); l.do(ada, &board.AddNote{Message: "other"}) },
			"lacks 1 operation that it had at " + three + ", by the reflog: " + three + " note: note-3 for everybody: three; since " + two + " the two have come apart; what is done again is not missing", false},
		"back, and done again": {func(l *lossy) {
			back(l, 1)
			for _, message := range []string{"other", "three", "two"} {
				l.do(ada, &board.AddNote{Message: message})
			}
		}, "", false},
		"back, and done again in part, or by somebody else": {func(l *lossy) {
			back(l, 1)
			l.do(board.HumanActor("Bob", "bob@example.org"), &board.AddNote{Message: "two"})
			l.do(ada, &board.AddNote{Message: "three"})
		}, "lacks 1 operation that it had at " + three + ", by the reflog: " + two + " note: note-2 for everybody: two; since ", false},
		"another board": {func(l *lossy) {
			check(l.t, l.repo.UpdateRefs(l.ctx, []git.RefUpdate{{Ref: git.BoardRef, Old: commits[3]}}, ""))
			l.do(ada, &board.Init{Goal: "Another", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
		}, "since their beginning the two have come apart", false},
		"a forged operation taken back": {func(l *lossy) {
			forged := l.forge(forgery{parent: commits[3], op: noteOf("f"), files: map[string][]byte{"README.md": []byte("hello")}})
			l.rewind(forged)
			l.rewind(commits[3])
		}, "", false},
		"back where it is not at home": {func(l *lossy) {
			back(l, 1)
			check(l.t, l.repo.UpdateRefs(l.ctx, []git.RefUpdate{{Ref: git.HomeRef, Old: commits[0]}}, ""))
		}, "", false},
		"back, where the newer is damaged": {func(l *lossy) { back(l, 2); l.forget("liza", "kept"); l.lose(commits[3]) }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			testrepo.Copy(t, made, dir)
			repo, err := gitio.Open(t.Context(), dir)
			check(t, err)
			defer repo.Close()
			copied := *w
			copied.t, copied.store, copied.log = t, repo, oplog.New(repo, "")
			l := &lossy{&copied, repo, commits}
			c.do(l)
			repo, err = gitio.Open(t.Context(), dir)
			check(t, err)
			defer repo.Close()
			found, err := audit.FindSetBack(l.ctx, repo)
			check(t, err)
			if (found == nil) != (c.says == "") || found != nil && !strings.Contains(found.String(), c.says) {
				t.Fatalf("%v does not say %q", found, c.says)
			}
			if found == nil {
				return
			}
			before := l.tip()
			err = found.Repair(l.ctx, repo)
			if (err == nil) != c.repairable || found.Repairable() != c.repairable {
				t.Fatalf("%v, repairable: %v", err, found.Repairable())
			}
			if now := l.tip(); c.repairable && now != commits[3] || !c.repairable && now != before {
				t.Errorf("after the repair it is at %s", now.Short())
			}
			if again, err := audit.FindSetBack(l.ctx, repo); err != nil || (again == nil) != c.repairable {
				t.Errorf("after the repair: %v, %v", again, err)
			}
		})
	}
}

// TestSetBackNames checks that an id is shown with the zeros that it begins or ends with.
func TestSetBackNames(t *testing.T) {
	b := &audit.SetBack{At: "1111111111", Newest: "2222222222", Since: "0123456780", Missing: []string{"one"}}
	if text := b.String(); !strings.HasSuffix(text, "; since 0123456780 the two have come apart; what is done again is not missing") {
		t.Error(text)
	}
}
