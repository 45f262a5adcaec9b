package audit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func texts(all []audit.Finding) string {
	var lines []string
	for _, f := range all {
		lines = append(lines, string(f.Code)+": "+f.Text)
	}
	return strings.Join(lines, "\n")
}

// TestEvidence covers recorded statements about the repository that are false.
func TestEvidence(t *testing.T) {
	nowhere := strings.Repeat("a", 40)
	w, repo := gitWorld(t)
	w.begin()
	w.ready("zeta")
	work := w.approved(coder2, "zeta")
	w.merge("zeta", work)
	w.ready("alpha")
	alpha := w.approved(coder1, "alpha")
	if r := w.clean(); len(r.Notes) > 0 || fmt.Sprint(r.Attested) != "map[test:1 worktree:4]" {
		t.Fatalf("%v, attested: %v", r.Notes, r.Attested)
	}
	tip, integration, steps := w.tip(), w.integration, len(w.steps)
	p, forward := w.landedAs()
	w.do(ada, p, w.lands(forward))
	w.clean()
	w.rewind(tip)
	w.move(integration)
	w.steps = w.steps[:steps]
	// These hand in a task's work, of two commits or one, comment on it, and land it, with a false record.
	lying := func(lie func(*board.Submit)) func() {
		return func() { w.claimed("beta"); w.handIn("beta", lie) }
	}
	single := func(lie func(*board.Submit)) func() {
		return func() {
			w.starts(coder1, "beta")
			work := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"beta.go": "//"})
			p := &board.Submit{
				About: about("beta"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 1, Files: 1, NoTestsBecause: "none",
			}
			lie(p)
			w.do(coder1, p)
		}
	}
	commented := func(id string, c board.Comment) func() {
		return func() {
			w.starts(coder1, id)
			c.About, c.Commit, c.Text = about(id), string(w.submit(coder1, id)), "why?"
			w.do(ada, &c)
		}
	}
	landed := func(lie func(*board.LandedAs)) func() {
		return func() {
			p, at := w.landedAs()
			lie(p.As)
			w.do(ada, p, w.lands(at))
		}
	}
	several := map[string]int{"counted otherwise": 2, "merged something else": 2, "reviewed from elsewhere": 3}
	type lie struct {
		do    func() // runs after one task was approved and one merged
		want  string
		moves bool // the position of integration is wrong
	}
	for name, c := range testrun.Some(2, map[string]lie{
		"submitted nothing":     {single(func(p *board.Submit) { p.Commit = nowhere }), "evidence: commit " + nowhere + " is not a commit here", false},
		"reviewed from nothing": {single(func(p *board.Submit) { p.ReviewBase = nowhere }), "evidence: review_base " + nowhere + " is not a commit here", false},
		"a spec that is none": {func() {
			w.do(planner, &board.AddTask{About: about("beta"), Definition: w.definition()})
			w.do(planner, &board.Finalize{About: about("beta"), SpecOID: string(w.integration)})
		}, "is not a blob here", false},
		"claimed on nothing": {func() {
			w.ready("beta")
			w.do(coder1, &board.Claim{About: about("beta"), Clone: "clone-1", BaseCommit: nowhere})
			w.checkpoint(coder1, "beta", string(w.integration))
			work := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"beta_test.go": "//"})
			w.do(coder1, &board.Submit{About: about("beta"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 9, Files: 1, Tests: []string{"beta_test.go"}})
		}, "evidence: base_commit " + nowhere + " is not a commit here", false},
		"a line too many":      {commented("beta-0", board.Comment{Path: "beta-0.go", Line: 2, Lines: 2}), `it says that "beta-0.go" has 2 lines, and it has 1`, false},
		"a comment on no file": {commented("beta-1", board.Comment{Path: "gone.go", Line: 1, Lines: 1}), `it is about "gone.go", and there is no such file`, false},
		"a blocker about no line": {func() {
			w.starts(coder1, "beta-3")
			at := w.submit(coder1, "beta-3")
			w.do(judge1, &board.ClaimReview{About: about("beta-3")})
			r := *rejection
			r.Blockers = []board.Finding{{Where: "beta-3.go:2", Issue: "short", Why: "done_when", Suggestion: "more"}}
			w.do(judge1, &board.Verdict{About: about("beta-3"), Verdict: board.VerdictRejected, Commit: string(at), Rejection: &r})
		}, "it says that the submission lacks [] of its blockers, and it lacks [beta-3.go:2]", false},
		"a file that is not deleted": {commented("beta-2", board.Comment{Path: "beta-2.go", Line: 1, Lines: 1, Deleted: true}),
			`it says that the submission deletes "beta-2.go", and it does not`, false},
		"merged elsewhere": {func() {
			m, _ := w.mergeCommit("alpha", alpha)
			w.do(judge1, m)
		}, "is not on integration", true},
		"merged something else": {func() {
			other := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"other.go": "//"})
			m, at := w.mergeCommit("alpha", other)
			m.ReviewCommit = string(alpha)
			w.do(judge1, m, w.lands(at))
		}, "does not hold the approved commit", false},
		"merged more than was approved": {func() {
			more := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"more.go": "//"})
			m, _ := w.mergeCommit("alpha", alpha)
			at := w.project([]plumbing.OID{w.integration, alpha, more}, judge1, nil)
			m.MergeCommit = string(at)
			w.do(judge1, m, w.lands(at))
		}, "is not a merge of ", false},
		"reviewed in part": {single(func(p *board.Submit) {
			p.ReviewBase = p.Commit
			p.Commit = string(w.project([]plumbing.OID{plumbing.OID(p.ReviewBase)}, coder1, map[string]string{"shown.go": "//"}))
			p.Tree = w.tree(plumbing.OID(p.Commit))
		}), "which the review began at, is not on integration", false},
		"reviewed in part, and then merged": {func() {
			w.starts(coder1, "beta")
			hidden := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"hidden.go": "//"})
			shown := w.project([]plumbing.OID{hidden}, coder1, map[string]string{"shown.go": "//"})
			w.do(coder1, &board.Submit{About: about("beta"), Commit: string(shown), Tree: w.tree(shown), ReviewBase: string(hidden), Commits: 2, Files: 1, NoTestsBecause: "none"})
			w.judge(judge1, "beta", board.VerdictApproved)
			w.do(judge1, &board.Merge{About: about("beta"), ReviewCommit: string(shown), Before: string(w.integration), MergeCommit: string(shown), MergeType: board.FastForward}, w.lands(shown))
		}, "which the review began at, was not on integration at ", false},
		"reviewed from elsewhere": {single(func(p *board.Submit) {
			p.Commit = string(w.project(nil, coder1, map[string]string{"apart.go": "//"}))
			p.Tree = w.tree(plumbing.OID(p.Commit))
		}), "does not follow from ", false},
		"counted otherwise": {lying(func(p *board.Submit) { p.Commits, p.Files = 1, 1 }), "it says that it has 1 commits, and has 2", false},
		"counted from the review's base": {func() {
			w.claimed("beta")
			w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"else.go": "//"}))
			w.handIn("beta", func(*board.Submit) {})
		}, "it says that it has 2 commits, and has 3", false},
		"with another tree":                          {lying(func(p *board.Submit) { p.Tree = nowhere }), "it says that its tree is \"" + nowhere + "\", and it is ", false},
		"hiding what was made before the checkpoint": {lying(func(p *board.Submit) { p.Early = nil }), "it names 0 commits from before the checkpoint, and has 1", false},
		"hiding that a human made some of it": {lying(func(p *board.Submit) {
			p.Commit = string(w.project([]plumbing.OID{plumbing.OID(p.Commit)}, ada, map[string]string{"beta.go": "// by hand"}))
			p.Commits, p.Tree = 3, w.tree(plumbing.OID(p.Commit))
		}), "it names 0 humans who made commits of it, and has 1", false},
		"hiding what a human has to approve": {func() {
			team := board.BuiltinTeam()
			team.Stages[0].Review.Paths = []string{"docs/**", "*_test.go"}
			w.do(ada, &board.SetTeam{Team: *team})
			w.claimed("beta")
			w.handIn("beta", func(*board.Submit) {})
		}, "it says that it changes files matching [], for which a human has to approve, and it changes some of [*_test.go]", false},
		"with fewer files":                   {lying(func(p *board.Submit) { p.Files = 1 }), "it says that it changes 1 file, and changes 2", false},
		"with tests that it does not change": {lying(func(p *board.Submit) { p.Tests = []string{"other_test.go"} }), `it names the test "other_test.go", which it does not change`, false},
		"with a test that it empties":        {lying(w.empties), `it names the test "beta_test.go", which it deletes or empties`, false},
		"with an emptied test that it keeps quiet about": {lying(func(p *board.Submit) {
			w.empties(p)
			p.Tests, p.NoTestsBecause = nil, "none needed"
		}), `it deletes or empties the test "beta_test.go", and does not say so`, false},
		"with a test that it is said to delete": {lying(func(p *board.Submit) {
			p.Tests, p.DeletedTests, p.NoTestsBecause = nil, []string{"beta_test.go"}, "none needed"
		}), `it says that it deletes or empties the test "beta_test.go", and does not`, false},
		"finished with more": {func() {
			more := w.project([]plumbing.OID{alpha}, coder1, map[string]string{"more.go": "//"})
			before := w.integration
			w.move(w.project([]plumbing.OID{before, more}, coder1, nil))
			w.do(coder1, &board.FinishMerge{About: about("alpha"), ReviewCommit: string(alpha), Before: string(before), MergeCommit: string(w.integration), MergeType: board.MergeCommitType})
		}, "is not a merge of ", false},
		"finished on another's move": {func() {
			more := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"more.go": "//"})
			w.move(more)
			w.move(w.project([]plumbing.OID{more, alpha}, coder1, nil))
			w.do(coder1, &board.FinishMerge{About: about("alpha"), ReviewCommit: string(alpha), Before: string(more), MergeCommit: string(w.integration), MergeType: board.MergeCommitType})
		}, "integration: integration got ", true},
		"reverted without undoing it": {func() {
			w.merge("alpha", alpha)
			other := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"new.go": "//"})
			w.do(ada, &board.Revert{About: about("alpha"), Before: string(w.integration), Commit: string(other), Merged: string(other)}, w.lands(other))
		}, "does not undo", false},
		"reverted with more": {func() {
			w.merge("alpha", alpha)
			w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"else.go": "//"}))
			p, right := w.undo("alpha")
			wrong := w.project([]plumbing.OID{w.integration, plumbing.OID(p.Merged)}, ada, map[string]string{"new.go": "//"})
			w.files[wrong], p.Commit = w.files[right], string(wrong)
			w.do(ada, p, w.lands(wrong))
		}, "computed again, the merge gives the tree", false},
		"landed a merge with more": {func() {
			p, _ := w.merged(plumbing.OID(w.task("alpha").BaseCommit), "main.txt")
			at := w.project([]plumbing.OID{w.integration, plumbing.OID(p.Merged)}, ada, map[string]string{"new.go": "//"})
			p.Commit = string(at)
			w.do(ada, p, w.lands(at))
		}, "computed again, the merge gives the tree", false},
		"landed a merge of something else": {func() {
			other := w.project([]plumbing.OID{plumbing.OID(w.task("alpha").BaseCommit)}, ada, map[string]string{"other.txt": "//"})
			p, at := w.merged(other, "main.txt")
			p.Merged = string(other)
			w.do(ada, p, w.lands(at))
		}, "is not a merge of", false},
		"another head landed": {landed(func(a *board.LandedAs) { a.Head = a.Before }), "does not have what a merge of ", false},
		"landed as another commit": {landed(func(a *board.LandedAs) {
			a.Landed = string(w.project([]plumbing.OID{plumbing.OID(a.Landed)}, ada, map[string]string{"evil.txt": "//"}))
		}), "is not in the history of ", false},
		"landed before":         {landed(func(a *board.LandedAs) { a.Before = a.Landed }), "so that nothing landed", false},
		"landed in another way": {landed(func(a *board.LandedAs) { a.Kind = "rebase" }), "did not land on ", false},
		"landed beside": {func() {
			was := w.integration
			w.move(w.project(nil, ada, map[string]string{"new.go": "//"}))
			w.do(ada, &board.Land{Before: string(was), Commit: string(w.integration), Files: []string{"new.go"}})
		}, "does not follow from", false},
		"landed more than it names": {func() {
			was := w.integration
			next := w.project([]plumbing.OID{was}, ada, map[string]string{"specs/new.md": "# New", "more.go": "//"})
			w.do(ada, &board.Land{Before: string(was), Commit: string(next), Files: []string{"specs/new.md"}}, w.lands(next))
		}, "changes more.go, which the landing does not name", false},
		"an agent moved integration": {func() {
			w.move(w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"quick.go": "//"}))
		}, "integration: integration got ", true},
	}) {
		t.Run(name, func(t *testing.T) {
			c.do()
			defer func() {
				w.rewind(tip)
				w.move(integration)
				w.steps = w.steps[:steps]
			}()
			r := audit.Range{From: tip}
			if c.moves {
				r.From = plumbing.ZeroOID
			}
			report := w.verify(r)
			if report.Proven != report.Commits {
				t.Errorf("the board is right by itself, and %d of %d are proven", report.Proven, report.Commits)
			}
			if !strings.Contains(texts(report.Findings), c.want) || len(report.Findings) != max(1, several[name]) {
				t.Errorf("%q does not say %q, or more", texts(report.Findings), c.want)
			}
			// A server finds the same before it accepts the operation. How integration may move
			// with it is checked elsewhere.
			push := testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), audit.Range{From: tip, To: w.tip()}, w.integration))(t)
			if !c.moves && !strings.Contains(texts(push.Findings), strings.TrimSuffix(c.want, "integration")) {
				t.Errorf("a server says %q, not %q", texts(push.Findings), c.want)
			}
		})
	}
}

