package merge

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestIntegrationAlwaysMoves checks that a merge before whose end integration always moves gives
// up.
func TestIntegrationAlwaysMoves(t *testing.T) {
	ctx, b, _, base := boarded(t)
	who := approve(t, ctx, b, "one", commitOn(t, b, base, "b.txt", "b\n"))
	configured(t, ctx, b, "integration_test", `n=$(git rev-list --count integration)
blob=$(echo $n | git hash-object -w --stdin)
tree=$( (git ls-tree integration | grep -v moved; printf "100644 blob $blob\tmoved\n") | git mktree)
git update-ref refs/heads/integration $(git commit-tree -p integration -m moved $tree)`)
	all, err := Train(ctx, again(t, b, gitboard.Options{Retries: 1}), TrainRequest{Request: gitboard.Request{Actor: who}})
	if !errors.As(err, new(*gitboard.LostError)) || !errors.Is(err, errMoved) || len(all) > 0 {
		t.Errorf("%+v (%v)", all, err)
	}
	if n := run(t, b.Repo().TopLevel(), "rev-list", "--count", string(base)+"..integration"); n != "2" {
		t.Errorf("it was tested %s times, not twice", n)
	}
}

// TestPrepareMoved checks that a candidate that was computed on another commit than integration's
// is not tested.
func TestPrepareMoved(t *testing.T) {
	ctx, b, v, base := boarded(t)
	tr := &train{b: b, r: TrainRequest{Request: gitboard.Request{Actor: reviewer("code-reviewer-1")}}}
	c := &candidate{view: v, task: &board.Task{ID: "one"}, base: base, commit: commitOn(t, b, base, "b.txt", "b\n")}
	must(t, tr.prepare(ctx, v, []*candidate{c}))
	setIntegration(t, b, commitOn(t, b, base, "c.txt", "c\n"))
	testrun.ErrorIs(t, tr.prepare(ctx, v, []*candidate{c}), errMoved, "got")
}

// TestBusyBeforeItComputes checks that of two merges that begin at once the second computes nothing
// where the candidates are tested.
func TestBusyBeforeItComputes(t *testing.T) {
	ctx, b, _, base := boarded(t)
	work := commitOn(t, b, base, "b.txt", "b\n")
	who := approve(t, ctx, b, "one", work)
	setIntegration(t, b, commitOn(t, b, base, "c.txt", "c\n"))
	configured(t, ctx, b, "integration_test", "true")
	other := testrun.Must(hold(ctx, b, reviewer("code-reviewer-2"), "", "one"))(t)
	objects := func() plumbing.OID { return run(t, b.Repo().TopLevel(), "count-objects") }
	before := objects()
	if all, err := Train(ctx, b, TrainRequest{Request: gitboard.Request{Actor: who}, Tasks: []string{"one"}}); !refusedAs(err, board.CodeBusy) || len(all) > 0 {
		t.Errorf("%+v (%v)", all, err)
	}
	if after := objects(); after != before {
		t.Errorf("it wrote objects: %s, and before %s", after, before)
	}
	must(t, other.release(ctx))
	if all, err := Train(ctx, b, TrainRequest{Request: gitboard.Request{Actor: who}, Tasks: []string{"one"}}); err != nil || len(all) != 1 || !all[0].Merged {
		t.Errorf("%+v (%v)", all, err)
	}
}

// TestInReview checks for which tasks a merge waits that begins while their approvals are on their way.
func TestInReview(t *testing.T) {
	ctx, b, _, base := boarded(t)
	approve(t, ctx, b, "one", commitOn(t, b, base, "a.txt", "one"))
	one := &train{r: TrainRequest{Tasks: []string{"missing", "one"}}}
	for when, want := range map[string]bool{string(plumbing.BoardRef): false, string(plumbing.BoardRef) + "~1": true} {
		v := testrun.Must(b.ViewAt(ctx, when))(t)
		testrun.Equal(t, one.inReview(v), want, "at %s", when)
	}
}

