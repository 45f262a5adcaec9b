package merge

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
	if got := view(t, ctx, b).State.Task("one").Status; got != board.Approved {
		t.Errorf("it is %s", got)
	}
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