// landedAs returns the landing of a branch that has integration's newest merge squashed, and a
// commit more, and the commit that it lands.
func (w *world) landedAs() (*board.Land, plumbing.OID) {
	head := w.integration
	c := testrun.Must(w.store.Object(w.ctx, string(head)))(w.t)
	merge := testrun.Must(plumbing.DecodeCommit(c))(w.t)
	before := merge.Parents[0]
	squash := w.project([]plumbing.OID{before}, ada, w.files[head])
	p, at := w.merged(squash, "main.txt")
	p.As = &board.LandedAs{Head: string(head), Landed: string(squash), Before: string(before), Kind: "squash"}
	return p, at
}

// empties adds a commit to a submission that empties its test file.
func (w *world) empties(p *board.Submit) {
	p.Commit = string(w.project([]plumbing.OID{plumbing.OID(p.Commit)}, coder1, map[string]string{"beta_test.go": ""}))
	p.Commits, p.Tree = 3, w.tree(plumbing.OID(p.Commit))
}

// handIn submits two commits on a task, the first made before the checkpoint. lie falsifies the
// submission.
func (w *world) handIn(id string, lie func(*board.Submit)) {
	first := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{id + ".go": "//"})
	w.checkpoint(coder1, id, string(first))
	work := w.project([]plumbing.OID{first}, coder1, map[string]string{id + "_test.go": "//"})
	p := &board.Submit{
		About: about(id), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 2, Files: 2,
		Tests: []string{id + "_test.go"}, Early: []string{string(first)},
	}
	lie(p)
	w.do(coder1, p)
}