// TestForgedMeanwhile checks that nothing lands on a board to which somebody adds what no operation
// makes while a train is tested, and that this is no mere warning of those that landed before.
func TestForgedMeanwhile(t *testing.T) {
	ctx, b, _, base := boarded(t)
	approve(t, ctx, b, "one", commitOn(t, b, base, "b.txt", "b\n"))
	who := approve(t, ctx, b, "two", commitOn(t, b, base, "c.txt", "c\n"))
	configured(t, ctx, b, "merge_batch", "1")
	configured(t, ctx, b, "integration_test", "test ! -e c.txt || git update-ref refs/heads/liza/state $(git commit-tree -p liza/state -m forged liza/state^{tree})")
	all, err := Train(ctx, b, TrainRequest{Request: gitboard.Request{Actor: who}, Tasks: []string{"one", "two"}})
	if !errors.As(err, new(*log.RecordError)) || len(all) != 1 || all[0].Task != "one" || !all[0].Merged {
		t.Errorf("%+v (%v)", all, err)
	}
	if got := run(t, b.Repo().TopLevel(), "rev-parse", "integration"); len(all) == 1 && got != all[0].Commit {
		t.Errorf("integration is at %s", got)
	}
}

// TestTestAhead checks that nothing is tested ahead where the next train can't be computed, where
// nothing is left of it, and where it has no test; its own round reports that.
func TestTestAhead(t *testing.T) {
	ctx, b, _, base := boarded(t)
	team := board.BuiltinTeam()
	team.Stages = append(team.Stages, board.Stage{Name: "docs", Role: "coder", Test: board.NoTest})
	do(t, ctx, b, ada(), &board.SetTeam{Team: *team})
	approve(t, ctx, b, "untested", commitOn(t, b, base, "b.txt", "b\n"), func(p *board.AddTask) { p.Stage = "docs" })
	approve(t, ctx, b, "tested", commitOn(t, b, base, "c.txt", "c\n"))
	who := approve(t, ctx, b, "blocked", commitOn(t, b, base, "d.txt", "d\n"))
	do(t, ctx, b, ada(), &board.Block{About: board.About{Task: "blocked"}, Reason: "stop"})
	configured(t, ctx, b, "integration_test", "false")
	v := configured(t, ctx, b, "integration_workers", "2")
	tip := &candidate{view: v, task: v.State.Task("tested"), commit: base, command: "false"}
	for next, want := range map[string]int{"tested": 1, "untested": 0, "blocked": 0, "none": 0} {
		held := testrun.Must(hold(ctx, b, who, ""))(t)
		tr := &train{b: b, r: TrainRequest{Request: gitboard.Request{Actor: who}}, held: held, tests: testsOf(b, false), ahead: map[string]*ahead{}}
		tr.testAhead(ctx, v, tip, []string{next})
		if len(tr.ahead) != want {
			t.Errorf("%s: %d tests run ahead, not %d", next, len(tr.ahead), want)
		}
		tr.endAhead()
		must(t, held.release(ctx))
	}
}

// TestNoIdentity checks that no merge commit is made in the name of nobody.
func TestNoIdentity(t *testing.T) {
	ctx, b, _, base := boarded(t)
	configured(t, ctx, b, "merge_style", "no-ff")
	who := approve(t, ctx, b, "one", commitOn(t, b, base, "b.txt", "b\n"))
	for _, key := range []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"} {
		t.Setenv(key, "")
	}
	other := again(t, b, gitboard.Options{})
	v := view(t, ctx, other)
	if c, _, err := compute(ctx, other, v, v.State.Task("one"), who, ""); !refusedAs(err, board.CodeIdentity) {
		t.Errorf("%+v (%v)", c, err)
	}
}

// TestTidyWarns checks that it is said where nothing can be tidied after a merge.
func TestTidyWarns(t *testing.T) {
	ctx, b, v, _ := boarded(t)
	if said := tidy(ctx, b, v, ada(), "none"); len(said) != 1 || !strings.Contains(said[0], "worktree or branch of none could not be removed") {
		t.Errorf("said %q", said)
	}
}

