package worktrees

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// diagnosed is a diagnosis that has found nothing yet.
func (s *site) diagnosed(v *gitboard.View) *diagnosis {
	return &diagnosis{
		site: s, v: v, real: map[string]string{},
		unread: map[string]*git.BrokenRefError{}, reported: map[string]bool{}, kept: map[plumbing.OID]bool{},
	}
}

// breaks writes text that is no value of a ref into its file.
func (s *site) breaks(t *testing.T, ref, text string) {
	t.Helper()
	path := filepath.Join(s.repo.CommonDir(), filepath.FromSlash(ref))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// loses deletes an object, and returns the site of a process that has read nothing yet.
func (s *site) loses(t *testing.T, ctx context.Context, oid plumbing.OID) *site {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(s.repo.CommonDir(), "liza", "kept")))
	must(t, os.Remove(filepath.Join(s.repo.CommonDir(), "objects", string(oid[:2]), string(oid[2:]))))
	b, err := gitboard.Open(ctx, s.root, gitboard.Options{})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	other, err := at(ctx, b)
	must(t, err)
	return other
}

// insist interrupts a call at each place at which it uses git, until it is not interrupted any more.
func insist(t *testing.T, ctx context.Context, name string, do func(ctx context.Context) error) {
	t.Helper()
	if err := testrepo.Insist(ctx, "github.com/git-liza/git-liza/worktrees", do); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestBegunBy checks which commit a ref that was cut off is known to have been at.
func TestBegunBy(t *testing.T) {
	ctx, s, commits := began(t)
	d := s.diagnosed(noBoard())
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/somewhere", New: commits[1]}}, ""))
	blob := plumbing.OID(testrun.RunGit(t, s.root, "hash-object", "-w", filepath.Join(s.repo.CommonDir(), "config")))
	for text, want := range map[string]plumbing.OID{
		"":                      plumbing.ZeroOID,
		string(commits[1]):      commits[1],
		string(commits[1][:9]):  plumbing.ZeroOID, // others may begin so, too
		string(commits[1][:10]): commits[1],
		"refs/heads/somewhere":  plumbing.ZeroOID, // is no part of an id
		strings.Repeat("1", 12): plumbing.ZeroOID,
		string(blob[:12]):       plumbing.ZeroOID,
	} {
		insist(t, ctx, text, func(ctx context.Context) error {
			got, err := d.begunBy(ctx, text)
			if err == nil && got != want {
				return fmt.Errorf("it was at %s, not at %s", got, want)
			}
			return err
		})
	}
}

// TestLostKept checks which work a broken ref of the attic is taken to have held: the newest that was
// kept, is here, and that nothing holds or is about to hold.
func TestLostKept(t *testing.T) {
	ctx, s, commits := began(t)
	held, restored := s.side(t, ctx, "held\n", commits[0]), s.side(t, ctx, "restored\n", commits[0])
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef("one", 1), New: held}}, ""))
	d := s.diagnosed(noBoard())
	d.kept[restored] = true
	for name, c := range map[string]struct {
		kept []plumbing.OID // oldest first
		want plumbing.OID
	}{
		"nothing":                    {nil, plumbing.ZeroOID},
		"the newest":                 {[]plumbing.OID{commits[0], commits[1], ""}, commits[1]},
		"the attic holds the newest": {[]plumbing.OID{commits[0], held}, commits[0]},
		"another ref is to hold it":  {[]plumbing.OID{commits[0], restored}, commits[0]},
		"the newest is not here":     {[]plumbing.OID{commits[0], plumbing.OID(strings.Repeat("1", 40))}, commits[0]},
	} {
		task := &board.Task{ID: "one"}
		for _, commit := range c.kept {
			task.History = append(task.History, board.Event{Kept: string(commit)})
		}
		insist(t, ctx, name, func(ctx context.Context) error {
			got, err := d.lostKept(ctx, task)
			if err == nil && got.OrZero() != c.want {
				return fmt.Errorf("it is %s, not %s", got, c.want)
			}
			return err
		})
	}
}

