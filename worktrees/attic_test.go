package worktrees

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// began makes a project with three commits and no board.
func began(t *testing.T) (context.Context, *Project, []plumbing.OID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	testrun.InitRepository(t, dir, false)
	b := testrun.Must(gitboard.Open(ctx, dir, gitboard.Options{}))(t)
	t.Cleanup(func() { b.Close() })
	s := testrun.Must(Open(ctx, b))(t)
	var commits []plumbing.OID
	for range 3 {
		o := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: plumbing.EmptyTree, Parents: commits[max(0, len(commits)-1):], Message: "m\n"}))
		must(t, b.Repo().WriteObjects(ctx, []plumbing.Object{plumbing.NewObject(plumbing.TreeObject, nil), o}))
		commits = append(commits, o.OID)
	}
	return ctx, s, commits
}

// noBoard is the view of a project without a board: branches have their usual names.
func noBoard() *gitboard.View {
	return &gitboard.View{Snapshot: &log.Snapshot{State: board.NewState(settingsAlone{board.NewMemory()}, "")}}
}

// settingsAlone is a board that has nothing but its default settings.
type settingsAlone struct{ *board.Memory }

func (s settingsAlone) Record(path string) (any, error) {
	if path == board.ConfigPath {
		return board.DefaultConfig(), nil
	}
	return s.Memory.Record(path)
}

var must = testrun.Check

func (s *Project) points(t *testing.T, ref string, want plumbing.OID) {
	t.Helper()
	if got, err := s.repo.Ref(context.Background(), ref); got != want || err != nil {
		t.Errorf("%s is at %s, not at %s (%v)", ref, got, want, err)
	}
}

// TestResetBranch covers a previous holder who committed between a claim's transaction and the move
// of its worktree: the commits go to the attic.
func TestResetBranch(t *testing.T) {
	ctx, s, commits := began(t)
	c := &claimer{Project: s, task: "one", candidate: &candidate{s: s, base: commits[0]}}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", New: commits[1]}, {Ref: plumbing.AtticRef("one", 9), New: commits[0]}}, ""))
	for range 2 {
		must(t, c.resetBranch(ctx, noBoard(), c.task, c.candidate.base))
		s.points(t, "refs/heads/task/one", commits[0])
		s.points(t, plumbing.AtticRef("one", 10), commits[1])
		s.points(t, plumbing.AtticRef("one", 11), plumbing.ZeroOID)
	}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", Old: commits[0]}}, ""))
	must(t, c.resetBranch(ctx, noBoard(), c.task, c.candidate.base))
	s.points(t, "refs/heads/task/one", commits[0])
}

// TestSign checks the name on a commit: an agent's id or, for a human whose actor has no name, the
// identity that git knows.
func TestSign(t *testing.T) {
	ctx, s, _ := began(t)
	who, err := s.sign(ctx, board.Actor{ID: "coder-1", Role: "coder"})
	if err != nil || who.Name != "coder-1" || who.Email != "coder-1@liza" || who.When.IsZero() {
		t.Errorf("%+v %v", who, err)
	}
	who, err = s.sign(ctx, board.HumanActor("", ""))
	if err != nil || who.Name == "" || who.Email == "" {
		t.Errorf("%+v %v", who, err)
	}
}

// TestClearAwayLeavesTheNext checks that clearing up leaves the worktree of a later claim alone.
// After the operation that frees a task another agent may claim it, so a worktree that is not the
// kept one is the new holder's.
func TestClearAwayLeavesTheNext(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", New: commits[0]}}, ""))
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, s.clearAway(ctx, noBoard(), "one", board.HumanActor("Ada", "ada@example.org"), &kept{which: "gitdir: another"}))
	if !present(s.Path("one")) {
		t.Error("the worktree has gone")
	}
}

