package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/transcript"
)

// Config is what one supervisor is to do, and with what.
type Config struct {
	Board    *gitboard.Board
	Executor Executor
	Role     roles.Role
	ID       string // "" for the lowest that is free

	CLI      clis.CLI
	Terminal *os.File // the agent runs interactively there; nil for unattended
	Only     string   // the one task, "" for all
	First    string   // the task to take before any other, "" for the board's order
	Once     bool     // one run of the agent
	Patient  bool     // waits for work without end
	Fresh    bool     // no run continues an earlier conversation

	Container *Container // where the agent runs; nil for this machine

	// Key makes ready the key with which an agent signs and returns its file, "" where nobody signs. Board signs
	// with it from then on. nil where nobody ever signs.
	Key func(ctx context.Context, agent string) (file string, err error)

	Process gitboard.Process
	Program string                       // this very program, for the agent's PATH
	Environ []string                     // the agent inherits it
	Output  func(agent string) io.Writer // what an agent prints goes there, too; nil for nowhere
	Tell    func(Event)                  // nil for nobody
}

// StopError is why a supervisor ended otherwise than with its work done.
type StopError struct {
	Exit   int // the protocol's exit code
	Reason string
	Hint   string
}

func (e *StopError) Error() string { return e.Reason }

// lost is the end of a supervisor whose lease was taken: it does nothing more to the board.
func lost(agent string, err error) *StopError {
	return &StopError{Exit: graceful, Reason: fmt.Sprintf("%s has lost its lease and stops at once: %v", agent, err), Hint: "start it again: it registers anew"}
}

// supervisor is the state of the loop.
type supervisor struct {
	Config
	actor    board.Actor
	clone    string
	root     string
	program  string // the agent's
	unboxed  string // why it is not in its CLI's sandbox, where it should be
	key      string // the file of the agent's key, "" for none
	files    files
	log      *journal
	memory   *Memory
	pulse    *pulse
	watch    map[string]watched // the leases of others
	proved   git.OID            // the board's commit up to which its history was proven
	fresh    string             // the task that was claimed just now, and that no run has begun on
	warnings []string           // what was noticed as it was claimed
	witness  *witness           // of the run, or of the last one
	troubles int                // failures in a row

	sandboxed bool   // the agent is in its CLI's sandbox
	told      string // what it waits for, as it was told last
	follow    <-chan struct{}
	fetching  sync.WaitGroup // of what other clones have done
	tidying   sync.WaitGroup
}

// Run supervises one agent until its work is over or the context ends. It returns nil then; a *StopError
// when something else ended it, or whatever kept it from beginning.
func Run(ctx context.Context, c Config) error {
	s := &supervisor{Config: c, watch: map[string]watched{}}
	if err := s.find(); err != nil {
		return err
	}
	if err := s.trySandbox(ctx); err != nil {
		return err
	}
	defer s.dropKey()
	err := s.register(ctx)
	if did := s.unlock(ctx, err); len(did) > 0 {
		if err = s.register(ctx); err == nil {
			s.mended("", did)
		}
	}
	if err != nil {
		return err
	}
	living, end := context.WithCancel(ctx)
	defer end()
	err = s.begin(living)
	if err == nil {
		s.pulse.start(living)
		err = s.loop(living)
		end()
		s.pulse.wait()
		s.tidying.Wait()
	}
	end()
	s.fetching.Wait()
	if s.log != nil {
		defer s.log.Close()
	}
	return s.end(context.WithoutCancel(ctx), err)
}

// end leaves the board, unless what is there is somebody else's, or broken.
func (s *supervisor) end(ctx context.Context, err error) error {
	switch {
	case stopped(err, graceful):
		s.tell(Stopped, "", err.Error())
		return err
	case stopped(err, 4), inconsistent(err), hopeless(err):
		return err
	}
	return s.leave(ctx, err)
}

// stopped reports whether an error is a stop with an exit code.
func stopped(err error, exit int) bool {
	s := (*StopError)(nil)
	return errors.As(err, &s) && s.Exit == exit
}

// begin prepares the loop of an agent that is registered, and clears away what a dead supervisor has left.
func (s *supervisor) begin(ctx context.Context) (err error) {
	if s.log, err = s.files.journal(); err != nil {
		return err
	}
	s.tell(Registered, "", "registered, session "+s.actor.Session)
	s.warnOfRights()
	if s.memory, err = s.files.keptMemory(); err != nil {
		s.tell(Trouble, "", err.Error())
	}
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	config, own := v.State.Config(), ""
	if a := v.State.Agent(s.actor.ID); a != nil {
		own = a.CurrentTask
	}
	if err := v.State.Err(); err != nil {
		return err
	}
	s.pulse = newPulse(s.Board, s.actor, config)
	did, err := s.Executor.Repair(ctx, s.actor, own)
	s.mended(own, did)
	if err != nil {
		s.tell(Trouble, own, "not all could be repaired: "+err.Error())
	}
	if a := v.State.Agent(s.actor.ID); a != nil && a.Status == board.Starting {
		if err := s.status(ctx, board.Idle, ""); err != nil {
			return err
		}
	}
	every, _ := config.Waits(s.Role)
	if s.Board.Remote() != "" {
		s.fetching.Go(func() { s.fetch(ctx, every) })
	}
	s.follow, err = s.Board.Follow(ctx, every)
	return err
}

// fetch brings what other clones have done, at each poll interval. That the board has moved is what the loop waits
// for. While the remote can't be reached that is told once.
func (s *supervisor) fetch(ctx context.Context, every time.Duration) {
	poll := time.NewTicker(every)
	defer poll.Stop()
	told := map[string]bool{}
	for {
		did, err := s.Executor.Follow(ctx, s.actor)
		if err != nil {
			did = append(did, err.Error())
		}
		now := map[string]bool{}
		for _, text := range did {
			if now[text] = true; !told[text] && ctx.Err() == nil {
				s.tell(Trouble, "", text)
			}
		}
		told = now
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
}

// tell tells an event to the log and to whoever watches.
func (s *supervisor) tell(event, task, text string) {
	s.say(Event{Event: event, Task: task, Text: text})
}

func (s *supervisor) say(e Event) {
	e.Time, e.Agent = s.Board.Now().UTC().Truncate(time.Second), s.actor.ID
	if s.log != nil {
		text := e.Line()
		if e.Prompt != "" {
			text += ", prompt " + e.Prompt
		}
		s.log.note(transcript.Line(e.Time, text))
	}
	if s.Tell != nil {
		s.Tell(e)
	}
}

// status says of the agent's process on the board what no other operation says.
func (s *supervisor) status(ctx context.Context, to board.AgentStatus, waitingFor string) error {
	_, err := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.AgentStatusChange{Status: to, WaitingFor: waitingFor}))
	return err
}

// errDone ends the loop: the work is over.
var errDone = errors.New("done")

// troubleDelay is how long after a failure of disk, network or git it is tried again; twice as long each further time.
const troubleDelay = 5 * time.Second
