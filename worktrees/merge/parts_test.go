package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// project is the directory of the project that boarded copies; the first test makes it.
var project string

func TestMain(m *testing.M) {
	testrun.Prepare()
	code := m.Run()
	if project != "" {
		os.RemoveAll(project)
	}
	os.Exit(code)
}

// boarded makes a project with a board whose integration branch is at a commit.
func boarded(t *testing.T) (context.Context, *gitboard.Board, *gitboard.View, plumbing.OID) {
	t.Helper()
	testrepo.Environment(t)
	if project == "" {
		made := testrun.Must(os.MkdirTemp("", "liza-project-"))(t)
		makeProject(t, made)
		project = made
	}
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	testrepo.Copy(t, project, dir)
	ctx, b, _ := beginIn(t, dir)
	v := testrun.Must(b.View(ctx))(t)
	return ctx, b, v, testrun.Must(v.Integration(ctx))(t)
}

func makeProject(t *testing.T, dir string) {
	t.Helper()
	testrun.InitRepository(t, dir, false)
	ctx, b, _ := beginIn(t, dir)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644))
	base := plumbing.OID(testrun.CommitAll(t, dir, "first"))
	_, err := b.Do(ctx, gitboard.Request{Actor: ada()}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Init{Goal: "A goal", IntegrationBranch: "integration"}, []plumbing.RefUpdate{{Ref: "refs/heads/integration", New: base}}, nil
	})
	must(t, err)
	must(t, b.Close())
}

var must = testrun.Check

// TestCheckOut checks when the kept worktree is used again, and when it is made anew: only one that
// was made to the end is used, and whatever git ignores stays in it.
func TestCheckOut(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top := b.Repo().TopLevel()
	place := placeOf(t, b)
	ready := readyFile(placeOf(t, b))
	must(t, os.WriteFile(filepath.Join(top, "b.txt"), []byte("b\n"), 0o644))
	next := plumbing.OID(testrun.CommitAll(t, top, "second"))
	cache := filepath.Join(place, "left.txt")
	held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	checkOut := func(ctx context.Context, c *candidate) error {
		return (&testRun{c: c, held: held}).checkOut(ctx, b, place)
	}
	out := func(why string, commit plumbing.OID, kept bool) {
		t.Helper()
		must(t, checkOut(ctx, &candidate{view: v, commit: commit}))
		head, branch, err := b.Repo().Worktree(place).Head(ctx)
		if err != nil || head != commit || branch != "" {
			t.Errorf("%s: at %s on %q, not at %s: %v", why, head, branch, commit, err)
		}
		if _, err := os.Stat(cache); (err == nil) != kept {
			t.Errorf("%s: what lay in it: %v", why, err)
		}
		if _, err := os.Stat(ready); err != nil {
			t.Errorf("%s: it is not ready: %v", why, err)
		}
		must(t, os.WriteFile(filepath.Join(b.Repo().CommonDir(), "info", "exclude"), []byte("left.txt\n"), 0o644))
		must(t, os.WriteFile(cache, nil, 0o644))
	}
	out("there is none", base, false)
	out("another candidate", next, true)
	must(t, os.Remove(ready))
	out("it was not made to the end", base, false)
	must(t, os.Remove(filepath.Join(place, ".git")))
	out("git does not know it", next, false)
	must(t, os.WriteFile(filepath.Join(place, ".git"), []byte("garbage\n"), 0o644))
	out("git can't read it", next, false)
	for file, text := range map[string]string{"HEAD": "", "locked": "initializing"} {
		must(t, os.WriteFile(filepath.Join(records.LinkedDir(place), file), []byte(text), 0o644))
	}
	must(t, os.Remove(ready))
	out("a git that added it was killed", next, false)
	if said := run(t, top, "worktree", "list", "--porcelain"); strings.Contains(string(said), "locked") {
		t.Errorf("left: %s", said)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	testrun.ErrorIs(t, checkOut(cancelled, &candidate{view: v, commit: base}), context.Canceled, "cut short")
	out("after that", base, true)
	run(t, top, "sparse-checkout", "set", "--no-cone", "/a.txt")
	must(t, os.Remove(ready))
	out("the main worktree is sparse", next, false)
	if _, err := os.Stat(filepath.Join(place, "b.txt")); err != nil {
		t.Errorf("the test worktree is sparse: %v", err)
	}
	// A place that git does not know is a person's.
	must(t, b.Repo().Worktree(place).Remove(ctx))
	must(t, os.MkdirAll(place, 0o755))
	must(t, os.WriteFile(cache, []byte("a person's\n"), 0o644))
	if err := checkOut(ctx, &candidate{view: v, commit: base}); err == nil {
		t.Error("checked out into a person's folder")
	}
	if text, err := os.ReadFile(cache); string(text) != "a person's\n" {
		t.Errorf("the person's file is %q (%v)", text, err)
	}
	must(t, os.RemoveAll(place))
	// A worktree that could not be set up is not kept.
	failing := configured(t, ctx, b, "worktree_setup", "touch left.txt; false")
	if err := checkOut(ctx, &candidate{view: failing, commit: base}); err == nil || !strings.Contains(err.Error(), "worktree_setup failed") {
		t.Errorf("it can't be set up: %v", err)
	}
	for _, path := range []string{place, ready} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	exclude := filepath.Join(b.Repo().CommonDir(), "info", "exclude")
	must(t, os.Remove(exclude))
	must(t, os.Mkdir(exclude, 0o755))
	testrun.ErrorIs(t, checkOut(ctx, &candidate{view: v, commit: base}), syscall.EISDIR, "git's ignore rules can't be read")
}

// TestSetUpAgain checks that the kept worktree is made again when worktree_setup was set, changed or
// removed since it was set up, and only then.
func TestSetUpAgain(t *testing.T) {
	ctx, b, v, base := boarded(t)
	place := placeOf(t, b)
	held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	must(t, os.WriteFile(filepath.Join(b.Repo().CommonDir(), "info", "exclude"), []byte("deps\n"), 0o644))
	for _, c := range []struct{ setup, want string }{
		{"", ""}, {"echo one >>deps", "one\n"}, {"echo one >>deps", "one\n"}, {"echo two >>deps", "two\n"}, {"", ""},
	} {
		if c.setup != v.State.Config().WorktreeSetup {
			v = configured(t, ctx, b, "worktree_setup", c.setup)
		}
		must(t, (&testRun{c: &candidate{view: v, commit: base}, held: held}).checkOut(ctx, b, place))
		if deps, err := os.ReadFile(filepath.Join(place, "deps")); string(deps) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: it has %q (%v)", c.setup, deps, err)
		}
	}
}