// swapping replaces git by a script that moves task two's worktree to the place of task one's when
// git is called with arguments that match a pattern. It returns the identity of task two's
// worktree.
func swapping(t *testing.T, ctx context.Context, s *Project, commit plumbing.OID, when string) (second string) {
	t.Helper()
	for _, task := range []string{"one", "two"} {
		must(t, s.repo.Worktree(s.Path(task)).Add(ctx, commit))
	}
	second = identity(s.Path("two"))
	found := testrun.Must(exec.LookPath("git"))(t)
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "git"), []byte(`#!/bin/sh
case "$*" in `+when+`) ;; *) exec '`+found+`' "$@" ;; esac
swap() { [ ! -e '`+s.Path("two")+`' ] || { mv '`+s.Path("one")+`' '`+s.Path("away")+`'; mv '`+s.Path("two")+`' '`+s.Path("one")+`'; '`+found+`' -C '`+s.Path("one")+`' worktree repair '`+s.Path("one")+`' '`+s.Path("away")+`'; } >/dev/null 2>&1; }
case "$*" in *"worktree move"*) swap; exec '`+found+`' "$@" ;; esac
'`+found+`' "$@"; code=$?; swap; exit $code
`), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return second
}

// TestClearAwayMovesBack checks that a worktree that took the place of another one during the move
// is moved back.
func TestClearAwayMovesBack(t *testing.T) {
	ctx, s, commits := began(t)
	// So that git moves the worktree.
	must(t, os.MkdirAll(filepath.Join(s.repo.CommonDir(), "worktrees", "stray"), 0o755))
	second := swapping(t, ctx, s, commits[0], `*"worktree move"*`)
	must(t, s.clearAway(ctx, noBoard(), "one", board.HumanActor("Ada", "ada@example.org"), nil))
	testrun.Equal(t, identity(s.Path("one")), second, "there is")
}

// TestClearInPlace checks that a worktree that can't be moved is removed where it is, but only if
// it is the expected one and its work has been kept.
func TestClearInPlace(t *testing.T) {
	ctx, s, commits := began(t)
	ada := board.HumanActor("Ada", "ada@example.org")
	second := swapping(t, ctx, s, commits[0], `*commit-tree*`)
	path := s.Path("one")
	which := identity(path)
	clear := func(which string, before *kept) error {
		return s.clearInPlace(ctx, noBoard(), "one", ada, before, which, errors.New("it can't be moved"))
	}
	must(t, clear("gitdir: another", &kept{})) // and nothing of it is kept
	if !present(path) {
		t.Fatal("another's worktree has gone")
	}
	// The attic can't hold a repository.
	testrun.InitRepository(t, filepath.Join(path, "own"), false)
	must(t, os.WriteFile(filepath.Join(path, "own", "work"), nil, 0o644))
	for _, before := range []*kept{nil, {}} {
		if err := clear(which, before); err == nil || !present(path) {
			t.Fatalf("what could not be kept has gone: %v", err)
		}
	}
	must(t, os.RemoveAll(filepath.Join(path, "own")))
	must(t, os.WriteFile(filepath.Join(path, "left"), []byte("left\n"), 0o644))
	blob := plumbing.NewObject(plumbing.BlobObject, []byte("left\n"))
	tree := plumbing.NewObject(plumbing.TreeObject, append([]byte("100644 left\x00"), raw(t, blob.OID)...))
	must(t, clear(which, &kept{trees: []plumbing.OID{tree.OID}}))
	if got := identity(path); got != second {
		t.Errorf("there is %q, not %q that came meanwhile", got, second)
	}
}

func raw(t *testing.T, oid plumbing.OID) []byte {
	t.Helper()
	return testrun.Must(hex.DecodeString(string(oid)))(t)
}

// TestNestedInIgnored checks that a repository with commits of its own in a folder that git ignores
// outlives the worktree.
func TestNestedInIgnored(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, os.WriteFile(filepath.Join(s.Path("one"), ".gitignore"), []byte("vendor/\n"), 0o644))
	nested := filepath.Join(s.Path("one"), "vendor", "x")
	testrun.InitRepository(t, nested, false)
	must(t, os.WriteFile(filepath.Join(nested, "x"), nil, 0o644))
	commit := testrun.CommitAll(t, nested, "own")
	must(t, s.clearAway(ctx, v, "one", board.HumanActor("Ada", "ada@example.org"), nil))
	if present(s.Path("one")) {
		t.Error("the worktree is there")
	}
	if at := testrun.RunGit(t, filepath.Join(s.b.Dir(), "modules", "one", "1", "vendor", "x"), "rev-parse", "HEAD"); at != string(commit) {
		t.Errorf("it is at %s, not at %s", at, commit)
	}
}