// TestBrokenParts interrupts the search for broken refs and their repair, and checks where they are
// then.
func TestBrokenParts(t *testing.T) {
	const integration = "refs/heads/integration"
	type refs = map[string]plumbing.OID
	for name, c := range map[string]struct {
		before func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID)
		want   func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs
	}{
		"integration, beside what the attic lacks": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				beside := s.side(t, ctx, "beside\n", commits[0])
				s.reflog(t, integration, s.side(t, ctx, "also\n", commits[0]), beside, plumbing.OID(strings.Repeat("1", 40)), commits[0], commits[1])
				s.breaks(t, integration, "garbage\n")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{integration: commits[1], plumbing.AtticRef("integration", 1): s.side(t, ctx, "beside\n", commits[0]), plumbing.AtticRef("integration", 2): s.side(t, ctx, "also\n", commits[0]), plumbing.AtticRef("integration", 3): plumbing.ZeroOID}
			},
		},
		"integration, whose id is cut off": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.breaks(t, integration, string(commits[2][:20]))
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{integration: commits[2]}
			},
		},
		"integration, beside what the attic has": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				beside := s.side(t, ctx, "beside\n", commits[0])
				must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef("integration", 1), New: beside}}, ""))
				s.reflog(t, integration, beside, commits[1])
				s.breaks(t, integration, "")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{integration: commits[1], plumbing.AtticRef("integration", 2): plumbing.ZeroOID}
			},
		},
		"home": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.breaks(t, plumbing.HomeRef, "garbage\n")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{plumbing.HomeRef: plumbing.OID(testrun.RunGit(t, s.root, "rev-list", "--max-parents=0", plumbing.BoardRef))}
			},
		},
		"a lease": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.breaks(t, plumbing.LeaseRef("coder-1"), "")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{plumbing.LeaseRef("coder-1"): plumbing.NewObject(plumbing.BlobObject, []byte("not a lease\n")).OID}
			},
		},
		"a remote's branch": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.breaks(t, plumbing.TrackingRef("gone", "state"), "")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{plumbing.TrackingRef("gone", "state"): plumbing.ZeroOID}
			},
		},
		"kept work whose id is cut off": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.ready(t, ctx, "one") // which says nothing of it
				s.breaks(t, plumbing.AtticRef("one", 1), string(commits[1][:20]))
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{plumbing.AtticRef("one", 1): commits[1]}
			},
		},
		"what nothing else knows, and whose id is cut off": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.breaks(t, "refs/liza/unknown", string(commits[1][:20]))
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{"refs/liza/unknown": commits[1]}
			},
		},
		"the branch of a task": {
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) {
				s.ready(t, ctx, "one")
				s.reflog(t, "refs/heads/task/one", commits[1])
				s.breaks(t, "refs/heads/task/one", "")
			},
			func(t *testing.T, ctx context.Context, s *site, commits []plumbing.OID) refs {
				return refs{"refs/heads/task/one": commits[1]}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, s, commits := began(t)
			s.boarded(t, ctx, commits)
			c.before(t, ctx, s, commits)
			v, err := s.b.View(ctx)
			must(t, err)
			insist(t, ctx, "doctor", func(ctx context.Context) error {
				d := s.diagnosed(v)
				if err := d.brokenRefs(ctx); err != nil {
					return err
				}
				if err := d.restRefs(ctx); err != nil {
					return err
				}
				for _, p := range d.found {
					if p.Fix == nil || p.Hint != "" || p.Ref == "" || !strings.Contains(p.Text, p.Ref) || strings.HasPrefix(p.Ref, plumbing.AtticPrefix) && p.Task != "one" {
						t.Errorf("found %+v", p)
					}
					if err := p.Fix(ctx); err != nil {
						return err
					}
				}
				if used, is := ctx.(*testrepo.Interrupted); is && used.Used() {
					t.Errorf("it does not say that it was interrupted at %s", used.Place())
				}
				return nil
			})
			for ref, want := range c.want(t, ctx, s, commits) {
				s.points(t, ref, want)
			}
		})
	}
}

