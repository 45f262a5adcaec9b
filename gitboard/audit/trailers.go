package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// signs are the marks of authors in the commits of a submission.
type signs struct {
	examined bool
	commits  int // those that the reviewer is shown
	without  int
	forged   []Finding
}

// work examines the commits of submissions. They begin on integration: earlier commits are not
// shown to the reviewer. line is nil if this clone doesn't know. A commit that claims to be by an
// agent for a task that the agent never held is a forgery. A commit without trailers is only
// counted: a human may commit on the branch, and a cherry-pick or a clone without hooks adds no
// trailers. Merges are made by git.
func (p *replay) work(ctx context.Context, repo *git.Repo, line *line, all []evidence, of sized) error {
	found := make([]signs, len(all))
	failures := make([]error, len(all))
	holders := p.holders()
	next := make(chan int)
	var busy sync.WaitGroup
	for range min(mergers, len(all)) {
		busy.Go(func() {
			for i := range next {
				found[i], failures[i] = signsOf(ctx, repo, line, all[i], holders)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	busy.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("look through submissions: %w", err)
	}
	if err := p.counted(ctx, repo, all, found, of); err != nil {
		return fmt.Errorf("count what submissions change: %w", err)
	}
	for _, f := range found {
		p.report.Findings = append(p.report.Findings, f.forged...)
		p.report.Unnamed += f.without
	}
	return nil
}

// holders returns a function that reports whether a task exists, and whether an agent ever held it.
func (p *replay) holders() func(task, agent string) (known, held bool) {
	var turn sync.Mutex // a state caches what it reads
	return func(task, agent string) (known, held bool) {
		turn.Lock()
		defer turn.Unlock()
		if !board.ValidTaskID(task) {
			return false, false
		}
		t := p.state.Task(task)
		if t == nil {
			return false, false
		}
		if t.AssignedTo == agent {
			return true, true
		}
		for _, e := range t.History {
			switch e.Event {
			case board.EventClaimed, board.EventReclaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry, board.EventClaimedForFix, board.EventResumed:
				if e.Agent == agent {
					return true, true
				}
			}
		}
		return true, false
	}
}

func signsOf(ctx context.Context, repo *git.Repo, line *line, e evidence, holders func(task, agent string) (known, held bool)) (signs, error) {
	var s signs
	base, handed := e.handed.base, e.handed.commit
	if line != nil && !line.tip.IsZero() {
		if on, err := line.holds(ctx, repo, base, line.tip); !on { // also if that can't be read
			s.forged = append(s.forged, Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("%s, which the review began at, is not on %s", base, line)})
			return s, err
		}
	}
	work, err := repo.Log(ctx, base, handed)
	if lacking(err) {
		s.forged = append(s.forged, e.unread(err))
		return s, nil
	}
	if err != nil {
		return s, err
	}
	from := func(c plumbing.Commit) bool { return slices.Contains(c.Parents, base) }
	if base != handed && !slices.ContainsFunc(work, from) {
		s.forged = append(s.forged, Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("%s does not follow from %s, which the review began at", handed, base)})
	}
	s.examined, s.commits = true, len(work)
	if early := e.handed.of.Early(log.Made(work)); !slices.Equal(early, e.handed.says.Early) {
		s.forged = append(s.forged, Finding{e.commit, e.subject, CodeEvidence,
			fmt.Sprintf("it names %d commits from before the checkpoint, and has %d", len(e.handed.says.Early), len(early))})
	}
	if people := log.People(work); !slices.Equal(people, e.handed.says.People) {
		s.forged = append(s.forged, Finding{e.commit, e.subject, CodeEvidence,
			fmt.Sprintf("it names %d humans who made commits of it, and has %d", len(e.handed.says.People), len(people))})
	}
	for _, c := range work {
		if len(c.Parents) > 1 {
			continue
		}
		task, agent := board.MadeFor(c.Message)
		known, held := holders(task, agent)
		switch {
		case !known || agent == "":
			s.without++
		case !held:
			s.forged = append(s.forged, Finding{c.OID, subject(c), CodeTrailer, fmt.Sprintf("it says that %s made it for %s, which %s never held", quote(agent), task, quote(agent))})
		}
	}
	return s, nil
}
