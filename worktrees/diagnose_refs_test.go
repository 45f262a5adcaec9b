package worktrees_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// breaks writes text that is not a valid value into the file of a ref.
func (s *scene) breaks(ref, text string) {
	s.t.Helper()
	path := filepath.Join(s.b.Repo().CommonDir(), filepath.FromSlash(ref))
	s.check(os.MkdirAll(filepath.Dir(path), 0o755))
	s.check(os.WriteFile(path, []byte(text), 0o644))
}

func (s *scene) deletes(ref string) {
	s.t.Helper()
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", "-d", ref)
}

// TestBrokenBranchWithoutWorktree checks where a broken branch is restored from when its worktree
// is gone: from its reflog or, without one, from the submission on the board.
func TestBrokenBranchWithoutWorktree(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	submitted := plumbing.OID(s.state().Task("one").ReviewCommit)
	s.check(s.b.Repo().Worktree(s.path("one")).Remove(s.ctx))
	for _, by := range []string{"by its reflog", "on the board"} {
		s.breaks(taskRef("one"), "")
		found := s.problems()
		if len(found) != 1 || found[0].Kind != doctor.BrokenRef || !strings.Contains(found[0].Text, by) {
			t.Fatalf("%s: %+v", by, found)
		}
		testrun.Must(fixAll(s.ctx, found))(s.t)
		testrun.Equal(t, s.ref(taskRef("one")), submitted, "%s", by)
		s.check(os.RemoveAll(filepath.Join(s.b.Repo().CommonDir(), "logs", "refs", "heads", "task")))
	}
	s.mended("missing-worktree")
}

// loses deletes an object of the scene's repository, and opens its board as a process that has read
// nothing yet.
func (s *scene) loses(name string) {
	s.t.Helper()
	oid := strings.TrimSpace(s.git(s.dir, "rev-parse", name))
	dir := s.b.Repo().CommonDir()
	s.check(os.RemoveAll(filepath.Join(dir, "liza", "kept")))
	s.check(os.Remove(filepath.Join(dir, "objects", oid[:2], oid[2:])))
	s.b = s.open()
}

// TestMalformedSubmission checks that approved work that an older program let in does not land, and
// that other tasks of its train do; doctor names the way out.
func TestMalformedSubmission(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-2", "two", "b.txt", "b\n"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "a.txt", "a\n")
	repo := s.b.Repo()
	file := testrun.Must(repo.Object(s.ctx, taskRef("one")+":a.txt"))(s.t)
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "x/y", Mode: filemode.Regular, OID: file.OID}}))
	base, who := plumbing.OID(s.state().Task("one").BaseCommit), plumbing.Signature{Name: "coder-1", Email: "coder-1@liza", When: s.clock.now()}
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Parents: []plumbing.OID{base}, Author: who, Committer: who, Message: "m\n"}))
	s.check(repo.WriteObjects(s.ctx, []plumbing.Object{tree, commit}))
	old := testrun.Must(repo.Object(s.ctx, string(base)+"^{tree}"))(s.t)
	files := testrun.Must(repo.History().ChangedFiles(s.ctx, old.OID, tree.OID))(s.t)
	s.do(s.as("coder-1"), &board.Submit{About: about("one"), Commit: string(commit.OID), Tree: string(tree.OID), ReviewBase: string(base), Commits: 1, Files: len(files), NoTestsBecause: "none"},
		plumbing.RefUpdate{Ref: plumbing.ReviewRef("one", 1), Old: plumbing.ZeroOID, New: commit.OID})
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	s.do(s.as("code-reviewer-1"), &board.Verdict{About: about("one"), Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit.OID)})
	s.refused(s.mergeErr("one"), board.CodeMalformed, "one can't land: "+commit.OID.Short()+" brings an object that git fsck refuses: object "+string(tree.OID)+": fullPathname")
	if results := s.train(); len(results) != 1 || results[0].Task != "two" || !results[0].Merged {
		t.Errorf("%+v", results)
	}
	if found := s.problems(); !slices.ContainsFunc(found, func(p doctor.Problem) bool {
		return p.Kind == doctor.MalformedWork && contains(p.Hint, "git liza block one")
	}) {
		t.Errorf("found %+v", found)
	}
	s.do(human(), &board.Block{About: about("one"), Reason: "malformed", Questions: []string{"again?"}})
	s.do(human(), &board.Unblock{About: about("one")})
	if found := s.problems(); slices.ContainsFunc(found, func(p doctor.Problem) bool { return p.Kind == doctor.MalformedWork }) {
		t.Errorf("found %+v", found)
	}
}

