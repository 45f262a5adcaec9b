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
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/worktrees"
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

// TestBrokenBranch checks that a broken branch is set to its last commit, and that doctor still
// examines the other tasks.
func TestBrokenBranch(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "garbage": "garbage\n", "a missing object": strings.Repeat("1", 40) + "\n"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), ready("two"), claimed("coder-1", "one"), claimed("coder-2", "two"))
			s.preExec("coder-1", "one")
			last := s.work("one", "b.txt", "b\n")
			s.breaks(taskRef("one"), text)
			s.deletes(taskRef("two"))
			s.mended("broken-ref", "missing-branch")
			if got := s.ref(taskRef("one")); got != last {
				t.Errorf("the branch is at %s, not at %s", got, last)
			}
			s.lies("one", "two")
		})
	}
}

// TestBrokenBranchWithoutWorktree checks where a broken branch is restored from when its worktree
// is gone: from its reflog or, without one, from the submission on the board.
func TestBrokenBranchWithoutWorktree(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	submitted := s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	s.check(s.b.Repo().Worktree(s.path("one")).Remove(s.ctx))
	for _, by := range []string{"by its reflog", "on the board"} {
		s.breaks(taskRef("one"), "")
		found := s.problems()
		if len(found) != 1 || found[0].Kind != worktrees.BrokenRef || !strings.Contains(found[0].Text, by) {
			t.Fatalf("%s: %+v", by, found)
		}
		_, err := fixAll(s.ctx, found)
		s.check(err)
		if got := s.ref(taskRef("one")); got != submitted {
			t.Errorf("%s: %s, not %s", by, got, submitted)
		}
		s.check(os.RemoveAll(filepath.Join(s.b.Repo().CommonDir(), "logs", "refs", "heads", "task")))
	}
	s.mended("missing-worktree")
}

