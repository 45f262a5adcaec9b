package worktrees_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
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
		if got := s.ref(taskRef("one")); got != submitted {
			t.Errorf("%s: %s, not %s", by, got, submitted)
		}
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
	if now := s.ref("refs/heads/integration"); now != integration {
		t.Errorf("integration moved to %s", now)
	}
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
