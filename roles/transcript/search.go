package transcript

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Query says which lines to find: those that have all words, in whatever case, and belong to a run on the task.
type Query struct {
	Words []string
	Task  string // "" for any
}

// Found is a line of a transcript, with the run that it belongs to.
type Found struct {
	Agent string
	Task  string    // "" for a run on none, and between runs
	Time  time.Time // of the supervisor's last line up to it
	Line  string
	Own   bool // it is the supervisor's
}

// Search returns the last lines of several agents' transcripts that a query finds, at most last of them, all with 0; the
// oldest first. clean makes a line as it was printed into lines of text.
func Search(ctx context.Context, dir string, agents []string, q Query, last int, clean func(line []byte) []string) ([]Found, error) {
	var all []Found
	for _, agent := range agents {
		run := Found{Agent: agent}
		err := Read(ctx, dir, agent, 0, false, func(line []byte) error {
			for _, text := range clean(line) {
				if f := run.next(text); q.finds(f) {
					all = append(all, f)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b Found) int { return a.Time.Compare(b.Time) })
	if last > 0 && len(all) > last {
		all = all[len(all)-last:]
	}
	return all, nil
}

// next is a further line of the transcript. It notes in run which task is worked on from then on.
func (run *Found) next(text string) Found {
	at, words, own := Parse(text)
	f := *run
	f.Line, f.Own = text, own
	if !own {
		return f
	}
	run.Time, f.Time, f.Line = at, at, words
	head, _, _ := strings.Cut(words, ":")
	event, task, _ := strings.Cut(head, " ")
	f.Task = cmp.Or(task, run.Task)
	switch event {
	case "started":
		run.Task = task
	case "ended":
		run.Task = ""
	}
	return f
}

func (q Query) finds(f Found) bool {
	if q.Task != "" && f.Task != q.Task {
		return false
	}
	line := strings.ToLower(f.Line)
	return !slices.ContainsFunc(q.Words, func(w string) bool { return !strings.Contains(line, strings.ToLower(w)) })
}