// TestLostSubmission checks that a submission named by the board is restored, and that the object
// its ref pointed to instead is kept.
func TestLostSubmission(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	commit := s.submit("coder-1", "one")
	ref := "refs/liza/review/one/1"
	was := func(want string) {
		t.Helper()
		s.mended(want)
		if got := s.ref(ref); got != commit {
			t.Errorf("the submission is at %s, not at %s", got, commit)
		}
	}
	s.deletes(ref)
	was("lost-submission")
	s.breaks(ref, "")
	was("lost-submission")
	other := s.ref("refs/heads/integration")
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", ref, string(other))
	was("lost-submission")
	if kept := s.attic("one"); len(kept) != 1 || kept[0] != other {
		t.Errorf("kept %v, not %s", kept, other)
	}
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

// TestIncompleteWork checks that doctor names work of which a part is missing before it is submitted,
// and that the files of the worktree can be kept where no clone has the rest.
func TestIncompleteWork(t *testing.T) {
	for name, c := range map[string]struct {
		lost string
		way  []string // words of the hint
	}{
		"a file":   {":b.txt", []string{"hash-object", "-w", "b.txt"}},
		"the tree": {"^{tree}", []string{"reset", "-q", "--soft"}},
		"a commit": {"~1", []string{"reset", "-q", "--soft"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.preExec("coder-1", "one")
			s.work("one", "c.txt", "c\n")
			s.work("one", "b.txt", "b\n")
			s.loses("task/one" + c.lost)
			found := s.problems()
			if len(found) != 1 || found[0].Kind != worktrees.LostWork || found[0].Task != "one" || !contains(found[0].Hint, strings.ReplaceAll(strings.Join(c.way, " "), " -q", "")) {
				t.Fatalf("%+v", found)
			}
			way := c.way
			if way[0] == "reset" {
				way = append(way, s.state().Task("one").BaseCommit)
			}
			s.git(s.path("one"), way...)
			if way[0] == "reset" {
				s.commitAll(s.path("one"), "the rest"+s.trailers("one"))
			}
			if found := s.problems(); len(found) > 0 {
				t.Errorf("afterwards: %+v", found)
			}
			commit := s.submit("coder-1", "one")
			if s.file(commit, "b.txt") != "b\n" || s.file(commit, "c.txt") != "c\n" {
				t.Error("a file is lost")
			}
		})
	}
}

// TestIncompleteSubmission checks that approved work does not land while a part of it is missing, and
// that doctor names what is missing, and brings it from the remote if there is one.
func TestIncompleteSubmission(t *testing.T) {
	for name, lost := range map[string]string{"a file": ":b.txt", "a file, and the worktree": ":b.txt", "the tree": "^{tree}", "a commit": "~1"} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.preExec("coder-1", "one")
			s.work("one", "c.txt", "c\n")
			commit := s.work("one", "b.txt", "b\n")
			s.submit("coder-1", "one")
			s.verdict("code-reviewer-1", "one", board.VerdictApproved)
			hub := filepath.Join(t.TempDir(), "hub.git")
			s.git(s.dir, "init", "-q", "--bare", hub)
			s.git(s.dir, "push", "-q", "--no-verify", hub, "refs/liza/review/*:refs/liza/review/*")
			if name == "a file, and the worktree" {
				s.check(s.b.Repo().Worktree(s.path("one")).Remove(s.ctx))
			}
			s.loses(string(commit) + lost)
			integration := s.ref("refs/heads/integration")
			s.refused(s.mergeErr("one"), board.CodeMissing, "one can't land: objects of the history of "+commit.Short()+" are missing or damaged")
			if now := s.ref("refs/heads/integration"); now != integration {
				t.Errorf("integration moved to %s", now)
			}
			found := s.problems()
			if len(found) != 1 || found[0].Kind != worktrees.LostSubmission || !contains(found[0].Hint, "git fetch --refetch URL refs/liza/review/one/1") || contains(found[0].Hint, "hash-object -w b.txt") != (name == "a file") {
				t.Fatalf("found %+v", found)
			}
			s.git(s.dir, "fetch", "-q", "--refetch", hub, "refs/liza/review/one/1")
			s.b = s.open()
			if r := s.merge("one"); !r.Merged {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestMalformedSubmission checks that approved work that an older program let in does not land, and
// that other tasks of its train do; doctor names the way out.
func TestMalformedSubmission(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), approved("coder-2", "two", "b.txt", "b\n"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "a.txt", "a\n")
	repo := s.b.Repo()
	file, err := repo.Object(s.ctx, taskRef("one")+":a.txt")
	s.check(err)
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "x/y", Mode: filemode.Regular, OID: file.OID}}))
	base, who := plumbing.OID(s.state().Task("one").BaseCommit), plumbing.Signature{Name: "coder-1", Email: "coder-1@liza", When: s.clock.now()}
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Parents: []plumbing.OID{base}, Author: who, Committer: who, Message: "m\n"}))
	s.check(repo.WriteObjects(s.ctx, []plumbing.Object{tree, commit}))
	old, err := repo.Object(s.ctx, string(base)+"^{tree}")
	s.check(err)
	files, err := repo.History().ChangedFiles(s.ctx, old.OID, tree.OID)
	s.check(err)
	s.do(s.as("coder-1"), &board.Submit{About: about("one"), Commit: string(commit.OID), Tree: string(tree.OID), ReviewBase: string(base), Commits: 1, Files: len(files), NoTestsBecause: "none"},
		plumbing.RefUpdate{Ref: plumbing.ReviewRef("one", 1), Old: plumbing.ZeroOID, New: commit.OID})
	s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: about("one")})
	s.do(s.as("code-reviewer-1"), &board.Verdict{About: about("one"), Verdict: board.VerdictApproved, Commit: string(commit.OID)})
	s.refused(s.mergeErr("one"), board.CodeMalformed, "one can't land: "+commit.OID.Short()+" brings an object that git fsck refuses: object "+string(tree.OID)+": fullPathname")
	if results := s.train(); len(results) != 1 || results[0].Task != "two" || !results[0].Merged {
		t.Errorf("%+v", results)
	}
	if found := s.problems(); !slices.ContainsFunc(found, func(p worktrees.Problem) bool {
		return p.Kind == worktrees.MalformedWork && contains(p.Hint, "git liza block one")
	}) {
		t.Errorf("found %+v", found)
	}
	s.do(human(), &board.Block{About: about("one"), Reason: "malformed", Questions: []string{"again?"}})
	s.do(human(), &board.Unblock{About: about("one")})
	if found := s.problems(); slices.ContainsFunc(found, func(p worktrees.Problem) bool { return p.Kind == worktrees.MalformedWork }) {
		t.Errorf("found %+v", found)
	}
}

