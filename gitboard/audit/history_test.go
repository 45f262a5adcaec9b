package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// begin creates the board and registers the team.
func (w *world) begin() {
	w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	for _, a := range []board.Actor{planner, coder1, coder2, judge1, judge2} {
		w.do(a, &board.Register{Session: a.Session, Clone: "clone-1", Host: "here", PID: 1})
		w.do(a, &board.AgentStatusChange{Status: board.Idle})
	}
}

func (w *world) definition() board.Definition {
	return board.Definition{
		Description: "Say hello", DoneWhen: "hello prints hello", Scope: "IN: main.go", SpecRef: "specs/vision.md",
		SpecOID: w.specOID(), Kind: board.Code, Priority: 3,
	}
}

// ready adds a claimable task.
func (w *world) ready(id string) {
	w.do(planner, &board.AddTask{About: about(id), Definition: w.definition()})
	w.do(planner, &board.Finalize{About: about(id), SpecOID: w.specOID()})
}

func (w *world) claim(a board.Actor, id string) {
	c := &board.Claim{About: about(id), Clone: "clone-1"}
	if board.KindOfClaim(w.task(id), a.ID).Fresh {
		c.BaseCommit = string(w.integration)
	}
	w.do(a, c)
}

func (w *world) preExec(a board.Actor, id string) {
	w.checkpoint(a, id, w.task(id).BaseCommit)
}

// starts adds a task that a coder claims and begins to work on.
func (w *world) starts(a board.Actor, id string) {
	w.ready(id)
	w.claim(a, id)
	w.preExec(a, id)
}

// checkpoint writes a pre-execution checkpoint. head is the commit that the task's branch is at.
func (w *world) checkpoint(a board.Actor, id, head string) {
	w.do(a, &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{
		Intent: "say it", Validation: "go test: ok", FilesToModify: []string{id + ".go"}, Assumptions: []string{"there is a console"},
		Head: head, Clock: w.now,
	}})
}

// submit commits work on a task's branch and submits it.
func (w *world) submit(a board.Actor, id string) plumbing.OID {
	base := plumbing.OID(w.task(id).BaseCommit)
	work := w.project([]plumbing.OID{base}, a, map[string]string{id + ".go": "// " + string(w.now), id + "_test.go": "//"})
	n := w.task(id).Submissions() + 1
	w.do(a, &board.Submit{
		About: about(id), Commit: string(work), Tree: w.tree(work), ReviewBase: string(base), Commits: 1, Files: 2, Tests: []string{id + "_test.go"},
		Verified: &board.Validation{Command: "go test ./...", Exit: 1, Output: "FAIL"},
	}, plumbing.RefUpdate{Ref: fmt.Sprintf("refs/liza/review/%s/%d", id, n), New: work})
	return work
}

var rejection = &board.Rejection{
	Blockers: []board.Finding{{Where: "main.go:1", Issue: "it says nothing", Why: "done_when", Suggestion: "print hello"}},
	Overall:  "not yet", Spec: "n/a", Anomaly: "none", Prior: []string{"RESOLVED: all of it"},
}

// comment comments on a line of a submission.
func (w *world) comment(a board.Actor, id string) {
	commit := w.task(id).ReviewCommit
	w.do(a, &board.Comment{About: about(id), Commit: commit, Path: id + ".go", Line: 1, Lines: 1, Text: "it says nothing"})
}

func (w *world) judge(a board.Actor, id, verdict string) {
	w.do(a, &board.ClaimReview{About: about(id)})
	p := &board.Verdict{About: about(id), Verdict: verdict, Checked: "tests", Commit: w.task(id).ReviewCommit}
	if verdict == board.VerdictRejected {
		r := *rejection
		r.Blockers = slices.Clone(r.Blockers)
		r.Blockers[0].Where = id + ".go:1"
		p.Rejection = &r
	}
	w.do(a, p)
}

