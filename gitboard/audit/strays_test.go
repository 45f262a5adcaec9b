package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// operation reads an operation of the world's own history.
func (w *world) operation(_ context.Context, commit plumbing.OID) (board.Operation, error) {
	for _, s := range w.steps {
		if s.commit == commit {
			return s.op, nil
		}
	}
	return board.Operation{}, errors.New("nobody wrote this operation")
}

// compare compares integration with the board, and fails unless these strays are found.
func (w *world) compare(repo *git.Repo, since audit.Strays, want ...plumbing.OID) audit.Strays {
	w.t.Helper()
	now := testrun.Must(audit.Compare(w.ctx, repo, repo, w.snapshot(w.tip()), since, w.operation))(w.t)
	var found []plumbing.OID
	for _, s := range now.Found {
		found = append(found, s.Commit)
	}
	if !slices.Equal(found, want) {
		w.t.Errorf("found %v, not %v", found, want)
	}
	if now.Board != w.tip() || now.Integration != w.integration {
		w.t.Errorf("it was compared up to %s and %s", now.Board.Short(), now.Integration.Short())
	}
	return now
}

// reworded makes a commit of the project with another message.
func (w *world) reworded(commit plumbing.OID, message string) plumbing.OID {
	w.t.Helper()
	o := testrun.Must(w.store.Object(w.ctx, string(commit)))(w.t)
	c := testrun.Must(plumbing.DecodeCommit(o))(w.t)
	c.Message = message
	o = plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	check(w.t, w.store.WriteObjects(w.ctx, []plumbing.Object{o}))
	w.files[o.OID] = w.files[commit]
	return o.OID
}

// TestCompare checks which commits of agents are found on integration without a record, and that a
// comparison continues from the one before.
func TestCompare(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.move(w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"early.go": "//"}))
	w.compare(repo, audit.Strays{}) // the board doesn't mention integration yet
	w.ready("alpha")
	w.ready("beta")
	work := w.approved(coder1, "alpha")
	w.compare(repo, audit.Strays{})

	// An approved commit may land before its record, and so may its merge.
	m, at := w.mergeCommit("alpha", work)
	start := w.integration
	w.move(work)
	w.compare(repo, audit.Strays{})
	w.move(at)
	w.compare(repo, audit.Strays{})
	mid := w.tip()
	w.do(judge1, m)
	since := w.compare(repo, audit.Strays{})

	// The merge was recorded once, and so a second one like it is an agent's.
	again := w.project([]plumbing.OID{start, work}, coder1, map[string]string{"again.go": "//"})
	w.move(again)
	w.compare(repo, audit.Strays{}, again)
	w.move(at)

	stray := w.project([]plumbing.OID{w.integration}, coder2, map[string]string{"quick.go": "//"})
	w.move(stray)
	found := w.compare(repo, since, stray)
	if text := found.Found[0].Text; !strings.Contains(text, "integration got ") || !strings.Contains(text, "by coder-2") {
		t.Errorf("%s", text)
	}
	w.compare(repo, audit.Strays{}, stray)
	w.compare(repo, audit.Strays{Board: mid}, stray)
	w.move(w.project([]plumbing.OID{stray}, ada, map[string]string{"mine.go": "//"}))
	known := w.compare(repo, found, stray)

	// A human's commit may say that an agent made it.
	said := w.reworded(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"said.go": "//"}), "change\n\nLiza-Agent: coder-1\n")
	w.move(said)
	w.compare(repo, known, stray, said)
	w.move(w.project([]plumbing.OID{said}, ada, map[string]string{"more.go": "//"}))
	w.compare(repo, audit.Strays{}, said, stray)
	w.move(known.Integration)

	// Nothing has moved: nothing is read.
	w.do(ada, &board.AddNote{Message: "later"})
	same, err := audit.Compare(w.ctx, repo, repo, w.snapshot(w.tip()), known, nil)
	if err != nil || same.Board != known.Board || len(same.Found) != 1 {
		t.Errorf("%+v, %v", same, err)
	}

	// A position that is gone, and a board that was rewritten, begin the comparison anew.
	nowhere := plumbing.OID(strings.Repeat("a", 40))
	w.compare(repo, audit.Strays{Board: nowhere, Integration: nowhere, Found: found.Found}, stray)
	w.compare(repo, audit.Strays{Board: found.Board, Integration: nowhere}, stray)
	for _, board := range []plumbing.OID{nowhere, w.integration} {
		w.compare(repo, audit.Strays{Board: board, Integration: at, Found: []audit.Stray{{Commit: nowhere}}}, stray)
	}

	// Only operations that say where integration was are read, and only those since the last time.
	read := 0
	count := func(ctx context.Context, commit plumbing.OID) (board.Operation, error) {
		read++
		return w.operation(ctx, commit)
	}
	w.claim(coder2, "beta")
	for _, c := range []struct {
		since audit.Strays
		reads int
	}{{found, 1}, {audit.Strays{}, 4}} {
		read = 0
		if _, err := audit.Compare(w.ctx, repo, repo, w.snapshot(w.tip()), c.since, count); err != nil || read != c.reads {
			t.Errorf("%d operations were read, not %d: %v", read, c.reads, err)
		}
	}
	broken := errors.New("broken")
	if _, err := audit.Compare(w.ctx, repo, repo, w.snapshot(w.tip()), audit.Strays{}, func(context.Context, plumbing.OID) (board.Operation, error) {
		return board.Operation{}, broken
	}); !errors.Is(err, broken) {
		t.Errorf("an operation that can't be read: %v", err)
	}

	// A commit without an operation is none; verify reports it.
	w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf("f"), message: func(string) string { return "Merge branch 'main'\n" }}))
	w.compare(repo, audit.Strays{}, stray)
	w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf("g"), message: func(string) string { return "A claim of sorts\n\nLiza-Op: claim\n" }}))
	w.compare(repo, audit.Strays{}, stray)

	// Integration goes back to before the stray.
	w.move(at)
	w.compare(repo, known)

	// Without the branch there is nothing to compare, and without settings nobody knows it.
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: integrationRef, Old: w.integration, New: plumbing.ZeroOID}}, ""))
	if now, err := audit.Compare(w.ctx, repo, repo, w.snapshot(w.tip()), known, nil); err != nil || now.Integration != known.Integration {
		t.Errorf("%+v, %v", now, err)
	}
	bare := w.forge(forgery{parent: w.tip(), op: noteOf("g"), files: map[string][]byte{"config.yaml": nil}})
	if _, err := audit.Compare(w.ctx, repo, repo, w.snapshot(bare), known, nil); err == nil {
		t.Error("a board without settings was compared")
	}
}