// claimed has coder-1 claim a task on a board that accepts early commits.
func (w *world) claimed(id string) {
	w.do(ada, &board.SetConfig{Key: "early_commits", Value: "flag"})
	w.ready(id)
	w.claim(coder1, id)
}

// TestIntegrationMoves checks that moves of integration without an operation are noted: those by a
// human as a whole, those by an agent commit by commit.
func TestIntegrationMoves(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	work := w.approved(coder1, "alpha")
	for _, f := range []string{"a", "b"} {
		w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{f: f}))
	}
	w.merge("alpha", work)
	by := w.project([]plumbing.OID{w.integration}, coder2, map[string]string{"x": "x"})
	w.move(by)
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"c": "c"}))
	// A human lands an agent's commit.
	landed := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"y": "y"})
	before := w.integration
	w.do(ada, &board.Land{Before: string(before), Commit: string(landed)}, w.lands(landed))

	report := w.verify(audit.Range{})
	if len(report.Findings) != 1 || report.Findings[0].Commit != by {
		t.Errorf("%s", texts(report.Findings))
	}
	if notes := texts(report.Notes); len(report.Notes) != 2 || !strings.Contains(notes, "by Ada, which") || !strings.Contains(notes, "2 commits") {
		t.Errorf("%s", notes)
	}
	// A range that ends earlier has no findings about later commits.
	if early := w.verify(audit.Range{To: w.find("merge").commit}); !early.OK() || len(early.Notes) != 1 {
		t.Errorf("%s %s", texts(early.Findings), texts(early.Notes))
	}
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: integrationRef, Old: w.integration, New: plumbing.ZeroOID}}, ""))
	if gone := w.verify(audit.Range{}); !gone.OK() || gone.Unchecked != 2 || len(gone.Notes) != 1 {
		t.Errorf("%+v", gone)
	}
}

