package audit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// lossy is a repository with a board of four operations, some of which a test deletes.
type lossy struct {
	*world
	repo    *git.Repo
	commits []plumbing.OID
}

// lose removes an object, as a bad disk would.
func (l *lossy) lose(oid plumbing.OID) {
	l.t.Helper()
	check(l.t, os.Remove(filepath.Join(l.repo.CommonDir(), "objects", string(oid[:2]), string(oid[2:]))))
}

// reopened opens the repository anew, as a process does that has read nothing yet.
func (l *lossy) reopened() *git.Repo {
	l.t.Helper()
	repo := testrun.Must(git.Open(l.ctx, l.repo.CommonDir()))(l.t)
	l.t.Cleanup(func() { repo.Close() })
	return repo
}

// forget removes a file or directory of the repository.
func (l *lossy) forget(path ...string) {
	l.t.Helper()
	check(l.t, os.RemoveAll(filepath.Join(append([]string{l.repo.CommonDir()}, path...)...)))
}

// overwrite puts a text in place of a file of the repository.
func (l *lossy) overwrite(path, text string) {
	l.t.Helper()
	check(l.t, os.WriteFile(filepath.Join(l.repo.CommonDir(), path), []byte(text), 0o644))
}

// back moves the board from its last operation to an earlier one.
func (l *lossy) back(to int) {
	l.t.Helper()
	check(l.t, l.repo.UpdateRefs(l.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: l.commits[3], New: l.commits[to]}}, "back"))
}

// remotes sets refs to a commit, as a remote would have them.
func (l *lossy) remotes(commit plumbing.OID, names ...string) {
	l.t.Helper()
	for _, name := range names {
		check(l.t, l.repo.UpdateRefs(l.ctx, []plumbing.RefUpdate{{Ref: name, New: commit}}, ""))
	}
}

// TestDeletedBoard checks that nothing is lost if somebody deletes the board's branch, with its
// reflog, and prunes, although kept files have been dropped before.
func TestDeletedBoard(t *testing.T) {
	repo, err := git.Open(t.Context(), testrepo.Init(t, true))
	check(t, err)
	defer repo.Close()
	w := newWorld(t, repo)
	w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	notes := func(n int) {
		for range n {
			w.do(ada, &board.AddNote{Message: "one"})
		}
	}
	age := func() {
		then := time.Now().Add(-2 * time.Hour)
		kept := testrun.Must(filepath.Glob(filepath.Join(repo.CommonDir(), "liza", "kept", "*")))(t)
		for _, path := range kept {
			check(t, os.Chtimes(path, then, then))
		}
	}
	notes(90)
	age()
	notes(12)
	kept := testrun.Must(filepath.Glob(filepath.Join(repo.CommonDir(), "liza", "kept", "objects-*")))(t)
	if len(kept) > 20 {
		t.Fatalf("%d files are still kept", len(kept))
	}
	tip := w.tip()
	last := testrun.Must(repo.Ref(w.ctx, plumbing.LastRef))(t)
	missing := testrun.Must(repo.History().CountCommits(w.ctx, last, tip))(t)
	if missing > 32 {
		t.Errorf("%s is %d operations behind", plumbing.LastRef, missing)
	}
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: tip}}, ""))
	l := &lossy{world: w, repo: repo}
	l.forget("logs", filepath.FromSlash(plumbing.BoardRef))
	gc := exec.Command("git", "gc", "-q", "--prune=now")
	gc.Dir = repo.CommonDir()
	if out, err := gc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	repo = l.reopened()
	loss := testrun.Must(audit.FindLoss(w.ctx, repo))(t)
	if loss == nil || loss.Newest != tip {
		t.Fatalf("%v is not at %s", loss, tip.Short())
	}
	check(t, loss.Repair(w.ctx, repo))
	if loss, err := audit.FindLoss(w.ctx, repo); loss != nil || err != nil {
		t.Errorf("after the repair: %v, %v", loss, err)
	}
	// Without the kept files, no more than the last operations are.
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: tip}}, ""))
	l.forget("logs", filepath.FromSlash(plumbing.BoardRef))
	l.forget("liza", "kept")
	if loss, err := audit.FindLoss(w.ctx, repo); err != nil || loss == nil || loss.Newest != last || loss.From != plumbing.LastRef {
		t.Errorf("%v, %v", loss, err)
	}
}