// sets makes a ref, without hooks.
func (s *scene) sets(ref string, to plumbing.OID) {
	s.t.Helper()
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", ref, string(to))
}

// TestDamageIsNamed checks that damage which no crash, power cut or gc causes is named, with a way
// out that a person can take.
func TestDamageIsNamed(t *testing.T) {
	const own = "refs/liza/"
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	commit := s.submitted("coder-1", "one", "b.txt", "b\n")
	s.work("two", "c.txt", "c\n")
	testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-2")}, &board.Release{About: about("two")}))(s.t)
	review, attic := plumbing.ReviewRef("one", 1), plumbing.AtticRef("two", 1)
	common := s.b.Repo().CommonDir()
	breaks := func(ref string) func() { return func() { s.breaks(ref, "garbage\n") } }
	deletes := func(ref string) func() { return func() { s.deletes(ref) } }
	byHand := func(kind string) found { return found{kind, "", false, "names its last commit"} }
	for name, c := range testrun.Some(2, map[string]struct {
		damage func()
		ref    string
		want   []found
	}{
		"home is broken":                 {breaks(plumbing.HomeRef), plumbing.HomeRef, []found{byHand(doctor.BrokenRef)}},
		"a lease is broken":              {breaks(plumbing.LeaseRef("coder-1")), plumbing.LeaseRef("coder-1"), []found{{doctor.BrokenRef, "", false, "the lease counts as expired then"}}},
		"an unknown ref is broken":       {breaks(own + "unknown"), own + "unknown", []found{byHand(doctor.BrokenRef)}},
		"a submission is broken":         {breaks(review), review, []found{byHand(doctor.BrokenRef)}},
		"a submission is missing":        {deletes(review), review, []found{{doctor.LostSubmission, "one", false, "git update-ref " + review + " " + string(commit)}}},
		"a submission is somewhere else": {func() { s.sets(review, s.ref("refs/heads/main")) }, review, []found{{doctor.LostSubmission, "one", false, review + " is at "}}},
		"the attic lacks work":           {deletes(attic), attic, []found{{doctor.LostWork, "two", false, "git update-ref " + plumbing.AtticPrefix + "two/NUMBER"}}},
		"home is missing":                {deletes(plumbing.HomeRef), plumbing.HomeRef, []found{{doctor.MissingHome, "", false, "git update-ref refs/liza/home"}}},
	}) {
		was := s.ref(c.ref)
		c.damage()
		t.Log(name)
		s.reports(c.want...)
		_ = os.Remove(filepath.Join(common, filepath.FromSlash(c.ref)))
		if !was.IsZero() {
			s.sets(c.ref, was)
		}
	}
	s.reports()
	const integration = "refs/heads/integration"
	was := s.ref(integration)
	s.breaks(integration, "garbage\n")
	all, err := doctor.Diagnose(s.ctx, s.b)
	if err != nil || len(all) != 1 || all[0].Ref != integration || all[0].Fix != nil || !contains(all[0].Hint, "names its last commit") {
		t.Errorf("found %+v, %v", all, err)
	}
	s.check(os.Remove(filepath.Join(common, filepath.FromSlash(integration))))
	s.sets(integration, was)
}

// TestIncompleteWork checks that doctor names work of which a part is missing before it is submitted,
// and that the files of the worktree can be kept where no clone has the rest.
func TestIncompleteWork(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "c.txt", "c\n")
	s.work("one", "b.txt", "b\n")
	s.loses("task/one^{tree}")
	s.reports(found{doctor.LostWork, "one", false, "reset --soft"})
	s.git(s.path("one"), "reset", "-q", "--soft", s.state().Task("one").BaseCommit)
	s.commitAll(s.path("one"), "the rest"+s.trailers("one"))
	s.reports()
	commit := s.submit("coder-1", "one")
	if s.file(commit, "b.txt") != "b\n" || s.file(commit, "c.txt") != "c\n" {
		t.Error("a file is lost")
	}
}