// TestIncompleteSubmissionOfClone checks that doctor fetches what is missing from the remote.
func TestIncompleteSubmissionOfClone(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	s.git(s.dir, "init", "-q", "--bare", filepath.Join(s.dir, ".git", "hub.git"))
	s.git(s.dir, "remote", "add", "origin", filepath.Join(s.dir, ".git", "hub.git"))
	s.check(s.b.Sharing().Share(s.ctx, "origin"))
	s.loses(string(commit) + ":b.txt")
	s.mended("lost-submission")
}

// TestBrokenRefsOfClone checks what becomes of broken refs in a clone that shares its board: those
// that repeat what the remote has go, and integration is where the remote has it.
func TestBrokenRefsOfClone(t *testing.T) {
	const integration = "refs/heads/integration"
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	hub := filepath.Join(s.dir, ".git", "hub.git")
	s.git(s.dir, "init", "-q", "--bare", hub)
	s.git(s.dir, "remote", "add", "origin", hub)
	s.check(s.b.Sharing().Share(s.ctx, "origin"))
	next := plumbing.OID(s.git(s.dir, "commit-tree", "-m", "next", "-p", "integration", "integration^{tree}"))
	s.sets(plumbing.TrackingRef("origin", "integration"), next)
	broken := []string{integration, plumbing.LeaseRef("coder-1"), plumbing.HomeRef, plumbing.RemoteRef("origin", integration), plumbing.TrackingRef("origin", "task/two"), plumbing.ProbePrefix + "1-x"}
	s.check(os.RemoveAll(filepath.Join(s.b.Repo().CommonDir(), "logs", filepath.FromSlash(integration))))
	var want []string
	for _, ref := range broken {
		s.breaks(ref, "garbage\n")
		want = append(want, worktrees.BrokenRef)
	}
	s.mended(want...)
	for _, ref := range broken[1:] {
		if at, err := s.b.Repo().Ref(s.ctx, ref); err != nil || !at.IsZero() {
			t.Errorf("%s is at %s: %v", ref, at, err)
		}
	}
	if at := s.ref(integration); at != next {
		t.Errorf("integration is at %s, not at %s, where the remote has it", at, next)
	}
	// It comes back as well if what the remote had is broken, too.
	s.reflogOf(integration, next)
	for _, ref := range []string{integration, plumbing.TrackingRef("origin", "integration")} {
		s.breaks(ref, "garbage\n")
	}
	both, err := worktrees.Diagnose(s.ctx, s.b)
	s.check(err)
	if left, err := fixAll(s.ctx, both); len(both) != 2 || len(left) > 0 || err != nil {
		t.Errorf("found %+v, and left %+v, %v", both, left, err)
	}
	if at := s.ref(integration); at != next {
		t.Errorf("integration is at %s, not at %s, where its reflog has it", at, next)
	}
	// So does the ref of a submission that only the remote has.
	s.check(s.b.Repo().Worktree(s.path("one")).Remove(s.ctx))
	s.deletes(taskRef("one"))
	s.check(os.RemoveAll(filepath.Join(s.b.Repo().CommonDir(), "logs")))
	for _, ref := range []string{plumbing.TrackingRef("origin", "task/one"), plumbing.ReviewRef("one", 1)} {
		s.deletes(ref)
	}
	s.sets(plumbing.ReviewRef("one", 1), next)
	s.loses(string(commit))
	if !slices.ContainsFunc(s.problems(), func(p worktrees.Problem) bool {
		return p.Kind == worktrees.LostSubmission && contains(p.Text, plumbing.ReviewRef("one", 1)+" is at "+next.Short()) && contains(p.Hint, "fetch it from a clone that has it")
	}) {
		t.Errorf("found %+v", s.problems())
	}
	s.deletes(plumbing.ReviewRef("one", 1))
	s.breaks(plumbing.ReviewRef("one", 1), "garbage\n")
	found := s.problems()
	at := slices.IndexFunc(found, func(p worktrees.Problem) bool { return p.Ref == plumbing.ReviewRef("one", 1) })
	if at < 0 || found[at].Fix == nil || !contains(found[at].Text, "a sync brings it here") {
		t.Fatalf("found %+v", found)
	}
	s.check(found[at].Fix(s.ctx))
	s.check(s.b.Sharing().Refetch(s.ctx, plumbing.ReviewRef("one", 1)))
}

