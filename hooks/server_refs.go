package hooks

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// MaxLease is the maximum size of a lease in bytes.
const MaxLease = 4096

// BoardMove refuses a move of the board's ref that is not a fast-forward. grows reports whether the
// history of newer contains older. Where the ref is missing, known is a commit that the board of
// this repository contained, all zeros if it never had one.
func BoardMove(m Move, known string, grows func(older, newer string) bool) *board.Refusal {
	switch {
	case zero(m.New):
		return refuse(board.CodeHistory, "leave it: the board is everybody's", "liza/state is the board, and is not deleted")
	case !zero(m.Now) && !grows(m.Now, m.New):
		return board.Refusef(board.CodeHistory, "liza/state only grows: this would take operations back").Advise("%s, then retry", board.ActOn("sync"))
	case zero(m.Now) && !zero(known) && !grows(known, m.New):
		return refuse(board.CodeHistory, "restore the board from a clone that has it: git push REMOTE liza/state", "liza/state is missing on this server, and the pushed branch is another board: it lacks %.10s", known)
	}
	return nil
}

// StaleBoard refuses a push that moves the board from where it is not: git would refuse that move,
// and without --atomic take the rest of the push, which rests on the operations of the board.
func StaleBoard(m Move) *board.Refusal {
	if m.Old == m.Now {
		return nil
	}
	return board.Refusef(board.CodeHistory, "liza/state is at %.10s, and the push moves it from %.10s", m.Now, m.Old).Advise("%s, then retry", board.ActOn("sync"))
}

// ForeignHome refuses a home of the board that is not on it: a push could not restore the board.
func ForeignHome(m Move) *board.Refusal {
	return board.Refusef(board.CodeRef, "%s would be at %.10s, which is no commit of the board", m.Ref, m.New).Advise("%s, in a clone that has the board", board.ActOn("share"))
}

// SecondHome refuses a home of the board where it has another one, in a branch: leases, submissions
// and tasks' branches would be looked for elsewhere from then on.
func SecondHome(m Move, branch string) *board.Refusal {
	return refuse(board.CodeRef, "leave it: clones find the board where it is", "%s is not made where the board is at home in %s", m.Ref, branch)
}

// BoardMerge refuses a board commit with several parents.
func BoardMerge(commit string) *board.Refusal {
	return board.Refusef(board.CodeHistory, "%s has several parents, and the board's history is one line", commit).Advise("%s, then retry", board.ActOn("sync"))
}

// Push is a push as the server sees it.
type Push struct {
	Moves []Move
	State *board.State // the board after the push, nil without one
	Now   board.Time   // the server's time
	// Probes is the number of refs of probes that the server would have after the push.
	Probes int
}

// Of returns what the push does to a ref, nil for nothing.
func (p Push) Of(ref string) *Move {
	for i := range p.Moves {
		if p.Moves[i].Ref == ref {
			return &p.Moves[i]
		}
	}
	return nil
}

// Twice refuses a push that moves a ref twice: without --atomic git would move it from one to the
// other, and only one of the two would have been looked at.
func (p Push) Twice() *board.Refusal {
	for i := range p.Moves {
		if m := &p.Moves[i]; p.Of(m.Ref) != m {
			return refuse(board.CodeRef, "push once to where it is to be", "%s is moved twice by one push", m.Ref)
		}
	}
	return nil
}

// Submitted refuses operations that submit work whose ref neither comes with them nor exists: no
// ref would hold the work. at is that ref's value afterwards.
func Submitted(task string, n int, commit, at string) *board.Refusal {
	if at == commit {
		return nil
	}
	return board.Refusef(board.CodeRef, "submission %d of %s is %.10s, and %s does not come with it", n, task, commit, plumbing.ReviewRef(task, n)).Advise("%s pushes both together", board.ActOn("submit"))
}

// AttestationsMove refuses a move that takes statements back. grows is as in BoardMove.
func AttestationsMove(m Move, grows func(older, newer string) bool) *board.Refusal {
	switch {
	case zero(m.New):
		return refuse(board.CodeRef, "leave it", "%s is kept, and not deleted", m.Ref)
	case !zero(m.Now) && !grows(m.Now, m.New):
		return refuse(board.CodeHistory, "git liza attest with --push adds to what is there", "%s only grows: this would take statements back", m.Ref)
	}
	return nil
}

