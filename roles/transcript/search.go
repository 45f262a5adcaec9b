package transcript

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"
)

// Query selects lines that contain all words, ignoring case, and belong to a run on the task.
type Query struct {
	Words []string
	Task  string // "" for any
}

// Found is a line of a transcript and the run that it belongs to.
type Found struct {
	Agent string
	Task  string    // "" for a run without a task, and between runs
	Time  time.Time // of the supervisor's last line up to this one
	Line  string
	Own   bool // the line is the supervisor's
}

// Search returns the matching lines of several agents' transcripts, oldest first: the last ones, or
// all if last is 0. clean turns a printed line into lines of text.
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
	sort.SliceStable(all, func(i, j int) bool { return all[i].Time.Before(all[j].Time) })
	if last > 0 && len(all) > last {
		all = all[len(all)-last:]
	}
	return all, nil
}

// next returns the next line of the transcript, and records in run which task is worked on from
// then on.
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