// TestBroughtBeside checks that agents' commits that arrive by an unrecorded merge are found,
// whoever made the merge, and that commits from recorded moves are not, whatever was built on them.
func TestBroughtBeside(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.ready("alpha")
	work := w.approved(coder1, "alpha")
	start := w.integration
	w.merge("alpha", work)
	// Built on the work itself.
	mine := w.project([]plumbing.OID{work}, ada, map[string]string{"a": "a"})
	// Built on an earlier commit.
	older := w.project([]plumbing.OID{start}, ada, map[string]string{"b": "b"})
	w.move(w.project([]plumbing.OID{w.integration, mine}, ada, nil))
	w.move(w.project([]plumbing.OID{w.integration, older}, ada, nil))
	// A human's branch merged integration, and integration was then set to it.
	w.move(w.project([]plumbing.OID{w.project([]plumbing.OID{start}, ada, map[string]string{"c": "c"}), w.integration}, ada, nil))
	w.clean()
	first := w.project([]plumbing.OID{start}, coder2, map[string]string{"d": "d"})
	second := w.project([]plumbing.OID{first}, ada, map[string]string{"e": "e"})
	w.move(w.project([]plumbing.OID{w.integration, second}, ada, nil))
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"f": "f"}))
	// A finding about a commit is not repeated for the commits built on it.
	own := w.project([]plumbing.OID{w.integration}, coder2, map[string]string{"g": "g"})
	w.move(own)
	w.move(w.project([]plumbing.OID{own, w.project([]plumbing.OID{own}, ada, map[string]string{"h": "h"})}, ada, nil))
	report := w.verify(audit.Range{})
	if len(report.Findings) != 2 || report.Findings[0].Commit != own || report.Findings[1].Commit != first ||
		!strings.Contains(report.Findings[1].Text, "by coder-2, which no merge or land records, brought by ") {
		t.Errorf("%s", texts(report.Findings))
	}
}

// TestIntegrationMergedIn checks work that has integration merged into it and lands as a
// fast-forward: its first parents are not where integration was. Unrecorded commits stay findings,
// and recorded commits are none.
func TestIntegrationMergedIn(t *testing.T) {
	// merges has an agent submit work on a claimed task, and it lands as a fast-forward or a merge.
	merges := func(w *world, a board.Actor, id string, work plumbing.OID, commits int) {
		w.do(a, &board.Submit{About: about(id), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: commits, NoTestsBecause: "none"})
		w.judge(judge1, id, board.VerdictApproved)
		m, at := &board.Merge{About: about(id), ReviewCommit: string(work), Before: string(w.integration), MergeCommit: string(work), MergeType: board.FastForward}, work
		if w.task(id).BaseCommit != string(w.integration) && a != coder1 {
			m, at = w.mergeCommit(id, work)
		}
		w.do(judge1, m, w.lands(at))
	}
	claims := func(w *world, a board.Actor, id string) plumbing.OID {
		w.starts(a, id)
		return w.integration
	}
	on := func(w *world, a board.Actor, file string, parents ...plumbing.OID) plumbing.OID {
		return w.project(parents, a, map[string]string{file: "//"})
	}
	moved := func(w *world) string {
		var all []string
		for _, f := range w.verify(audit.Range{}).Findings {
			if f.Code == audit.CodeIntegration {
				all = append(all, string(f.Commit))
			}
		}
		return strings.Join(all, " ")
	}
	t.Run("unrecorded", func(t *testing.T) {
		w, _ := gitWorld(t)
		w.begin()
		start := claims(w, coder1, "gamma")
		bad := on(w, coder2, "bad", start)
		w.move(w.project([]plumbing.OID{start, bad}, ada, nil))
		work := on(w, coder2, "a", claims(w, coder2, "alpha"))
		landed := on(w, ada, "b", w.integration)
		w.do(ada, &board.Land{Before: string(w.integration), Commit: string(landed)}, w.lands(landed))
		merges(w, coder2, "alpha", work, 1)
		testrun.Equal(t, moved(w), string(bad), "found before")
		merges(w, coder1, "gamma", w.project([]plumbing.OID{on(w, coder1, "c", start), w.integration}, coder1, nil), 1)
		if got := moved(w); got != string(bad) {
			t.Errorf("found after: %q, not %s", got, bad)
		}
	})
	t.Run("recorded", func(t *testing.T) {
		w, _ := gitWorld(t)
		w.begin()
		start := claims(w, coder1, "gamma")
		half := on(w, coder2, "a", claims(w, coder2, "alpha"))
		merges(w, coder2, "alpha", on(w, coder2, "b", half), 2)
		w.move(w.project([]plumbing.OID{w.integration, on(w, ada, "help", half)}, ada, nil))
		merges(w, coder1, "gamma", w.project([]plumbing.OID{on(w, coder1, "c", start), w.integration}, coder1, nil), 1)
		testrun.Equal(t, moved(w), "", "found")
	})
}