// TestModulesOfTheCandidate checks that the test worktree has the submodules at the commits that the
// candidate names, also those that come later, and that what can't be brought there is not tested.
func TestModulesOfTheCandidate(t *testing.T) {
	ctx, b, _, _ := boarded(t)
	top := b.Repo().TopLevel()
	place := placeOf(t, b)
	lib, commit := library(t)
	candidates := map[string]plumbing.OID{}
	names := func(name, path, commit string) {
		run(t, top, "update-index", "--add", "--cacheinfo", "160000,"+commit+","+path)
		run(t, top, "commit", "-qm", name)
		candidates[name] = plumbing.OID(run(t, top, "rev-parse", "HEAD"))
	}
	one := commit("1")
	modules := fmt.Sprintf("[submodule \"a\"]\n\tpath = a\n\turl = %[1]s\n[submodule \"b\"]\n\tpath = b\n\turl = %[1]s\n", lib)
	must(t, os.WriteFile(filepath.Join(top, ".gitmodules"), []byte(modules), 0o644))
	run(t, top, "add", ".gitmodules")
	names("one", "a", one)
	names("two", "a", commit("2"))
	names("with another", "b", one)
	names("nowhere", "a", strings.Repeat("a", 40))
	v := configured(t, ctx, b, "worktree_setup", "git -c protocol.file.allow=always submodule --quiet update --init && git submodule --quiet foreach 'git config protocol.file.allow always'")
	held := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), ""))(t)
	checkOut := func(name string) error {
		c := &candidate{view: v, task: &board.Task{ID: "two"}, commit: candidates[name]}
		return (&testRun{c: c, tasks: []string{"one", "two"}, held: held}).checkOut(ctx, b, place)
	}
	for _, c := range []struct{ name, a, b string }{{"one", "1", ""}, {"two", "2", ""}, {"with another", "2", "1"}, {"one", "1", ""}} {
		must(t, checkOut(c.name))
		for path, want := range map[string]string{"a": c.a, "b": c.b} {
			if got, _ := os.ReadFile(filepath.Join(place, path, "v")); string(got) != want {
				t.Errorf("%s: %s is at %q, not at %q", c.name, path, got, want)
			}
		}
	}
	deaf := filepath.Join(t.TempDir(), "deaf")
	must(t, testrun.WriteProgram(deaf, "#!/bin/sh\nexec sleep 1000\n"))
	run(t, filepath.Join(place, "a"), "config", "remote.origin.uploadpack", deaf)
	run(t, top, "config", "liza.networktimeout", "1")
	if err := checkOut("nowhere"); !errors.Is(err, git.ErrSilent) || untestable(err) {
		t.Errorf("a submodule's remote says nothing: %v", err)
	}
	run(t, top, "config", "--unset", "liza.networktimeout")
	run(t, filepath.Join(place, "a"), "config", "--unset", "remote.origin.uploadpack")
	if err := checkOut("nowhere"); err == nil {
		t.Error("it is tested with another commit")
	}
	v = configured(t, ctx, b, "worktree_setup", "git -c protocol.file.allow=always clone -q '"+lib+"' a")
	r := (*board.Refusal)(nil)
	if err := checkOut("nowhere"); !errors.As(err, &r) || r.Code != board.CodeMissing || !strings.HasPrefix(r.Message, "the submodule a can't be brought to the commit that two names") {
		t.Errorf("setup has another commit: %v", err)
	}
}

