package report

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// SprintReview is everything to look back on in the current sprint. Summary, retrospective and
// screens take their figures from it.
type SprintReview struct {
	ID             string               `json:"sprint"`
	Status         board.Phase          `json:"status"`
	Goal           string               `json:"goal"`
	Aim            string               `json:"aim,omitempty"` // a human's aim at its start
	Timeline       board.Timeline       `json:"timeline"`
	Overdue        bool                 `json:"overdue"`
	Planned        []ScopedTask         `json:"planned"`
	Stretch        []ScopedTask         `json:"stretch"`
	Counts         map[board.Status]int `json:"counts"` // without tasks finished before it began
	Metrics        Metrics              `json:"metrics"`
	RubberStamping bool                 `json:"rubber_stamping"`
	Finished       []FinishedTask       `json:"finished"` // in the order of their end
	Blocked        []BlockedTask        `json:"blocked"`
	Anomalies      []Tallied            `json:"anomalies"` // by type, most frequent first
	Unacknowledged int                  `json:"anomalies_unacknowledged"`
	Patterns       []board.Pattern      `json:"-"`
	Alignment      []board.Alignment    `json:"alignment"`
	SpecChanges    []*board.SpecChange  `json:"spec_changes"`
	Retrospective  string               `json:"retrospective,omitempty"`
}

// ScopedTask is a task of a sprint's scope.
type ScopedTask struct {
	ID     string       `json:"id"`
	Status board.Status `json:"status"`
}

// FinishedTask is a task that was finished in the sprint, with its totals.
type FinishedTask struct {
	ID         string       `json:"id"`
	Status     board.Status `json:"status"`
	Claimed    board.Time   `json:"claimed,omitempty"` // first claim, "" if never claimed
	Ended      board.Time   `json:"ended"`
	Iterations int          `json:"iterations"`
	Rejections int          `json:"rejections"`
	Drift      int          `json:"drift_commits"`
}

// Took is the time from the first claim to the end; 0 if the task was never claimed.
func (f FinishedTask) Took() time.Duration {
	if f.Claimed == "" {
		return 0
	}
	return f.Ended.Sub(f.Claimed)
}

// BlockedTask is a task that waits for an answer.
type BlockedTask struct {
	ID        string     `json:"id"`
	Since     board.Time `json:"since"`
	Reason    string     `json:"reason"`
	Questions []string   `json:"questions"`
	FailedBy  []string   `json:"failed_by,omitempty"`
	AskedBy   []string   `json:"asked_by,omitempty"` // coders who blocked it with a question
}

// AskedBy lists the coders who blocked the task with a question.
func AskedBy(t *board.Task) []string {
	var asked []string
	for _, e := range t.History {
		if e.Event == board.EventBlocked && slices.Contains(t.Workers(), e.Agent) && !slices.Contains(asked, e.Agent) {
			asked = append(asked, e.Agent)
		}
	}
	return asked
}

// Tallied is a word and its frequency.
type Tallied struct {
	What  string `json:"type"`
	Count int    `json:"count"`
}

// ReviewSprint reviews the current sprint. It returns an error if a record could not be read.
func ReviewSprint(s *board.State, now time.Time) (*SprintReview, error) {
	sp, goals, tasks := s.Sprint(), s.Goals(), s.Tasks()
	if s.Err() != nil {
		return nil, s.Err()
	}
	started := sp.Timeline.Started
	r := &SprintReview{
		ID: sp.ID, Status: sp.Status, Goal: s.Purpose(), Timeline: sp.Timeline, Overdue: sp.Overdue(board.At(now)),
		Counts: map[board.Status]int{}, Metrics: Measure(s), Finished: []FinishedTask{}, Blocked: []BlockedTask{},
		Alignment: []board.Alignment{}, SpecChanges: append([]*board.SpecChange{}, SpecChangesSince(s, started)...), Retrospective: sp.Retrospective,
	}
	r.RubberStamping = r.Metrics.RubberStamping()
	r.Planned, r.Stretch = scoped(s, sp.Scope.Planned), scoped(s, sp.Scope.Stretch)
	for _, b := range tasks {
		if endedBefore(b, started) {
			continue
		}
		r.Counts[b.Status]++
		if b.Status != board.Blocked && !b.Status.Terminal() {
			continue
		}
		switch t := s.Task(b.ID); {
		case t == nil: // s.Err reports it
		case b.Status.Terminal():
			r.Finished = append(r.Finished, finished(t))
		default:
			r.Blocked = append(r.Blocked, BlockedTask{t.ID, t.StatusChangedAt, t.BlockedReason, append([]string{}, t.BlockedQuestions...), t.FailedBy, AskedBy(t)})
		}
	}
	sort.SliceStable(r.Finished, func(i, j int) bool { return r.Finished[i].Ended < r.Finished[j].Ended })
	r.anomalies(s, started)
	for _, a := range alignments(goals) {
		if a.Timestamp < started || slices.Contains(r.Alignment, a) { // of every goal in progress
			continue
		}
		r.Alignment = append(r.Alignment, a)
		if aim, begun := strings.CutPrefix(a.Summary, sp.ID+": "); begun && a.Event == board.SprintStarted {
			r.Aim = aim
		}
	}
	return r, s.Err()
}

// alignments are the entries of all goals, oldest first.
func alignments(goals []*board.Goal) (all []board.Alignment) {
	for _, g := range goals {
		all = append(all, g.AlignmentHistory...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Timestamp < all[j].Timestamp })
	return all
}

func scoped(s *board.State, ids []string) []ScopedTask {
	scope := make([]ScopedTask, 0, len(ids))
	for _, id := range ids {
		b, _ := s.BriefOf(id)
		scope = append(scope, ScopedTask{id, b.Status})
	}
	return scope
}

func finished(t *board.Task) FinishedTask {
	f := FinishedTask{ID: t.ID, Status: t.Status, Ended: t.StatusChangedAt, Drift: t.DriftCommits}
	sum := t.Brief().Tally
	f.Iterations, f.Rejections = sum.Iterations, sum.ReviewCycles
	if i := slices.IndexFunc(t.History, func(e board.Event) bool { return e.TakesUp() }); i >= 0 {
		f.Claimed = t.History[i].Time
	}
	return f
}

// anomalies counts the sprint's anomalies by type and finds their patterns.
func (r *SprintReview) anomalies(s *board.State, started board.Time) {
	counts := map[string]int{}
	for _, id := range s.List(board.AnomalyDir) {
		a := s.Anomaly(id)
		if a == nil || a.Timestamp < started {
			continue
		}
		counts[a.Type]++
		if a.AcknowledgedBy == "" {
			r.Unacknowledged++
		}
	}
	r.Anomalies = make([]Tallied, 0, len(counts))
	for _, typ := range slices.Sorted(maps.Keys(counts)) {
		r.Anomalies = append(r.Anomalies, Tallied{typ, counts[typ]})
	}
	sort.SliceStable(r.Anomalies, func(i, j int) bool { return r.Anomalies[i].Count > r.Anomalies[j].Count })
	r.Patterns = board.FindPatterns(s)
}

// Over counts the finished tasks of a scope.
func Over(scope []ScopedTask) int {
	n := 0
	for _, t := range scope {
		if t.Status.Terminal() {
			n++
		}
	}
	return n
}