// TestMadeInWorktree checks that a commit that names no agent is its agent's all the same if it was
// made in a task's worktree, and nobody's if it was made in one of a person's.
func TestMadeInWorktree(t *testing.T) {
	dir := testrepo.Init(t, false)
	repo := testrun.Must(git.Open(t.Context(), dir))(t)
	defer repo.Close()
	w := newWorld(t, repo)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	for _, c := range []struct{ worktree, want string }{
		{".worktrees/alpha", " by coder-1, in the worktree of alpha and in the name of Ada, which no merge or land records"},
		{".worktrees/beta", ""},
		{"elsewhere/alpha", ""},
	} {
		at := filepath.Join(dir, filepath.FromSlash(c.worktree))
		check(t, repo.Worktree(at).Add(w.ctx, w.integration))
		made := func(args ...string) plumbing.OID {
			out, err := exec.Command("git", append([]string{"-C", at}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return plumbing.OID(strings.TrimSpace(string(out)))
		}
		made("commit", "-q", "--allow-empty", "-m", "by hand, in "+c.worktree)
		was := w.integration
		w.move(made("rev-parse", "HEAD"))
		report := w.verify(audit.Range{})
		if got := texts(report.Findings); !strings.Contains(got, c.want) || report.OK() != (c.want == "") {
			t.Errorf("%s: %s", c.worktree, got)
		}
		w.move(was)
		check(t, os.RemoveAll(at))
	}
}

// TestMergedOtherwise checks a merge that differs from the recomputed one. It is a note if it chooses
// between the sides' own lines where both changed them, and otherwise a violation. A server refuses
// both.
func TestMergedOtherwise(t *testing.T) {
	const base, ours, theirs = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5o\n6\n7\n8\n9\n", "1\n2\n3\n4\n5t\n6t\n7\n8\nnine\n"
	w, repo := gitWorld(t)
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"long.go": base}))
	w.begin()
	w.starts(coder1, "alpha")
	work := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"alpha.go": "// new\n", "both.go": "// theirs\n", "long.go": theirs})
	w.do(coder1, &board.Submit{About: about("alpha"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 1, Files: 3, NoTestsBecause: "none"})
	w.judge(judge1, "alpha", board.VerdictApproved)
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"both.go": "// ours\n", "ours.go": "// ours\n", "long.go": ours}))
	tip, integration, steps := w.tip(), w.integration, len(w.steps)
	type resolution struct {
		hand  map[string]string
		wrong bool
	}
	for name, c := range testrun.Some(2, map[string]resolution{
		"theirs":              {map[string]string{"both.go": "// theirs\n", "long.go": "one\n2\n3\n4\n5t\n6t\n7\n8\nnine\n"}, false},
		"ours, and theirs":    {map[string]string{"both.go": "// theirs\n// ours\n", "long.go": "one\n2\n3\n4\n5o\n6t\n7\n8\nnine\n"}, false},
		"another line":        {map[string]string{"both.go": "// both\n", "long.go": "one\n2\n3\n4\n5t\n6t\n7\n8\nnine\n"}, true},
		"an untouched line":   {map[string]string{"both.go": "// theirs\n", "long.go": "one\n2\nthree\n4\n5t\n6t\n7\n8\nnine\n"}, true},
		"a change of one":     {map[string]string{"both.go": "// theirs\n", "long.go": "1\n2\n3\n4\n5t\n6t\n7\n8\nnine\n"}, true},
		"a line at the end":   {map[string]string{"both.go": "// theirs\n", "long.go": "one\n2\n3\n4\n5t\n6t\n7\n8\nnine\nten\n"}, true},
		"another file":        {map[string]string{"both.go": "// theirs\n", "long.go": "#!/bin/sh\n"}, true},
		"neither side's file": {map[string]string{"both.go": gone, "long.go": "one\n2\n3\n4\n5t\n6t\n7\n8\nnine\n"}, true},
		"a file of its own":   {map[string]string{"both.go": "// ours\n", "more.go": "//"}, true},
		"a file of one side":  {map[string]string{"both.go": "// ours\n", "alpha.go": "//"}, true},
		"a file of ours":      {map[string]string{"both.go": "// ours\n", "ours.go": "//"}, true},
		"a file of none's":    {map[string]string{"both.go": "// ours\n", "main.go": "//"}, true},
	}) {
		t.Run(name, func(t *testing.T) {
			defer func() {
				w.rewind(tip)
				w.move(integration)
				w.steps = w.steps[:steps]
			}()
			m, _ := w.mergeCommit("alpha", work)
			hand := w.project([]plumbing.OID{w.integration, work}, coder1, c.hand)
			m.MergeCommit = string(hand)
			w.do(judge1, m, w.lands(hand))
			report := w.verify(audit.Range{From: tip})
			said := report.Notes
			if c.wrong {
				said = report.Findings
			}
			if report.OK() == c.wrong || !slices.ContainsFunc(said, func(f audit.Finding) bool {
				return f.Commit == w.find("merge").commit && strings.Contains(f.Text, "gives the tree")
			}) {
				t.Errorf("%s %s", texts(report.Findings), texts(report.Notes))
			}
			push := testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), audit.Range{From: tip, To: w.tip()}, w.integration))(t)
			if push.OK() {
				t.Error("a server takes it")
			}
		})
	}
}

