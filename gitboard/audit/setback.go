package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// SetBack is a board that lacks operations which it once had in this repository: somebody moved its
// ref back or to another board, or a crash lost the newest value.
type SetBack struct {
	At      plumbing.OID // where the board is
	Newest  plumbing.OID // a complete board with those operations, that with the most of them
	From    string       // where Newest was found
	Since   plumbing.OID // the last commit that both have; zero if they are two boards
	Missing []string     // the subjects of the operations that the board lacks, newest first

	lost []plumbing.OID // their commits
}

// moment is how long git takes at most from writing a reflog to moving the ref.
const moment = 100 * time.Millisecond

// FindSetBack looks for operations that the board has lost by going back. It returns nil if there
// are none, and where the board is not at home: a clone's follows that of its remote.
func FindSetBack(ctx context.Context, repo *git.Repo) (*SetBack, error) {
	if home, err := atHome(ctx, repo); !home {
		return nil, err
	}
	for {
		found, err := findSetBack(ctx, repo)
		if found == nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(moment):
		}
		if now, err := repo.Ref(ctx, plumbing.BoardRef); err != nil || now == found.At {
			return found, err // else somebody wrote meanwhile
		}
	}
}

// atHome reports whether the board is at home in a repository.
func atHome(ctx context.Context, repo *git.Repo) (bool, error) {
	home, err := repo.Where(ctx, []string{plumbing.HomeRef, plumbing.AsBranch(plumbing.HomeRef)})
	return len(home) > 0, err
}

func findSetBack(ctx context.Context, repo *git.Repo) (*SetBack, error) {
	positions, err := positionsHere(ctx, repo)
	if err != nil {
		return nil, err
	}
	tip, err := repo.Ref(ctx, plumbing.BoardRef) // after the positions, which are not newer then
	if tip.IsZero() {                            // also if it can't be read
		return nil, err
	}
	has, err := repo.History().RevList(ctx, plumbing.ZeroOID, tip)
	if err != nil {
		return nil, err
	}
	tried := map[plumbing.OID]bool{}
	for _, oid := range has {
		tried[oid] = true
	}
	var most *SetBack
	for _, p := range positions[:min(len(positions), maxPositions)] {
		if tried[p.commit] {
			continue
		}
		tried[p.commit] = true
		found, err := setBack(ctx, repo, tip, p)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		for _, oid := range found.lost {
			tried[oid] = true
		}
		if most == nil || len(found.lost) > len(most.lost) {
			most = found
		}
	}
	return most, nil
}

// setBack compares the board with a position that its history lacks. It returns nil if that position has
// no whole board, or if its operations do not follow: those are no loss.
func setBack(ctx context.Context, repo *git.Repo, tip plumbing.OID, p position) (*SetBack, error) {
	if err := wholeBoard(ctx, repo, p.commit); err != nil {
		if lacking(err) {
			return nil, nil
		}
		return nil, err
	}
	since, err := repo.History().MergeBase(ctx, tip, p.commit)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return nil, err
	}
	report, err := Verify(ctx, repo, nil, Range{From: since, To: p.commit}, nil)
	if errors.As(err, new(*log.NewerFormatError)) {
		return nil, nil // what can't be read can't be missed
	}
	if err != nil || !report.OK() {
		return nil, err
	}
	lost, err := repo.Log(ctx, since, p.commit)
	if err != nil {
		return nil, err
	}
	now, err := repo.Log(ctx, since, tip)
	if err != nil {
		return nil, err
	}
	lost = without(lost, now)
	if len(lost) == 0 {
		return nil, nil
	}
	found := &SetBack{At: tip, Newest: p.commit, From: p.from, Since: since}
	for _, c := range slices.Backward(lost) {
		found.lost = append(found.lost, c.OID)
		found.Missing = append(found.Missing, c.OID.Short()+" "+text.Line(c.Subject(), maxSubject))
	}
	return found, nil
}

// without returns the lost operations that have not been done again since: by the same actor, with
// the same content.
func without(lost, now []plumbing.Commit) (left []plumbing.Commit) {
	again := map[string]int{}
	for _, c := range now {
		again[contentOf(c)]++
	}
	for _, c := range lost {
		if key := contentOf(c); again[key] > 0 {
			again[key]--
		} else {
			left = append(left, c)
		}
	}
	return left
}

// contentOf returns who did what. A long payload is not compared: such an operation is like no
// other. A commit without an operation is like no operation either.
func contentOf(c plumbing.Commit) string {
	h, _ := codec.ParseHead(c.Message)
	if h.Payload == codec.PayloadReference() {
		return string(c.OID)
	}
	return strings.Join([]string{h.Op, h.Agent, c.Author.Email, h.Payload}, "\n")
}

// maxSubject and maxMissing limit the report on missing operations.
const maxSubject, maxMissing = 80, 20

// Repairable reports whether the board only has to move forward.
func (b *SetBack) Repairable() bool { return b.Since == b.At }

// Repair moves the board forward, if it has not moved since.
func (b *SetBack) Repair(ctx context.Context, repo *git.Repo) error {
	if !b.Repairable() {
		return errors.New("the board has other operations since: a human decides which are kept")
	}
	return repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: b.At, New: b.Newest}}, "git liza: doctor, forward again")
}

// String describes it in one sentence.
func (b *SetBack) String() string {
	line := fmt.Sprintf("the board at %s lacks %s that it had at %s, by %s: %s", b.At.Short(), text.Plural(len(b.Missing), "operation"), b.Newest.Short(), b.From,
		strings.Join(b.Missing[:min(len(b.Missing), maxMissing)], "; "))
	if len(b.Missing) > maxMissing {
		line += "; ..."
	}
	if b.Repairable() {
		return line
	}
	since := "their beginning"
	if !b.Since.IsZero() {
		since = b.Since.Short()
	}
	return line + fmt.Sprintf("; since %s the two have come apart; what is done again is not missing", since)
}