// OwnRef checks a move of one of the board's refs other than its branch, and refuses refs that are
// not shared, or not in this way. lease is the content of the ref, nil if that is no lease of
// at most MaxLease bytes.
func (p Push) OwnRef(m Move, lease *board.Lease) *board.Refusal {
	name := strings.TrimPrefix(m.Ref, plumbing.OwnPrefix)
	switch {
	case strings.HasPrefix(m.Ref, plumbing.ProbePrefix):
		return p.probeMove(m, strings.TrimPrefix(m.Ref, plumbing.ProbePrefix))
	case strings.HasPrefix(m.Ref, plumbing.InboxPrefix):
		return nil // proc-receive answers for the inbox, and the shim keeps its refs from existing
	case strings.HasPrefix(m.Ref, plumbing.PublishedPrefix):
		return publishedMove(m, strings.TrimPrefix(m.Ref, plumbing.PublishedPrefix))
	case strings.HasPrefix(m.Ref, plumbing.BoardPrefix):
		return refuse(board.CodeRef, "give the branch another name", "below liza/ there are the board (liza/state), branches of tasks and candidates, and nothing else")
	case p.State == nil:
		return board.Refusef(board.CodeNoBoard, "there is no board here, so there is nothing for %s", m.Ref).Advise("%s, in a clone that has the board", board.ActOn("share"))
	case m.Ref == plumbing.HomeRef && zero(m.Now):
		return nil
	case strings.HasPrefix(m.Ref, plumbing.LeasePrefix):
		return p.leaseMove(m, lease)
	case !strings.HasPrefix(m.Ref, plumbing.ReviewPrefix) && !strings.HasPrefix(m.Ref, plumbing.AtticPrefix):
		return refuse(board.CodeRef, "push the branches that you mean; git push --mirror is not for a shared board", "%s is one clone's own, and not shared", m.Ref)
	case zero(m.New):
		return refuse(board.CodeRef, "leave it", "%s is kept, and not deleted", name)
	case strings.HasPrefix(m.Ref, plumbing.AtticPrefix) && zero(m.Now):
		return p.atticMove(m, strings.TrimPrefix(m.Ref, plumbing.AtticPrefix))
	}
	r := p.reviewMove(m, strings.TrimPrefix(m.Ref, plumbing.ReviewPrefix))
	if r != nil && !zero(m.Now) {
		return board.Refusef(board.CodeRef, "%s is there already, and stays what it is", name).Advise("%s, and submit again", board.ActOn("sync"))
	}
	return r // where something else had taken its place, the submission replaces it
}

// probeMove accepts a few refs of probes of this day: thousands would slow every operation, and only
// those with a time are deleted by later probes.
func (p Push) probeMove(m Move, name string) *board.Refusal {
	began, is := plumbing.ProbeBegan(name)
	switch {
	case zero(m.New) || name == plumbing.Probe:
		return nil
	case !is || p.Now.Std().Sub(began).Abs() > maxProbeAge:
		return refuse(board.CodeRef, "compare the clocks of both machines: date -u", "%s is no probe of this day", m.Ref)
	case zero(m.Now) && p.Probes > maxProbes:
		return refuse(board.CodeRef, "join again in a day: then the next probe deletes them", "too many probes are on this server")
	}
	return nil
}

const (
	maxProbes   = 100
	maxProbeAge = 24 * time.Hour
)

// reviewMove refuses a ref that is not a submission on the board: it would stay for ever, and block
// the real submission.
func (p Push) reviewMove(m Move, name string) *board.Refusal {
	id, number, _ := strings.Cut(name, "/")
	const together = "push it together with the board: git push --atomic; %s does so by itself"
	t := p.State.Task(id)
	if t == nil {
		return board.Refusef(board.CodeUnknownTask, "the board has no task %q, whose submission this would be", id).Advise(together, board.ActOn("submit"))
	}
	if n, _ := strconv.Atoi(number); strconv.Itoa(n) != number || t.Submission(n) != m.New {
		return board.Refusef(board.CodeRef, "the board knows of no submission %s of %s at %.10s", number, id, m.New).Advise(together, board.ActOn("submit"))
	}
	return nil
}

