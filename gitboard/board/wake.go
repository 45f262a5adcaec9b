package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/roles"
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
	AllTerminal         WakeTrigger = "ALL_TERMINAL"
)

// Triggers lists the triggers in the order in which they count.
var Triggers = []WakeTrigger{InitialPlanning, BlockedTasks, IntegrationFailures, HypothesisExhausted, ImmediateDiscovery, AllTerminal}

// Wake is a trigger that stands.
type Wake struct {
	Trigger WakeTrigger
	About   []string // the tasks or discoveries, in the order to deal with them
	// Mark is equal as long as nothing about the trigger has changed: a planner that has seen it and left it
	// alone is not woken by it again.
	Mark string
}

// Wakes lists the triggers that stand, the first to deal with first.
func Wakes(s *State) []Wake {
	if s.Goal().Status != InProgress {
		return nil
	}
	tasks := s.Tasks()
	if !s.anyTask() {
		return []Wake{s.wake(InitialPlanning, nil)}
	}
	var wakes []Wake
	stands := func(t WakeTrigger, ids []string) {
		if len(ids) > 0 {
			wakes = append(wakes, s.wake(t, ids))
		}
	}
	with := func(is func(Brief) bool) (ids []string) {
		for _, b := range tasks {
			if is(b) {
				ids = append(ids, b.ID)
			}
		}
		return ids
	}
	stands(BlockedTasks, with(func(b Brief) bool { return b.Status == Blocked }))
	stands(IntegrationFailures, with(func(b Brief) bool { return b.Status == IntegrationFailed }))
	stands(HypothesisExhausted, with(func(b Brief) bool { return b.Status == Blocked && b.Failures >= 2 }))
	stands(ImmediateDiscovery, s.immediate())
	over := with(func(b Brief) bool { return b.Status.Terminal() })
	if len(over) == len(tasks) {
		wakes = append(wakes, s.wake(AllTerminal, over))
	}
	return wakes
}

// immediate lists the discoveries that can't wait and that nobody has dealt with.
func (s *State) immediate() []string {
	return slices.DeleteFunc(slices.Clone(s.List(DiscoveryDir)), func(id string) bool {
		d := s.Discovery(id)
		return d == nil || !d.Pressing()
	})
}

// wake marks a trigger by what a planner would look at: what it is about, and what humans said since.
func (s *State) wake(t WakeTrigger, about []string) Wake {
	var mark strings.Builder
	for _, id := range about {
		mark.WriteString(id)
		if task := s.Task(id); task != nil && t != AllTerminal {
			fmt.Fprintf(&mark, " %s %d", task.StatusChangedAt, len(task.History))
		}
		mark.WriteString("; ")
	}
	for _, id := range s.List(NoteDir) {
		if n := s.Note(id); n != nil && n.AcknowledgedBy == "" && (n.For == "" || n.For == string(roles.Planner) || slices.Contains(about, n.For)) {
			mark.WriteString(id + "; ")
		}
	}
	return Wake{Trigger: t, About: about, Mark: mark.String()}
}
