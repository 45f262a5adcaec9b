package board

// MaxEarly is how many commits from before the checkpoint a submission names.
const MaxEarly = 20

// Made is what a rule needs to know of a commit on a task's branch.
type Made struct {
	ID      string
	Parents []string
	At      Time // of its committer
}

// Early lists those of a submission's commits that its coder made before the checkpoint of the running iteration, at
// most MaxEarly: those that were on the branch when the checkpoint was written, and those that are older than it.
// What a reviewer has judged, or was there before the iteration began, is an earlier one's work. Merges bring the
// work of others. The commits come each after its parents.
func (t *Task) Early(work []Made) []string {
	first, began := t.iterationStart()
	if first == nil {
		return nil
	}
	checkpoint, until := first.Checkpoint, first.Time
	if c := checkpoint.Clock; c != "" && c < until {
		until = c // the board's time may be ahead of the clone's
	}
	empty := began.Event == EventClaimed || began.Event == EventReassignedAfterReject // nobody's work on the branch yet
	there := ancestors(work, checkpoint.Head)
	known := ancestors(work, t.judged()...)
	var early []string
	for _, c := range work {
		if known[c.ID] {
			continue
		}
		old := there[c.ID] && empty || c.At > began.Time && (there[c.ID] || c.At < until)
		if old && len(c.Parents) < 2 && len(early) < MaxEarly {
			early = append(early, c.ID)
		}
	}
	return early
}

// iterationStart is the event that began the running iteration, and the first checkpoint in it. Both are nil when
// there is no checkpoint.
func (t *Task) iterationStart() (checkpoint, began *Event) {
	for i := len(t.History) - 1; i >= 0; i-- {
		switch e := &t.History[i]; {
		case e.Event == EventPreExec:
			checkpoint = e
		case t.begins(i) || e.Event == EventUnblocked || e.Event == EventImported:
			if checkpoint == nil {
				return nil, nil
			}
			return checkpoint, e
		}
	}
	return nil, nil
}

// judged lists the commits that a reviewer has judged.
func (t *Task) judged() (commits []string) {
	for _, e := range t.History {
		if e.Event == EventRejected || e.Event == EventApproved {
			commits = append(commits, e.Commit)
		}
	}
	return commits
}

// ancestors marks commits and those before them among others.
func ancestors(work []Made, heads ...string) map[string]bool {
	marked := map[string]bool{}
	for _, h := range heads {
		marked[h] = true
	}
	for i := len(work) - 1; i >= 0; i-- {
		if c := work[i]; marked[c.ID] {
			for _, p := range c.Parents {
				marked[p] = true
			}
		}
	}
	return marked
}
