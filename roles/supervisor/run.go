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
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/process"
	"github.com/git-liza/git-liza/roles/transcript"
)

// Config sets a supervisor's task and means.
type Config struct {
	Board    *gitboard.Board
	Executor Executor
	Role     roles.Role
	Name     string // of the team's role, "" for the built-in one of Role
	ID       string // "" for the lowest free id

	CLI      clis.CLI
	Terminal *os.File // where the agent runs interactively; nil if unattended
	Only     string   // the only task, "" for all
	First    string   // the task to take first, "" for the board's order
	Once     bool     // a single run of the agent
	Patient  bool     // waits for work for ever
	OnDemand bool     // registers only if the board wants it, and ends once it is spare and idle
	Fresh    bool     // runs never continue an earlier conversation

	Container *process.Container // where the agent runs; nil for this machine

	// Key prepares the key with which an agent signs, and returns its file, "" if operations are
	// unsigned. From then on Board signs with it. Key is nil if nobody ever signs.
	Key func(ctx context.Context, agent string) (file string, err error)

	// Guard puts hooks back that were removed, and reports what it did, "" for nothing. It runs
	// before each start of an agent. nil for a clone without hooks.
	Guard func(ctx context.Context) (did string, err error)

	Process gitboard.Process
	Program string                       // this very program, for the agent's PATH
	Environ []string                     // inherited by the agent
	Output  func(agent string) io.Writer // also gets what an agent prints; nil for nowhere
	Report  func(Event)                  // gets the events; nil for nobody

	isMember func(id string) bool // whether a running member of its team has an id; nil without a team
	reserve  func(id string) bool // takes an id for this member, unless another one has it; nil without a team
	proof    *proof               // shared by the members of its team; nil without a team
	pace     *pace                // the same
}

// StopError is the reason why a supervisor ended before its work was done.
type StopError struct {
	Exit   int // the protocol's exit code
	Reason string
	Hint   string
	asked  bool // a human asked for it
}

func (e *StopError) Error() string { return e.Reason }

// lost is the end of a supervisor whose lease was taken: it must do nothing more to the board.
func lost(agent string, err error) *StopError {
	return &StopError{Exit: graceful, Reason: fmt.Sprintf("%s has lost its lease and stops at once: %v", agent, err), Hint: "start it again: it registers again"}
}

// maxDeferred is how long an agent's deferred operation waits at most for another one to travel with.
const maxDeferred = 3 * time.Second

// supervisor is the state of the loop.
type supervisor struct {
	Config
	actor    board.Actor
	clone    string
	root     string
	program  string // the agent's
	unboxed  string // why the agent is not in its CLI's sandbox although it should be
	key      string // the file of the agent's key, "" for none
	token    string // by which the agent's processes are known in another process namespace
	release  func() // lets go of the record of this supervisor
	files    files
	log      *journal
	notes    int // the notes of the board that ask for nothing more
	memory   *Memory
	pulse    *pulse
	watch    map[string]watched // leases of other agents
	proved   plumbing.OID       // the board's commit at the last look
	fresh    string             // the task that was just claimed, before any run on it
	warnings []string           // warnings from that claim
	witness  *witness           // of the present or last run
	troubles int                // failures in a row

	sandboxed bool   // the agent is in its CLI's sandbox
	reported  string // the reason for waiting that was last reported
	follow    <-chan struct{}
	fetching  sync.WaitGroup // fetches of what other clones have done
	tidying   sync.WaitGroup
	lane      lane
	merging   sync.WaitGroup
	deaths    *deaths
}

