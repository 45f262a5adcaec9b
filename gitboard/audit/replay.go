package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// replay is the board as far as it has been replayed, in memory: its records, and its tree with
// their bytes.
type replay struct {
	store    log.Store
	trees    chan<- unplaced // receives the outcomes whose trees are made behind the replay; or nil
	report   *Report
	clock    board.Time                                  // see Range
	lazy     bool                                        // records are read when needed: only a range is replayed
	made     func(commit plumbing.OID, made *log.Result) // receives each proven outcome; may be nil
	seen     func(Replayed)                              // see Range
	evidence []evidence
	claims   Claims
	shown    map[string]bool       // the agents whose leases were shown
	unshown  []string              // see Push
	begun    plumbing.OID          // where integration was when the board began, "" if unknown
	unread   map[plumbing.OID]bool // the submitted commits that were found to be damaged

	memory *board.Memory
	state  *board.State
	tree   *log.Tree
	last   plumbing.OID // the commit that the board is at

	written  map[string]written // by record
	requests map[string]asked   // by request id
}

// written is how a record was last written: by which commit, and as which bytes.
type written struct {
	by   Finding
	data []byte
}

// asked is when a request was last carried out.
type asked struct {
	commit plumbing.OID
	at     int // the number of commits before it
}

func newReplay(store log.Store, r Range) *replay {
	m := board.NewMemory()
	return &replay{
		store: store, seen: r.Seen, report: &Report{From: r.From, To: r.To, Attested: map[string]int{}},
		memory: m, state: board.NewState(m, ""), tree: log.NewTree(), last: plumbing.ZeroOID, written: map[string]written{}, requests: map[string]asked{}, shown: map[string]bool{}, unread: map[plumbing.OID]bool{},
	}
}

// startFrom takes the board of a commit as given. Its records are read when they are needed.
func (p *replay) startFrom(ctx context.Context, l *log.Reader, from plumbing.OID) error {
	at, err := l.At(ctx, from)
	if err != nil {
		return err
	}
	p.last, p.lazy, p.state = from, true, board.NewState(at.State, at.State.Time())
	p.tree, err = log.ReadTree(ctx, p.store, at.Head.Tree)
	return err
}

// run replays a chain of commits, up to the first that breaks a rule: its parent is the last board to trust.
func (p *replay) run(ctx context.Context, chain []plumbing.OID, progress func(done, total int)) error {
	ctx, cancel := context.WithCancel(ctx)
	batches, wait := read(ctx, p.store, chain)
	defer wait()
	defer cancel()
	for promise := range batches {
		b := <-promise
		if b.err != nil {
			return b.err
		}
		for i := range b.entries {
			l := &b.entries[i]
			if err := p.take(ctx, l); err != nil {
				return fmt.Errorf("verify %s: %w", l.oid.Short(), err)
			}
			p.report.Commits++
			if !p.report.OK() {
				if rest := len(chain) - p.report.Commits; rest > 0 {
					p.report.note(Finding{l.oid, subject(l.commit), CodeHistory, text.Plural(rest, "commit") + " after it: not judged"})
				}
				return nil
			}
			p.claims.add(l)
		}
		if progress != nil {
			progress(p.report.Commits, len(chain))
		}
	}
	p.settle()
	return ctx.Err()
}

// take replays one commit, whose faults become findings. An error means a failure to read.
func (p *replay) take(ctx context.Context, l *entry) error {
	var found faults
	if l.err != nil {
		found.add(CodeHistory, "it is not a commit: %v", l.err)
		p.report.Findings = append(p.report.Findings, found.of(l)...)
		return nil
	}
	found.parents(l.commit, p.last)
	found.signatures(l)
	p.repeated(l, &found)
	files := map[string][]byte{}
	want, err := p.step(l, files, &found)
	if err != nil {
		return err
	}
	p.signed(l, want, &found)
	if want != nil {
		if l.commit.Message != want.Message {
			found.add(CodeMessage, "the message is not the operation's: %s", difference(l.commit.Message, want.Message))
		}
		if err := p.compareTree(ctx, l, want, &found); err != nil {
			return err
		}
		found.form(l)
		p.collect(l)
	}
	if len(found) > 0 {
		p.report.Findings = append(p.report.Findings, found.of(l)...)
		return nil
	}
	p.last = l.oid
	by := Finding{Commit: l.oid, Subject: subject(l.commit)}
	for path, r := range want.After.Changes() {
		if p.written[path] = (written{by, files[path]}); r == nil {
			delete(p.written, path)
		}
	}
	if p.made != nil {
		p.made(l.oid, want)
	}
	if p.seen != nil {
		p.seen(Replayed{l.oid, l.commit.Tree, len(l.commit.Parents) == 0, l.op, l.signer, p.state})
	}
	if p.lazy {
		p.state.Absorb(want.After)
	} else {
		p.memory.Absorb(want.After)
		p.state = board.NewState(p.memory, board.At(l.commit.Author.When))
	}
	if p.trees == nil {
		p.tree = want.Tree
	}
	p.report.Proven++
	return nil
}

