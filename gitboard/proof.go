package gitboard

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// proof is a part of the board's history in which each operation follows from the board before it: those after from,
// up to to. What came before from is taken as it is. settled is a commit between the two that stays on the board
// also where what follows it is still pending, and is dropped.
type proof struct{ from, settled, to git.OID }

// proofFile keeps the proof of this clone. Without it the last operations are proven again.
const proofFile = "proven"

// provenAtMost is how many operations are proven where nothing is known to be: what came before them is for verify. Of
// what comes to a clone that has proven what came before, all are.
const provenAtMost = 64

// prove proves the operations that have come since this clone wrote last. A *oplog.RecordError says which of them does
// not follow: nothing is built on it. A board over memory is one process's own.
func (b *Board) prove(ctx context.Context, tip, settled git.OID) error {
	if b.Repo() == nil {
		return nil
	}
	known := b.keptProof()
	if tip.IsZero() || tip == known.to {
		return nil
	}
	chain, met, err := b.chain(ctx, tip, known)
	if err != nil {
		return err
	}
	for _, commit := range chain {
		if err := b.log.Replays(ctx, commit); err != nil {
			return err
		}
	}
	if known.has(met) {
		met = known.from
	}
	b.keepProof(proof{met, settled, tip})
	return nil
}

// proveFetched proves what a fetch has brought.
func (b *Board) proveFetched(ctx context.Context) error {
	tip, err := b.Repo().Ref(ctx, git.BoardRef)
	if err != nil {
		return err
	}
	return b.prove(ctx, tip, tip)
}

// has reports whether a commit is one that the proof is known to reach.
func (p proof) has(commit git.OID) bool {
	return !commit.IsZero() && (commit == p.to || commit == p.settled)
}

// chain lists a commit of the board and those before it, the newest first, back to one that is known or as far as is
// proven at all. met is the commit at which it ends, zero at the root.
func (b *Board) chain(ctx context.Context, tip git.OID, known proof) (chain []git.OID, met git.OID, err error) {
	for met = tip; !met.IsZero() && !known.has(met) && (len(chain) < provenAtMost || !known.to.IsZero()); {
		at, err := b.log.At(ctx, met)
		if err != nil {
			return nil, met, err
		}
		chain = append(chain, met)
		met = git.ZeroOID
		if len(at.Head.Parents) > 0 {
			met = at.Head.Parents[0]
		}
	}
	return chain, met, nil
}

// built notes an operation that this process has put behind a proven one.
func (b *Board) built(on, commit git.OID) {
	if b.Repo() == nil {
		return
	}
	switch known := b.keptProof(); {
	case on.IsZero():
		b.keepProof(proof{git.ZeroOID, commit, commit})
	case known.to == on:
		b.keepProof(proof{known.from, known.settled, commit})
	}
}

func (b *Board) keptProof() proof {
	text, _ := b.Kept(proofFile)
	from, rest, _ := strings.Cut(text, " ")
	to, settled, _ := strings.Cut(rest, " ")
	return proof{git.OID(from), git.OID(settled), git.OID(to)}
}

// keepProof keeps it for the processes to come; where it can't be kept they prove again.
func (b *Board) keepProof(p proof) {
	_ = b.Keep(proofFile, fmt.Sprintf("%s %s %s", p.from, p.to, p.settled))
}

// ProveTask proves by replay each operation since a task's newest claim that touched its record. The operations of
// v itself are proven before anything is written behind them. A *oplog.RecordError says which does not follow.
func (b *Board) ProveTask(ctx context.Context, v *View, task string) error {
	t, err := v.State.FindTask(task)
	if err != nil || b.Repo() == nil {
		return err
	}
	if err := b.prove(ctx, v.Commit, v.Commit); err != nil {
		return err
	}
	claimed := func(s *board.State) bool {
		was := s.Task(task)
		return was != nil && was.Claims() >= t.Claims()
	}
	from := b.keptProof().from
	if from.IsZero() {
		return nil
	}
	before, err := b.log.At(ctx, from)
	if err != nil {
		return err
	}
	if !claimed(before.State) {
		return before.State.Err() // all since the claim has been proven
	}
	touched, err := b.Repo().Touching(ctx, from, board.RecordPath(board.TaskDir, task))
	if err != nil {
		return err
	}
	for _, commit := range touched {
		at, err := b.log.At(ctx, commit)
		if err != nil {
			return err
		}
		if err := b.log.Replays(ctx, commit); err != nil {
			return err
		}
		parents := at.Head.Parents
		if len(parents) == 0 {
			return nil
		}
		if at, err = b.log.At(ctx, parents[0]); err != nil {
			return err
		}
		if !claimed(at.State) {
			return at.State.Err()
		}
	}
	return nil
}