// TestLandings checks that the moves of integration in a range are listed, oldest first.
func TestLandings(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	m, at := w.mergeCommit("alpha", w.approved(coder1, "alpha"))
	from := w.do(judge1, m, w.lands(at))
	spec := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"specs/vision.md": "# Vision\n\nEnglish.\n"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(spec)}, w.lands(spec))
	w.do(ada, &board.AddNote{Message: "and so on"})
	for _, c := range []struct {
		from plumbing.OID
		want []string
	}{{"", []string{string(at), string(spec)}}, {from, []string{string(spec)}}, {w.tip(), nil}} {
		claims := testrun.Must(audit.Recorded(w.ctx, repo, audit.Range{From: c.from, To: w.tip()}))(t)
		var got []string
		for _, l := range claims.Landings {
			got = append(got, l.After)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("after %s: %v, not %v", c.from.Short(), got, c.want)
		}
	}
}

// failing is a store of which one read fails, or lacks an object.
type failing struct {
	log.Store
	left atomic.Int64
	gone bool
}

func (f *failing) fail() error {
	if f.left.Add(-1) == 0 {
		return &git.CommandError{Op: "cat-file", Exit: 1}
	}
	return nil
}

func (f *failing) Object(ctx context.Context, name string) (plumbing.Object, error) {
	if f.gone {
		return f.Store.Object(ctx, name)
	}
	if err := f.fail(); err != nil {
		return plumbing.Object{}, err
	}
	return f.Store.Object(ctx, name)
}

func (f *failing) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	objects, err := f.Store.Objects(ctx, names)
	if failed := f.fail(); failed != nil {
		if !f.gone {
			return nil, failed
		}
		objects[len(objects)-1] = plumbing.Object{}
	}
	return objects, err
}

func (f *failing) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	if err := f.fail(); err != nil {
		return "", err
	}
	return f.Store.Ref(ctx, name)
}

// TestFailedRead lets each read of a store fail in turn. A replay must report that: it may not take
// an unread object for missing or right. Nor may it pass over a commit that is gone.
func TestFailedRead(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	w.ready("alpha")
	from := w.tip()
	long := make([]byte, 9000)
	for i := range long {
		long[i] = 'a' + byte(i%7)
	}
	w.do(ada, &board.AddNote{Message: string(long)})
	task := *w.snapshot(w.tip()).State.Task("alpha")
	task.Priority = 1
	data := testrun.Must(codec.Encode(&task))(t)
	for n, files := range []map[string][]byte{
		{"tasks/alpha.yaml": data, "README.md": []byte("hello")},
		{"tasks/beta.yaml": []byte("id: [")},
		{"tasks/beta.yaml": nil, "tasks/alpha.yaml": []byte("id: [")},
	} {
		w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf(fmt.Sprint("f", n)), files: files}))
		w.do(ada, &board.AddNote{Message: "and on"})
	}
	for name, replay := range map[string]func(log.Store) (*audit.Report, error){
		"all": func(s log.Store) (*audit.Report, error) {
			return audit.Verify(w.ctx, s, nil, audit.Range{}, nil)
		},
		"a range": func(s log.Store) (*audit.Report, error) {
			return audit.Verify(w.ctx, s, nil, audit.Range{From: from, To: w.tip()}, nil)
		},
		"a push": func(s log.Store) (*audit.Report, error) {
			return audit.Near(w.ctx, s, audit.Range{From: from, To: w.tip()})
		},
	} {
		whole := testrun.Must(replay(w.store))(t)
		for _, gone := range []bool{false, name != "all"} { // all of a history is read again after a fault
			for n := int64(1); ; n++ {
				store := &failing{Store: w.store, gone: gone}
				store.left.Store(n)
				report, err := replay(store)
				if store.left.Load() > 0 {
					break
				}
				if err == nil && (!gone || findings(report) == findings(whole)) {
					t.Errorf("%s: read %d failed, and it finds\n%s", name, n, findings(report))
				}
			}
		}
	}
}
