package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// routine runs tasks from creation to merge until the history has this many commits.
func (w *world) routine(commits int) {
	w.begin()
	for n := 1; len(w.steps) < commits; n++ {
		id := fmt.Sprintf("task-%d", n)
		w.ready(id)
		work := w.approved(coder1, id)
		m, at := w.mergeCommit(id, work)
		w.do(judge1, m, w.lands(at))
	}
}

func BenchmarkVerify(b *testing.B) {
	const commits = 1000
	bench := func(b *testing.B, w *world, repo *git.Repo) {
		w.routine(commits)
		if repo != nil {
			testrun.RunGit(b, repo.CommonDir(), "gc", "--quiet")
		}
		tip := w.tip()
		b.ResetTimer()
		for range b.N {
			// Merges are not checked in the repository: each costs a git process.
			report, err := audit.Verify(w.ctx, w.store, nil, audit.Range{To: tip}, nil)
			check(b, err)
			if !report.OK() || report.Proven != report.Commits {
				b.Fatalf("%+v", report)
			}
		}
		b.ReportMetric(float64(len(w.steps)*b.N)/b.Elapsed().Seconds(), "commits/s")
	}
	b.Run("memory", func(b *testing.B) { bench(b, memoryWorld(b), nil) })
	b.Run("git", func(b *testing.B) {
		w, repo := gitWorld(b)
		bench(b, w, repo)
	})
}

// BenchmarkVerifyChain verifies a history of tasks, each of which depends on the one before. While
// a sprint runs, it plans them all; otherwise it has ended.
func BenchmarkVerifyChain(b *testing.B) {
	for _, planned := range []bool{false, true} {
		for _, n := range []int{500, 5000} {
			b.Run(fmt.Sprintf("planned=%v/%d", planned, n), func(b *testing.B) {
				store := testrepo.NewMemory()
				tip := chain(b, store, n, planned)
				for b.Loop() {
					report, err := audit.Verify(b.Context(), store, nil, audit.Range{To: tip}, nil)
					check(b, err)
					if !report.OK() || report.Proven != report.Commits {
						b.Fatalf("%+v", report)
					}
				}
			})
		}
	}
}

// chain writes the history of a board with a chain of n tasks, without its trees: nobody reads the
// tree of a proven commit, and five thousand of them would fill the memory.
func chain(b *testing.B, store log.Store, n int, planned bool) (tip plumbing.OID) {
	memory, tree, now := board.NewMemory(), log.NewTree(), board.Time("2026-02-03T08:00:00Z")
	do := func(p board.Payload) {
		now = now.Add(time.Second)
		op := board.Operation{Actor: ada, Time: now, Request: string(now), Payload: p}
		made, err := log.CarryOut(board.NewState(memory, now), tree, op, codec.EncodeChecked)
		check(b, err)
		by := plumbing.Signature{Name: ada.Name, Email: ada.Email, When: now.Std()}
		c := plumbing.Commit{Tree: made.Root(), Author: by, Committer: by, Message: made.Message}
		if tip != "" {
			c.Parents = []plumbing.OID{tip}
		}
		o := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
		check(b, store.WriteObjects(b.Context(), []plumbing.Object{o}))
		memory.Absorb(made.After)
		tree, tip = made.Tree, o.OID
	}
	do(&board.Init{Goal: "Measure", IntegrationBranch: "integration"})
	task := func(id string, after ...string) {
		do(&board.AddTask{About: about(id), NoSpecFile: true, Definition: board.Definition{
			Description: "Build " + id, DoneWhen: "go test ./" + id + " passes", Scope: "IN: " + id, SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3, DependsOn: after,
		}})
	}
	if !planned {
		task("first")
		do(&board.Abandon{About: about("first"), Reason: "ends the sprint"})
	}
	for i := range n {
		if i == 0 {
			task("chain-0")
			continue
		}
		task(fmt.Sprintf("chain-%d", i), fmt.Sprintf("chain-%d", i-1))
	}
	return tip
}
