package log_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var check = testrun.Check

var (
	ada = board.HumanActor("Ada", "ada@example.org")
	by  = log.Committer{Name: "Clone", Email: "clone@example.org"}
)

// writer appends operations to a log, each a second after the last one.
type writer struct {
	t   testing.TB
	ctx context.Context
	log *log.Reader
	n   int
}

func newWriter(t testing.TB, s log.Store) *writer {
	return &writer{t: t, ctx: context.Background(), log: log.NewReader(s, "")}
}

func (w *writer) op(s *log.Snapshot, p board.Payload) board.Operation {
	w.n++
	at := max(s.State.Time(), "2026-02-03T08:00:00Z").Add(time.Second)
	return board.Operation{Actor: ada, Time: at, Request: fmt.Sprintf("r-%d", w.n), Payload: p}
}

func (w *writer) tip() *log.Snapshot {
	w.t.Helper()
	return testrun.Must(w.log.Tip(w.ctx))(w.t)
}

func (w *writer) prepare(s *log.Snapshot, p board.Payload) *log.Prepared {
	w.t.Helper()
	return testrun.Must(log.Prepare(s, w.op(s, p)))(w.t)
}

// append appends an operation with the refs and objects of a batch.
func (w *writer) append(p *log.Prepared, side log.Batch) (*log.Entry, log.Outcome) {
	w.t.Helper()
	built := testrun.Must(p.Build(by))(w.t)
	side.Operations = []*log.Built{built}
	return built.Entry, log.Local{Store: w.log.Store()}.Append(w.ctx, side)
}

// must appends operations, which must succeed.
func (w *writer) must(built ...*log.Built) {
	w.t.Helper()
	if o := (log.Local{Store: w.log.Store()}).Append(w.ctx, log.Batch{Operations: built}); o.Kind != log.Done {
		w.t.Fatalf("%+v", o)
	}
}

func (w *writer) do(p board.Payload) *log.Entry {
	w.t.Helper()
	built := testrun.Must(w.prepare(w.tip(), p).Build(by))(w.t)
	w.must(built)
	return built.Entry
}

func (w *writer) init() *writer {
	w.t.Helper()
	w.do(&board.Init{Goal: "A greeter", IntegrationBranch: "integration"})
	return w
}

func task(id string) board.Payload {
	return &board.AddTask{About: board.About{Task: id}, Definition: board.Definition{Description: "Do " + id, Kind: board.Code, Priority: 3}}
}

func note(text string) board.Payload { return &board.AddNote{Message: text} }

// byHand commits files on top of the board without an operation.
func (w *writer) byHand(files map[string][]byte) plumbing.OID {
	w.t.Helper()
	s := w.tip()
	tree := testrun.Must(log.ReadTree(w.ctx, w.log.Store(), s.Head.Tree))(w.t)
	next := testrun.Must(tree.Change(files))(w.t)
	c := s.Head
	c.Parents, c.Tree = []plumbing.OID{s.Commit}, next.Root()
	o := plumbing.NewObject("commit", plumbing.EncodeCommit(c))
	check(w.t, w.log.Store().WriteObjects(w.ctx, append(next.Objects(files), o)))
	check(w.t, w.log.Store().UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: s.Commit, New: o.OID}}, ""))
	return o.OID
}
