package log_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// faulty lets the next calls of a store fail.
type faulty struct {
	objects, refs, look, log error
	done                     bool // refs are updated nevertheless
	updated                  bool // by the call that returned an error
}

func (f *faulty) call(method string, call func() error) error {
	switch {
	case method == "WriteObjects" && f.objects != nil:
		return f.objects
	case method == "UpdateRefs":
		if f.refs == nil || f.done {
			if err := call(); err != nil {
				return err
			}
		}
		f.updated = true
		return f.refs
	case method == "Ref" && f.look != nil && f.updated:
		return f.look
	case method == "Log" && f.log != nil:
		return f.log
	}
	return call()
}

// TestUnclear checks what is reported of a write whose outcome is not known.
func TestUnclear(t *testing.T) {
	network, other := &git.NetworkError{Remote: "hub", Said: "it is gone", Err: errors.New("x")}, errors.New("y")
	for want, err := range map[string]*log.UnclearError{
		"the remote hub: it is gone (whether it was done shows when the remote is there again)": {Err: network},
		"y (whether it was done shows when the remote is there again)":                          {Err: other, Look: network},
		"y (whether it was done can't be seen: x)":                                              {Err: other, Look: network.Err},
	} {
		if err.Error() != want || errors.Is(err, network) != (err.Err == error(network)) {
			t.Errorf("%q, not %q", err, want)
		}
	}
}

// TestAppendFaults checks that an append is done, lost or refused, and that an outcome that can't be
// known is reported as unclear.
func TestAppendFaults(t *testing.T) {
	disk := errors.New("the disk is full")
	for name, c := range map[string]struct {
		faults faulty
		stands bool
		kind   log.Kind
	}{
		"nothing":                             {faulty{}, true, log.Done},
		"objects not written":                 {faulty{objects: disk}, false, log.Refused},
		"not done":                            {faulty{refs: disk}, false, log.Refused},
		"a ref has moved":                     {faulty{refs: git.ErrRefMoved}, false, log.Lost},
		"a ref is busy":                       {faulty{refs: git.ErrBusy}, false, log.Lost},
		"done, and said to have failed":       {faulty{refs: disk, done: true}, true, log.Done},
		"done, and said to have moved":        {faulty{refs: git.ErrRefMoved, done: true}, true, log.Done},
		"done, and nobody can look":           {faulty{refs: git.ErrRefMoved, done: true, look: disk}, true, log.Unclear},
		"done, and the log can't be read":     {faulty{refs: git.ErrRefMoved, done: true, log: disk}, true, log.Unclear},
		"done, and there is no need to look":  {faulty{look: disk}, true, log.Done},
		"not done, and the log can't be read": {faulty{refs: git.ErrRefMoved, log: disk}, false, log.Lost},
	} {
		store := &testrepo.Between{Store: testrepo.NewMemory(), Call: c.faults.call}
		newWriter(t, store.Store).init()
		w := newWriter(t, store)
		before := w.tip().Commit
		built, o := w.append(w.prepare(w.tip(), note("x")), log.Batch{})
		if o.Kind != c.kind || (o.Err == nil) != (c.kind == log.Done) || errors.As(o.Err, new(*log.UnclearError)) != (c.kind == log.Unclear) {
			t.Errorf("%s: %+v", name, o)
		}
		now := testrun.Must(store.Store.Ref(w.ctx, plumbing.BoardRef))(t)
		if c.stands && now != built.Commit || !c.stands && now != before {
			t.Errorf("%s: the board is at %s", name, now)
		}
	}
}

// TestAs checks that an operation under another request id is another commit that differs in
// nothing else.
func TestAs(t *testing.T) {
	w := newWriter(t, testrepo.NewMemory()).init()
	p := w.prepare(w.tip(), note("x"))
	one := testrun.Must(p.Build(by))(t)
	other := testrun.Must(p.As("mine").Build(by))(t)
	if other.Op.Request != "mine" || one.Op.Request == "mine" || one.Commit == other.Commit || one.Subject != other.Subject {
		t.Errorf("%+v and %+v", one.Op, other.Op)
	}
}