// Run supervises one agent until its work is done or the context ends. It then returns nil. It
// returns a *StopError if something else ended it, or the error that kept it from starting.
func Run(ctx context.Context, c Config) error {
	if c.proof == nil {
		c.proof, c.pace = &proof{}, &pace{}
	}
	s := &supervisor{Config: c, watch: map[string]watched{}, deaths: newDeaths()}
	defer s.deaths.stop()
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
			s.repaired("", did)
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
		if s.Role == roles.Coder { // which defers checkpoints
			s.tidying.Go(func() { s.Board.Sessions().CarryDeferred(living, s.actor.ID, maxDeferred) })
		}
		err = s.loop(living)
		end()
		s.merging.Wait()
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

// end leaves the board, unless the lease was lost or the board is broken.
func (s *supervisor) end(ctx context.Context, err error) error {
	if taken(err) {
		err = lost(s.actor.ID, err)
	}
	switch {
	case stopped(err, graceful):
		s.report(Stopped, "", err.Error())
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

// begin prepares the loop for a registered agent, and clears away what a dead supervisor has left.
func (s *supervisor) begin(ctx context.Context) (err error) {
	if s.log, err = s.files.journal(); err != nil {
		return err
	}
	s.report(Registered, "", "registered, session "+s.actor.Session)
	s.warnOfRights()
	s.warnOfLogin(ctx)
	if s.memory, err = s.files.keptMemory(); err != nil {
		s.report(Trouble, "", err.Error())
	}
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	s.notes = len(v.State.List(board.NoteDir))
	config, own := v.State.Config(), ""
	if a := v.State.Agent(s.actor.ID); a != nil {
		own = a.CurrentTask
	}
	var task *board.Task
	if own != "" {
		task = v.State.Task(own)
	}
	s.warnOfClock(v.State)
	s.warnOfUsage(v.State)
	if err := v.State.Err(); err != nil {
		return err
	}
	s.pulse = newPulse(s.Board, s.actor, config, task)
	did, err := s.Executor.Repair(ctx, s.actor, own)
	s.repaired(own, did)
	if err != nil {
		s.report(Trouble, own, "not all could be repaired: "+err.Error())
	}
	every, _ := config.Waits(s.Role)
	if s.Board.Remote() != "" {
		s.fetching.Go(func() { s.fetch(ctx, every) })
	}
	s.follow, err = s.Board.Follow(ctx, every)
	return err
}

// warnOfClock reports a board that is dated ahead of this clock: where that is because this clock
// is behind, its leases have expired by the clocks of others.
func (s *supervisor) warnOfClock(on *board.State) {
	if ahead := on.Time().Std().Sub(s.Board.Now()); ahead > board.ClockSlack {
		s.report(Trouble, "", fmt.Sprintf("the board is dated %s ahead of this clock: if it is this clock that is wrong, others take what %s works on for abandoned; compare the clocks of both machines: date -u",
			board.Span(ahead), s.actor.ID))
	}
}

// fetch fetches, with the other supervisors of this process, what other clones have done; the loop
// sees that the board moved. every is the longest time between two fetches. A remote that can't
// be reached is reported once.
func (s *supervisor) fetch(ctx context.Context, every time.Duration) {
	known := map[string]bool{}
	here, err := s.Board.Follow(ctx, every)
	if err != nil {
		s.report(Trouble, "", err.Error()) // only the time counts
	}
	there := s.Board.Sharing().Follow(ctx, every)
	for {
		wait := s.pace.fetch(ctx, s.Board, every, func() {
			did, err := s.Executor.Follow(ctx, s.actor)
			if err != nil {
				did = append(did, err.Error())
			}
			now := map[string]bool{}
			for _, text := range did {
				if now[text] = true; !known[text] && ctx.Err() == nil {
					s.report(Trouble, "", text)
				}
			}
			known = now
		})
		select {
		case <-ctx.Done():
			return
		case <-here:
		case <-there:
		case <-time.After(wait):
		}
	}
}

// report passes an event to the log and to Config.Report.
func (s *supervisor) report(event, task, text string) {
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
	if s.Report != nil {
		s.Report(e)
	}
}

// status records changes of the agent's process that no other operation implies, in one push.
func (s *supervisor) status(ctx context.Context, waitingFor string, changes ...board.AgentStatus) error {
	_, err := s.Board.DoAll(ctx, gitboard.Request{Actor: s.actor}, func(context.Context, *gitboard.View) (all []board.Payload, _ []plumbing.RefUpdate, _ error) {
		for _, to := range changes {
			all = append(all, &board.AgentStatusChange{Status: to, WaitingFor: waitingFor})
		}
		return all, nil, nil
	})
	return err
}

// errDone ends the loop because the work is done.
var errDone = errors.New("done")

// troubleDelay is the delay before a retry after a failure of disk, network or git. It doubles with
// each failure. After the first one, a move of the board ends it.
const troubleDelay = 5 * time.Second

// troubleAlarm is how many failures in a row raise an alarm, after two and a half minutes.
const troubleAlarm = 6