// step carries out the operation of a commit on the board before it; nil if that is impossible. It
// puts what the operation writes into files. An error means a failure to read.
func (p *replay) step(l *entry, files map[string][]byte, found *faults) (*log.Result, error) {
	if l.opErr != nil {
		found.add(CodeMessage, "it carries no operation: %v", l.opErr)
		return nil, nil
	}
	op := l.op
	op.Clock = p.clock
	want, err := log.Unplaced(p.state, op, func(path string, r any) (data []byte, err error) {
		data, err = encode(path, r)
		files[path] = data
		return data, err
	})
	if err == nil && p.trees == nil {
		err = want.Place(p.tree)
	}
	if unread := cmp.Or(p.state.Err(), err); unread != nil && !damaged(unread) {
		return nil, unread
	}
	var refused *board.Refusal
	switch {
	case p.state.Err() != nil:
		found.add(CodeRecord, "the board before it can't be read: %v", p.state.Err())
	case errors.As(err, &refused):
		found.add(refused.Code, "%s", refused.Message)
	case err != nil:
		found.add(board.CodeInvalid, "%v", err)
	default:
		return want, nil
	}
	return nil, nil
}

// signed checks the commit's signature against the keys on the board before it. want is nil for an
// operation that can't be carried out; then it doesn't matter whose key signed.
func (p *replay) signed(l *entry, want *log.Result, found *faults) {
	if l.signErr != nil {
		found.add(CodeSignature, "its signature is not accepted: %v", l.signErr)
		return
	}
	if want == nil {
		return
	}
	var refused *board.Refusal
	if err := board.CheckSigner(p.state, want.After, l.op.Actor, l.signer); errors.As(err, &refused) {
		found.add(refused.Code, "%s", refused.Message)
		return
	}
	if l.signer == "" {
		p.report.SignedFrom = ""
		return
	}
	p.report.Signed++
	if p.report.SignedFrom.IsZero() {
		p.report.SignedFrom = l.oid
	}
}

// repeated looks for an operation that was carried out twice. An id may be used again once the
// first use is so old that no writer looks for it any more.
func (p *replay) repeated(l *entry, found *faults) {
	if l.opErr != nil {
		return
	}
	if was, ok := p.requests[l.head.Request]; ok && p.report.Commits-was.at <= log.RequestDepth {
		found.add(CodeRequest, "the request %s was carried out before, by %s", quote(l.head.Request), was.commit.Short())
	}
	p.requests[l.head.Request] = asked{l.oid, p.report.Commits}
}

// askedBefore looks for requests of the range that were already carried out before it.
func (p *replay) askedBefore(ctx context.Context, repo *git.Repo, from plumbing.OID) error {
	before, err := repo.History().Requested(ctx, from, slices.Sorted(maps.Keys(p.requests)), log.RequestDepth-p.report.Commits)
	if err != nil {
		return fmt.Errorf("look for repeated requests: %w", err)
	}
	for _, request := range slices.Sorted(maps.Keys(before)) {
		p.report.add(Finding{p.requests[request].commit, "", CodeRequest, fmt.Sprintf("the request %s was carried out before, by %s", quote(request), before[request].Short())})
	}
	return nil
}

// encode writes a record as Append does, but does not read it back: settle does that once per
// record.
func encode(path string, r any) ([]byte, error) {
	data, err := codec.Encode(r)
	if len(data) > codec.MaxDocument {
		_, err = codec.EncodeChecked(path, r)
	}
	return data, err
}

// settle reads back what the last operation on each record wrote, with all processors.
func (p *replay) settle() {
	paths := slices.Sorted(maps.Keys(p.written))
	wrong := make([]error, len(paths))
	var next atomic.Int64
	var busy sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(paths); i = next.Add(1) - 1 {
				r, _ := p.state.Record(paths[i])
				wrong[i] = codec.ReadBack(paths[i], r, p.written[paths[i]].data)
			}
		})
	}
	busy.Wait()
	for i, err := range wrong {
		if err != nil {
			at := p.written[paths[i]].by
			at.Code, at.Text = CodeRecord, err.Error()
			p.report.add(at)
		}
	}
}