// failing lets one call of a store fail.
type failing struct {
	left int // the calls before it
	err  error
}

func (f *failing) call(_ string, call func() error) error {
	if f.left--; f.left == -1 {
		return f.err
	}
	return call()
}

// TestEveryCallFails lets each call of each reader and writer of the log fail in turn: the failure
// is reported as one to read or write, not as damage of the board.
func TestEveryCallFails(t *testing.T) {
	memory := testrepo.NewMemory()
	w := newWriter(t, memory).init()
	w.do(task("one"))
	w.do(note(strings.Repeat("a long line of a note\n", 1000))) // the payload is a file
	long := w.tip().Commit
	waits := over("waits", "first")
	waits.Status, waits.MergeCommit = board.Unclaimed, ""
	w.byHand(map[string][]byte{"tasks/waits.yaml": encoded(t, waits), "archive/sprint-1/first.yaml": encoded(t, over("first")), "archive/sprint-1/second.yaml": encoded(t, over("second"))})
	read := func(do func(tip *log.Snapshot) error) func(l *log.Reader) error {
		return func(l *log.Reader) error {
			tip, err := l.Tip(w.ctx)
			if err != nil {
				return err
			}
			return do(tip)
		}
	}
	tree := func(do func(tree *log.Tree) error) func(l *log.Reader) error {
		return func(l *log.Reader) error {
			tree, err := log.ReadTree(w.ctx, l.Store(), w.tip().Head.Tree)
			if err != nil {
				return err
			}
			return do(tree)
		}
	}
	for name, do := range map[string]func(l *log.Reader) error{
		"a record":  read(func(tip *log.Snapshot) error { _, err := tip.State.Record("tasks/one.yaml"); return err }),
		"briefs":    read(func(tip *log.Snapshot) error { _, err := tip.State.Briefs(); return err }),
		"archived":  read(func(tip *log.Snapshot) error { _, _, err := tip.State.Archived("second"); return err }),
		"ids":       read(func(tip *log.Snapshot) error { _, err := tip.State.IDs(board.NoteDir); return err }),
		"last id":   read(func(tip *log.Snapshot) error { _, err := tip.State.LastID(board.NoteDir); return err }),
		"texts":     read(func(tip *log.Snapshot) error { _, err := tip.TaskTexts(); return err }),
		"replaying": func(l *log.Reader) error { return l.Replays(w.ctx, long) },
		"the next":  func(l *log.Reader) error { _, err := log.Local{Store: l.Store()}.Tip(w.ctx); return err },
		"files":     tree(func(tree *log.Tree) error { _, err := tree.Files(); return err }),
		"a change": tree(func(tree *log.Tree) error {
			_, err := tree.Change(map[string][]byte{"notes/0/0/note-1.yaml": nil})
			return err
		}),
		"a write": func(l *log.Reader) error {
			tip, err := l.Tip(w.ctx)
			if err != nil {
				return err
			}
			p, err := log.Prepare(tip, w.op(tip, task("two")))
			if err != nil {
				return err
			}
			built := testrun.Must(p.Build(by))(t)
			side := plumbing.RefUpdate{Ref: "refs/heads/main", Old: plumbing.OID(strings.Repeat("a", 40)), New: built.Commit}
			o := log.Local{Store: l.Store()}.Append(w.ctx, log.Batch{Operations: []*log.Built{built}, Refs: []plumbing.RefUpdate{side}})
			if unclear := (*log.UnclearError)(nil); errors.As(o.Err, &unclear) {
				return unclear.Look
			}
			return o.Err
		},
	} {
		disk := errors.New("the disk is broken")
		for n := 0; ; n++ {
			fails := &failing{left: n, err: disk}
			err := do(log.NewReader(&testrepo.Between{Store: memory, Call: fails.call}, ""))
			if fails.left >= 0 { // it made fewer calls
				break
			}
			if damage := (*log.RecordError)(nil); !errors.Is(err, disk) || errors.As(err, &damage) {
				t.Errorf("%s, call %d: %v", name, n+1, err)
			}
		}
	}
}