// TestIncompleteSubmission checks that approved work does not land while a part of it is missing, and
// that doctor names what is missing.
func TestIncompleteSubmission(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	commit := plumbing.OID(s.state().Task("one").ReviewCommit)
	s.verdict("code-reviewer-1", "one", board.VerdictApproved)
	hub := filepath.Join(t.TempDir(), "hub.git")
	s.git(s.dir, "init", "-q", "--bare", hub)
	s.git(s.dir, "push", "-q", "--no-verify", hub, "refs/liza/review/*:refs/liza/review/*")
	s.loses(string(commit) + ":b.txt")
	integration := s.ref("refs/heads/integration")
	s.refused(s.mergeErr("one"), board.CodeMissing, "one can't land: objects of the history of "+commit.Short()+" are missing or damaged")
	testrun.Equal(t, s.ref("refs/heads/integration"), integration, "integration moved to")
	s.reports(found{doctor.LostSubmission, "one", false, "git fetch --refetch URL refs/liza/review/one/1"})
	s.git(s.dir, "fetch", "-q", "--refetch", hub, "refs/liza/review/one/1")
	s.b = s.open()
	if r := s.merge("one"); !r.Merged {
		t.Errorf("%+v", r)
	}
}

// TestBrokenRefsOfClone checks that broken refs which a fetch brings back are dropped in a clone that
// shares its board, and that others are named. A submission without a ref here is no problem: the
// remote has it.
func TestBrokenRefsOfClone(t *testing.T) {
	const integration = "refs/heads/integration"
	s := newScene(t, ready("one"), claimed("coder-1", "one"), submitted("coder-1", "one", "b.txt", "b\n"))
	s.shares(filepath.Join(s.dir, ".git", "hub.git"))
	s.deletes("refs/liza/review/one/1")
	copies := []string{plumbing.RemoteRef("origin", integration), plumbing.TrackingRef("origin", "task/two")}
	for _, ref := range copies {
		s.breaks(ref, "garbage\n")
	}
	s.mended(doctor.BrokenRef, doctor.BrokenRef)
	for _, ref := range copies {
		if at, err := s.b.Repo().Ref(s.ctx, ref); err != nil || !at.IsZero() {
			t.Errorf("%s is at %s: %v", ref, at, err)
		}
	}
	s.breaks(plumbing.HomeRef, "garbage\n")
	s.reports(found{doctor.BrokenRef, "", false, "then git liza sync fetches it"})
}

// TestUnreadableClone checks that nothing is done, or said of this clone, while it can't be read
// which clone it is: its tasks would be taken for those of another one.
func TestUnreadableClone(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	coder, ada := gitboard.Request{Actor: s.as("coder-1")}, human()
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	one := v.State.Task("one")
	file := filepath.Join(s.b.Dir(), "clone")
	id := s.read("", file)
	s.check(os.Remove(file))
	s.check(os.Mkdir(file, 0o755))
	before := s.git(s.dir, "for-each-ref")
	for name, do := range map[string]func() error{
		"claim":    func() error { return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: coder})) },
		"create":   func() error { return second(worktrees.Create(s.ctx, s.b, "one", &ada)) },
		"delete":   func() error { return worktrees.Delete(s.ctx, s.b, ada, "one") },
		"diagnose": func() error { return second(doctor.Diagnose(s.ctx, s.b)) },
		"end":      func() error { return second(worktrees.End(s.ctx, s.b, coder, &board.Release{About: about("one")})) },
		"hand off": func() error {
			return second(worktrees.HandOff(s.ctx, s.b, worktrees.HandOffRequest{Request: coder, HandOff: board.HandOff{About: about("one"), Summary: "s", NextAction: "n"}}))
		},
		"list":       func() error { return second(worktrees.List(s.ctx, s.b)) },
		"concerning": func() error { return second(doctor.Concerning(s.ctx, s.b, "one")) },
		"repair":     func() error { return worktrees.Repair(s.ctx, s.b) },
		"review":     func() error { return second(worktrees.ForReview(s.ctx, s.b, v, one)) },
		"share":      func() error { return second(worktrees.Share(s.ctx, s.b, v, one)) },
		"status":     func() error { return second(worktrees.StatusOf(s.ctx, s.b, "one")) },
		"here":       func() error { return second(worktrees.StatusHere(s.ctx, s.b, one)) },
		"submit":     func() error { return second(s.trySubmit("coder-1", "one")) },
		"tidy":       func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") },
		"tidy all":   func() error { return second(worktrees.TidyAll(s.ctx, s.b, ada)) },
		"unlock":     func() error { return second(worktrees.Unlock(s.ctx, s.b, "one")) },
		"verdict": func() error {
			return second(worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: coder, Task: "one", Verdict: board.VerdictApproved}))
		},
	} {
		testrun.ErrorIs(t, do(), syscall.EISDIR, "%s", name)
	}
	if after := s.git(s.dir, "for-each-ref"); after != before {
		t.Errorf("refs\n%s\nwere\n%s", after, before)
	}
	s.check(os.Remove(file))
	s.write(s.b.Dir(), "clone", id)
	s.lies("one")
}