// TestRefusedWhereItLies checks that a refusal to remove a worktree names what it is about where its
// reader finds it: the worktree was moved out of the way, and is back.
func TestRefusedWhereItLies(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	nested := filepath.Join(s.Path("one"), "own")
	testrun.InitRepository(t, nested, false)
	must(t, os.WriteFile(filepath.Join(nested, "x"), nil, 0o644))
	refused := (*board.Refusal)(nil)
	if err := s.clearAway(ctx, v, "one", board.HumanActor("Ada", "ada@example.org"), nil); !errors.As(err, &refused) || !strings.HasSuffix(cmdline.Hint(refused.Hint), " "+nested) || !present(nested) {
		t.Errorf("%v: %+v", err, refused)
	}
	must(t, os.WriteFile(filepath.Join(records.LinkedDir(s.Path("one")), "index"), nil, 0o644))
	damaged := (*git.DamagedIndexError)(nil)
	if err := s.clearAway(ctx, v, "one", board.HumanActor("Ada", "ada@example.org"), nil); !errors.As(err, &damaged) || damaged.Worktree != s.Path("one") {
		t.Errorf("%v", err)
	}
}

// TestHalfGoneKeepsWhatItCannotHold checks that the rest of a worktree whose removal was cut short
// stays if its repositories can't be kept.
func TestHalfGoneKeepsWhatItCannotHold(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	gone := filepath.Join(s.Folder(), goneMark+"aaaa")
	nested := filepath.Join(gone, "vendor", "x")
	testrun.InitRepository(t, nested, false)
	must(t, os.WriteFile(filepath.Join(nested, "x"), nil, 0o644))
	testrun.CommitAll(t, nested, "own")
	must(t, os.MkdirAll(s.claimsDir(), 0o755))
	must(t, os.WriteFile(filepath.Join(s.claimsDir(), "aaaa"), []byte(`{"task":"one","left":true}`), 0o644))
	must(t, os.WriteFile(filepath.Join(s.b.Dir(), "modules"), nil, 0o644)) // in the way
	found := testrun.Must(s.leftWorktrees(v))(t)
	if len(found) != 1 || s.Clear(ctx, v, found[0]) == nil || !present(filepath.Join(nested, ".git")) {
		t.Errorf("found %+v, and the repository is gone", found)
	}
	must(t, os.Remove(filepath.Join(s.b.Dir(), "modules")))
	for range 2 {
		must(t, s.Clear(ctx, v, found[0]))
	}
	if present(gone) || !present(filepath.Join(s.b.Dir(), "modules", "one", "1", "vendor", "x", ".git")) {
		t.Error("it is not kept")
	}
	if present(filepath.Join(s.claimsDir(), "aaaa")) {
		t.Error("its record is left")
	}
}

