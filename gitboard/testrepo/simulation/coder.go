package simulation

import (
	"context"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// code looks for a task, or continues the one that the board assigns to this coder.
func (a *player) code() {
	s := a.s
	if t := s.eye.held(a.id); t != nil {
		if !a.letGo(t) {
			a.resume(t)
		}
		return
	}
	if s.chance(s.leave) {
		a.quit(false)
		return
	}
	if a.halted() || !a.news() || board.NextClaim(s.eye.state(), a.id, nil, a.lapsed) == "" {
		a.poll(a.live)
		return
	}
	v := a.view()
	id := board.NextClaim(v.State, a.id, nil, takeable(v))
	if id == "" {
		a.poll(a.live)
		return
	}
	a.soon(func() { a.claim(id) }) // making the worktree takes time; others may win
}

func (a *player) claim(id string) {
	a.do(func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(id)
		if err != nil {
			return nil, nil, err
		}
		if board.AtIterationLimit(v.State, t, a.id) {
			return &board.IterationLimit{About: board.About{Task: id}}, nil, nil
		}
		p := &board.Claim{About: board.About{Task: id}, Clone: "memory"}
		if board.KindOfClaim(t, a.id).Fresh {
			p.BaseCommit = string(a.s.integration())
			if t.Worktree != "" {
				p.Kept = string(a.s.commit("attic"))
			}
		}
		return p, nil, nil
	}, func(done *gitboard.Done, err error) {
		if err != nil {
			a.poll(a.live)
			return
		}
		if _, claimed := done.Op.Payload.(*board.Claim); !claimed {
			a.soon(a.live)
			return
		}
		a.resume(done.After.Task(id))
	})
}

// resume continues a task, with its pre-execution checkpoint first if that is missing.
func (a *player) resume(t *board.Task) {
	id := t.ID
	if t.CheckpointOfIteration() != nil {
		a.labour(id)
		return
	}
	a.soon(func() {
		a.just(&board.PreExec{About: board.About{Task: id}, Checkpoint: board.Checkpoint{
			Intent: "do " + id, Validation: "go test: ok", FilesToModify: []string{id + ".go"},
		}}, a.orAnew(func() { a.labour(id) }))
	})
}

// orAnew returns a callback that continues after an operation, or looks at the board again when it
// was refused.
func (a *player) orAnew(next func()) func(*gitboard.Done, error) {
	return func(_ *gitboard.Done, err error) {
		if err != nil {
			a.soon(a.live)
			return
		}
		next()
	}
}

// labour works for a while and then ends in one of the ways in which work ends.
func (a *player) labour(id string) {
	s := a.s
	work := s.span(s.workMin, s.workMax)
	if s.chance(80) {
		a.after(work/2, func() { a.just(a.aside(id), func(*gitboard.Done, error) {}) })
	}
	switch hard := s.truth[id]; {
	case s.chance(s.crash):
		a.after(work/2, func() { a.crash("crashes at work") })
	case s.chance(s.hang):
		a.after(work/2, a.hang)
		a.after(work, func() { a.submit(id) })
	case s.chance(200 * hard):
		a.after(work, func() {
			a.just(&board.Block{About: board.About{Task: id}, Reason: "it is unclear", Questions: []string{"what is meant?"}, Attempted: []string{"guessing"}}, a.orAnew(a.liveSoon))
		})
	case s.chance(60):
		a.after(work, func() {
			a.just(&board.HandOff{About: board.About{Task: id}, Summary: "half of it", NextAction: "the other half"}, a.orAnew(func() { a.crash("ends with a hand-off") }))
		})
	case s.chance(20):
		a.after(work/2, func() { a.quit(false) })
	default:
		a.after(work, func() { a.submit(id) })
	}
}

func (a *player) liveSoon() { a.soon(a.live) }

func (a *player) submit(id string) {
	commit := string(a.s.commit("work"))
	a.do(func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(id)
		if err != nil {
			return nil, nil, err
		}
		p := &board.Submit{About: board.About{Task: id}, Commit: commit, ReviewBase: t.BaseCommit + zeros(t.BaseCommit), Commits: 1, Files: 2, Tests: []string{id + "_test.go"}}
		if a.s.migrates[id] {
			p.HumanPaths = v.State.Team().ReviewPolicy(t.InStage()).HumanPaths([]string{"migrations/" + id + ".sql"})
		}
		return p, nil, nil
	}, a.orAnew(func() {
		if a.s.policy && a.s.chance(200) {
			a.praise(id)
			return
		}
		if a.s.chance(40) {
			a.soon(func() {
				a.just(&board.Withdraw{About: board.About{Task: id}, Reason: "one more thing"}, a.orAnew(a.liveSoon))
			})
			return
		}
		a.soon(a.live)
	}))
}

// zeros pads an id to full length.
func zeros(id string) string {
	if id == "" {
		return string(plumbing.ZeroOID)
	}
	return ""
}