// TestConflictsBeforeTest checks that work which conflicts with integration itself is recorded before
// the rest of its train is tested, and that a conflict with an earlier task of the train is not.
func TestConflictsBeforeTest(t *testing.T) {
	ctx, b, _, base := boarded(t)
	approve(t, ctx, b, "first", commitOn(t, b, base, "b.txt", "b\n"))
	approve(t, ctx, b, "second", commitOn(t, b, base, "b.txt", "another b\n"))
	who := approve(t, ctx, b, "late", commitOn(t, b, base, "a.txt", "late\n"))
	setIntegration(t, b, commitOn(t, b, base, "a.txt", "moved\n"))
	configured(t, ctx, b, "integration_test", "git show liza/state:tasks/late.yaml | grep INTEGRATION_FAILED && git show liza/state:tasks/second.yaml | grep APPROVED")
	all := testrun.Must(Train(ctx, b, TrainRequest{Request: gitboard.Request{Actor: who}}))(t)
	var got []string
	for _, r := range all {
		got = append(got, r.Task+" "+r.Failure)
	}
	if want := []string{"late conflict", "first ", "second conflict"}; !slices.Equal(got, want) {
		t.Errorf("got %q, not %q", got, want)
	}
}

// TestIntentsHoldIntegration checks that every recorded merge moves or verifies integration from
// its old value and verifies the merge lease, all in one transaction, and that its intent writes no
// file: the checkout of integration is told before.
func TestIntentsHoldIntegration(t *testing.T) {
	ctx, b, v, base := boarded(t)
	human := board.HumanActor("Ada", "ada@example.org")
	next := commitOn(t, b, base, "a.txt", "two\n")
	run(t, b.Repo().TopLevel(), "worktree", "add", "-q", filepath.Join(t.TempDir(), "beside"), "integration")
	pure := func(intent func()) {
		t.Helper()
		before := testrun.Files(t, b.Repo().TopLevel())
		if intent(); !maps.Equal(before, testrun.Files(t, b.Repo().TopLevel())) {
			t.Error("an intent wrote a file")
		}
	}
	c := &candidate{view: v, task: &board.Task{ID: "one"}, base: base, commit: next, kind: board.FastForward}
	for _, held := range []bool{false, true} {
		m := &train{b: b}
		free := plumbing.RefUpdate{Ref: plumbing.LeaseRef(plumbing.MergeHolder)}
		if held {
			m.held = testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "one"))(t)
			free = lease.Fence(plumbing.MergeHolder, m.held.held)
		}
		for name, is := range map[string]struct {
			move *move
			to   plumbing.OID
		}{
			"a failure": {&move{train: m, view: v, failed: c, p: c.failure(board.FailTest, "false"), last: true}, base},
			"a landing": {&move{train: m, view: v, landed: []*candidate{c}, last: true}, c.commit},
		} {
			var refs []plumbing.RefUpdate
			var err error
			pure(func() { _, refs, err = is.move.decide(ctx, v) })
			must(t, err)
			if want := (plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: is.to}); !slices.Contains(refs, want) {
				t.Errorf("%s, lease held %t: %v lacks %v", name, held, refs, want)
			}
			if !slices.Contains(refs, free) {
				t.Errorf("%s, lease held %t: %v lacks the lease %v", name, held, refs, free)
			}
		}
		if held {
			continue
		}
		l := &lander{b: b, r: gitboard.Request{Actor: human}, tip: base, commit: c.commit}
		var refs []plumbing.RefUpdate
		var err error
		pure(func() { _, refs, err = l.decide(ctx, v) })
		must(t, err)
		if want := (plumbing.RefUpdate{Ref: "refs/heads/integration", Old: base, New: c.commit}); !slices.Contains(refs, want) || !slices.Contains(refs, free) {
			t.Errorf("a human's: %v lacks %v or %v", refs, want, free)
		}
	}
}

// loses deletes an object, also where it is kept for a while.
func loses(t *testing.T, b *gitboard.Board, name string) {
	t.Helper()
	oid := string(run(t, b.Repo().TopLevel(), "rev-parse", name))
	must(t, os.RemoveAll(filepath.Join(b.Dir(), "kept")))
	must(t, os.Remove(filepath.Join(b.Repo().CommonDir(), "objects", oid[:2], oid[2:])))
}

