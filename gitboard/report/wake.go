package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// WakeTrigger is a reason to start a planner (protocol: the planner's wake-up).
type WakeTrigger string

// The triggers, in the order in which they count.
const (
	InitialPlanning     WakeTrigger = "INITIAL_PLANNING"
	BlockedTasks        WakeTrigger = "BLOCKED_TASKS"
	IntegrationFailures WakeTrigger = "INTEGRATION_FAILED"
	HypothesisExhausted WakeTrigger = "HYPOTHESIS_EXHAUSTED"
	ImmediateDiscovery  WakeTrigger = "IMMEDIATE_DISCOVERY"
	StaleReservation    WakeTrigger = "STALE_RESERVATION"
	AllTerminal         WakeTrigger = "ALL_TERMINAL"
)

// Triggers lists the triggers in the order in which they count.
var Triggers = []WakeTrigger{InitialPlanning, BlockedTasks, IntegrationFailures, HypothesisExhausted, ImmediateDiscovery, StaleReservation, AllTerminal}

// Wake is a trigger that holds now.
type Wake struct {
	Trigger WakeTrigger
	About   []string // the tasks or discoveries, in the order to deal with them
	// Mark is equal as long as nothing about the trigger has changed: a planner that has seen it and left it
	// alone is not woken by it again.
	Mark string
}

// Wakes lists the triggers that hold now, the first to deal with first.
func Wakes(s *board.State) []Wake {
	if s.Goal().Status != board.InProgress {
		return nil
	}
	tasks := s.Tasks()
	if !s.HasTasks() {
		return []Wake{wake(s, InitialPlanning, nil)}
	}
	var wakes []Wake
	holds := func(t WakeTrigger, ids []string) {
		if len(ids) > 0 {
			wakes = append(wakes, wake(s, t, ids))
		}
	}
	with := func(is func(board.Brief) bool) (ids []string) {
		for _, b := range tasks {
			if is(b) {
				ids = append(ids, b.ID)
			}
		}
		return ids
	}
	holds(BlockedTasks, with(func(b board.Brief) bool { return b.Status == board.Blocked }))
	holds(IntegrationFailures, with(func(b board.Brief) bool { return b.Status == board.IntegrationFailed }))
	holds(HypothesisExhausted, with(func(b board.Brief) bool { return b.Status == board.Blocked && b.Failures >= 2 }))
	holds(ImmediateDiscovery, immediate(s))
	holds(StaleReservation, with(func(b board.Brief) bool {
		return b.Status == board.Unclaimed && b.ReservedFor != "" && s.Agent(b.ReservedFor) == nil
	}))
	over := with(func(b board.Brief) bool { return b.Status.Terminal() })
	if len(over) == len(tasks) {
		wakes = append(wakes, wake(s, AllTerminal, over))
	}
	return wakes
}

// immediate lists the discoveries that can't wait and that nobody has dealt with.
func immediate(s *board.State) []string {
	return slices.DeleteFunc(slices.Clone(s.List(board.DiscoveryDir)), func(id string) bool {
		d := s.Discovery(id)
		return d == nil || !d.Pressing()
	})
}

// wake marks a trigger by what a planner would look at: what it is about, and what humans said since.
func wake(s *board.State, t WakeTrigger, about []string) Wake {
	var mark strings.Builder
	for _, id := range about {
		mark.WriteString(id)
		if task := s.Task(id); task != nil && t != AllTerminal {
			fmt.Fprintf(&mark, " %s %d", task.StatusChangedAt, len(task.History))
		}
		mark.WriteString("; ")
	}
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && n.AcknowledgedBy == "" && reaches(n, append([]string{string(roles.Planner)}, about...)) {
			mark.WriteString(strings.TrimSpace(id+" "+string(n.AnsweredAt)) + "; ")
		}
	}
	return Wake{Trigger: t, About: about, Mark: mark.String()}
}