// TestStagedMeanwhile checks that content that is staged after the work of a worktree was kept, and
// that is in none of its files, is kept when the worktree goes, and nothing else is: the branch was
// dropped or reset by then, and all of the index looks staged.
func TestStagedMeanwhile(t *testing.T) {
	for name, dropped := range testrun.Some(2, map[string]bool{"the branch was dropped": true, "the branch was reset": false}) {
		t.Run(name, func(t *testing.T) {
			ctx, s, commits := began(t)
			v := s.boarded(t, ctx, commits)
			ada := board.HumanActor("Ada", "ada@example.org")
			path := s.Path("one")
			must(t, s.repo.Worktree(path).Add(ctx, s.side(t, ctx, "work\n", commits[0])))
			testrun.RunGit(t, path, "checkout", "-q", "-b", "task/one")
			must(t, os.WriteFile(filepath.Join(path, "new"), []byte("new\n"), 0o644))
			testrun.RunGit(t, path, "add", "new")
			must(t, os.WriteFile(filepath.Join(path, "file"), []byte("changed\n"), 0o644))
			w := testrun.Must(s.take(ctx, v, path, path, "one", ada, nil))(t)
			before := &kept{commit: w.commit, trees: []plumbing.OID{w.tree}, head: w.head, which: identity(path)}
			must(t, s.keepCommit(ctx, "one", w.commit))
			tip := testrun.Must(s.repo.Ref(ctx, "refs/heads/task/one"))(t)
			to := plumbing.RefUpdate{Ref: "refs/heads/task/one", Old: tip, New: commits[2]}
			if dropped {
				to.New = plumbing.ZeroOID
			}
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{to}, ""))
			for _, want := range []int{1, 2} {
				testrun.Must(s.keepAgain(ctx, v, "one", path, path, ada, before))(t)
				kept := testrun.Must(s.attic(ctx, "one"))(t)
				if len(kept.commits) != want || want == 2 && testrun.RunGit(t, s.Root, "show", string(kept.commits[1])+":new") != "staged" {
					t.Errorf("kept %s, not %d", kept.commits, want)
				}
				must(t, os.WriteFile(filepath.Join(path, "new"), []byte("staged\n"), 0o644))
				testrun.RunGit(t, path, "add", "new")
				must(t, os.WriteFile(filepath.Join(path, "new"), []byte("new\n"), 0o644))
			}
		})
	}
}

// TestForgetGoneAlone checks that forgetting a worktree that is gone leaves alone the one that a
// claim has put in its place meanwhile, and that two processes may do it at once.
func TestForgetGoneAlone(t *testing.T) {
	ctx, s, commits := began(t)
	path, next := s.Path("one"), filepath.Join(s.Folder(), "next")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	old := records.LinkedDir(path)
	must(t, os.RemoveAll(path))
	must(t, s.repo.Worktree(next).Add(ctx, commits[1]))
	must(t, s.repo.Worktree(next).Move(ctx, path))
	must(t, os.WriteFile(filepath.Join(path, "new"), []byte("work\n"), 0o644))
	for range 2 {
		must(t, s.forgetGone(ctx, path, commits[0]))
	}
	if text, err := os.ReadFile(filepath.Join(path, "new")); string(text) != "work\n" {
		t.Errorf("the new worktree has %q: %v", text, err)
	}
	if head, _, err := s.repo.Worktree(path).Head(ctx); head != commits[1] || err != nil {
		t.Errorf("git has it at %s: %v", head, err)
	}
	must(t, os.RemoveAll(path))
	must(t, s.forgetGone(ctx, path, commits[1]))
	must(t, s.forgetGone(ctx, path, commits[0]))
	if present(old) || s.repo.Records().Of(path) != "" {
		t.Error("git has a record of a removed worktree")
	}
	kept, err := s.attic(ctx, "one")
	if must(t, err); len(kept.commits) != 2 {
		t.Errorf("the attic has %v", kept.commits)
	}
}

