package audit_test

import (
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
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
	bench := func(b *testing.B, w *world, repo *gitio.Repo) {
		w.routine(commits)
		if repo != nil {
			check(b, repo.PackAll(w.ctx))
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

// BenchmarkVerifyChain verifies a history of tasks, each of which depends on the one before.
func BenchmarkVerifyChain(b *testing.B) {
	for _, n := range []int{500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := memoryWorld(b)
			w.begin()
			for i := range n {
				d := w.definition()
				if i > 0 {
					d.DependsOn = []string{fmt.Sprintf("chain-%d", i-1)}
				}
				w.do(planner, &board.AddTask{About: about(fmt.Sprintf("chain-%d", i)), Definition: d})
			}
			for b.Loop() {
				report, err := audit.Verify(w.ctx, w.store, nil, audit.Range{To: w.tip()}, nil)
				check(b, err)
				if !report.OK() {
					b.Fatalf("%+v", report)
				}
			}
		})
	}
}
