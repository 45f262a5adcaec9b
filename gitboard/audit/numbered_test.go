package audit_test

import (
	"context"
	"fmt"
	"path"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestManyNotes checks that a board with more notes than fit into one directory verifies, and that
// none of its directories is large.
func TestManyNotes(t *testing.T) {
	most := 230
	if *testrun.Long {
		most = 10_030 // reaches the second upper-level directory
	}
	w := memoryWorld(t)
	w.begin()
	for n := range most {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("note %d", n)})
	}
	w.do(ada, &board.Ack{IDs: []string{"note-1", fmt.Sprintf("note-%d", most)}})
	if report := w.clean(); report.Proven != len(w.steps) {
		t.Errorf("%d of %d proven", report.Proven, len(w.steps))
	}
	entries := map[string]map[string]bool{}
	for at := range testrun.Must(testrun.Must(log.ReadTree(w.ctx, w.store, w.snapshot(w.tip()).Head.Tree))(t).Files())(t) {
		for ; at != "."; at = path.Dir(at) {
			dir := path.Dir(at)
			if entries[dir] == nil {
				entries[dir] = map[string]bool{}
			}
			entries[dir][at] = true
		}
	}
	for dir, all := range entries {
		if len(all) > 100 {
			t.Errorf("%s has %d entries", dir, len(all))
		}
	}
}

// TestReceivedReadsLittle checks that the records that are read to receive operations are not more
// where the board has more, also if many operations come at once.
func TestReceivedReadsLittle(t *testing.T) {
	const many, received = 100, 40
	store := &reading{Memory: testrepo.NewMemory()}
	w := newWorld(t, store)
	w.begin()
	for n := range many {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("note %d", n)})
	}
	from := w.tip()
	for n := range received {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("more %d", n)})
	}
	store.files = 0
	report, err := audit.Near(w.ctx, store, audit.Range{From: from, To: w.tip()})
	if err != nil || !report.OK() || report.Proven != received {
		t.Fatalf("%+v: %v", report, err)
	}
	if store.files >= received {
		t.Errorf("%d files are read for %d operations", store.files, received)
	}
}

// reading counts the files that are read.
type reading struct {
	*testrepo.Memory
	files int
}

func (r *reading) Object(ctx context.Context, name string) (plumbing.Object, error) {
	o, err := r.Memory.Object(ctx, name)
	if o.Type == plumbing.BlobObject {
		r.files++
	}
	return o, err
}

func (r *reading) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	objects, err := r.Memory.Objects(ctx, names)
	for _, o := range objects {
		if o.Type == plumbing.BlobObject {
			r.files++
		}
	}
	return objects, err
}
