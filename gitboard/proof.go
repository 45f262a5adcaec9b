package gitboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// proof is a part of the board's history in which each operation is known to follow from the board
// before it: the commits after from, up to to. What came before from is taken on trust. settled is
// a commit between the two that stays on the board even if the pending commits after it are
// dropped.
type proof struct{ from, settled, to plumbing.OID }

// proofFile stores this clone's proof. If it is lost, the last operations are proven again.
const proofFile = "proven"

// provenAtMost is how many operations are proven if there is no proof yet; verify proves older
// ones. In a clone that has a proof, all later operations are proven; after so many it asks git
// whether the proof is among the older ones at all.
const provenAtMost = 64

// prove proves by replay the operations that were added since this clone last wrote. A
// *log.RecordError names the one that does not follow, on which no operation may be built. A board in
// memory belongs to one process and is not checked. known is the proof, read before tip was if that
// can be: others may extend it at any time.
func (b *Board) prove(ctx context.Context, known proof, tip, settled plumbing.OID) error {
	if b.Repo() == nil || tip.IsZero() || known.has(tip) {
		return nil
	}
	chain, met, err := b.chain(ctx, tip, known, provenAtMost)
	if err == nil && !known.has(met) && !known.to.IsZero() {
		// The proof may be of a later tip, or of operations that are still on their way.
		if older, err := b.Repo().History().IsAncestor(ctx, tip, known.to); older && err == nil {
			return nil
		}
		chain, met, err = b.chain(ctx, tip, known, math.MaxInt)
	}
	if err != nil {
		return err
	}
	if err := b.replay(ctx, chain); err != nil {
		return err
	}
	if known.has(met) {
		met = known.from
	}
	b.extendProof(known, chain, proof{met, settled, tip})
	return nil
}

// replay proves the operations of a chain, the oldest first: what follows a forged one is not looked
// at.
func (b *Board) replay(ctx context.Context, chain []plumbing.OID) error {
	for _, commit := range slices.Backward(chain) {
		if err := b.reader.Replays(ctx, commit); err != nil {
			return err
		}
	}
	return nil
}

// extendProof stores what the replay of a chain has proven after what was known, unless another
// process has proven more meanwhile. If the slower of two set the proof back, all processes would
// have to prove again what came between, and fall behind more and more.
func (b *Board) extendProof(known proof, chain []plumbing.OID, p proof) {
	if now := b.keptProof(); now == known || slices.Contains(chain, now.to) {
		b.keepProof(p)
	}
}

// Follows proves by replay the operations of the view that this clone has not proven yet. A
// *log.RecordError names the first one that does not follow from the board before it.
func (v *View) Follows(ctx context.Context) error {
	b, known := v.board, v.board.keptProof()
	if b.Repo() == nil || known.has(v.Commit) {
		return nil
	}
	if known.to.IsZero() { // the view may be a past one
		tip, err := b.Repo().Ref(ctx, plumbing.BoardRef)
		if err != nil {
			return err
		}
		return b.Prove(ctx, tip)
	}
	return b.Prove(ctx, v.Commit)
}

// Doubt returns why the view can't be trusted, nil if it can: an operation does not follow from the
// board before it. Where everything was proven when it was written or fetched, as usual, that is
// one small file to read.
func (v *View) Doubt(ctx context.Context) (*log.RecordError, error) {
	err := v.Follows(ctx)
	if doubt := (*log.RecordError)(nil); errors.As(err, &doubt) {
		return doubt, nil
	}
	return nil, err
}

// Verified records that the whole history up to a commit was proven otherwise.
func (b *Board) Verified(commit plumbing.OID) { b.keepProof(proof{plumbing.ZeroOID, commit, commit}) }

// Prove proves by replay the operations up to tip that this clone has not proven yet. A
// *log.RecordError names the one that does not follow.
func (b *Board) Prove(ctx context.Context, tip plumbing.OID) error {
	return b.prove(ctx, b.keptProof(), tip, tip)
}

