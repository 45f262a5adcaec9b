// Package server answers the hooks of a shared repository: it proves the operations that a push
// brings, and allows or refuses the push.
//
// It also sequences: it decides operations in the server's inbox on the server's board, and moves
// the refs itself, with the same checks.
//
// It may import gitboard, gitboard/audit, gitboard/board, gitboard/git, gitboard/git/gitenv,
// gitboard/git/plumbing, gitboard/lease, gitboard/log, gitboard/log/codec, gitboard/parcel,
// gitboard/queue, gitboard/text, hooks and hooks/install.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/install"
)

// arrival is a push, or one of its transactions, as the server sees it.
type arrival struct {
	board  *gitboard.Board
	repo   *git.Repo
	now    time.Time
	moves  []hooks.Move
	made   []plumbing.Object // the board's new objects, if this server has made them itself
	push   *audit.Push       // the operations that it brings, once proven
	begins bool              // the board begins with it (grows)
	part   bool              // it is a transaction: pre-receive has seen the whole push
	err    error             // from a question that a policy asked
}

func arrived(ctx context.Context, b *gitboard.Board, moves []hooks.Move, now time.Time) (*arrival, error) {
	a := &arrival{board: b, repo: b.Repo(), now: now, moves: moves}
	return a, Locate(ctx, a.repo, a.moves)
}

// Locate fills in where the refs of the moves are now.
func Locate(ctx context.Context, repo *git.Repo, moves []hooks.Move) error {
	names := make([]string, 0, len(moves))
	for _, m := range moves {
		if strings.HasPrefix(m.Ref, plumbing.RefsPrefix) {
			names = append(names, m.Ref)
		}
	}
	packed, unread := repo.PackedRefs(names...)
	now, err := repo.Where(ctx, names)
	if err := cmp.Or(unread, err); err != nil {
		return err
	}
	for i := range moves {
		m := &moves[i]
		m.Now = string(plumbing.ZeroOID)
		if oid := now[m.Ref]; oid != "" {
			m.Now = string(oid)
		}
		m.Packed = packed[m.Ref] != "" && string(packed[m.Ref]) == m.Old
	}
	return nil
}

func (a *arrival) of(ref string) *hooks.Move { return hooks.Push{Moves: a.moves}.Of(ref) }

// holds returns a function that reports whether the history of newer contains older.
func (a *arrival) holds(ctx context.Context) func(older, newer string) bool {
	return func(older, newer string) bool {
		is, err := a.repo.History().IsAncestor(ctx, plumbing.OID(older), plumbing.OID(newer))
		a.err = cmp.Or(a.err, err)
		return is
	}
}

// lockAge is the age at which a lock counts as left by a killed git. Git holds one for
// milliseconds.
const lockAge = 5 * time.Second

// Receive answers pre-receive, for a whole push with its objects still in quarantine. Git locks the
// refs afterwards, so Receive first removes locks left by a killed push: nothing else on a server
// would.
func Receive(ctx context.Context, b *gitboard.Board, moves []hooks.Move, now time.Time) (*board.Refusal, error) {
	a, refusal, err := received(ctx, b, moves, nil, now)
	if refusal == nil && err == nil {
		a.clearLocks()
		a.keepProven()
		err = a.keepLast(ctx)
	}
	return refusal, err
}

// received checks what a push does to the refs of a board. made are the objects of its operations
// if this server has made them itself.
func received(ctx context.Context, b *gitboard.Board, moves []hooks.Move, made []plumbing.Object, now time.Time) (*arrival, *board.Refusal, error) {
	a, err := arrived(ctx, b, moves, now)
	if err != nil {
		return nil, nil, err
	}
	a.made = made
	refusal, err := a.received(ctx)
	return a, refusal, cmp.Or(err, a.err)
}

func (a *arrival) clearLocks() {
	var refs []string
	for _, m := range a.moves {
		refs = append(refs, m.Ref)
	}
	a.repo.Locks().ClearRefs(lockAge, refs...)
}

// keepProven saves the transaction of this push from being looked at again, if it starts from the
// current refs.
func (a *arrival) keepProven() {
	var lines strings.Builder
	key := plumbing.ZeroOID // the shim looks for the board's new commit, or else for another ref's
	for _, m := range a.moves {
		if m.Old != m.Now {
			return
		}
		fmt.Fprintf(&lines, "%s %s %s\n", m.Old, m.New, m.Ref)
		if isOwn(m.Ref) && !plumbing.OID(m.New).IsZero() && a.of(plumbing.BoardRef) == nil {
			key = plumbing.OID(m.New)
		}
	}
	if moved := a.of(plumbing.BoardRef); moved != nil {
		key = plumbing.OID(moved.New)
	}
	if !key.IsZero() {
		install.KeepProven(a.repo, a.now, key, lines.String())
	}
}