// TestMalformed checks that a server refuses a submission or a landing that brings a malformed object
// or a file of git liza's own, and that it stays a violation only while it may land.
func TestMalformed(t *testing.T) {
	for path, want := range testrun.Some(2, map[string]string{
		".git/f": "git fsck refuses: object ", "..": "git fsck refuses: object ", ".liza/ABORT": "brings files in .liza,", ".Worktrees/x": "brings files in .Worktrees,",
	}) {
		w, repo := gitWorld(t)
		w.begin()
		w.starts(coder1, "alpha")
		before := w.tip()
		refused := func(what string) {
			t.Helper()
			push := testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), audit.Range{From: before, To: w.tip()}, w.integration))(t)
			if said := texts(push.Findings); !strings.Contains(said, want) || w.verify(audit.Range{}).OK() {
				t.Errorf("%s, %s: %s", path, what, said)
			}
		}
		work := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{path: "x"})
		w.do(coder1, &board.Submit{About: about("alpha"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 1, Files: 1, NoTestsBecause: "none"})
		refused("a submission")
		w.do(ada, &board.Block{About: about("alpha"), Reason: "malformed", Questions: []string{"what now?"}})
		w.do(ada, &board.Unblock{About: about("alpha")})
		testrun.Contains(t, texts(w.clean().Notes), want, "%s, given up", path)
		before = w.tip()
		landed := w.project([]plumbing.OID{w.integration}, ada, map[string]string{path: "y"})
		w.do(ada, &board.Land{Before: string(w.integration), Commit: string(landed)}, w.lands(landed))
		refused("a landing")
	}
}

// TestChangedTests checks what a submission may do to tests, and has to say of it: it may take lines
// away, and deletes a test that it makes a directory. A test whose name no record can hold is not
// mentioned.
func TestChangedTests(t *testing.T) {
	w, _ := gitWorld(t)
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"old_test.go": "// one\n// two\n"}))
	w.begin()
	w.starts(coder1, "alpha")
	tip := w.tip()
	for _, c := range []struct {
		changes map[string]string
		says    board.Submit
	}{
		{map[string]string{"old_test.go": "// one\n"}, board.Submit{Files: 1, Tests: []string{"old_test.go"}}},
		{map[string]string{"old_test.go": gone, "old_test.go/x.go": "//"}, board.Submit{Files: 2, DeletedTests: []string{"old_test.go"}, NoTestsBecause: "none"}},
		{map[string]string{"a\nb_test.go": ""}, board.Submit{Files: 1, NoTestsBecause: "none"}},
	} {
		work := w.project([]plumbing.OID{w.integration}, coder1, c.changes)
		c.says.About, c.says.Commit, c.says.Tree, c.says.ReviewBase, c.says.Commits = about("alpha"), string(work), w.tree(work), string(w.integration), 1
		w.do(coder1, &c.says)
		w.clean()
		w.rewind(tip)
	}
}

// TestNothingToMerge checks that a merge that git can't compute, of histories that have nothing in
// common, is noted.
func TestNothingToMerge(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.ready("alpha")
	work := w.approved(coder1, "alpha")
	w.do(judge1, &board.Merge{About: about("alpha"), ReviewCommit: string(work), Before: string(w.integration), Failure: board.FailConflict, Files: []string{"alpha.go"}})
	apart := w.project(nil, ada, map[string]string{"apart.go": "//"})
	w.do(ada, &board.RetryMerge{About: about("alpha"), ReviewCommit: string(work), Onto: string(apart)})
	testrun.Contains(t, texts(w.clean().Notes), "the merge can't be computed again: ", "the value")
}

