package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Range is the part of a history to verify: the commits after From, up to To. A zero To is the
// board's tip, a zero From means from the root on.
//
// With From, the replay starts from From's own tree, which it takes as given: the cost depends only
// on the range, and the result proves only that the range follows from From. If From is no longer
// in the history of To, that is reported (the code "rewritten").
type Range struct {
	From, To plumbing.OID
	// Clock is the time at the receiver of new operations: for a take-over, the lease must have
	// expired by this clock as well. None for operations that are already on the board.
	Clock board.Time
	// Seen, if not nil, receives each operation that follows from the board before it, in the order
	// of the history. Where a rule is broken, the history is replayed, and passed, from its start again.
	Seen func(Replayed)
}

// Replayed is an operation of the history as the replay carried it out.
type Replayed struct {
	Commit plumbing.OID
	Tree   plumbing.OID
	First  bool // it begins the board
	Op     board.Operation
	Signer string       // the public key that signed it, "" for none
	Before *board.State // valid during the call only
}

// Finding is one broken rule, or something worth knowing.
type Finding struct {
	Commit  plumbing.OID    // where it was found: a commit of the board or of integration
	Subject string          // of that commit
	Code    board.ErrorCode // of a refusal, or one of this package
	Text    string          // the fault, for people
}

func (f Finding) String() string {
	return strings.TrimSpace(f.Commit.Short()+" "+f.Subject) + ": " + f.Text
}

// The codes of findings, in addition to those of refusals.
const (
	CodeHistory     board.ErrorCode = "history"     // parents, or an object that is not a commit
	CodeRewritten   board.ErrorCode = "rewritten"   // the start of the range is gone, or operations that this repository had
	CodeMessage     board.ErrorCode = "message"     // no operation can be read from it, or it differs from the operation
	CodeRequest     board.ErrorCode = "request"     // it was carried out before
	CodeTree        board.ErrorCode = "tree"        // the files are not those that the operation leads to
	CodeRecord      board.ErrorCode = "record"      // a record can't be read
	CodeIdentity    board.ErrorCode = "identity"    // author or committer are not who acted
	CodeTime        board.ErrorCode = "time"        // the two times differ, or are not UTC
	CodeSignature   board.ErrorCode = "signature"   // it bears none, or not that of who acted
	CodeForm        board.ErrorCode = "form"        // the commit object holds more than a board's commit
	CodeEvidence    board.ErrorCode = "evidence"    // the repository doesn't hold what was recorded
	CodeTrailer     board.ErrorCode = "trailer"     // a commit on a task's branch names somebody who never held the task
	CodeIntegration board.ErrorCode = "integration" // integration moved without the board
)

// Report is the result of a verification. SignedFrom is the first commit from which on all commits
// of the range are signed; zero if the last one is not signed.
type Report struct {
	Lacking    bool   // objects of the history are missing or damaged
	Unseen     string // the integration branch, if this clone does not have it; its landings are unchecked
	From, To   plumbing.OID
	SignedFrom plumbing.OID
	Commits    int            // of the range, up to the first finding
	Proven     int            // operations that follow from the board before them, byte for byte
	Checked    int            // operations whose evidence is in the repository as recorded
	Unchecked  int            // operations whose evidence can't be checked here
	Signed     int            // operations signed by their actor
	Unnamed    int            // submitted commits that name no agent
	Attested   map[string]int // evidence that rests on an agent's word, by kind
	Findings   []Finding      // broken rules, in the order of the history
	Notes      []Finding      // for a person to look at
}

// OK reports whether no broken rule was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// The kinds of attested evidence.
const (
	AttestedLease    = "lease"    // it had expired, or there was none
	AttestedWorktree = "worktree" // it was clean, and on the commit
	AttestedTest     = "test"     // the integration test had this result
	AttestedFound    = "found"    // integration already had the work, from an interrupted merge
	AttestedSpec     = "spec"     // the spec's file was not checked
)

// Verify replays a board's history and checks it against the repository, if there is one (repo may
// be nil). It stops at the first operation that breaks a rule. progress, if not nil, is called now and
// then with the number of commits done, which begins again once something is wrong. An error means that the history could not be read, not
// that it is wrong. It is an *log.NewerFormatError for a board of a later format, and
// log.ErrNoBoard if there is no board.
func Verify(ctx context.Context, store log.Store, repo *git.Repo, r Range, progress func(done, total int)) (*Report, error) {
	if r.To.IsZero() {
		tip, err := store.Ref(ctx, plumbing.BoardRef)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", plumbing.BoardRef, err)
		}
		if tip.IsZero() {
			return nil, log.ErrNoBoard
		}
		r.To = tip
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	w := watchObjects(reading, repo, r)
	made := func(commit plumbing.OID, made *log.Result) { w.made(reading, commit, made) }
	p, err := prove(ctx, store, repo, log.NewReader(store, ""), r, made, progress)
	if err != nil || p.last.IsZero() {
		return p.reported(), err
	}
	if repo == nil {
		p.report.Unchecked = len(p.evidence)
		return p.report, nil
	}
	proven := p.report.OK()
	if err := w.missing(reading, proven); err != nil {
		if !lacking(err) {
			return p.report, err
		}
		p.report.Lacking = true
		p.report.add(Finding{r.To, "", CodeHistory, fmt.Sprintf("objects of the board's history are missing or damaged: git liza doctor (%v)", err)})
	}
	if !proven {
		return p.report, nil
	}
	return p.report, p.recheck(ctx, repo)
}

// prove replays a history up to the first fault; made receives the outcome of each proven operation.
// l reads the board before a range.
func prove(ctx context.Context, store log.Store, repo *git.Repo, l *log.Reader, r Range, made func(plumbing.OID, *log.Result), progress func(done, total int)) (*replay, error) {
	var newer *log.NewerFormatError
	if _, err := log.NewReader(store, "").At(ctx, r.To); errors.As(err, &newer) || err != nil && !damaged(err) {
		return nil, err
	}
	chain, err := history(ctx, store, repo, r)
	if err != nil {
		return nil, err
	}
	p := newReplay(store, r)
	p.made = made
	if len(chain) == 0 {
		p.report.add(Finding{r.To, "", CodeHistory, fmt.Sprintf("%s is not a commit: there is no history behind it", r.To.Short())})
		return p, nil
	}
	if r.From.IsZero() {
		if p, err := proveWhole(ctx, store, r, chain, made, progress); p != nil || err != nil {
			return p, err
		}
		return p, p.run(ctx, chain, progress)
	}
	at := slices.Index(chain, r.From)
	if at < 0 {
		p.report.add(Finding{r.From, "", CodeRewritten, fmt.Sprintf("%s is not in the history of %s: the history was rewritten", r.From.Short(), r.To.Short())})
		return p, nil
	}
	p.clock = r.Clock // otherwise the board's whole history is new
	if err := p.startFrom(ctx, l, r.From); err != nil {
		return nil, err
	}
	if err := p.run(ctx, chain[at+1:], progress); err != nil || repo == nil {
		return p, err
	}
	return p, p.askedBefore(ctx, repo, r.From)
}

// reported returns the report so far, nil before there was a replay.
func (p *replay) reported() *Report {
	if p == nil {
		return nil
	}
	return p.report
}

func (r *Report) add(f Finding)  { r.Findings = append(r.Findings, f) }
func (r *Report) note(f Finding) { r.Notes = append(r.Notes, f) }