// isOwn reports whether a ref is one of the board's, its branch included.
func isOwn(ref string) bool {
	return strings.HasPrefix(ref, plumbing.OwnPrefix) || strings.HasPrefix(ref, plumbing.BoardPrefix)
}

// lastBehind is how many operations plumbing.LastRef may be behind the board.
const lastBehind = 32

// keepLast lets plumbing.LastRef follow the board to where it was before this push, if it is that far
// behind. If it can't be moved, a later push tries again.
func (a *arrival) keepLast(ctx context.Context) error {
	moved := a.of(plumbing.BoardRef)
	if moved == nil || plumbing.OID(moved.Now).IsZero() {
		return nil
	}
	last, err := a.repo.Ref(ctx, plumbing.LastRef)
	if err != nil && !errors.As(err, new(*git.BrokenRefError)) {
		return err
	}
	at := plumbing.OID(moved.Now)
	for n := 0; n < lastBehind; n++ {
		s, err := a.board.Log().At(ctx, at)
		if err != nil || at == last || len(s.Head.Parents) == 0 {
			return err
		}
		at = s.Head.Parents[0]
	}
	outside := gitenv.With(ctx, gitenv.Elsewhere(gitenv.Of(ctx))) // of the push's quarantine, in which git moves no ref
	repo, err := git.Open(outside, a.repo.CommonDir())
	if err != nil {
		return err
	}
	repo.Upkeep().FollowBoard(outside)
	return repo.Close()
}

// received checks a push.
func (a *arrival) received(ctx context.Context) (*board.Refusal, error) {
	if r := (hooks.Push{Moves: a.moves}).Twice(); r != nil {
		return r, nil
	}
	if r, err := a.stale(ctx); r != nil || err != nil {
		return r, err
	}
	return a.judge(ctx, a.examine)
}

// stale checks that the board moves from where it is. What the server makes itself is decided again
// otherwise. If the board is hidden from pushes (receive.hideRefs), git itself reports that.
func (a *arrival) stale(ctx context.Context) (*board.Refusal, error) {
	moved := a.of(plumbing.BoardRef)
	if moved == nil || a.made != nil {
		return nil, nil
	}
	r := hooks.StaleBoard(*moved)
	if r == nil || !plumbing.OID(moved.Old).IsZero() {
		return r, nil
	}
	rules, err := a.repo.Settings().PushRules(ctx)
	if slices.ContainsFunc(rules, func(rule string) bool { return strings.HasSuffix(rule, "hiderefs") }) {
		return nil, err
	}
	return r, err
}

// judge checks the moves of the board's refs and of integration; examine checks that of the board
// itself.
func (a *arrival) judge(ctx context.Context, examine func(context.Context, *hooks.Move) (*board.Refusal, error)) (*board.Refusal, error) {
	if moved := a.of(plumbing.BoardRef); moved != nil {
		if r, err := examine(ctx, moved); r != nil || err != nil {
			return r, err
		}
	}
	tip, s, err := a.after(ctx)
	if err != nil {
		return nil, err
	}
	if r, err := a.own(ctx, tip, s); r != nil || err != nil {
		return r, err
	}
	if r, err := a.submitted(ctx, s); r != nil || err != nil {
		return r, err
	}
	if s == nil {
		return a.lost(ctx)
	}
	return a.landing(ctx, s)
}

// after returns the tip of the board after the moves, and its state, nil without one.
func (a *arrival) after(ctx context.Context) (plumbing.OID, *board.State, error) {
	moved := a.of(plumbing.BoardRef)
	switch {
	case moved == nil:
		return a.present(ctx)
	case a.push != nil:
		return plumbing.OID(moved.New), a.push.State, nil
	}
	at, err := a.board.Log().At(ctx, plumbing.OID(moved.New))
	if err != nil {
		return "", nil, err
	}
	return at.Commit, at.State, nil
}

