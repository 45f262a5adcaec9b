package board

// maxEarly is how many commits from before the checkpoint a submission lists.
const maxEarly = 20

// Made is a rule's view of a commit on a task's branch.
type Made struct {
	ID      string
	Parents []string
	At      Time // the committer's
}

// Early lists the commits of a submission that its coder made before the checkpoint of the running
// iteration, at most maxEarly: those on the branch when the checkpoint was written, and those that
// are older than the checkpoint. Commits that a reviewer has judged, or that existed before the
// iteration began, belong to an earlier iteration. Merges bring the work of others, and don't
// count. In work, each commit must come after its parents.
func (t *Task) Early(work []Made) []string {
	first, began := t.iterationStart()
	if first == nil {
		return nil
	}
	checkpoint, until := first.Checkpoint, first.Time
	if c := checkpoint.Clock; c != "" && c < until {
		until = c // the board's time may be ahead of the clone's clock
	}
	// After these events the branch has nobody's work on it.
	empty := began.Event == EventClaimed || began.Event == EventReassignedAfterReject
	there := ancestors(work, checkpoint.Head)
	known := ancestors(work, t.judged()...)
	var early []string
	for _, c := range work {
		if known[c.ID] {
			continue
		}
		old := there[c.ID] && empty || c.At > began.Time && (there[c.ID] || c.At < until)
		if old && len(c.Parents) < 2 && len(early) < maxEarly {
			early = append(early, c.ID)
		}
	}
	return early
}

// iterationStart returns the first checkpoint of the running iteration and the event that began the
// iteration. Both are nil if there is no checkpoint.
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

// ancestors marks the heads and their ancestors among the commits of work.
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