// TestRetriedConflict checks that a merge that was retried because it had no conflict any more is
// noted if it has one.
func TestRetriedConflict(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.starts(coder1, "alpha")
	work := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"both.go": "// theirs\n"})
	w.do(coder1, &board.Submit{About: about("alpha"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 1, Files: 1, NoTestsBecause: "none"})
	w.judge(judge1, "alpha", board.VerdictApproved)
	apart := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"more.go": "//"})
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"both.go": "// ours\n"}))
	for onto, want := range map[plumbing.OID]string{apart: "", w.integration: "evidence: computed again, the merge has conflicts in 1 file"} {
		tip := w.tip()
		w.do(judge1, &board.Merge{About: about("alpha"), ReviewCommit: string(work), Before: string(w.integration), Failure: board.FailConflict, Files: []string{"both.go"}})
		w.do(ada, &board.RetryMerge{About: about("alpha"), ReviewCommit: string(work), Onto: string(onto)})
		if notes := texts(w.clean().Notes); !strings.Contains(notes, want) || strings.Contains(notes, "conflicts") != (want != "") {
			t.Errorf("%s", notes)
		}
		w.rewind(tip)
	}
}

// TestPlainClone checks that a clone without the submitted commits reports that it can't check
// them.
func TestPlainClone(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.starts(coder1, "alpha")
	w.do(coder1, &board.Submit{About: about("alpha"), Commit: strings.Repeat("b", 40), ReviewBase: string(w.integration), Commits: 1, NoTestsBecause: "none"})
	report := w.clean()
	if report.Unchecked != 1 || len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/liza/review/other/1", New: w.integration}}, ""))
	// Of the six operations that name a commit or a file, only the submission's is not here.
	if report := w.verify(audit.Range{}); len(report.Findings) != 1 || report.Unchecked != 0 || report.Checked != 3 {
		t.Errorf("%+v", report)
	}
	examine := func(r audit.Range) *audit.Push {
		t.Helper()
		return testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), r, w.integration))(t)
	}
	last := audit.Range{From: w.steps[len(w.steps)-1].parent, To: w.tip()}
	if push := examine(last); push.OK() {
		t.Error("a server takes a submission that is not here")
	}
	forged := w.forge(forgery{parent: w.tip(), op: noteOf("f"), files: map[string][]byte{"README.md": []byte("hello")}})
	if push := examine(audit.Range{From: last.From, To: forged}); len(push.Findings) != 1 || push.Findings[0].Commit != forged {
		t.Errorf("after a wrong operation evidence was checked: %v", push.Findings)
	}
	if push := examine(audit.Range{To: w.tip()}); !push.OK() {
		t.Errorf("a new board's evidence was checked: %v", push.Findings)
	}
	check(t, os.WriteFile(filepath.Join(repo.CommonDir(), "shallow"), nil, 0o644))
	if report := w.verify(audit.Range{}); !report.OK() || report.Unchecked != 1 {
		t.Errorf("a shallow clone: %+v", report)
	}
	if push := examine(last); !push.OK() {
		t.Errorf("a shallow clone checked the evidence: %v", push.Findings)
	}
}

// TestSaidAuthors checks what commits of a submission say of who made them: an agent that never
// held the task is a forgery, and what says nothing, or nothing of this board, is counted.
func TestSaidAuthors(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.starts(coder1, "alpha")
	w.do(coder1, &board.HandOff{About: about("alpha"), Summary: "half of it", NextAction: "the other half"})
	w.claim(coder2, "alpha")
	start := w.integration
	at, forged := start, plumbing.OID("")
	for n, trailers := range []string{
		"Liza-Task: alpha\nLiza-Agent: coder-2\n", // holds it
		"Liza-Task: alpha\nLiza-Agent: coder-1\n", // held it
		"Liza-Task: alpha\nLiza-Agent: coder-3\n", // never did
		"Liza-Task: beta\nLiza-Agent: coder-2\n",
		"Liza-Task: ../x\nLiza-Agent: coder-2\n",
		"Liza-Task: alpha\n",
		"Reviewed-by: somebody\n",
	} {
		at = w.reworded(w.project([]plumbing.OID{at}, coder2, map[string]string{"alpha.go": fmt.Sprint("// ", n)}), "change\n\n"+trailers)
		if n == 2 {
			forged = at
		}
	}
	// Integration has moved since the claim, and its merge, which git makes, says nothing.
	w.move(w.project([]plumbing.OID{start}, ada, map[string]string{"more.go": "//"}))
	at = w.project([]plumbing.OID{at, w.integration}, coder2, nil)
	w.do(coder2, &board.Submit{
		About: about("alpha"), Commit: string(at), Tree: w.tree(at), ReviewBase: string(w.integration), Commits: 9, Files: 1, NoTestsBecause: "none",
	})
	report := w.verify(audit.Range{})
	if len(report.Findings) != 1 || report.Findings[0].Commit != forged || report.Findings[0].Code != audit.CodeTrailer || report.Unnamed != 4 {
		t.Errorf("%d without, and %s", report.Unnamed, texts(report.Findings))
	}
}