// own checks the moves of the board's refs other than its branch.
func (a *arrival) own(ctx context.Context, tip plumbing.OID, s *board.State) (*board.Refusal, error) {
	whole := hooks.Push{Moves: a.moves, State: s, Now: board.At(a.now)}
	if r, err := a.oneHome(ctx); r != nil || err != nil {
		return r, err
	}
	for _, m := range a.moves {
		m, err := a.named(ctx, m)
		if err != nil {
			return nil, err
		}
		if m.Ref == plumbing.BoardRef || !isOwn(m.Ref) || strings.HasPrefix(m.Ref, plumbing.CandidatePrefix) {
			continue
		}
		if a.part && !strings.HasPrefix(m.Ref, plumbing.ReviewPrefix) && !strings.HasPrefix(m.Ref, plumbing.LeasePrefix) {
			continue // no operation goes with it
		}
		lease, err := a.lease(ctx, m)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(m.Ref, plumbing.ProbePrefix) && whole.Probes == 0 {
			here, err := a.repo.Refs(ctx, plumbing.ProbePrefix)
			if err != nil {
				return nil, err
			}
			whole.Probes = len(here) + len(a.moves)
		}
		if m.Ref == plumbing.AttestationsRef || m.Ref == plumbing.AsBranch(plumbing.AttestationsRef) {
			if r := hooks.AttestationsMove(m, a.holds(ctx)); r != nil || a.err != nil {
				return r, a.err
			}
			continue
		}
		if r := whole.OwnRef(m, lease); r != nil {
			return r, readOf(s)
		}
		if m.Ref == plumbing.HomeRef && !a.holds(ctx)(m.New, string(tip)) {
			return hooks.ForeignHome(m), a.err
		}
	}
	return nil, nil
}

// oneHome checks that the board gets no home beside the one that it has in a branch. The reverse is
// a branch that no task has.
func (a *arrival) oneHome(ctx context.Context) (*board.Refusal, error) {
	made, branch := a.of(plumbing.HomeRef), plumbing.AsBranch(plumbing.HomeRef)
	if made == nil || plumbing.OID(made.New).IsZero() {
		return nil, nil
	}
	at, err := a.repo.Ref(ctx, branch)
	if !at.IsZero() || a.of(branch) != nil {
		return hooks.SecondHome(*made, plumbing.BranchName(branch)), err
	}
	return nil, err
}

// submitted checks that each submission on its way to the board has its ref, by which git keeps it.
// Where the board is new, others have it.
func (a *arrival) submitted(ctx context.Context, s *board.State) (*board.Refusal, error) {
	moved := a.of(plumbing.BoardRef)
	if moved == nil || plumbing.OID(moved.Now).IsZero() {
		return nil, nil
	}
	claims, err := a.claims(ctx, moved)
	if err != nil {
		return nil, err
	}
	for _, submission := range claims.Submissions {
		t := s.Task(submission.Task)
		if t == nil {
			return nil, s.Err()
		}
		for n := 1; n <= t.Submissions(); n++ {
			if t.Submission(n) != submission.Commit {
				continue
			}
			at, err := a.at(ctx, plumbing.ReviewRef(t.ID, n))
			if err != nil {
				return nil, err
			}
			if r := hooks.Submitted(t.ID, n, submission.Commit, at); r != nil {
				return r, nil
			}
		}
	}
	return nil, nil
}

// at returns where one of the board's refs is after the moves.
func (a *arrival) at(ctx context.Context, ref string) (string, error) {
	ref, err := a.nameHere(ctx, ref)
	if err != nil {
		return "", err
	}
	if m := a.of(ref); m != nil {
		return m.New, nil
	}
	oid, err := a.repo.Ref(ctx, ref)
	return string(oid), err
}

// present returns the tip of the board before a push that doesn't move it, and its state, nil
// without one.
func (a *arrival) present(ctx context.Context) (plumbing.OID, *board.State, error) {
	tip, err := a.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip.IsZero() {
		return tip, nil, err
	}
	at, err := a.board.Log().At(ctx, tip)
	if err != nil {
		return "", nil, err
	}
	return tip, at.State, a.noteIntegration(ctx, tip, at.State)
}

// lost checks a push to a repository without a board: if its ref has been lost, integration still
// moves with it alone.
func (a *arrival) lost(ctx context.Context) (*board.Refusal, error) {
	last, err := a.last(ctx)
	if err != nil || last.IsZero() {
		return nil, err
	}
	at, err := a.board.Log().At(ctx, last)
	if err != nil {
		return nil, err
	}
	return a.landing(ctx, at.State)
}

// readOf returns the error of reading a board, if any.
func readOf(s *board.State) error {
	if s == nil {
		return nil
	}
	return s.Err()
}