// publishedMove accepts only branches that tasks may have. One below the branch of a task would
// keep that from being made, and so the task's work from being submitted.
func publishedMove(m Move, task string) *board.Refusal {
	if zero(m.New) || board.ValidTaskID(task) {
		return nil
	}
	return refuse(board.CodeRef, "give the branch another name", "below %s there are branches of tasks, and no task is %q", plumbing.BranchName(plumbing.PublishedPrefix), task)
}

// atticMove accepts only the branch of a task that the same push deletes, named after its commit:
// no other is needed.
func (p Push) atticMove(m Move, name string) *board.Refusal {
	id, commit, _ := strings.Cut(name, "/")
	branch := p.Of(plumbing.PublishedRef(id))
	if commit != m.New || branch == nil || !zero(branch.New) || branch.Now != m.New {
		return refuse(board.CodeRef, "leave it: git liza pushes it as it drops the branch of a task", "the attic takes the branch of a task that goes with the same push, and %s at %.10s is none", plumbing.PublishedRef(id), m.New)
	}
	return nil
}

func (p Push) leaseMove(m Move, lease *board.Lease) *board.Refusal {
	s, holder := p.State, strings.TrimPrefix(m.Ref, plumbing.LeasePrefix)
	switch {
	case !roles.IsID(holder) && !plumbing.IsHolder(holder):
		return refuse(board.CodeLease, "leave it", "%q is not an agent, and holds no lease", holder)
	case zero(m.New):
		if p.Of(plumbing.BoardRef) != nil || s.Agent(holder) == nil {
			return nil // along with the operation that takes it over or ends it, or no agent's, as the merge lease
		}
		return board.Refusef(board.CodeLease, "the lease of %s ends by an operation, and none comes with this", holder).Advise("take the work over: %s, %s", board.ActOn("claim"), board.ActOn("sweep"))
	case lease == nil || lease.Agent != holder:
		return board.Refusef(board.CodeLease, "the object pushed to %s is not a lease of it", m.Ref).Way(board.ActOn("heartbeat"))
	}
	a := s.Agent(holder)
	if !plumbing.IsHolder(holder) && (a == nil || a.Session != lease.Session) {
		return board.Refusef(board.CodeSession, "%s is registered in another session, or not at all: this is not its lease", holder).Advise("stop: %s begins a new session", board.ActOn("register"))
	}
	if c := s.Config(); c != nil {
		longest := c.LeaseLasts(a != nil && a.ByHand(), s.Task(lease.Task)) + board.ClockSlack
		if lease.Expires > p.Now.Add(longest) {
			return board.Refusef(board.CodeLease, "the lease of %s would last until %s, longer than a lease may", holder, lease.Expires).Advise("correct the clock of that machine: %s", board.ActOn("heartbeat"))
		}
	}
	return nil
}

// Ahead refuses operations whose time is far ahead of the server's clock: every later operation
// would have to be later still.
func Ahead(at, now board.Time, subject string) *board.Refusal {
	if at <= board.At(now.Std().Add(board.ClockSlack)) {
		return nil
	}
	return refuse(board.CodeTime, "correct the clock of that machine, and do it again", "%s is of %s, and here it is %s", subject, at, now)
}

// The maximum sizes in bytes of the board's objects that a server accepts. A tree has about 50
// bytes per task. A new board may begin with an import, whose payload is a file as JSON.
const (
	maxFile   = 1 << 20
	maxImport = 2 * board.MaxImport
	maxCommit = 1 << 20
	maxTree   = 16 << 20
)

// TooLarge refuses an object that is larger than any object of a board. founding means that the
// board begins with this push.
func TooLarge(kind, oid string, bytes int64, founding bool) *board.Refusal {
	most := map[string]int64{"blob": maxFile, "commit": maxCommit, "tree": maxTree}[kind]
	if founding && kind == "blob" {
		most = maxImport
	}
	if bytes <= most {
		return nil
	}
	return refuse(board.CodeSize, "records are small: keep files on branches of your own", "the push brings the %s %.10s of %d bytes to the board, where %d are the most", kind, oid, bytes, most)
}