// TestKeep checks what of a task's branch and worktree goes to the attic: each commit that neither
// integration nor another kept one has.
func TestKeep(t *testing.T) {
	const branch = "refs/heads/task/one"
	ada := board.HumanActor("Ada", "ada@example.org")
	type made struct {
		own, worktree plumbing.OID // of the branch, and checked out; "" for none
		dirty         bool
		attic         plumbing.OID // kept before
		never         bool         // the task was never claimed
		aside         plumbing.OID // changes that a stopped merge has put aside
	}
	for _, c := range []struct {
		name string
		made func(commits []plumbing.OID, own plumbing.OID) made
		// want are the new commits of the attic; "" is a snapshot.
		want func(commits []plumbing.OID, own plumbing.OID) []plumbing.OID
		kept bool // the operation names a commit
	}{
		{"nothing", func([]plumbing.OID, plumbing.OID) made { return made{} }, nil, false},
		{"a branch", func(_ []plumbing.OID, own plumbing.OID) made { return made{own: own} }, func(_ []plumbing.OID, own plumbing.OID) []plumbing.OID { return []plumbing.OID{own} }, true},
		{"a branch that has landed", func(c []plumbing.OID, _ plumbing.OID) made { return made{own: c[0]} }, nil, false},
		{"a worktree that has landed", func(c []plumbing.OID, _ plumbing.OID) made { return made{worktree: c[0]} }, nil, false},
		{"a worktree at its branch", func(_ []plumbing.OID, own plumbing.OID) made { return made{own: own, worktree: own} }, func(_ []plumbing.OID, own plumbing.OID) []plumbing.OID { return []plumbing.OID{own} }, true},
		{"changes on top of the branch", func(_ []plumbing.OID, own plumbing.OID) made { return made{own: own, worktree: own, dirty: true} }, func([]plumbing.OID, plumbing.OID) []plumbing.OID { return []plumbing.OID{""} }, true},
		{"a worktree beside its branch", func(c []plumbing.OID, own plumbing.OID) made { return made{own: own, worktree: c[1]} }, func(c []plumbing.OID, own plumbing.OID) []plumbing.OID { return []plumbing.OID{c[1], own} }, true},
		{"work kept already", func(_ []plumbing.OID, own plumbing.OID) made { return made{own: own, attic: own} }, nil, true},
		{"changes that were put aside", func(c []plumbing.OID, own plumbing.OID) made { return made{worktree: c[0], aside: own} }, func(_ []plumbing.OID, own plumbing.OID) []plumbing.OID { return []plumbing.OID{own} }, true},
		{"changes that were put aside after the branch", func(c []plumbing.OID, own plumbing.OID) made { return made{own: c[1], worktree: c[1], aside: own} }, func(c []plumbing.OID, own plumbing.OID) []plumbing.OID { return []plumbing.OID{c[1], own} }, true},
		{"changes that are kept already", func(c []plumbing.OID, own plumbing.OID) made { return made{worktree: c[0], aside: own, attic: own} }, nil, true},
		{"a person's branch", func(_ []plumbing.OID, own plumbing.OID) made { return made{own: own, never: true} }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, s, commits := began(t)
			v := s.boarded(t, ctx, commits)
			own := s.side(t, ctx, "own\n", commits[0])
			m := c.made(commits, own)
			if m.never {
				v = s.ready(t, ctx, "one", "")
			}
			first := 1
			if m.attic != "" {
				must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef("one", 1), New: m.attic}}, ""))
				first = 2
			}
			if m.own != "" {
				must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch, New: m.own}}, ""))
			}
			if m.worktree != "" {
				must(t, s.repo.Worktree(s.Path("one")).Add(ctx, m.worktree))
			}
			if m.aside != "" {
				must(t, os.WriteFile(filepath.Join(records.LinkedDir(s.Path("one")), "MERGE_AUTOSTASH"), []byte(m.aside+"\n"), 0o644))
			}
			if m.dirty {
				must(t, os.WriteFile(filepath.Join(s.Path("one"), "new"), nil, 0o644))
			}
			k := testrun.Must(s.keep(ctx, v, "one", ada))(t)
			var want []plumbing.OID
			if c.want != nil {
				want = c.want(commits, own)
			}
			if len(k.refs) != len(want) || (k.commit != "") != c.kept || k.owned == m.never || k.tip.IsZero() != (m.own == "") || len(k.trees) > 0 != (m.worktree != "") {
				t.Fatalf("%+v, not %v", k, want)
			}
			if m.worktree != "" && k.which != identity(s.Path("one")) {
				t.Errorf("of %q", k.which)
			}
			for i, u := range k.refs {
				commit := want[i]
				if commit == "" {
					commit = k.commit
					if line, err := s.repo.History().FirstParents(ctx, commit, 2); err != nil || !slices.Contains(line, own) || commit == own {
						t.Errorf("a snapshot after %v %v", line, err)
					}
				}
				if u.Ref != plumbing.AtticRef("one", first+i) || u.New != commit || !u.Old.IsZero() {
					t.Errorf("%+v, not %s", u, commit)
				}
			}
			if len(want) > 0 && k.commit != k.refs[0].New {
				t.Errorf("the newest is %s", k.commit)
			}
		})
	}
}