// TestRetryOfTheLost checks that a merge is not said to be possible again whose work is not here,
// or which git can't compute.
func TestRetryOfTheLost(t *testing.T) {
	ctx, b, _, base := boarded(t)
	own := commitOn(t, b, base, "b.txt", "b\n")
	moved := commitOn(t, b, base, "c.txt", "c\n")
	who := approve(t, ctx, b, "one", own)
	_, err := b.Do(ctx, gitboard.Request{Actor: who}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Merge{About: board.About{Task: "one"}, ReviewCommit: string(own), Before: string(base), Failure: board.FailConflict},
			[]plumbing.RefUpdate{{Ref: "refs/heads/integration", Old: base, New: base}}, nil
	})
	must(t, err)
	setIntegration(t, b, moved)
	retry := func() error {
		_, err := Retry(ctx, again(t, b, gitboard.Options{}), gitboard.Request{Actor: ada()}, "one")
		return err
	}
	shim := testrun.NewGit(t)
	shim.Watch("merge-tree 1", "3 on")
	err = retry()
	if shim.Calls(); err == nil || !strings.Contains(err.Error(), testrun.Said) {
		t.Errorf("git does not merge: %v", err)
	}
	refused := (*board.Refusal)(nil)
	loses(t, b, string(own)+"^{tree}") // git 2.39 takes it for an empty one
	if err := retry(); !errors.As(err, &refused) || refused.Code != board.CodeMissing || !strings.Contains(refused.Message, "one can't land: objects of the history of") {
		t.Errorf("its files are lost: %v", err)
	}
	loses(t, b, string(own))
	if err := retry(); !errors.As(err, &refused) || refused.Code != board.CodeMissing || cmdline.Hint(refused.Hint) != "git liza sync" {
		t.Errorf("its commit is lost: %v", err)
	}
	testrun.Equal(t, view(t, ctx, b).State.Task("one").Status, board.IntegrationFailed, "it is")
}

// TestCameWithAnother checks which landings prove that a commit came to integration with them: a
// merge of another task that contains it, but no land on top of a commit that nothing recorded.
func TestCameWithAnother(t *testing.T) {
	ctx, b, _, base := boarded(t)
	top := b.Repo().TopLevel()
	configured(t, ctx, b, "merge_style", "no-ff")
	one := commitOn(t, b, base, "b.txt", "b\n")
	approve(t, ctx, b, "one", one)
	who := approve(t, ctx, b, "two", commitOn(t, b, one, "c.txt", "c\n"))
	all := testrun.Must(Train(ctx, b, TrainRequest{Request: gitboard.Request{Actor: who}, Tasks: []string{"two"}}))(t)
	finished, err := Finish(ctx, b, ada())
	if err != nil || len(finished) != 1 || finished[0].Task != "one" || finished[0].Commit != one || finished[0].Type != board.FastForward {
		t.Errorf("it came with the merge of another task: %+v (%v)", finished, err)
	}
	merged := all[0].Commit
	three := commitOn(t, b, merged, "d.txt", "d\n")
	approve(t, ctx, b, "three", three)
	odd := run(t, top, "commit-tree", "-m", "odd", "-p", string(merged), "-p", string(three), string(merged)+"^{tree}")
	setIntegration(t, b, odd)
	next := run(t, top, "commit-tree", "-m", "next", "-p", string(odd), string(odd)+"^{tree}")
	testrun.Must(Land(ctx, b, LandRequest{Request: gitboard.Request{Actor: ada()}, Commit: string(next)}))(t)
	if finished, err := Finish(ctx, b, ada()); err != nil || len(finished) > 0 {
		t.Errorf("a land on top of it: finished %+v (%v)", finished, err)
	}
	found, err := Diagnose(ctx, b, ada())
	if err != nil || len(found) != 1 || found[0].Fix != nil || !strings.Contains(found[0].Text, "which no merge or land records") {
		t.Errorf("a land on top of it: %+v (%v)", found, err)
	}
	// What can't be read proves nothing, and is not passed over.
	setIntegration(t, b, odd)
	loses(t, b, string(next))
	if landed, err := landedBefore(ctx, again(t, b, gitboard.Options{}), view(t, ctx, b), odd); err == nil {
		t.Errorf("a land whose commit is lost: %t", landed)
	}
	forged := run(t, top, "commit-tree", "-p", "liza/state", "-m", "forged\n\nLiza-Op: merge", "liza/state^{tree}")
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/liza/state", string(forged))
	if _, err := landedBefore(ctx, b, view(t, ctx, b), odd); !errors.As(err, new(*log.RecordError)) {
		t.Errorf("a merge that can't be read: %v", err)
	}
}