// grows refuses a move of the board's ref that takes operations back, or replaces the board where
// the ref has been lost.
func (a *arrival) grows(ctx context.Context, m *hooks.Move) (*board.Refusal, error) {
	since, err := a.since(ctx, m)
	if err != nil {
		return nil, err
	}
	a.begins = plumbing.OID(m.Now).IsZero() && since.IsZero()
	r := hooks.BoardMove(*m, string(since), a.holds(ctx))
	return r, a.err
}

// since returns a commit that the board must contain when its ref is created by a move: zero if the
// ref exists, or if the board begins.
func (a *arrival) since(ctx context.Context, m *hooks.Move) (plumbing.OID, error) {
	if !plumbing.OID(m.Now).IsZero() {
		return plumbing.ZeroOID, nil
	}
	return a.last(ctx)
}

// known are the refs that keep commits of the board where its own ref has been lost, the newest
// first.
var known = []string{plumbing.LastRef, plumbing.HomeRef, plumbing.AsBranch(plumbing.HomeRef)}

// last returns a commit that the board of this repository contained, zero if there never was one.
func (a *arrival) last(ctx context.Context) (plumbing.OID, error) {
	for _, ref := range known {
		if at, err := a.repo.Ref(ctx, ref); err != nil || !at.IsZero() {
			return at, err
		}
	}
	return plumbing.ZeroOID, nil
}

// examine proves the operations that a push brings to the board.
func (a *arrival) examine(ctx context.Context, m *hooks.Move) (*board.Refusal, error) {
	if r, err := a.grows(ctx, m); r != nil || err != nil {
		return r, err
	}
	from, to := plumbing.OID(m.Now), plumbing.OID(m.New)
	// A second parent may bring in the whole project, and measuring that takes long.
	switch merge, err := a.repo.History().FindMerge(ctx, from, to); {
	case err != nil:
		return nil, err
	case !merge.IsZero():
		return hooks.BoardMerge(merge.Short()), nil
	}
	sizes, err := a.sizes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	for _, s := range sizes {
		if r := hooks.TooLarge(string(s.Type), string(s.OID), s.Bytes, from.IsZero()); r != nil {
			return r, nil
		}
	}
	integration, err := a.integration(ctx, from)
	if err != nil {
		return nil, err
	}
	p, err := audit.Examine(ctx, a.repo, a.board.Log(), audit.Range{From: from, To: to, Clock: board.At(a.now)}, integration)
	if err != nil {
		return nil, err
	}
	if !p.OK() {
		f := p.Findings[0]
		return board.Refusef(f.Code, "%s", f).Advise("push what git liza has written; %s shows more", board.ActOn("verify")), nil
	}
	if r := hooks.Ahead(p.State.Time(), board.At(a.now), to.Short()); r != nil {
		return r, nil
	}
	a.push = p
	return a.unshown(ctx, m)
}

// sizes returns the sizes of the board's new objects.
func (a *arrival) sizes(ctx context.Context, from, to plumbing.OID) (sizes []git.Size, err error) {
	if a.made == nil {
		return a.repo.History().Sizes(ctx, from, to)
	}
	for _, o := range a.made {
		sizes = append(sizes, git.Size{OID: o.OID, Type: o.Type, Bytes: int64(len(o.Data))})
	}
	return sizes, nil
}

// integration returns the commit of the board's integration branch after the push, zero if it is
// missing.
func (a *arrival) integration(ctx context.Context, was plumbing.OID) (plumbing.OID, error) {
	before, err := a.board.Log().At(ctx, was)
	if err != nil {
		return "", err
	}
	config := before.State.Config()
	if config == nil {
		return plumbing.ZeroOID, before.State.Err()
	}
	ref := plumbing.BranchRef(config.IntegrationBranch)
	if m := a.of(ref); m != nil {
		return plumbing.OID(m.New), nil
	}
	return a.repo.Ref(ctx, ref)
}

// named returns a move under the usual name of its ref, where the repository keeps the board in
// branches alone (plumbing.AsBranch). Probes come before it is known whether it does.
func (a *arrival) named(ctx context.Context, m hooks.Move) (hooks.Move, error) {
	ref := plumbing.FromBranch(m.Ref)
	if ref == m.Ref {
		return m, nil
	}
	if is, err := a.onlyBranches(ctx); !is && !strings.HasPrefix(ref, plumbing.ProbePrefix) {
		return m, err
	}
	m.Ref = ref
	if !strings.HasPrefix(ref, plumbing.LeasePrefix) || plumbing.OID(m.New).IsZero() {
		return m, nil
	}
	o, err := a.small(ctx, m.New)
	if c, wrong := plumbing.DecodeCommit(o); wrong == nil { // else it is no lease
		m.New = string(c.Carried())
	}
	return m, err
}