// TestRefuseNested checks which repositories inside a worktree keep it from being removed: those
// that an agent cloned there, and those with changes that they don't have in a commit.
func TestRefuseNested(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	inner := filepath.Join(s.Path("one"), "inner")
	refused := func(name string, want bool) {
		t.Helper()
		r := (*board.Refusal)(nil)
		c, err := s.refuseNested(ctx, s.Path("one"), s.Path("two"), "one")
		if errors.As(err, &r) != want || r == nil && err != nil || want && (r.Code != board.CodeNested || r.Task != "one" || !strings.HasSuffix(cmdline.Hint(r.Hint), filepath.Join(s.Path("two"), "inner"))) || len(c.Dirty) == 0 {
			t.Errorf("%s: %v, %+v", name, err, c.Dirty)
		}
	}
	must(t, os.WriteFile(filepath.Join(s.Path("one"), "file"), nil, 0o644))
	must(t, os.Symlink(s.Root, filepath.Join(s.Path("one"), "link")))
	refused("a file, and a link to a repository", false)
	testrun.InitRepository(t, inner, false)
	must(t, os.WriteFile(filepath.Join(inner, "file"), nil, 0o644))
	testrun.CommitAll(t, inner, "inner")
	refused("a clone", true)
	testrun.RunGit(t, s.Path("one"), "-c", "advice.addEmbeddedRepo=false", "add", "inner")
	refused("one that was added, as its branch has it or the branch is gone", false)
	must(t, os.WriteFile(filepath.Join(inner, "file"), []byte("work\n"), 0o644))
	refused("one that has changes", true)
	must(t, os.WriteFile(filepath.Join(inner, "file"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(inner, "new"), nil, 0o644))
	refused("one that has a new file", true)
	testrun.CommitAll(t, inner, "new")
	refused("one that has a new commit", true)
	testrun.RunGit(t, s.Path("one"), "rm", "-qf", "--cached", "inner")
	refused("one that was removed from the index", true)
}

// TestRecords checks which records of worktrees being made or removed are left behind.
func TestRecords(t *testing.T) {
	ctx, s, commits := began(t)
	left := func() []Leftover {
		t.Helper()
		return testrun.Must(s.leftRecords())(t)
	}
	left() // nothing was ever made
	host := testrun.Must(os.Hostname())(t)
	must(t, os.MkdirAll(s.claimsDir(), 0o755))
	write := func(token string, pid int) {
		t.Helper()
		data := testrun.Must(json.Marshal(record{PID: pid, Host: host, Task: "one", Since: s.b.Now()}))(t)
		must(t, os.WriteFile(filepath.Join(s.claimsDir(), token), data, 0o644))
	}
	const dead = 1 << 30
	for token, pid := range map[string]int{"dead": dead, "live": os.Getpid(), "made": dead, "gone": dead, ".new": dead, ".old": dead} {
		write(token, pid)
	}
	must(t, os.WriteFile(filepath.Join(s.claimsDir(), ".new"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(s.claimsDir(), ".old"), nil, 0o644))
	then := time.Now().Add(-2 * time.Minute)
	must(t, os.Chtimes(filepath.Join(s.claimsDir(), ".old"), then, then))
	must(t, os.WriteFile(filepath.Join(s.claimsDir(), "half"), nil, 0o644)) // its process may be writing it
	must(t, os.Chtimes(filepath.Join(s.claimsDir(), "half"), then, then))
	for _, name := range []string{claimMark + "made", goneMark + "gone"} {
		must(t, s.repo.Worktree(filepath.Join(s.Folder(), name)).Add(ctx, commits[0]))
	}
	var found []string
	for _, l := range left() {
		found = append(found, filepath.Base(l.Path)+" "+l.Task)
		for range 2 {
			must(t, s.Clear(ctx, noBoard(), l))
		}
		if l.Kind != LeftRecord || present(l.Path) {
			t.Errorf("%+v", l)
		}
	}
	if want := []string{".old ", "dead one"}; !slices.Equal(found, want) {
		t.Errorf("found %q, not %q", found, want)
	}
}