func second[T any](_ T, err error) error { return err }

// TestUnreadableFolders checks that a diagnosis is not sound that could not look everywhere.
func TestUnreadableFolders(t *testing.T) {
	s := newScene(t, ready("one"))
	path := filepath.Join(s.b.Dir(), "claims")
	s.check(os.RemoveAll(path))
	s.check(os.WriteFile(path, nil, 0o644))
	if found, err := doctor.Diagnose(s.ctx, s.b); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("%s: found %+v, %v", path, found, err)
	}
	s.check(os.Remove(path))
	s.check(os.RemoveAll(filepath.Join(s.dir, ".worktrees")))
	s.check(os.WriteFile(filepath.Join(s.dir, ".worktrees"), nil, 0o644))
	s.reports(found{doctor.UnknownWorktree, "", false, "move it elsewhere"})
	s.refused(worktrees.Repair(s.ctx, s.b), board.CodeInTheWay, "")
	s.check(os.Remove(filepath.Join(s.dir, ".worktrees")))
	s.check(worktrees.Repair(s.ctx, s.b)) // nothing was ever made
}

// TestConcerning checks which problems are those of one task: a supervisor repairs no others.
func TestConcerning(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	common := s.b.Repo().CommonDir()
	concerns := testrun.Must(doctor.Concerning(s.ctx, s.b, "one"))(s.t)
	for _, c := range []struct {
		p    doctor.Problem
		want bool
	}{
		{doctor.Problem{Kind: doctor.MissingBranch, Task: "one"}, true},
		{doctor.Problem{Kind: doctor.MissingBranch, Task: "two"}, false},
		{doctor.Problem{Kind: doctor.DamagedRecord, Path: filepath.Join(common, "worktrees", "two")}, true},
		{doctor.Problem{Kind: doctor.UnknownWorktree, Path: s.path("one")}, true},
		{doctor.Problem{Kind: doctor.UnknownWorktree, Path: s.path("two")}, false},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(common, "refs/heads/task/one.lock")}, true},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(common, "refs/heads/task/two.lock")}, false},
		{doctor.Problem{Kind: doctor.StaleLock, Path: filepath.Join(s.gitDirOf("one"), "index.lock")}, true},
		{doctor.Problem{Kind: doctor.ExpiredMerge}, false},
	} {
		testrun.Equal(t, concerns(c.p), c.want, "%+v", c.p)
	}
}

// TestList checks that existing worktrees and those expected by the board are listed.
func TestList(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"), ready("waits"), ready("elsewhere"))
	s.check(os.RemoveAll(s.path("two")))
	for _, path := range []string{s.testPlace(), s.path("con"), filepath.Join(t.TempDir(), "one")} {
		s.git(s.dir, "worktree", "add", "-q", "--detach", path, "integration")
	}
	s.do(s.as("coder-3"), &board.Claim{About: about("elsewhere"), Clone: "another", BaseCommit: string(s.ref("refs/heads/integration"))})
	for _, record := range []string{"with git's record", "without"} {
		var listed []string
		for _, e := range testrun.Must(worktrees.List(s.ctx, s.b))(s.t) {
			listed = append(listed, fmt.Sprint(e.Task, " ", filepath.Base(e.Path), " ", e.Exists))
		}
		slices.Sort(listed)
		if want := []string{" con true", "one one true", "two two false"}; !slices.Equal(listed, want) {
			t.Errorf("%s: %q, not %q", record, listed, want)
		}
		s.git(s.dir, "worktree", "prune")
	}
}