// reflog writes a reflog, by which a ref was at the commits.
func (s *site) reflog(t *testing.T, ref string, commits ...plumbing.OID) {
	t.Helper()
	text := ""
	for _, c := range commits {
		text += string(plumbing.ZeroOID) + " " + string(c) + " Ada <ada@example.org> 1750000000 +0000\tmoved\n"
	}
	path := filepath.Join(s.repo.CommonDir(), "logs", filepath.FromSlash(ref))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestByHand checks which broken refs are left to a person, and with which way out.
func TestByHand(t *testing.T) {
	const byHand = "a human who knows its commit writes the full id into "
	base := func(commits []plumbing.OID, _ plumbing.OID) plumbing.OID { return commits[0] }
	first := func(_ []plumbing.OID, root plumbing.OID) plumbing.OID { return root }
	for ref, c := range map[string]struct {
		hint string                                                       // "" for a ref that is not reported
		lost func(commits []plumbing.OID, root plumbing.OID) plumbing.OID // which commit is lost; nil for none
	}{
		"refs/heads/task/unknown": {byHand, nil},
		"refs/liza/unknown":       {byHand, nil},
		plumbing.BoardRef:         {"", nil}, // the whole board is restored first
		"refs/heads/integration":  {byHand, base},
		plumbing.HomeRef:          {historyFirst, first},
	} {
		t.Run(ref, func(t *testing.T) {
			ctx, s, commits := began(t)
			v := s.boarded(t, ctx, commits)
			root := v.Commit
			v = s.ready(t, ctx, "one")
			s.breaks(t, ref, "not an id, and long\n")
			if c.lost != nil {
				s = s.loses(t, ctx, c.lost(commits, root))
			}
			d := s.diagnosed(v)
			must(t, d.brokenRefs(ctx))
			if d.isReported(&git.BrokenRefError{Ref: ref}) != (c.lost != nil) {
				t.Error("those who look at the tasks do not know whether it is reported")
			}
			must(t, d.restRefs(ctx))
			switch {
			case c.hint == "" && len(d.found) == 0:
			case len(d.found) != 1 || d.found[0].Fix != nil || d.found[0].Ref != ref || !strings.Contains(d.found[0].Hint, c.hint):
				t.Errorf("found %+v", d.found)
			}
			if d.isReported(&git.BrokenRefError{Ref: ref}) != (c.hint != "") || d.isReported(&git.BrokenRefError{Ref: "refs/heads/other"}) {
				t.Error("whether it is reported is not known")
			}
		})
	}
	// So is a home that is missing, where the history is not whole.
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	root := v.Commit
	v = s.ready(t, ctx, "one")
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.LeaseRef("coder-1"), New: commits[1]}}, ""))
	_ = os.Remove(filepath.Join(s.repo.CommonDir(), filepath.FromSlash(plumbing.HomeRef)))
	d := s.loses(t, ctx, root).diagnosed(v)
	if err := d.missingHome(ctx); err != nil || len(d.found) != 1 || d.found[0].Kind != MissingHome || d.found[0].Fix != nil || d.found[0].Hint != historyFirst {
		t.Errorf("found %+v, %v", d.found, err)
	}
}

// TestStagedIsKept checks that staged content that is in none of a worktree's files is kept, once.
func TestStagedIsKept(t *testing.T) {
	for name, had := range map[string]bool{"the attic has other work": false, "the attic has it": true} {
		t.Run(name, func(t *testing.T) {
			ctx, s, commits := began(t)
			v := s.boarded(t, ctx, commits)
			path := s.path("one")
			must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
			must(t, os.WriteFile(filepath.Join(path, "new"), []byte("staged\n"), 0o644))
			testrun.RunGit(t, path, "add", "new")
			must(t, os.WriteFile(filepath.Join(path, "new"), []byte("later\n"), 0o644))
			staged := testrun.RunGit(t, path, "write-tree")
			before := s.side(t, ctx, "other\n", commits[0])
			if had {
				before = plumbing.OID(testrun.RunGit(t, s.root, "commit-tree", "-m", "staged", staged))
			}
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef("one", 1), New: before}}, ""))
			for range 2 {
				insist(t, ctx, "keepAgain", func(ctx context.Context) error {
					_, err := s.keepAgain(ctx, v, "one", path, path, board.HumanActor("Ada", "ada@example.org"), nil)
					if c, is := ctx.(*testrepo.Interrupted); is && err == nil && c.Used() {
						t.Errorf("it does not say that it was interrupted at %s", c.Place())
					}
					return err
				})
			}
			kept, err := s.attic(ctx, "one")
			must(t, err)
			times := 0
			for _, c := range kept.commits {
				if testrun.RunGit(t, s.root, "rev-parse", string(c)+"^{tree}") == staged {
					times++
				}
			}
			if times != 1 {
				t.Errorf("staged content is kept %d times, in %s", times, kept.commits)
			}
		})
	}
}

