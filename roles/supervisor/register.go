package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/process"
)

// numberTries is how many numbers --id auto tries while others take them.
const numberTries = 100

// register registers the agent under a new session. If a dead supervisor of this clone still holds
// the id, register ends that agent first.
func (s *supervisor) register(ctx context.Context) (err error) {
	if s.root, err = s.Board.Root(ctx); err != nil {
		return err
	}
	if s.root == "" {
		return board.Refuse(board.CodeBare, "an agent needs files to work on; this repository is bare", "start it in a clone that has a working tree")
	}
	if s.clone, err = s.Board.Clone().ID(ctx); err != nil {
		return err
	}
	if s.ID != "" {
		return s.registerAs(ctx, s.ID)
	}
	left, err := s.leftWork(ctx)
	if err != nil {
		return err
	}
	for i, tries := 0, 0; ; i++ {
		id := roles.IDOf(s.name(), i-len(left)+1)
		if i < len(left) {
			id = left[i]
		}
		if free, err := s.free(ctx, id); err != nil {
			return err
		} else if !free || s.reserve != nil && !s.reserve(id) {
			continue
		}
		err = s.registerAs(ctx, id)
		refusal := (*board.Refusal)(nil)
		if tries++; !errors.As(err, &refusal) || refusal.Code != board.CodeLease || tries == numberTries {
			return err
		}
	}
}

// leftWork lists the agents of this one's role that have work, by number. If one of them is dead,
// this one takes its id and continues.
func (s *supervisor) leftWork(ctx context.Context) (ids []string, err error) {
	v, err := s.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	state := v.State.ForRules()
	err = read(state, func() {
		engaged := report.Engaged(state)
		for _, id := range state.List(board.AgentDir) {
			if roles.NameOf(id) == s.name() && (engaged[id] || state.Runs(state.Agent(id).Goal)) {
				ids = append(ids, id)
			}
		}
	})
	slices.SortFunc(ids, compare)
	return ids, err
}

// name is the name of the team's role that the agents have.
func (c *Config) name() string { return cmp.Or(c.Name, c.Role.Prefix()) }

// free reports whether an id could be registered in this clone: it is free, or its holder has ended
// and left no work in another clone. A running supervisor of this clone is not dead because its
// lease has expired: all leases expire while a machine sleeps.
func (s *supervisor) free(ctx context.Context, id string) (bool, error) {
	v, err := s.Board.View(ctx)
	if err != nil {
		return false, err
	}
	a := v.State.Agent(id)
	if a == nil {
		return true, v.State.Err()
	}
	if a.Clone != s.clone && a.CurrentTask != "" {
		return false, nil
	}
	pid, known := supervisorHere(s.Board, s.clone, id, a)
	if known && pid == 0 {
		return true, nil
	}
	runs := known && pid != os.Getpid() || s.isMember != nil && s.isMember(id)
	return !runs && v.Takeable(ctx, id, 0), nil
}

// dead reports whether the agent's supervisor ran in this clone and ended.
func (s *supervisor) dead(id string, a *board.Agent) bool {
	pid, known := supervisorHere(s.Board, s.clone, id, a)
	return known && pid == 0
}

// supervisorHere is the process of an agent's supervisor in a clone, which is the board's: 0 if it
// ended. known is false if it runs elsewhere, or the system can't answer.
func supervisorHere(b *gitboard.Board, clone, id string, a *board.Agent) (pid int, known bool) {
	files := files{b, id}
	session, err := files.kept(sessionFile) // first: it is written after the process
	pid, known = files.liveProcess(supervisorFile)
	return pid, known && a.Clone == clone && err == nil && session == a.Session
}

// RunsHere reports whether a supervisor runs in this clone for an agent of the board.
func RunsHere(ctx context.Context, b *gitboard.Board, s *board.State) (bool, error) {
	clone, err := b.Clone().ID(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.List(board.AgentDir), func(id string) bool {
		a := s.Agent(id)
		if a == nil {
			return false
		}
		pid, known := supervisorHere(b, clone, id, a)
		return known && pid != 0
	}), s.Err()
}