// TestFollowingTheAway checks that a checkout whose disk is not mounted while integration moves
// follows when it is there again, however often that was.
func TestFollowingTheAway(t *testing.T) {
	for name, c := range testrun.Some(2, map[string]struct{ mount, lock bool }{
		"nothing is at its path": {}, "its mount point is": {mount: true}, "it is locked": {lock: true}, "it is locked, and its mount point is there": {true, true},
	}) {
		t.Run(name, func(t *testing.T) {
			ctx, b, v, base := boarded(t)
			top := b.Repo().TopLevel()
			disk := filepath.Join(t.TempDir(), "disk")
			run(t, top, "worktree", "add", "-q", "--force", disk, "integration")
			if c.lock {
				run(t, top, "worktree", "lock", disk)
			}
			must(t, os.Rename(disk, disk+".elsewhere"))
			if c.mount {
				must(t, os.Mkdir(disk, 0o755))
			}
			at := base
			for _, text := range []string{"b\n", "c\n"} {
				must(t, os.WriteFile(filepath.Join(top, "b.txt"), []byte(text), 0o644))
				next := plumbing.OID(testrun.CommitAll(t, top, text))
				must(t, announced(ctx, b, v, at, next))
				run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", string(next))
				if done, warnings := follow(ctx, b, v); len(done)+len(warnings) > 0 {
					t.Errorf("%q followed, with %q", done, warnings)
				}
				at = next
			}
			if all, err := announcements(b); len(all) != 1 || err != nil {
				t.Errorf("the records are %+v: %v", all, err)
			}
			if c.mount {
				must(t, os.Remove(disk))
			}
			must(t, os.Rename(disk+".elsewhere", disk))
			if done, err := catchUp(ctx, b, v); err != nil || !slices.Equal(done, []string{disk}) {
				t.Errorf("%q are brought forward: %v", done, err)
			}
			testrun.Equal(t, run(t, disk, "status", "--porcelain"), "", "it has")
		})
	}
}

// insist tries something until it is not interrupted any more, and checks that it reports that each time.
func insist(t *testing.T, ctx context.Context, do func(ctx context.Context) error) {
	t.Helper()
	must(t, testrepo.Insist(ctx, "github.com/git-liza/git-liza/worktrees/merge", func(ctx context.Context) error {
		err := do(ctx)
		if c, is := ctx.(*testrepo.Interrupted); is && err == nil && c.Used() {
			t.Errorf("it does not say that it was interrupted at %s", c.Place())
		}
		return err
	}))
}

