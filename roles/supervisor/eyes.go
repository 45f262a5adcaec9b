package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// watched is another agent's lease, and since when it has been seen unchanged.
type watched struct {
	oid   plumbing.OID
	since time.Time
}

// look reads the board, the leases that matter to this agent, and the files that stop this clone.
// It replays new operations, and refuses a broken board.
func (s *supervisor) look(ctx context.Context) (Look, error) {
	v, err := s.Board.View(ctx)
	if err != nil {
		return Look{}, err
	}
	if err := s.proof.prove(ctx, s.Board, v); err != nil {
		return Look{}, err
	}
	s.proved = v.Commit
	l := Look{
		Now: s.Board.Now(), State: v.State.ForRules(), Commit: v.Commit, Agent: s.actor.ID, Role: s.Role, Clone: s.clone,
		Only: s.Only, First: s.First, Once: s.Once, Patient: s.Patient, Leases: map[string]Seen{},
	}
	if a := l.State.Agent(s.actor.ID); a == nil || a.Session != s.actor.Session {
		return l, cmp.Or(l.State.Err(), fmt.Errorf("%s: %w", s.actor.ID, lease.ErrTaken))
	}
	if l.Asked = asking(l.State, s.actor.ID, s.notes); l.Asked == nil {
		s.notes = len(l.State.List(board.NoteDir))
	}
	halts, err := s.Board.Clone().Halts(ctx)
	if err != nil {
		return l, err
	}
	if len(halts) > 0 {
		l.Halt = &halts[0]
		file, _, err := watch.KeepHaltSummary(s.Board, v.State, halts)
		if l.Summary = file; err != nil { // the stop counts all the same
			l.Summary = "none: " + err.Error()
		}
	}
	if s.Role == roles.Planner {
		if l.NoSpec, _, err = v.NoSpec(ctx); err != nil {
			return l, err
		}
	}
	if err := cmp.Or(s.seeMerge(ctx, v, &l), s.leases(ctx, v, &l)); err != nil {
		return l, err
	}
	if s.OnDemand {
		leases, err := v.LeasesSeen(ctx)
		if err != nil {
			return l, err
		}
		if d, ok := report.DemandFor(l.State, s.name(), leases, board.At(l.Now)); ok {
			l.Spare, l.IdleBy = d.Spare(s.actor.ID), d.Bounds.Idle
		}
	}
	return l, v.State.Err()
}

// asking is the last note after the first known ones that asks for something about an agent's run,
// nil for none.
func asking(s *board.State, agent string, known int) (asks *board.Note) {
	ids := s.List(board.NoteDir)
	for _, id := range ids[min(known, len(ids)):] {
		if n := s.Note(id); n != nil && n.For == agent && n.Run != "" {
			asks = n
		}
	}
	return asks
}

// comply follows a request for a restart, once no run is left.
func (s *supervisor) comply(l *Look) error {
	if l.Asked == nil || l.Asked.Run == board.AskEnd {
		return nil
	}
	fresh := l.Asked.Run == board.AskFresh
	s.notes, l.Asked = len(l.State.List(board.NoteDir)), nil
	if fresh {
		return s.files.drop(conversationFile)
	}
	return nil
}

// read runs f, which decides on a state whose records are read lazily. If a record could not be
// read, read returns that error, and the decision of f is void.
func read(state *board.State, f func()) error {
	f()
	return state.Err()
}

// leases reads the leases that matter to this agent's decisions.
func (s *supervisor) leases(ctx context.Context, v *gitboard.View, l *Look) error {
	seen := map[string]watched{}
	for _, other := range s.others(v.State) {
		if _, done := seen[other]; done {
			continue
		}
		held, err := v.Lease(ctx, other)
		if err != nil {
			return err
		}
		if held == nil || held.Damaged {
			continue
		}
		if a := v.State.Agent(other); a != nil && (s.isMember == nil || !s.isMember(other)) {
			s.deaths.endIfDead(ctx, s.Board, s.clone, other, a, held.Lease)
		}
		w := watched{held.OID, l.Now}
		if before := s.watch[other]; before.oid == w.oid {
			w.since = before.since
		}
		seen[other] = w
		l.Leases[other] = Seen{Expires: held.Expires.Std(), Since: w.since, Ended: held.Ended != ""}
	}
	s.watch = seen
	s.deaths.prune()
	return nil
}

// others are the agents that hold what this one could take over, or that come before it in its
// role.
func (s *supervisor) others(state *board.State) (others []string) {
	add := func(id string) {
		if id != "" && id != s.actor.ID {
			others = append(others, id)
		}
	}
	for _, id := range state.List(board.AgentDir) {
		role, _ := state.RoleOf(id)
		if role == s.Role && (role != roles.Coder || roles.NameOf(id) == s.name() && before(id, s.actor.ID)) {
			add(id)
		}
	}
	for _, b := range state.Tasks() {
		switch {
		case s.Role == roles.Coder && (b.Status == board.Claimed && !b.HandoffPending || b.Status == board.Rejected):
			add(b.AssignedTo)
		case s.Role == roles.CodeReviewer && b.Status == board.ReadyForReview:
			add(b.ReviewingBy)
		}
	}
	return others
}

// inconsistent reports whether an error means that the board itself is broken.
func inconsistent(err error) bool {
	record, ref := (*log.RecordError)(nil), (*git.BrokenRefError)(nil)
	return errors.As(err, &record) || errors.As(err, &ref)
}

// hopeless reports whether retrying can't help against an error.
func hopeless(err error) bool {
	newer, old, foreign := (*log.NewerFormatError)(nil), (*git.UnsupportedError)(nil), (*git.ForeignError)(nil)
	if refusal := (*board.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == board.CodeSignature {
		return true
	}
	return errors.As(err, &newer) || errors.As(err, &old) || errors.As(err, &foreign) ||
		errors.Is(err, log.ErrNoBoard) || errors.Is(err, git.ErrNotRepository)
}