// TestMissingObjects checks that a replay doesn't hide objects that the repository lacks, though it
// makes them again.
func TestMissingObjects(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	from := w.tip()
	w.do(ada, &board.AddNote{Message: "one"})
	whole := w.tip()
	// Nothing on this board leads to the file, and so no replay makes it.
	forged := w.forge(forgery{parent: whole, op: noteOf("f"), files: map[string][]byte{"README.md": []byte("hello")}})
	l := &lossy{w, repo, nil}
	l.forget("liza", "kept")
	lose := func(name string) { l.lose(testrun.Must(repo.Object(w.ctx, name))(t).OID) }
	expect := func(r audit.Range, want string) {
		t.Helper()
		repo := l.reopened()
		report := testrun.Must(audit.Verify(w.ctx, repo, repo, r, nil))(t)
		if got := texts(report.Findings); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	const missing = "history: objects of the board's history are missing or damaged"
	lose(string(forged) + ":README.md")
	expect(audit.Range{}, "")
	expect(audit.Range{To: forged}, missing)
	expect(audit.Range{To: forged}, "the tree is not what the operation leads to: README.md should not be there")
	edited := w.forge(forgery{parent: whole, op: noteOf("g"), files: map[string][]byte{"sprint.yaml": []byte("hello")}})
	lose(string(whole) + ":sprint.yaml")
	expect(audit.Range{To: whole}, missing)
	expect(audit.Range{From: from, To: whole}, missing)
	expect(audit.Range{To: edited}, "sprint.yaml differs: line 1 is \"hello\"")
	// The board's ref may have come to be anything.
	o := testrun.Must(repo.Object(w.ctx, string(whole)+":"+board.ConfigPath))(t)
	expect(audit.Range{To: o.OID}, "history: "+o.OID.Short()+" is not a commit: there is no history behind it")
	if report := w.verify(audit.Range{To: o.OID}); len(report.Findings) != 1 {
		t.Errorf("%s", texts(report.Findings))
	}
}

// TestUnreadSubmissions checks that a submission of which objects are missing is a finding that names
// its task and commit, also if it has landed, and that others are still checked.
func TestUnreadSubmissions(t *testing.T) {
	for name, c := range map[string]struct{ lose, want string }{
		"a file":                     {":alpha.go", "are missing or damaged: alpha.go ("},
		"the first commit":           {"~1", "are missing or damaged"},
		"the tree that it begins at": {"~2^{tree}", "are missing or damaged"},
	} {
		for _, landed := range []bool{false, true} {
			if landed && (c.lose == "~1" || !testrun.OneIn(2, 1)) {
				continue // without its first commit, integration itself can't be listed
			}
			w, repo := gitWorld(t)
			w.begin()
			w.starts(coder2, "zeta")
			w.submit(coder2, "zeta")
			w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"alpha.go": "// old"}))
			w.claimed("alpha")
			first := w.project([]plumbing.OID{w.integration}, coder1, map[string]string{"alpha.go": "// new"})
			w.checkpoint(coder1, "alpha", string(first))
			work := w.project([]plumbing.OID{first}, coder1, map[string]string{"alpha_test.go": "// test"})
			w.do(coder1, &board.Submit{
				About: about("alpha"), Commit: string(work), Tree: w.tree(work), ReviewBase: string(w.integration), Commits: 2, Files: 2,
				Tests: []string{"alpha_test.go"}, Early: []string{string(first)},
			})
			w.judge(judge1, "alpha", board.VerdictApproved)
			if landed {
				w.do(judge1, &board.Merge{About: about("alpha"), ReviewCommit: string(work), Before: string(w.integration), MergeCommit: string(work), MergeType: board.FastForward}, w.lands(work))
			}
			if r := w.clean(); len(r.Notes) > 1 { // the commit of a person
				t.Fatalf("%v", r.Notes)
			}
			l := &lossy{w, repo, nil}
			l.forget("liza", "kept")
			l.lose(testrun.Must(repo.Object(w.ctx, string(work)+c.lose))(t).OID)
			repo = l.reopened()
			report := testrun.Must(audit.Verify(w.ctx, repo, repo, audit.Range{}, nil))(t)
			found := texts(report.Findings)
			if !strings.Contains(found, "evidence: the submission of alpha, "+work.Short()+", can't be read completely: ") || !strings.Contains(found, c.want) || strings.Contains(found, "zeta") {
				t.Errorf("%s, landed %v: %s", name, landed, found)
			}
		}
	}
}

// TestUnreadLanding checks that a landing whose files can't be listed, since its tree is missing, is a
// finding, and that the rest is still checked.
func TestUnreadLanding(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	landed := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"specs/new.md": "# New\n"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(landed), Files: []string{"specs/new.md"}}, w.lands(landed))
	w.ready("alpha")
	w.approved(coder1, "alpha")
	sound := w.clean()
	l := &lossy{w, repo, nil}
	l.forget("liza", "kept")
	l.lose(plumbing.OID(w.tree(landed)))
	repo = l.reopened()
	report := testrun.Must(audit.Verify(w.ctx, repo, repo, audit.Range{}, nil))(t)
	if found := texts(report.Findings); !strings.Contains(found, "evidence: what landed, "+landed.Short()+", can't be read completely: ") || report.Checked != sound.Checked-1 {
		t.Errorf("%d of %d checked: %s", report.Checked, sound.Checked, found)
	}
}

// TestAliasesAreNoted checks that a branch that is another's alias is noted.
func TestAliasesAreNoted(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/heads/other", New: w.integration}}, ""))
	check(t, os.WriteFile(filepath.Join(repo.CommonDir(), "refs", "heads", "integration"), []byte("ref: refs/heads/other\n"), 0o644))
	if report := w.clean(); texts(report.Notes) != "integration: refs/heads/integration is a symbolic ref: who moves refs/heads/other moves it" {
		t.Errorf("%s", texts(report.Notes))
	}
}