// TestCandidateOutlivesPrune: a git that deletes everything that no ref holds takes nothing of a
// merge that has yet to land.
func TestCandidateOutlivesPrune(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top := b.Repo().TopLevel()
	on := func(name string) plumbing.OID {
		run(t, top, "checkout", "-q", "--detach", string(base))
		must(t, os.WriteFile(filepath.Join(top, "a.txt"), []byte(name+"a\n1\n2\n3\n"), 0o644))
		return plumbing.OID(testrun.CommitAll(t, top, name))
	}
	must(t, os.WriteFile(filepath.Join(top, "a.txt"), []byte("a\n1\n2\n3\n"), 0o644))
	base = plumbing.OID(testrun.CommitAll(t, top, "longer"))
	review := on("b\n")
	run(t, top, "checkout", "-q", "--detach", string(base))
	must(t, os.WriteFile(filepath.Join(top, "a.txt"), []byte("a\n1\n2\n3\nc\n"), 0o644))
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", testrun.CommitAll(t, top, "tip"))
	run(t, top, "branch", "review", string(review))
	c, _, err := compute(ctx, b, v, &board.Task{ID: "one", ReviewCommit: string(review), ReviewBase: string(base), BaseCommit: string(base)}, reviewer("code-reviewer-1"), "")
	if err != nil || c.kind != board.MergeCommitType {
		t.Fatalf("%+v %v", c, err)
	}
	run(t, top, "prune", "--expire=now")
	must(t, b.Repo().UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/landed", New: c.commit}}, ""))
	run(t, top, "fsck", "--strict", "--connectivity-only", string(c.commit))
	if got := string(run(t, top, "show", "landed:a.txt")); strings.TrimSpace(got) != "b\na\n1\n2\n3\nc" {
		t.Errorf("landed %q", got)
	}
}

// TestLost checks what a caller is told whose lease is gone: that it is, and what to try again.
func TestLost(t *testing.T) {
	r := (*board.Refusal)(nil)
	for _, c := range []struct {
		tasks []string
		hint  string
	}{{nil, "try again"}, {[]string{"one", "two"}, "try again: git liza merge one two"}} {
		h := &holding{tasks: c.tasks}
		if err := h.lost(lease.ErrTaken); !errors.As(err, &r) || r.Code != board.CodeBusy || cmdline.Hint(r.Hint) != c.hint {
			t.Errorf("%v: %v", c.tasks, err)
		}
	}
	other := errors.New("the disk is full")
	testrun.ErrorIs(t, (&holding{}).lost(other), other, "the value")
}

// TestRenewalUnseen checks that a lease whose renewal was reported as failed, and took place, still
// counts as held; and that one of another session does not.
func TestRenewalUnseen(t *testing.T) {
	ctx, b, clock := begin(t)
	h := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	before := h.held
	clock.Pass(leaseFor / 4)
	must(t, h.beat(ctx))
	renewed := h.held
	h.held = before // it was not heard of
	if gives, err := h.giveBack(ctx); err != nil || gives.Old != renewed.OID || renewed.OID == before.OID {
		t.Errorf("a renewed lease is lost: it gives back %s, not %s: %v", gives.Old, renewed.OID, err)
	}
	clock.Pass(leaseFor)
	other := testrun.Must(hold(ctx, b, reviewer("code-reviewer-1"), "", "t"))(t)
	if _, err := h.giveBack(ctx); err == nil {
		t.Error("the lease of another session counts as held")
	}
	must(t, h.release(ctx))
	if held, err := lease.Read(ctx, b.Repo(), plumbing.MergeHolder); err != nil || held == nil || held.OID != other.held.OID {
		t.Errorf("another session's lease is given back: %+v %v", held, err)
	}
	cancelled, cancel := context.WithCancelCause(ctx)
	cancel(lease.ErrTaken)
	if _, _, err := other.now(cancelled); err == nil {
		t.Error("a lease that can't be read is none")
	}
	testrun.ErrorIs(t, other.check(cancelled), lease.ErrTaken, "it does not say why the step was ended")
	must(t, (*holding)(nil).release(ctx))
}

// TestLeftOut checks what is reported of tasks that left a train.
func TestLeftOut(t *testing.T) {
	gone := board.Refuse(board.CodeWrongState, "t is BLOCKED", "")
	forged := error(&log.RecordError{})
	for _, c := range []struct {
		name  string
		train train
		want  string // of the error
	}{
		{"none left", train{}, ""},
		{"none of all is left", train{left: []error{gone}}, "no task is APPROVED"},
		{"none of those named", train{left: []error{gone}, r: TrainRequest{Tasks: []string{"t", "u"}}}, "t is BLOCKED"},
		{"a forged one", train{left: []error{forged}}, forged.Error()},
	} {
		err := c.train.leftOut()
		if (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	last := &Result{}
	some := train{left: []error{gone}, results: []*Result{{}, last}}
	if err := some.leftOut(); err != nil || !slices.Equal(last.Warnings, []string{"left out: t is BLOCKED"}) {
		t.Errorf("%+v %v", last, err)
	}
}

// TestRecorded checks the result of a merge that was recorded earlier.
func TestRecorded(t *testing.T) {
	of := func(p board.Payload) *Result {
		return recorded(&gitboard.Done{Entry: &log.Entry{Op: board.Operation{Payload: p}}})
	}
	about := board.About{Task: "one"}
	if r := of(&board.Merge{About: about, MergeCommit: "1", MergeType: board.FastForward}); r.Task != "one" || r.Commit != "1" || r.Type != board.FastForward || !r.Merged {
		t.Errorf("%+v", r)
	}
	if r := of(&board.Merge{About: about, Failure: board.FailTest, Log: "l", Files: []string{"f"}}); r.Merged || r.Failure != board.FailTest || r.Log != "l" || len(r.Conflicts) != 1 {
		t.Errorf("%+v", r)
	}
	if r := of(&board.FinishMerge{About: about, MergeCommit: "1", MergeType: board.MergeCommitType}); r.Commit != "1" || r.Type != board.MergeCommitType || !r.Merged {
		t.Errorf("%+v", r)
	}
	if r := of(&board.AddNote{}); r != nil {
		t.Errorf("%+v", r)
	}
}

func ada() board.Actor { return board.HumanActor("Ada", "ada@example.org") }

// do carries out an operation.
func do(t *testing.T, ctx context.Context, b *gitboard.Board, actor board.Actor, p board.Payload) *gitboard.Done {
	t.Helper()
	return testrun.Must(b.Do(ctx, gitboard.Request{Actor: actor}, gitboard.Just(p)))(t)
}

// commitOn commits a file on top of a commit, and leaves the main worktree there.
func commitOn(t *testing.T, b *gitboard.Board, parent plumbing.OID, file, text string) plumbing.OID {
	t.Helper()
	repo, ctx := b.Repo(), t.Context()
	commit := testrun.Must(plumbing.DecodeCommit(testrun.Must(repo.Object(ctx, string(parent)))(t)))(t)
	files := testrun.Must(plumbing.DecodeTree(testrun.Must(repo.Object(ctx, string(commit.Tree)))(t).Data))(t)
	blob := plumbing.NewObject(plumbing.BlobObject, []byte(text))
	files = slices.DeleteFunc(files, func(e plumbing.TreeEntry) bool { return e.Name == file })
	files = append(files, plumbing.TreeEntry{Name: file, Mode: filemode.Regular, OID: blob.OID})
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(files))
	commit.Tree, commit.Parents, commit.Message = tree.OID, []plumbing.OID{parent}, text
	next := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(commit))
	must(t, repo.WriteObjects(ctx, []plumbing.Object{blob, tree, next}))
	return next.OID
}

// setIntegration moves integration without an operation.
func setIntegration(t *testing.T, b *gitboard.Board, commit plumbing.OID) {
	t.Helper()
	run(t, b.Repo().TopLevel(), "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", string(commit))
}

// approve adds a task, and takes it to the approval of a commit on top of integration, by
// operations alone. It returns the reviewer.
func approve(t *testing.T, ctx context.Context, b *gitboard.Board, id string, commit plumbing.OID, change ...func(*board.AddTask)) board.Actor {
	t.Helper()
	v := testrun.Must(b.View(ctx))(t)
	base := testrun.Must(v.Integration(ctx))(t)
	about, n := board.About{Task: id}, len(v.State.Tasks())+1
	_, coder, err := b.Sessions().Register(ctx, fmt.Sprint("coder-", n), "", gitboard.Process{})
	must(t, err)
	_, reviewer, err := b.Sessions().Register(ctx, fmt.Sprint("code-reviewer-", n), "", gitboard.Process{})
	must(t, err)
	add := &board.AddTask{About: about, Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Task " + id, DoneWhen: "exit code 0", Scope: "a.txt", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3,
	}}
	for _, c := range change {
		c(add)
	}
	do(t, ctx, b, ada(), add)
	do(t, ctx, b, coder, &board.Claim{About: about, Clone: "another", BaseCommit: string(base)})
	do(t, ctx, b, coder, &board.PreExec{About: about, Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}})
	do(t, ctx, b, coder, &board.Submit{
		About: about, Commit: string(commit), Tree: string(run(t, b.Repo().TopLevel(), "rev-parse", string(commit)+"^{tree}")), ReviewBase: string(base),
		Commits: 1, Files: 1, NoTestsBecause: "none", People: []string{"ada@example.org"},
	})
	do(t, ctx, b, reviewer, &board.ClaimReview{About: about})
	do(t, ctx, b, reviewer, &board.Verdict{About: about, Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit)})
	return reviewer
}