// TestFinishOfAnotherRequest checks that a request which has written something else finishes no
// merge, and that the train looks again.
func TestFinishOfAnotherRequest(t *testing.T) {
	ctx, b, _, base := boarded(t)
	own := commitOn(t, b, base, "b.txt", "b\n")
	r := gitboard.Request{Actor: approve(t, ctx, b, "one", own), ID: "request"}
	_, err := b.Do(ctx, r, gitboard.Just(&board.LogAnomaly{Type: "workaround", Task: "one", Details: map[string]board.Scalar{"root_cause": "x"}}))
	must(t, err)
	setIntegration(t, b, own)
	if f, err := finish(ctx, b, r, "one"); f != nil || err != nil {
		t.Errorf("finished %+v (%v)", f, err)
	}
	alone := &train{b: b, r: TrainRequest{Request: r, Tasks: []string{"one"}}}
	if c, err := alone.candidate(ctx, view(t, ctx, b), "", "one"); !errors.Is(err, errMoved) {
		t.Errorf("in a train: %+v (%v)", c, err)
	}
	if _, err := Train(ctx, b, TrainRequest{Request: r, Tasks: []string{"one"}}); !refusedAs(err, board.CodeExists) {
		t.Errorf("a train by the same request: %v", err)
	}
	testrun.Equal(t, view(t, ctx, b).State.Task("one").Status, board.Approved, "it is")
}

// TestForgedApproval checks that a task whose approval no operation gave is not merged, does not
// count as merged halfway where integration has its commit, and keeps no other task from merging:
// the message names it.
func TestForgedApproval(t *testing.T) {
	ctx, b, _, base := boarded(t)
	top := b.Repo().TopLevel()
	own := commitOn(t, b, base, "b.txt", "b\n")
	who := approve(t, ctx, b, "one", own)
	// The approval's board, by a commit that says otherwise.
	forged := run(t, top, "commit-tree", "-p", "liza/state~", "-m", "forged", "liza/state^{tree}")
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/liza/state", string(forged))
	must(t, b.Clone().Discard("proven"))
	v := testrun.Must(b.View(ctx))(t)
	if v.State.Task("one").Status != board.Approved {
		t.Fatalf("it is %s", v.State.Task("one").Status)
	}
	isForged := func(what string, err error) {
		t.Helper()
		if r := (*log.RecordError)(nil); !errors.As(err, &r) || r.Commit != forged {
			t.Errorf("%s: %v", what, err)
		}
	}
	request := gitboard.Request{Actor: who}
	of := func(tasks ...string) *train {
		return &train{b: b, r: TrainRequest{Request: request, Tasks: tasks}, tests: testsOf(b, false)}
	}
	_, err := of("one").candidate(ctx, v, "", "one")
	isForged("alone", err)
	c := testrun.Must(of("one", "two").assemble(ctx, v, "", []string{"one"}))(t)
	if !slices.Equal(c.gone, []string{"one"}) || len(c.candidates) > 0 || len(c.left) != 1 || !strings.HasPrefix(c.left[0].Error(), "one: ") {
		t.Fatalf("in a train: %+v", c)
	}
	isForged("in a train", c.left[0])
	setIntegration(t, b, own)
	_, err = Finish(ctx, b, ada())
	isForged("finished", err)
	_, err = Diagnose(ctx, b, ada())
	isForged("diagnosed", err)
}