// approved brings a task from claim to APPROVED.
func (w *world) approved(a board.Actor, id string) plumbing.OID {
	w.claim(a, id)
	w.preExec(a, id)
	work := w.submit(a, id)
	w.judge(judge1, id, board.VerdictApproved)
	return work
}

// mergeCommit returns the payload of a merge by a merge commit, and that commit.
func (w *world) mergeCommit(id string, work plumbing.OID) (*board.Merge, plumbing.OID) {
	m := w.project([]plumbing.OID{w.integration, work}, coder1, nil)
	return &board.Merge{
		About: about(id), ReviewCommit: string(work), Before: string(w.integration), MergeCommit: string(m),
		MergeType: board.MergeCommitType, Drift: 1, Test: "go test ./...",
	}, m
}

// merge has a reviewer merge approved work.
func (w *world) merge(id string, work plumbing.OID) {
	m, at := w.mergeCommit(id, work)
	w.do(judge1, m, w.lands(at))
}

// undo returns the payload of a revert of a MERGED task, and the commit that it lands.
func (w *world) undo(id string) (*board.Revert, plumbing.OID) {
	merge, before := plumbing.OID(w.task(id).MergeCommit), plumbing.OID(w.task(id).MergedOn())
	changes := maps.Clone(w.files[before])
	for file := range w.files[merge] {
		if _, had := changes[file]; !had {
			changes[file] = gone
		} else if changes[file] == w.files[merge][file] {
			delete(changes, file)
		}
	}
	undo := w.project([]plumbing.OID{merge}, ada, changes)
	at := undo
	if w.integration != merge {
		at = w.project([]plumbing.OID{w.integration, undo}, ada, changes)
	}
	return &board.Revert{About: about(id), Before: string(w.integration), Commit: string(at), Merged: string(undo), Test: "go test ./...", Reason: "it breaks old clients"}, at
}

// merged returns the payload of a landing that merges a commit beside integration, and the merge.
func (w *world) merged(from plumbing.OID, file string) (*board.Land, plumbing.OID) {
	beside := w.project([]plumbing.OID{from}, ada, map[string]string{file: "// main"})
	at := w.project([]plumbing.OID{w.integration, beside}, ada, nil)
	return &board.Land{Before: string(w.integration), Commit: string(at), Merged: string(beside), Test: "go test ./..."}, at
}

func about(id string) board.About { return board.About{Task: id} }

const importedRef = "refs/heads/liza/imported"

// imports begins another board with everything on this one, including archived tasks, keeps it
// under importedRef, and returns to this one.
func (w *world) imports() {
	all := board.Unarchived(w.snapshot(w.tip()).State)
	p := &board.Import{Source: "state.yaml", Log: []board.PastEntry{{Timestamp: "2026-01-01T08:00:00Z", Agent: "coder-1", Action: "claimed", Task: "alpha", Detail: "a: \"b\"\n#c"}}}
	paths := []string{board.GoalPath("goal-1"), board.SprintPath, board.ConfigPath, board.ControlPath, board.BreakerPath}
	for _, dir := range []string{board.TaskDir, board.AgentDir, board.DiscoveryDir, board.HandoffDir, board.NoteDir, board.AnomalyDir, board.SpecChangeDir} {
		for _, id := range all.List(dir) {
			paths = append(paths, board.RecordPath(dir, id))
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		r := testrun.Must(all.Record(path))(w.t)
		data := testrun.Must(codec.EncodeChecked(path, r))(w.t)
		p.Records = append(p.Records, board.Imported{Path: path, YAML: string(data)})
	}
	was := w.tip()
	move := func(ref string, old, to plumbing.OID) {
		check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: ref, Old: old, New: to}}, ""))
	}
	move(plumbing.BoardRef, was, plumbing.ZeroOID)
	w.doSecret(ada, p)
	w.do(ada, &board.AddNote{Message: strings.Repeat("it goes on. ", 3)})
	move(importedRef, plumbing.ZeroOID, w.tip())
	w.rewind(was)
}