// again opens the board as another process does.
func again(t *testing.T, b *gitboard.Board, o gitboard.Options) *gitboard.Board {
	t.Helper()
	other := testrun.Must(gitboard.Open(t.Context(), b.Repo().TopLevel(), o))(t)
	t.Cleanup(func() { other.Close() })
	return other
}

func view(t *testing.T, ctx context.Context, b *gitboard.Board) *gitboard.View {
	t.Helper()
	return testrun.Must(b.View(ctx))(t)
}

// made writes a commit without files.
func made(t *testing.T, b *gitboard.Board, message string, parents ...plumbing.OID) plumbing.OID {
	t.Helper()
	args := []string{"commit-tree", "-m", message, string(plumbing.EmptyTree)}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	return plumbing.OID(testrun.RunGit(t, b.Repo().TopLevel(), args...))
}

// TestOldestWith checks which commit of integration's first-parent line brought a commit there,
// however long the line is.
func TestOldestWith(t *testing.T) {
	ctx, b, _, base := boarded(t)
	for _, length := range []int{1, 2, 5} {
		for at := range length {
			topic := made(t, b, fmt.Sprint("topic ", length, at), base)
			line := []plumbing.OID{base}
			for i := range length {
				parents := []plumbing.OID{line[i]}
				if i == at {
					parents = append(parents, topic)
				}
				line = append(line, made(t, b, fmt.Sprint("step ", length, at, i), parents...))
			}
			tip := line[length]
			if got, err := oldestWith(ctx, b.Repo(), topic, tip); got.OID != line[at+1] || len(got.Parents) != 2 || err != nil {
				t.Errorf("%d of %d: %+v %v, not %s", at, length, got, err, line[at+1])
			}
			if got, err := oldestWith(ctx, b.Repo(), line[at], tip); got.OID != line[at] || err != nil {
				t.Errorf("on the line, %d of %d: %+v %v", at, length, got, err)
			}
		}
	}
}