// TestFindLoss checks what is found of a board that lost objects or its ref, and that Repair brings
// it back.
func TestFindLoss(t *testing.T) {
	empty := testrun.Must(git.Open(t.Context(), testrepo.Init(t, true)))(t)
	defer empty.Close()
	if loss, err := audit.FindLoss(t.Context(), empty); loss != nil || err != nil {
		t.Errorf("before there is a board: %v, %v", loss, err)
	}
	made, w, commits := atHome(t)
	repo := w.store.(*git.Repo)
	if loss, err := audit.FindLoss(w.ctx, repo); loss != nil || err != nil {
		t.Errorf("a whole board: %v, %v", loss, err)
	}
	ref := filepath.FromSlash(plumbing.BoardRef)
	two, three := commits[2].Short(), commits[3].Short()
	reflog := "; the newest that can be read is " + two + ", from the reflog"
	type fault struct {
		do   func(l *lossy)
		says string // "" if nothing is lost
		tip  int    // the commit that the board is at after the repair; -1 if there is none
	}
	for name, c := range testrun.Some(2, map[string]fault{
		"a tree": {func(l *lossy) { l.lose(l.snapshot(commits[3]).Head.Tree) },
			reflog + "; it lacks 1 operation: note: note-3 for everybody: three; the rest of the later ones stays under " + plumbing.LostRef(commits[3]), 2},
		"the last commit": {func(l *lossy) { l.lose(commits[3]) },
			"the board at " + three + " can't be read: objects of it are missing or damaged" + reflog + "; it lacks 1 operation: ", 2},
		"the ref": {func(l *lossy) { l.forget(ref) },
			"the branch liza/state has gone; the newest that can be read is " + three + ", from the reflog", 3},
		"the ref and its reflog": {func(l *lossy) {
			l.forget(ref)
			l.forget("logs", ref)
			kept := testrun.Must(filepath.Glob(filepath.Join(l.repo.CommonDir(), "liza", "kept", "*")))(t)
			for _, path := range kept { // the copy of the others may be newer
				if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), string(commits[3])+" commit") {
					check(t, os.Remove(path))
				}
			}
		}, "the branch liza/state has gone; the newest that can be read is " + three + ", from recently written objects", 3},
		"all but what a remote has": {func(l *lossy) {
			l.remotes(commits[3], "refs/liza/remotes/origin/other")
			l.remotes(w.integration, "refs/liza/remotes/backup/state")
			l.remotes(commits[1], "refs/liza/remotes/origin/state")
			l.forget(ref)
			l.forget("logs", ref)
			l.forget("liza", "kept")
		}, "the branch liza/state has gone; the newest that can be read is " + commits[1].Short() + ", from refs/liza/remotes/origin/state", 1},
		"the ref's file is empty": {func(l *lossy) { l.overwrite(ref, "") },
			"the ref refs/heads/liza/state is broken: its file is empty; the newest that can be read is " + three, 3},
		"the ref's file holds no commit": {func(l *lossy) { l.overwrite(ref, "\x00no commit\n") },
			`the ref refs/heads/liza/state is broken: it leads to "\x00no commit", which is not here; the newest that can be read is ` + three, 3},
		"the ref's file is empty, and nothing else is left": {func(l *lossy) {
			l.overwrite(ref, "")
			l.forget("logs", ref)
			l.forget("liza", "kept")
		}, "its file is empty, and no whole board is left here", -1},
		"the ref is at a commit of the project": {func(l *lossy) { l.overwrite(ref, string(l.integration)+"\n") },
			" can't be read: objects of it are missing or damaged; the newest that can be read is " + three, 3},
		"every place, and nothing to show it": {func(l *lossy) {
			l.forget(ref)
			l.forget("logs", ref)
			l.forget("liza", "kept")
		}, "", 0},
		"the first commit": {func(l *lossy) {
			l.lose(commits[0])
			if _, err := audit.Verify(l.ctx, l.repo, l.repo, audit.Range{}, nil); err == nil {
				t.Error("verify reads a history that is cut off")
			}
		}, "the board at " + three + " can be read, and not all of its history: it is cut off behind the newest 3 operations, since " +
			commits[0].Short() + " is missing or damaged: what was before that can't be proven", -1},
		"an earlier commit, and the tree of the last one": {func(l *lossy) { l.lose(commits[1]); l.lose(l.snapshot(commits[3]).Head.Tree) },
			reflog + "; it lacks 1 operation: note: note-3 for everybody: three; the rest of the later ones stays under " + plumbing.LostRef(commits[3]), 2},
		"the trees of the last two, and the first commit": {func(l *lossy) {
			last, before := l.snapshot(commits[3]).Head.Tree, l.snapshot(commits[2]).Head.Tree
			l.lose(last)
			l.lose(before)
			l.lose(commits[0])
		}, "from the reflog; it lacks 2 operations: note: note-3 for everybody: three; note: note-2 for everybody: two; the rest of the later ones stays under " + plumbing.LostRef(commits[3]), 1},
		"the same again": {func(l *lossy) {
			l.remotes(commits[3], plumbing.LostRef(commits[3]))
			l.lose(l.snapshot(commits[3]).Head.Tree)
			l.lose(commits[1])
		}, reflog + "; it lacks 1 operation: note: note-3 for everybody: three; the rest of the later ones stays under " + plumbing.LostRef(commits[3]), 2},
	}) {
		t.Run(name, func(t *testing.T) {
			l := copyOf(t, made, w, commits)
			if c.says != "" && !strings.Contains(c.says, "recently") {
				l.forget("liza", "kept") // else the repository repairs itself
			}
			c.do(l)
			repo := l.reopened()
			loss := testrun.Must(audit.FindLoss(l.ctx, repo))(t)
			if c.says == "" {
				if loss != nil {
					t.Errorf("%s", loss)
				}
				return
			}
			if loss == nil || !strings.Contains(loss.String(), c.says) || strings.Contains(loss.String(), "lacks") != strings.Contains(c.says, "lacks") {
				t.Fatalf("%v does not say %q", loss, c.says)
			}
			if loss.Repairable() != (c.tip >= 0) {
				t.Errorf("it can be repaired: %v", loss.Repairable())
			}
			if elsewhere := strings.Contains(c.says, "lacks") || !strings.Contains(c.says, " has gone") && !strings.Contains(c.says, " is broken") && !strings.Contains(c.says, "its file is empty"); loss.LacksObjects() != elsewhere {
				t.Errorf("another repository may have what is missing: %v", loss.LacksObjects())
			}
			if err := loss.Repair(l.ctx, repo); (err == nil) != (c.tip >= 0) {
				t.Fatalf("%v", err)
			}
			if c.tip < 0 {
				return
			}
			again, err := audit.FindLoss(l.ctx, repo)
			if err != nil || l.tip() != commits[c.tip] || again != nil && (again.Past == "" || again.Repairable() || !strings.HasPrefix(name, "an earlier commit") && name != "the same again" && !strings.HasPrefix(name, "the trees")) {
				t.Errorf("after the repair: %v, %v, at %s", again, err, l.tip().Short())
			}
			if kept, err := l.repo.Ref(l.ctx, plumbing.LostRef(commits[3])); err != nil || kept.IsZero() == strings.Contains(c.says, "stays under") {
				t.Errorf("%s is at %q: %v", plumbing.LostRef(commits[3]), kept, err)
			}
		})
	}
}
