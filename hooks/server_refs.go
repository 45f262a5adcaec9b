package hooks

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// MergeLease is the lease under which the one running merge of a board works.
const MergeLease = "merge"

// MaxLease is how many bytes a lease may have.
const MaxLease = 4096

// Lease is what a pushed ref of a lease leads to.
type Lease struct {
	Valid          bool // it can be read, and is not larger than MaxLease
	Agent, Session string
}

// BoardMove refuses moves of the board's ref that are no growth. grows says that the new value has the old one
// in its history.
func BoardMove(m Move, grows func(older, newer string) bool) *board.Refusal {
	switch {
	case zero(m.New):
		return refuse("history", "leave it: the board is everybody's", "liza/state is the board, and is not deleted")
	case !zero(m.Now) && !grows(m.Now, m.New):
		return refuse("history", "decide again on the board that is here: git liza sync", "liza/state only grows: this would take operations back")
	}
	return nil
}

// OwnRef refuses what is not for sharing, or not that way, of the refs that are the board's beside its branch. s
// is the board after the push, nil without one; boardMoves says that the push brings operations. lease is what
// the ref leads to when it is one of a lease.
func OwnRef(m Move, s *board.State, boardMoves bool, lease Lease) *board.Refusal {
	name := strings.TrimPrefix(m.Ref, ours)
	switch {
	case strings.HasPrefix(m.Ref, boardHeads):
		return refuse("ref", "name the branch otherwise", "below liza/ there is the board, liza/state, and nothing else")
	case s == nil:
		return refuse("no-board", "git liza share, in a clone that has the board", "there is no board here, so there is nothing for %s", m.Ref)
	case strings.HasPrefix(m.Ref, reviewPrefix), strings.HasPrefix(m.Ref, atticPrefix):
		task, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(m.Ref, reviewPrefix), atticPrefix), "/")
		switch {
		case zero(m.New):
			return refuse("ref", "leave it", "%s is kept, and not deleted", name)
		case !zero(m.Now):
			return refuse("ref", "git liza sync, and submit again", "%s is there already, and stays what it is", name)
		case s.Task(task) == nil:
			return refuse("unknown-task", "push it together with the board: git push --atomic", "the board has no task %q, whose %s this would be", task, name)
		}
		return nil
	case strings.HasPrefix(m.Ref, leasePrefix):
		return leaseMove(m, s, boardMoves, lease)
	}
	return refuse("ref", "push the branches that you mean; git push --mirror is not for a shared board", "%s is one clone's own, and not shared", m.Ref)
}

func leaseMove(m Move, s *board.State, boardMoves bool, lease Lease) *board.Refusal {
	holder := strings.TrimPrefix(m.Ref, leasePrefix)
	_, err := roles.Of(holder)
	switch {
	case err != nil && holder != MergeLease:
		return refuse("lease", "leave it", "%q is no agent, and holds no lease", holder)
	case zero(m.New):
		if holder == MergeLease || boardMoves || s.Agent(holder) == nil {
			return nil // with the operation that takes it over, or ends it
		}
		return refuse("lease", "take the work over: git liza claim, git liza sweep", "the lease of %s ends by an operation, and none comes with this", holder)
	case !lease.Valid || lease.Agent != holder:
		return refuse("lease", "git liza heartbeat", "what is pushed to %s is no lease of it", m.Ref)
	}
	if a := s.Agent(holder); holder != MergeLease && (a == nil || a.Session != lease.Session) {
		return refuse("session", "stop: git liza register begins a new session", "%s is registered in another session, or not at all: this is not its lease", holder)
	}
	return nil
}

// Ahead refuses operations of a time that the server's clock is far from: every later one would have to be later
// still.
func Ahead(at, now board.Time, subject string) *board.Refusal {
	if at <= board.At(now.Std().Add(board.ClockSlack)) {
		return nil
	}
	return refuse("time", "set the clock of that machine right, and do it again", "%s is of %s, and here it is %s", subject, at, now)
}

// The sizes of the board's objects, in bytes, that a server takes. A tree has some 50 bytes a task.
const (
	maxFile   = 1 << 20
	maxCommit = 1 << 20
	maxTree   = 16 << 20
)

// TooLarge refuses an object that is larger than any of a board's.
func TooLarge(kind, oid string, bytes int64) *board.Refusal {
	most := map[string]int64{"blob": maxFile, "commit": maxCommit, "tree": maxTree}[kind]
	if bytes <= most {
		return nil
	}
	return refuse("size", "records are small: keep files on branches of your own", "the push brings the %s %.10s of %d bytes to the board, where %d are the most", kind, oid, bytes, most)
}