// reflogOf writes a reflog, by which a ref was at a commit.
func (s *scene) reflogOf(ref string, commit plumbing.OID) {
	s.t.Helper()
	s.write(s.b.Repo().CommonDir(), filepath.Join("logs", filepath.FromSlash(ref)), string(plumbing.ZeroOID)+" "+string(commit)+" Ada <ada@example.org> 1750000000 +0000\tmoved\n")
}

// TestLostFromAttic checks that kept work named by the board is restored as long as its commit
// exists in this clone.
func TestLostFromAttic(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about("one"), Reason: "not needed"})
	s.check(err)
	kept := s.attic("one")
	if len(kept) != 1 {
		t.Fatalf("kept %v", kept)
	}
	s.work("two", "c.txt", "c\n")
	_, err = worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-2")}, &board.Release{About: about("two")})
	s.check(err)
	s.deletes("refs/liza/attic/one/1")
	s.deletes("refs/liza/attic/two/1")
	s.mended("lost-work", "lost-work")
	if got := s.attic("one"); len(got) != 1 || got[0] != kept[0] {
		t.Errorf("kept %v, not %v", got, kept)
	}
}

// TestOnTheRemote checks that on a shared board a submission or kept work without a ref in this clone
// is no problem: the remote or another clone has it.
func TestOnTheRemote(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
	s.work("two", "c.txt", "c\n")
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.as("coder-2")}, &board.Release{About: about("two")})
	s.check(err)
	s.git(s.dir, "init", "-q", "--bare", filepath.Join(s.dir, ".git", "hub.git"))
	s.git(s.dir, "remote", "add", "origin", filepath.Join(s.dir, ".git", "hub.git"))
	s.check(s.b.Sharing().Share(s.ctx, "origin"))
	s.deletes("refs/liza/review/one/1")
	s.deletes("refs/liza/attic/two/1")
	if found := s.problems(); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// TestBrokenLease checks that a broken lease ref blocks nobody after doctor has run.
func TestBrokenLease(t *testing.T) {
	s := newScene(t)
	s.as("coder-1")
	for _, holder := range []string{"coder-1", plumbing.MergeHolder} {
		s.breaks("refs/liza/leases/"+holder, "")
		found := s.problems()
		if len(found) != 1 || found[0].Kind != worktrees.BrokenRef {
			t.Fatalf("%s: %+v", holder, found)
		}
		_, err := fixAll(s.ctx, found)
		s.check(err)
		held, err := lease.Read(s.ctx, s.b.Repo(), holder)
		if err != nil || held == nil || !held.Damaged {
			t.Errorf("%s: %+v %v", holder, held, err)
		}
		s.deletes("refs/liza/leases/" + holder)
	}
}