// TestOverlay checks which files can be brought to a tree, and the fate of existing files.
func TestOverlay(t *testing.T) {
	ctx, b, _, base := boarded(t)
	top := b.Repo().TopLevel()
	for _, file := range []string{"dir/new.txt", "dir/deep/er.txt", "run.sh"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(top, file)), 0o755))
		must(t, os.WriteFile(filepath.Join(top, file), []byte(file+"\n"), 0o755))
	}
	run(t, top, "update-index", "--add", "--cacheinfo", "160000,"+string(base)+",module")
	must(t, os.MkdirAll(filepath.Join(top, "module"), 0o755))
	from := plumbing.OID(testrun.CommitAll(t, top, "files"))
	for _, c := range []struct{ source, path, want string }{
		{"run.sh", "run.sh", "a.txt run.sh"},
		{"dir/new.txt", "dir/new.txt", "a.txt dir/new.txt"},
		{"dir/deep/er.txt", "dir/deep/er.txt", "a.txt dir/deep/er.txt"},
		{"run.sh", "a.txt", "a.txt"},
		{"run.sh", "a.txt/below", "a.txt/below"},
	} {
		o := &overlay{repo: b.Repo()}
		file := testrun.Must(o.file(ctx, from, c.source))(t)
		tree := testrun.Must(o.treeOf(ctx, base))(t)
		tree = testrun.Must(o.put(ctx, tree, c.path, file))(t)
		must(t, b.Repo().WriteObjects(ctx, o.written))
		names := strings.Fields(testrun.RunGit(t, top, "ls-tree", "-r", "--name-only", string(tree)))
		testrun.Equal(t, strings.Join(names, " "), c.want, "%s as %s", c.source, c.path)
		if line := testrun.RunGit(t, top, "ls-tree", "-r", string(tree), c.path); !strings.HasPrefix(line, "100755 blob "+string(file.OID)) {
			t.Errorf("%s as %s: %s", c.source, c.path, line)
		}
	}
	for _, path := range []string{"none", "dir", "dir/none", "run.sh/below", "module", "dir/deep"} {
		r := (*board.Refusal)(nil)
		if _, err := (&overlay{repo: b.Repo()}).file(ctx, from, path); !errors.As(err, &r) || r.Code != board.CodeInvalid {
			t.Errorf("%s: %v", path, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (&overlay{repo: b.Repo()}).file(cancelled, from, "run.sh"); !errors.Is(err, context.Canceled) {
		t.Errorf("cut short: %v", err)
	}
}
