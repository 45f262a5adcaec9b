package worktrees

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