// Proven extends the proof by operations that follow a proven one, stay on the board, and were
// proven otherwise.
func (b *Board) Proven(on, commit plumbing.OID) {
	if known := b.keptProof(); known.has(on) {
		b.keepProof(proof{known.from, commit, commit})
	}
}

// proveFetched proves the operations that a fetch has brought. Processes that waited for one push
// take turns, so that one of them does it for all.
func (b *Board) proveFetched(ctx context.Context) error {
	turn := &writeQueue{repo: b.Repo(), path: filepath.Join(b.Dir(), "proving"), patience: sharedPatience}
	turn.take(ctx)
	defer turn.end()
	known := b.keptProof()
	tip, err := b.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	return b.prove(ctx, known, tip, tip)
}

// has reports whether the proof is known to cover a commit.
func (p proof) has(commit plumbing.OID) bool {
	return !commit.IsZero() && (commit == p.to || commit == p.settled)
}

// chain lists tip and the commits before it, newest first, back to one that the proof covers, or as
// many as most. met is the commit at which it stopped, zero at the root.
func (b *Board) chain(ctx context.Context, tip plumbing.OID, known proof, most int) (chain []plumbing.OID, met plumbing.OID, err error) {
	for met = tip; !met.IsZero() && !known.has(met) && len(chain) < most; {
		at, err := b.reader.At(ctx, met)
		if err != nil {
			return nil, met, err
		}
		chain = append(chain, met)
		met = plumbing.ZeroOID
		if len(at.Head.Parents) > 0 {
			met = at.Head.Parents[0]
		}
	}
	return chain, met, nil
}

// built extends the proof by an operation that this process has appended to a proven one. settled
// is a commit up to that one which stays on the board.
func (b *Board) built(on, settled, commit plumbing.OID) {
	if b.Repo() == nil {
		return
	}
	switch known := b.keptProof(); {
	case on.IsZero():
		b.Verified(commit)
	case known.to == on:
		b.keepProof(proof{known.from, settled, commit})
	}
}

func (b *Board) keptProof() proof {
	if b.Repo() == nil {
		return proof{}
	}
	text, _ := b.Clone().Kept(proofFile)
	from, rest, _ := strings.Cut(text, " ")
	to, settled, _ := strings.Cut(rest, " ")
	return proof{plumbing.OID(from), plumbing.OID(settled), plumbing.OID(to)}
}

// keepProof stores the proof for later processes. If that fails, they prove again.
func (b *Board) keepProof(p proof) {
	_ = b.Clone().Keep(proofFile, fmt.Sprintf("%s %s %s", p.from, p.to, p.settled))
}

// ProveTask proves by replay every operation since a task's newest claim that changed the task's
// record. Those not yet covered by the proof are proven first. A *log.RecordError names the one
// that does not follow.
func (v *View) ProveTask(ctx context.Context, task string) error {
	t, err := v.State.FindTask(task)
	if err != nil || v.board.Repo() == nil {
		return err
	}
	if err := v.board.Prove(ctx, v.Commit); err != nil {
		return err
	}
	claimed := func(s *board.State) bool {
		was := s.Task(task)
		return was != nil && was.Claims() >= t.Claims()
	}
	from := v.board.keptProof().from
	if from.IsZero() {
		return nil
	}
	before, err := v.board.reader.At(ctx, from)
	if err != nil {
		return err
	}
	if !claimed(before.State) {
		return before.State.Err() // all operations since the claim are proven
	}
	touched, err := v.board.Repo().History().Touching(ctx, from, board.RecordPath(board.TaskDir, task))
	if err != nil {
		return err
	}
	for _, commit := range touched {
		at, err := v.board.reader.At(ctx, commit)
		if err != nil {
			return err
		}
		if err := v.board.reader.Replays(ctx, commit); err != nil {
			return err
		}
		parents := at.Head.Parents
		if len(parents) == 0 {
			return nil
		}
		if at, err = v.board.reader.At(ctx, parents[0]); err != nil {
			return err
		}
		if !claimed(at.State) {
			return at.State.Err()
		}
	}
	return nil
}
