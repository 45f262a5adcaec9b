package audit_test

import (
	"context"
	"fmt"
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