// TestReplaceBrokenOnlyOnce checks that ReplaceBroken leaves a ref alone if it is no longer broken
// or if another process is writing it.
func TestReplaceBrokenOnlyOnce(t *testing.T) {
	s := newScene(t)
	base := s.ref("refs/heads/integration")
	broken := &git.BrokenRefError{Ref: "refs/heads/task/one", Text: ""}
	if err := s.b.Repo().BrokenRefs().Replace(s.ctx, broken, base); err == nil {
		t.Error("a ref that was missing is made")
	}
	s.breaks("refs/heads/task/one", "other")
	if err := s.b.Repo().BrokenRefs().Replace(s.ctx, broken, base); err == nil {
		t.Error("a ref that changed meanwhile is replaced")
	}
	broken.Text = "other"
	s.breaks("refs/heads/task/one.lock", "")
	if err := s.b.Repo().BrokenRefs().Replace(s.ctx, broken, base); err == nil {
		t.Error("a ref that is being written is replaced")
	}
	s.check(os.Remove(filepath.Join(s.b.Repo().CommonDir(), "refs/heads/task/one.lock")))
	for range 2 {
		s.check(s.b.Repo().BrokenRefs().Replace(s.ctx, broken, base))
	}
	if got := s.ref("refs/heads/task/one"); got != base {
		t.Errorf("at %s", got)
	}
	s.deletes("refs/heads/task/one")
}

// TestMissingHome checks that the ref which makes a repository the board's home is made again where
// it was, and not in a copy.
func TestMissingHome(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	root := plumbing.OID(strings.TrimSpace(s.git(s.dir, "rev-list", "--max-parents=0", "liza/state")))
	s.deletes(plumbing.HomeRef)
	found := s.problems()
	if len(found) != 1 || found[0].Kind != worktrees.MissingHome || !found[0].Human {
		t.Fatalf("found %+v", found)
	}
	s.check(found[0].Fix(s.ctx))
	if home := s.ref(plumbing.HomeRef); home != root {
		t.Errorf("%s is at %s, not at %s", plumbing.HomeRef, home, root)
	}
	s.deletes(plumbing.HomeRef)
	was := s.ref(plumbing.LeaseRef("coder-1"))
	copies := map[string][2]func(){
		"without leases":           {func() { s.deletes(plumbing.LeaseRef("coder-1")) }, func() { s.sets(plumbing.LeaseRef("coder-1"), was) }},
		"a clone":                  {func() { s.sets("refs/liza/remotes/origin/state", root) }, func() { s.deletes("refs/liza/remotes/origin/state") }},
		"a host of branches alone": {func() { s.sets(plumbing.AsBranch(plumbing.HomeRef), root) }, func() { s.deletes(plumbing.AsBranch(plumbing.HomeRef)) }},
		"a share that was cut off": {func() { s.write(s.b.Dir(), "sharing", "origin") }, func() { s.check(os.Remove(filepath.Join(s.b.Dir(), "sharing"))) }},
	}
	for name, c := range copies {
		c[0]()
		if found := s.problems(); len(found) > 0 {
			t.Errorf("%s: found %+v", name, found)
		}
		c[1]()
	}
	s.mended("missing-home")
}

// TestKeptIsAFile checks that a file where written objects are kept is named: nothing can be written
// then.
func TestKeptIsAFile(t *testing.T) {
	s := newScene(t)
	path := s.b.Repo().Upkeep().KeptDir()
	s.check(os.RemoveAll(path))
	s.check(os.WriteFile(path, nil, 0o644))
	found := s.problems()
	if len(found) != 1 || found[0].Kind != worktrees.BlockedFolder || found[0].Path != path || found[0].Fix != nil || found[0].Hint == "" {
		t.Errorf("found %+v", found)
	}
	s.check(os.Remove(path))
}

// sets makes a ref, without hooks.
func (s *scene) sets(ref string, to plumbing.OID) {
	s.t.Helper()
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", ref, string(to))
}