// TestPathsOnce checks that a path is named once for which git has two entries.
func TestPathsOnce(t *testing.T) {
	if got := paths([]git.StatusEntry{{Path: "a"}, {Path: "b"}, {Path: "a"}}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}

// TestMergesOfNothing checks that a dependency which can't be read has no merge.
func TestMergesOfNothing(t *testing.T) {
	if got := mergesBefore(noBoard(), &board.Task{DependsOn: []string{"unknown"}}); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestLostHeadOfRebase checks which line belongs into the HEAD of a worktree that has lost it.
func TestLostHeadOfRebase(t *testing.T) {
	const branch = "refs/heads/task/one"
	for name, c := range map[string]struct {
		rebases bool
		last    int // of the commits
		on      string
	}{
		"at a commit of the branch":           {false, 0, branch},
		"at a commit beyond the branch":       {false, 2, ""},
		"at a commit of the branch, rebasing": {true, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, s, commits := began(t)
			path := s.path("one")
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch, New: commits[1]}}, ""))
			must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
			record := git.LinkedDir(path)
			log := string(plumbing.ZeroOID) + " " + string(commits[c.last]) + " Ada <ada@example.org> 1750000000 +0000\tmoved\n"
			must(t, os.MkdirAll(filepath.Join(record, "logs"), 0o755))
			must(t, os.WriteFile(filepath.Join(record, "logs", "HEAD"), []byte(log), 0o644))
			if c.rebases {
				must(t, os.Mkdir(filepath.Join(record, "rebase-merge"), 0o755))
			}
			insist(t, ctx, name, func(ctx context.Context) error {
				must(t, os.WriteFile(filepath.Join(record, "HEAD"), nil, 0o644))
				want := string(commits[c.last])
				if c.on != "" {
					want = "ref: " + c.on
				}
				got, err := s.diagnosed(noBoard()).lostHead(ctx, "one", path)
				if err == nil && got != want {
					return fmt.Errorf("%q, not %q", got, want)
				}
				return err
			})
		})
	}
}

// TestUnlistedWorktrees checks that a diagnosis fails if git can't list the worktrees, unless it has
// found why: a record that is not finished.
func TestUnlistedWorktrees(t *testing.T) {
	ctx, s, commits := began(t)
	s.boarded(t, ctx, commits)
	shim := testrun.NewGit(t)
	diagnose := func() ([]Problem, error) {
		shim.Watch("worktree 1", "3 on")
		defer shim.Calls()
		return Diagnose(ctx, s.b)
	}
	if found, err := diagnose(); err == nil {
		t.Errorf("found %+v", found)
	}
	half := filepath.Join(s.repo.CommonDir(), "worktrees", "half")
	must(t, os.MkdirAll(half, 0o755))
	now := time.Now()
	found, err := diagnose()
	if time.Since(now) < git.LockAge && (err != nil || len(found) != 1 || found[0].Path != half || found[0].Hint == "") { // also on a slow machine
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestFixBesideBroken checks that a broken integration branch which was reported keeps nobody from
// looking at the other tasks, and one that was not does.
func TestFixBesideBroken(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	must(t, s.repo.Worktree(s.path("one")).Add(ctx, commits[0]))
	s.breaks(t, "refs/heads/integration", "garbage\n")
	fix := &board.Task{ID: "one", Status: board.Claimed, History: []board.Event{{Event: board.EventClaimedForFix}}}
	for _, reported := range []bool{false, true} {
		d := s.diagnosed(v)
		d.reported["refs/heads/integration"] = reported
		if err := d.fix(ctx, fix, s.path("one"), commits[0]); (err == nil) != reported || len(d.found) > 0 {
			t.Errorf("that it is broken is reported: %v; found %+v, %v", reported, d.found, err)
		}
	}
}

// TestNamelessElsewhere checks that a record which names no worktree is not set aside while its
// worktree may be anywhere: it is repaired from there.
func TestNamelessElsewhere(t *testing.T) {
	ctx, s, commits := began(t)
	s.boarded(t, ctx, commits)
	path := filepath.Join(t.TempDir(), "elsewhere")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	record := git.LinkedDir(path)
	must(t, os.WriteFile(filepath.Join(record, "gitdir"), nil, 0o644))
	must(t, os.Chtimes(record, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
	if found := s.damagedRecords(true); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}
