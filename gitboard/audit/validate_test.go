package audit_test

import (
	"os"
	"slices"
	"strings"
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

// TestInvariants breaks an invariant of the board by an edit of its files. Verify names the commit and
// the file, Validate the record and the field.
func TestInvariants(t *testing.T) {
	w := memoryWorld(t)
	w.everyStatus()
	tip := w.tip()
	here := audit.Here{Leases: map[string]time.Time{"coder-1": w.now.Std()}, Now: w.now.Std()}
	state := w.snapshot(tip).State
	if issues, err := audit.Validate(w.ctx, state, nil, nil, here); err != nil || len(issues) > 0 {
		t.Fatalf("%v %v", issues, err)
	}
	r := *state.Task("t-approved")
	r.ApprovedBy = r.AssignedTo
	data := testrun.Must(codec.Encode(&r))(t)
	const path = "tasks/t-approved.yaml"
	forged := w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{path: data}})
	if report := w.caught(t, tip, forged, audit.CodeTree); !strings.Contains(report.Findings[0].Text, path+" differs: line ") {
		t.Errorf("%s", findings(report))
	}
	issues := testrun.Must(audit.Validate(w.ctx, w.snapshot(forged).State, nil, nil, here))(t)
	if !slices.ContainsFunc(issues, func(i audit.Issue) bool {
		return i.Level == audit.Invalid && i.Record == path && i.Field == "approved_by"
	}) {
		t.Errorf("%v", issues)
	}
}

// TestValidateRepository compares a board with its repository.
func TestValidateRepository(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.ready("beta")
	work := w.approved(coder1, "alpha")
	w.merge("alpha", work)
	w.claim(coder1, "beta")
	now := w.now.Std()
	validate := func(lease time.Time) string {
		t.Helper()
		s := testrun.Must(log.NewReader(repo, "").Tip(w.ctx))(t)
		leases := map[string]time.Time{}
		if !lease.IsZero() {
			leases["coder-1"] = lease
		}
		issues := testrun.Must(audit.Validate(w.ctx, s.State, repo, repo, audit.Here{Clone: "clone-1", Leases: leases, Now: now}))(t)
		var lines []string
		for _, i := range issues {
			lines = append(lines, i.String())
		}
		return strings.Join(lines, "\n")
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	expect(validate(now.Add(time.Minute)), "")
	expect(validate(now.Add(-time.Minute)), "")
	expect(validate(now.Add(-2*time.Minute)), "WARNING: agents/coder-1.yaml: lease_expires: the lease expired 2m0s ago")
	expect(validate(time.Time{}), "INVALID: agents/coder-1.yaml: lease_expires: coder-1 is WORKING without a lease")

	// Integration goes back to a commit without the spec.
	there := w.integration
	w.move(w.project(nil, ada, map[string]string{"main.go": "package main\n"}))
	expect(validate(now), strings.Join([]string{
		"WARNING: goals/goal-1.yaml: spec_ref: specs/vision.md is not a file on the integration branch",
		"INVALID: tasks/alpha.yaml: merge_commit: " + string(there) + " is not on integration",
		"INVALID: tasks/beta.yaml: spec_ref: specs/vision.md is not a file on the integration branch",
	}, "\n"))
	w.move(there)

	tip := w.tip()
	// This record can't be read.
	w.rewind(w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{"tasks/beta.yaml": []byte("id: beta\nstatus: [\n")}}))
	if got := validate(now); !strings.HasPrefix(got, "INVALID: tasks/beta.yaml: line ") || strings.Contains(got, "\n") {
		t.Errorf("%s", got)
	}
	// Without settings nobody knows the branch.
	w.rewind(w.forge(forgery{parent: tip, op: noteOf("f"), files: map[string][]byte{board.ConfigPath: nil}}))
	expect(validate(now), "INVALID: config.yaml: it is missing")
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip(), New: tip}, {Ref: integrationRef, Old: there, New: plumbing.ZeroOID}}, ""))
	expect(validate(now), "WARNING: config.yaml: integration_branch: there is no branch integration in this clone")
}

// TestValidateWorktree checks that a task claimed in this clone must have its worktree.
func TestValidateWorktree(t *testing.T) {
	testrepo.Bare(t) // sets the environment
	dir := t.TempDir()
	testrun.InitRepository(t, dir, false)
	repo := testrun.Must(git.Open(t.Context(), dir))(t)
	defer repo.Close()
	w := newWorld(t, repo)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	validate := func(clone string) []audit.Issue {
		issues := testrun.Must(audit.Validate(w.ctx, w.snapshot(w.tip()).State, repo, repo, audit.Here{Clone: clone, Leases: map[string]time.Time{"coder-1": w.now.Std()}, Now: w.now.Std()}))(t)
		return issues
	}
	if issues := validate("clone-1"); len(issues) != 1 || issues[0].String() != "INVALID: tasks/alpha.yaml: worktree: .worktrees/alpha does not exist" {
		t.Errorf("%v", issues)
	}
	if issues := validate("clone-2"); len(issues) != 0 {
		t.Errorf("%v", issues)
	}
	check(t, repo.Worktree(dir+"/.worktrees/alpha").Add(w.ctx, w.integration))
	if issues := validate("clone-1"); len(issues) != 0 {
		t.Errorf("%v", issues)
	}
	check(t, os.RemoveAll(dir+"/.worktrees/alpha"))
	if issues := validate("clone-1"); len(issues) != 1 {
		t.Errorf("its directory is gone: %v", issues)
	}
	w.preExec(coder1, "alpha")
	w.submit(coder1, "alpha")
	if issues := validate("clone-1"); len(issues) != 0 {
		t.Errorf("it is needed no more: %v", issues)
	}
}