// nameHere is the reverse of named: the name under which the repository keeps one of the board's
// refs.
func (a *arrival) nameHere(ctx context.Context, ref string) (string, error) {
	if is, err := a.onlyBranches(ctx); !is {
		return ref, err
	}
	return plumbing.AsBranch(ref), nil
}

// small reads an object that is to be a lease, if it is small enough.
func (a *arrival) small(ctx context.Context, oid string) (o plumbing.Object, err error) {
	sizes, err := a.repo.History().SizesOf(ctx, []string{oid})
	if err != nil || sizes[0].Bytes > hooks.MaxLease {
		return o, err
	}
	return a.repo.Object(ctx, oid)
}

// onlyBranches reports whether the board is at home in a branch, or comes to be with this push.
func (a *arrival) onlyBranches(ctx context.Context) (bool, error) {
	home, err := a.repo.Ref(ctx, plumbing.HomeRef)
	if err != nil || !home.IsZero() {
		return false, err
	}
	if a.of(plumbing.AsBranch(plumbing.HomeRef)) != nil {
		return true, nil
	}
	home, err = a.repo.Ref(ctx, plumbing.AsBranch(plumbing.HomeRef))
	return !home.IsZero(), err
}

// lease reads the lease to which a pushed ref points, nil for none.
func (a *arrival) lease(ctx context.Context, m hooks.Move) (*board.Lease, error) {
	if !strings.HasPrefix(m.Ref, plumbing.LeasePrefix) || plumbing.OID(m.New).IsZero() {
		return nil, nil
	}
	o, err := a.small(ctx, m.New)
	if c := lease.Decode(o); c != nil {
		return &c.Lease, nil
	}
	return nil, err
}

// landing checks the move of integration against the operations.
func (a *arrival) landing(ctx context.Context, s *board.State) (*board.Refusal, error) {
	config := s.Config()
	if config == nil {
		return nil, s.Err()
	}
	ref := plumbing.BranchRef(config.IntegrationBranch)
	i := hooks.Integration{Branch: config.IntegrationBranch, Move: a.of(ref), Holds: a.holds(ctx)}
	if i.Move != nil {
		i.Now = i.Move.Now
	} else {
		now, err := a.repo.Ref(ctx, ref)
		if err != nil {
			return nil, err
		}
		i.Now = string(now)
	}
	if m := a.of(plumbing.BoardRef); m != nil {
		i.Founding = a.begins
		claims, err := a.claims(ctx, m)
		if err != nil {
			return nil, err
		}
		i.Landings = claims.Landings
	}
	return hooks.CheckIntegration(i), nil
}

// claims returns the statements about other refs by the operations that a push, or one of its
// transactions, brings to the board.
func (a *arrival) claims(ctx context.Context, m *hooks.Move) (*audit.Claims, error) {
	if a.push == nil {
		recorded, err := audit.Recorded(ctx, a.repo, audit.Range{From: plumbing.OID(m.Now), To: plumbing.OID(m.New)})
		if err != nil {
			return nil, err
		}
		a.push = &audit.Push{Claims: recorded}
	}
	return &a.push.Claims, nil
}

// Transaction answers reference-transaction in its prepared state, for one transaction whose
// operations pre-receive has proven.
func Transaction(ctx context.Context, b *gitboard.Board, moves []hooks.Move, now time.Time) (*board.Refusal, error) {
	a, err := arrived(ctx, b, moves, now)
	if err != nil {
		return nil, err
	}
	a.moves, a.part = hooks.Busy(a.moves), true
	refusal, err := a.judge(ctx, a.grows)
	return refusal, cmp.Or(err, a.err)
}

// noteIntegration records which branch is integration, so that pushes of other branches need not
// ask.
func (a *arrival) noteIntegration(ctx context.Context, tip plumbing.OID, s *board.State) error {
	config := s.Config()
	if config == nil {
		return s.Err()
	}
	settings, err := a.repo.Object(ctx, string(tip)+":"+board.ConfigPath)
	if err == nil {
		install.KeepIntegration(a.repo, settings.OID, plumbing.BranchRef(config.IntegrationBranch))
	}
	return err
}
