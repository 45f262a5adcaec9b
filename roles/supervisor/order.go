package supervisor

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// headStart bounds how long an agent leaves a task to each idle agent that comes before it. The claim
// by one of them ends the wait.
const headStart = 2 * time.Second

// chooser chooses the task that an agent should take: board.NextClaim or board.NextReview.
type chooser func(s *board.State, agent string, skip func(id string) bool, takeable func(holder string, b board.Brief) bool) string

// share chooses the step by which an agent takes on work without racing the idle agents before it:
// in the order of their ids they get the board's offers to them, and this agent takes one of the
// rest. Without a rest, it waits for as long as they need to claim, and then takes a task that they
// left. ok is false if the board has no offer for it.
func (l Look) share(do Action, choose chooser, skip func(id string) bool, p *patience) (step Step, ok bool) {
	if l.First != "" {
		if choose(l.State, l.Agent, func(id string) bool { return id != l.First || skip(id) }, p.takeable) != "" {
			return Step{Do: do, Task: l.First}, true
		}
	}
	wanted := choose(l.State, l.Agent, skip, p.takeable)
	if wanted == "" {
		return Step{}, false
	}
	theirs := map[string]string{}
	live := func(string, board.Brief) bool { return false }
	before := l.idleBefore()
	for _, peer := range before {
		taken := func(id string) bool { return theirs[id] != "" }
		if id := choose(l.State, peer, taken, live); id != "" {
			theirs[id] = peer
		}
	}
	left := choose(l.State, l.Agent, func(id string) bool { return theirs[id] != "" || skip(id) }, p.takeable)
	if left != "" {
		return Step{Do: do, Task: left}, true
	}
	at := l.past(l.open(wanted)).Add(time.Duration(len(before)) * headStart)
	if !l.Now.Before(at) {
		return Step{Do: do, Task: wanted}, true
	}
	return Step{Do: Wait, Until: at, Idle: true, Reason: fmt.Sprintf("%s goes to %s first", wanted, theirs[wanted])}, true
}

// idleBefore lists, in order, the live and idle agents of the same role that come before this one.
func (l Look) idleBefore() (ids []string) {
	for _, id := range l.State.List(board.AgentDir) {
		a := l.State.Agent(id)
		if roles.NameOf(id) != roles.NameOf(l.Agent) || !before(id, l.Agent) || a == nil || a.CurrentTask != "" && a.Status != board.Waiting {
			continue
		}
		if seen, leased := l.Leases[id]; leased && l.Now.Before(seen.Expires) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compare)
	return ids
}

// open is since when a task could be taken: since it entered its status, its last dependency was
// merged, and the board has been running, whichever is latest.
func (l Look) open(id string) board.Time {
	b, _ := l.State.BriefOf(id)
	since := max(b.StatusChangedAt, l.State.Control().Since)
	for _, d := range b.DependsOn {
		if needed, ok := l.State.BriefOf(d); ok {
			since = max(since, needed.StatusChangedAt)
		}
	}
	return since
}