// TestBrokenRefIsNoAnswer checks that a ref whose value can't be read is not taken for a missing
// one: whatever needs it fails, moves no ref, and leaves the worktrees as they are.
func TestBrokenRefIsNoAnswer(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), ready("three"), approved("coder-3", "three", "c.txt", "c\n"))
	coder, other := gitboard.Request{Actor: s.as("coder-1")}, gitboard.Request{Actor: s.as("coder-2")}
	reviewer := gitboard.Request{Actor: s.as("code-reviewer-1")}
	s.checkpoint("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.write(s.path("one"), "left.txt", "nowhere else\n")
	v, ada := testrun.Must(s.b.View(s.ctx))(s.t), human()
	over := *v.State.Task("one") // as if it were over
	over.Status = board.Abandoned
	plan := board.PreExec{About: about("one"), Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"a.txt"}}}
	next := s.git(s.dir, "commit-tree", "-m", "next", "-p", "integration", "integration^{tree}")
	end := func() error { return second(worktrees.End(s.ctx, s.b, coder, &board.Release{About: about("one")})) }
	claim := func() error {
		return second(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: other, Task: "two"}))
	}
	merges := func(tasks ...string) func() error {
		return func() error {
			return second(merge.Train(s.ctx, s.b, merge.TrainRequest{Request: reviewer, Tasks: tasks}))
		}
	}
	status := func(task string) func() error {
		return func() error { return second(worktrees.StatusOf(s.ctx, s.b, task)) }
	}
	tidy := func() error { return worktrees.Tidy(s.ctx, s.b, v, ada, "one") }
	land := func() error { return s.lands(s.b, plumbing.OID(next)) }
	for _, c := range []struct {
		ref   string
		fails map[string]func() error
	}{
		{taskRef("one"), map[string]func() error{
			"end":        end,
			"submit":     func() error { return second(s.trySubmit("coder-1", "one")) },
			"checkpoint": func() error { return second(worktrees.PreExec(s.ctx, s.b, coder, plan)) },
			"fresh":      func() error { return second(worktrees.Create(s.ctx, s.b, "one", &ada)) },
			"tidy":       tidy,
			"later": func() error {
				_, _, err := worktrees.Later(s.ctx, s.b, v, &over)
				return err
			},
		}},
		{taskRef("two"), map[string]func() error{"claim": claim, "status": status("two")}},
		{"refs/heads/integration", map[string]func() error{
			"claim": claim, "end": end, "status": status("one"), "tidy": tidy, "merge": merges("three"), "merge all": merges(), "land": land,
			"diagnose": func() error { return second(merge.Diagnose(s.ctx, s.b, ada)) },
			"finish":   func() error { return second(merge.Finish(s.ctx, s.b, ada)) },
			"retry":    func() error { return second(merge.Retry(s.ctx, s.b, reviewer, "three")) },
		}},
		{plumbing.LeaseRef(plumbing.MergeHolder), map[string]func() error{"merge": merges("three"), "land": land}},
	} {
		file := filepath.Join(s.b.Repo().CommonDir(), filepath.FromSlash(c.ref))
		was, err := os.ReadFile(file)
		s.breaks(c.ref, "garbage\n")
		before := s.git(s.dir, "for-each-ref")
		for name, do := range c.fails {
			failed := do()
			if broken := (*git.BrokenRefError)(nil); !errors.As(failed, &broken) || broken.Ref != c.ref {
				t.Errorf("%s with a broken %s: %v", name, c.ref, failed)
			}
			if after := s.git(s.dir, "for-each-ref"); after != before {
				t.Errorf("%s with a broken %s: refs\n%s\nwere\n%s", name, c.ref, after, before)
			}
		}
		s.lies("one", "three")
		if s.read(s.path("one"), "left.txt") == "" {
			t.Fatal("uncommitted work is gone")
		}
		s.check(os.Remove(file))
		if err == nil {
			s.check(os.WriteFile(file, was, 0o644))
		}
	}
	s.is("one", board.Claimed)
	s.is("three", board.Approved)
}