func (s *supervisor) registerAs(ctx context.Context, id string) error {
	if roles.NameOf(id) != s.name() {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is not the id of a %s", text.Line(id, 40), s.name()), "use "+roles.IDOf(s.name(), 1)+", or --id auto")
	}
	s.files = files{s.Board, id}
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	if a := v.State.Agent(id); a != nil && s.dead(id, a) {
		if err := endDead(ctx, s.Board, id, a); err != nil {
			return err
		}
	}
	if err := v.State.Err(); err != nil {
		return err
	}
	if err := s.takeKey(ctx, v, id); err != nil {
		return err
	}
	process := s.Process
	process.CLI = s.CLI.Name
	_, actor, err := s.Board.Sessions().RegisterIf(ctx, id, "", process, s.registers)
	if refusal := (*board.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == board.CodeSignature && s.key == s.files.at(KeyFile) {
		refusal.Code = board.CodeLease // another clone takes the id, and has replaced the key
		s.dropKey()
	}
	if err != nil {
		return err
	}
	s.actor = actor
	if before, err := s.files.kept(sessionFile); err == nil && before != actor.Session {
		s.files.endLeftover(before)
	}
	if s.token, err = s.Board.Token(); err != nil {
		return err
	}
	return errors.Join(s.Board.Clone().DropGaveUp(id), s.standing())
}

// standing puts this supervisor on record, and holds the record.
func (s *supervisor) standing() error {
	err := s.files.keep(supervisorFile, selfRecord(s.token))
	if s.release != nil {
		s.release()
	}
	s.release = queue.Hold(s.files.at(supervisorFile))
	return errors.Join(err, s.files.keep(sessionFile, s.actor.Session)) // supervisorHere relies on this order
}

// guard puts back, before an agent is started, what an earlier one has removed: this supervisor's
// records, and the hooks.
func (s *supervisor) guard(ctx context.Context) error {
	on, err := s.files.kept(supervisorFile)
	session, failed := s.files.kept(sessionFile)
	if err = errors.Join(err, failed); err == nil && (on != selfRecord(s.token) || session != s.actor.Session) {
		s.report(Repaired, "", "the records of this supervisor had been removed or changed: they are back")
		err = s.standing()
	}
	if s.Guard != nil && err == nil {
		var did string
		if did, err = s.Guard(ctx); did != "" {
			s.report(Repaired, "", did)
		}
	}
	return err
}

// registers refuses a registration that is not needed. An agent without work is IDLE at once.
func (s *supervisor) registers(ctx context.Context, v *gitboard.View) (then []board.Payload, err error) {
	if err := s.needed(ctx, v); err != nil {
		return nil, err
	}
	if (Look{State: v.State, Agent: s.files.agent}).held() == "" {
		then = append(then, &board.AgentStatusChange{Status: board.Idle})
	}
	return then, v.State.Err()
}

// takeKey prepares the agent's key, unless the agent is alive: then its key stays, and the
// registration reports it.
func (s *supervisor) takeKey(ctx context.Context, v *gitboard.View, id string) (err error) {
	if s.Key == nil || !v.Takeable(ctx, id, 0) {
		return nil
	}
	if s.key, err = s.Key(ctx, id); err != nil {
		s.dropKey()
	}
	return err
}

// dropKey deletes the key that was made for this session, unless another session has made its own.
func (s *supervisor) dropKey() {
	if s.key == "" || s.key != s.files.at(KeyFile) {
		return
	}
	session, err := s.files.kept(sessionFile)
	if err == nil && (session == s.actor.Session || s.actor.Session == "") {
		_ = s.files.drop(KeyFile) // the next session's key also replaces it on the board
	}
}

// endDead ends what an agent's dead supervisor has left in this clone: its running agent and its
// lease.
func endDead(ctx context.Context, b *gitboard.Board, id string, a *board.Agent) error {
	f := files{b, id}
	if session, err := f.kept(sessionFile); err != nil || session != a.Session {
		return err // another process has registered the id
	}
	r, err := f.record(supervisorFile)
	if err != nil {
		return err
	}
	f.endLeftover(a.Session)
	return b.Sessions().EndLease(ctx, board.Actor{ID: id, Role: a.Role, Session: a.Session}, fmt.Sprintf("process %d has died (%s)", r.PID(), r.ID))
}

// endLeftover ends the running leftovers of a dead supervisor's session: its agent, and the agent's
// children in whatever group or session, even if the agent itself ended. Another session of the same
// agent may have begun: its processes, and its records, stay.
func (f files) endLeftover(session string) {
	if session == "" {
		return
	}
	pid, _ := f.liveProcess(processFile)
	if process.EndMarked(markOf(session), pid) {
		f.dropProcess(processFile, pid)
	}
}
