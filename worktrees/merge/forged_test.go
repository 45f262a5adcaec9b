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