// TestBrokenIntegration checks that a broken integration branch comes back at the newest commit that
// is known, that commits it doesn't contain are kept, and that doctor still examines tasks.
func TestBrokenIntegration(t *testing.T) {
	const ref = "refs/heads/integration"
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	base := s.ref(ref)
	next := plumbing.OID(strings.TrimSpace(s.git(s.dir, "commit-tree", "-m", "next", "-p", string(base), string(base)+"^{tree}")))
	beside := plumbing.OID(strings.TrimSpace(s.git(s.dir, "commit-tree", "-m", "beside", "-p", string(base), string(base)+"^{tree}")))
	log := filepath.Join(s.b.Repo().CommonDir(), "logs", filepath.FromSlash(ref))
	moved := func(commits ...plumbing.OID) {
		t.Helper()
		text := ""
		for _, c := range commits {
			text += string(plumbing.ZeroOID) + " " + string(c) + " Ada <ada@example.org> 1750000000 +0000\tmoved\n"
		}
		s.check(os.MkdirAll(filepath.Dir(log), 0o755))
		s.check(os.WriteFile(log, []byte(text), 0o644))
	}
	for name, c := range map[string]struct {
		text string
		was  []plumbing.OID
		want plumbing.OID
	}{
		"the reflog has more than the board": {"", []plumbing.OID{base, next}, next},
		"the reflog begins elsewhere":        {"garbage\n", []plumbing.OID{beside, base, next}, next},
		"no reflog":                          {"", nil, base},
		"cut off":                            {string(next)[:20], nil, next},
	} {
		moved(c.was...)
		s.breaks(ref, c.text)
		s.deletes(taskRef("one"))
		found, err := worktrees.Diagnose(s.ctx, s.b)
		s.check(err)
		if len(found) != 2 || found[0].Kind != worktrees.BrokenRef || found[0].Ref != ref || found[1].Kind != worktrees.MissingBranch {
			t.Fatalf("%s: %+v", name, found)
		}
		_, err = fixAll(s.ctx, found)
		s.check(err)
		if got := s.ref(ref); got != c.want {
			t.Errorf("%s: at %s, not at %s", name, got, c.want)
		}
	}
	if kept := s.attic("integration"); len(kept) != 1 || kept[0] != beside {
		t.Errorf("kept %v, not %s", kept, beside)
	}
	moved(base)
	s.git(s.dir, "-c", "core.hooksPath="+os.DevNull, "update-ref", ref, string(base))
	s.lies("one")
}

// TestBrokenOwnRefs checks what becomes of other broken refs: the attic and home come back, and one
// that nothing proves is named.
func TestBrokenOwnRefs(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about("one"), Reason: "not needed"})
	s.check(err)
	const attic = "refs/liza/attic/one/1"
	kept := s.ref(attic)
	root := plumbing.OID(strings.TrimSpace(s.git(s.dir, "rev-list", "--max-parents=0", "liza/state")))
	s.breaks(attic, "")
	s.breaks(plumbing.HomeRef, "garbage\n")
	s.breaks("refs/liza/remotes/gone/state", "")
	s.breaks(plumbing.LastRef, "garbage\n")
	s.breaks("refs/liza/attic/unknown/1", "")
	found := s.problems()
	var named []string
	for _, p := range found {
		if p.Kind != worktrees.BrokenRef || (p.Fix == nil) == (p.Hint == "") {
			t.Errorf("found %+v", p)
		}
		if p.Fix == nil {
			named = append(named, p.Ref)
		}
	}
	if len(found) != 5 || len(named) != 1 || named[0] != "refs/liza/attic/unknown/1" {
		t.Fatalf("found %+v", found)
	}
	_, err = fixAll(s.ctx, found)
	s.check(err)
	for ref, want := range map[string]plumbing.OID{attic: kept, plumbing.HomeRef: root, "refs/liza/remotes/gone/state": plumbing.ZeroOID, plumbing.LastRef: s.ref(plumbing.BoardRef)} {
		if got, err := s.b.Repo().Ref(s.ctx, ref); err != nil || got != want {
			t.Errorf("%s is at %s, not at %s: %v", ref, got, want, err)
		}
	}
	s.check(os.Remove(filepath.Join(s.b.Repo().CommonDir(), "refs/liza/attic/unknown/1")))
}
