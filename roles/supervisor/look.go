package supervisor

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Look is everything a supervisor sees when it decides.
type Look struct {
	Now       time.Time
	State     *board.State
	Commit    plumbing.OID // of the board
	Agent     string
	Role      roles.Role
	Clone     string
	Halt      *report.Halt    // the file that stops this clone, nil if none
	Summary   string          // the file of the sprint's summary that .liza/CHECKPOINT asks for
	Leases    map[string]Seen // by agent: holders, and those before this one; no entry without a lease
	Merging   []string        // the approved tasks that this reviewer's lane is merging
	MergeBusy time.Time       // until when at most another lane of the board merges
	MergeSeen time.Time       // when another lane was last seen to merge

	NoSpec  []string // goals whose spec is not a file on integration
	Only    string   // the only task to look at, "" for all
	First   string   // the task to take first, "" for the board's order
	Once    bool     // a single run
	Patient bool     // waits for work for ever

	Asked *board.Note // by which a human asks for the end of the run, or a restart; nil if there is none

	Spare  bool          // the board wants no agent in its place, so it need not stay without work
	IdleBy time.Duration // how long a spare agent stays
}

// past is a time of the board as one of this clock. It is zero if it is yet to come: one clock that
// was ahead dates all later operations, and they don't show when they were done.
func (l Look) past(t board.Time) time.Time {
	if at := t.Std(); !at.After(l.Now.Add(board.ClockSlack)) {
		return at
	}
	return time.Time{}
}

// Seen is another agent's lease as this supervisor has watched it.
type Seen struct {
	Expires time.Time
	Since   time.Time // since when it has been seen unchanged
	Ended   bool      // on purpose, or since its holder has died
}

// successorFirst bounds how long a claim whose lease was ended is left to the agent's next process,
// which continues the work. The registration of that process ends the wait.
const successorFirst = time.Second

// over is when the lease counts as expired: when it has expired by the clock, and this supervisor
// has itself watched it unchanged for its full duration (protocol: leases). By the clock alone, all
// leases expire at once when the machine has slept or its clock is set forward. An ended lease is
// not watched for long.
func (s Seen) over(duration time.Duration) time.Time {
	if s.Ended {
		duration = successorFirst
	}
	if watched := s.Since.Add(duration); watched.After(s.Expires) {
		return watched
	}
	return s.Expires
}

// mode is the stronger of the board's mode and the file that stops this clone; Running if nothing
// is stopped.
func (l Look) mode() board.Mode {
	order := []board.Mode{board.Running, board.Paused, board.CheckpointMode, board.Aborted}
	mode := l.State.Control().Mode
	if l.Halt != nil && slices.Index(order, l.Halt.Mode) > slices.Index(order, mode) {
		return l.Halt.Mode
	}
	return mode
}

// stopped describes what stops the run; mode is not Running.
func (l Look) stopped() string {
	c := l.State.Control()
	if mode := l.mode(); mode != c.Mode {
		line := string(mode) + " by this clone's file .liza/" + l.Halt.File
		if l.Summary != "" {
			line += "; summary: " + l.Summary
		}
		return line
	}
	line := string(c.Mode) + " by " + c.By + " since " + string(c.Since)
	if c.Reason != "" {
		line += ": " + text.Line(c.Reason, 120)
	}
	return line
}

// paused reports whether the agent waits before its next step. The wait after a crash, a limit or a
// run that handed nothing over ends when a human changes the settings or the team, writes or answers
// a note, or resumes the board; the wait after a failed claim or operation ends when the board moves.
func (l Look) paused(m *Memory) bool {
	return l.Now.Before(m.NotBefore) && (m.While == "" || m.While == string(l.Commit) || m.While == settingsOf(l.State))
}

// settingsOf is a mark that changes when a human changes something on which an agent may depend.
func settingsOf(s *board.State) string {
	notes := 0
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && (n.By == roles.HumanID || n.AnsweredBy == roles.HumanID) {
			notes++
		}
	}
	data, err := json.Marshal([]any{s.Config(), s.Team(), s.Control(), notes})
	if err != nil {
		return "" // the wait ends by its time
	}
	return string(data)
}

// skip returns a function that reports whether to leave a task out: another task is wanted, claims
// of it have failed too often since it last changed, or the agent has given back this very
// submission.
func (l Look) skip(m *Memory) func(id string) bool {
	counts := len(m.Claims) > 0 && m.ClaimsUnder == settingsOf(l.State)
	return func(id string) bool {
		if l.Only != "" && id != l.Only {
			return true
		}
		declined := m.Declined[id]
		if m.Claims[id].Times < claimTries && declined == "" {
			return false
		}
		t := l.State.Task(id)
		return t == nil || counts && m.givesUp(t, l.Now) || declined != "" && declined == t.ReviewCommit
	}
}

// compare orders agents of one role by number.
func compare(id, other string) int {
	return cmp.Or(cmp.Compare(len(id), len(other)), cmp.Compare(id, other))
}

func before(id, other string) bool { return compare(id, other) < 0 }

// plannedBy is the other planner that is alive and plans a goal, "" for none, and until when its
// lease runs.
func (l Look) plannedBy(goal string) (id string, until time.Time) {
	id = l.State.PlannerOf(goal)
	if seen, leased := l.Leases[id]; id != "" && id != l.Agent && leased {
		if until = seen.over(leaseOf(l, "")); l.Now.Before(until) {
			return id, until
		}
	}
	return "", time.Time{}
}

// patience decides whose work can be taken over, and remembers when the next take-over is possible.
type patience struct {
	l    Look
	next time.Time // zero for never
}

func (p *patience) takeable(holder string, b board.Brief) bool {
	seen, leased := p.l.Leases[holder]
	if p.l.State.Agent(holder) == nil || !leased {
		return true
	}
	if b.Status == board.Rejected && !seen.Ended {
		seen.Expires = seen.Expires.Add(board.AbandonedAfter)
	}
	over := seen.over(leaseOf(p.l, b.ID))
	if !p.l.Now.Before(over) {
		return true
	}
	p.next = sooner(p.next, over)
	return false
}

// sooner is the earlier of two times; zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
