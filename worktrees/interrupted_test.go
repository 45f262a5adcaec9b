package worktrees_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// interruption is something that is interrupted at each place at which it uses git.
type interruption struct {
	name  string
	steps []step
	do    func(ctx context.Context, s *scene) (any, error)
}

// regardless are the functions in which an interruption keeps nothing from being done: where it is
// only asked whether a commit is here, whose counting or comparing then reports that; whether a record
// has a credential, for which it would be refused; and who the person here is, who needs no name.
var regardless = []string{"drift", "half", "hideSecrets", "Self"}

// silent reports whether an interruption at a place need not be reported.
func silent(place string) bool { return slices.Contains(regardless, within(place)) }

// within is the function in which a place is, without its package and type.
func within(place string) string {
	function, _, _ := strings.Cut(place, ":")
	parts := slices.DeleteFunc(strings.Split(function, "."), func(part string) bool { return strings.HasPrefix(part, "func") })
	return parts[len(parts)-1]
}

// insist is tried for what succeeds in the end.
func (s *scene) insist(do func(ctx context.Context) error) {
	s.t.Helper()
	s.check(s.tried(do))
}

// tried repeats something until it is not interrupted any more, and checks that it reports that each
// time. It returns the last error.
func (s *scene) tried(do func(ctx context.Context) error) error {
	s.t.Helper()
	return testrepo.Insist(s.ctx, ours, func(ctx context.Context) error {
		err := do(ctx)
		if c, is := ctx.(*testrepo.Interrupted); is && err == nil && c.Used() && !silent(c.Place()) {
			s.t.Errorf("it does not say that it was interrupted at %s", c.Place())
		}
		return err
	})
}

// interrupted interrupts uses of git in turn, those of the steps after an operation, too. A call
// that succeeds regardless has its whole effect. A call that fails, or warns, reports the
// interruption, and has its effect once it is repeated and doctor has repaired the rest.
func interrupted(t *testing.T, cases []interruption) {
	t.Helper()
	for i, c := range cases {
		if !testrun.OneIn(3, i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			testrun.NotShort(t)
			t.Parallel()
			want := ""
			attempt := func(place string) (result string, places []string) {
				s := copyOf(t, c.steps, filepath.Join(t.TempDir(), "Jürgens Projekt"))
				s.moved = true
				defer func() { s.b.Close() }()
				ctx := testrepo.InterruptedIn(s.ctx, ours, place)
				said, err := c.do(ctx, s)
				if err == nil && ctx.Used() && !silent(place) {
					t.Errorf("it does not say that it was interrupted at %s", place)
				}
				if err != nil && !strings.Contains(err.Error(), context.Canceled.Error()) {
					t.Errorf("it says, interrupted at %s: %v", place, err)
				}
				if err != nil {
					s.b.Close()
					s.b = s.open()
					var again error
					if said, again = c.do(s.ctx, s); again != nil {
						t.Errorf("interrupted at %s: %v; repeated: %v", place, err, again)
					}
				}
				result = fmt.Sprintf("%v\n%s", said, s.seen())
				if err != nil && result != want {
					_, unfixed := fixAll(s.ctx, s.problems())
					s.check(unfixed)
					result = fmt.Sprintf("%v\n%s", said, s.seen())
				}
				return result, ctx.Places()
			}
			var places []string
			want, places = attempt("")
			for i, place := range places {
				if !testrun.OneIn(64, i) {
					continue
				}
				if got, _ := attempt(place); got != want {
					t.Errorf("interrupted at %s, there is\n%s\nnot\n%s", place, got, want)
				}
			}
			t.Logf("%d places", len(places))
		})
	}
}

func asked(s *scene, agent string) gitboard.Request {
	return gitboard.Request{Actor: s.agent[agent], ID: "asked"}
}

func nothing(_ any, err error) (any, error) { return nil, err }

// moved has a human land a commit.
var moved = step{"moved", func(s *scene) {
	next := s.git(s.dir, "commit-tree", "-m", "another", "-p", "integration", "integration^{tree}")
	s.do(human(), &board.Land{Before: string(s.ref("refs/heads/integration")), Commit: next}, plumbing.RefUpdate{Ref: "refs/heads/integration", Old: s.ref("refs/heads/integration"), New: plumbing.OID(next)})
}}

// TestInterrupted interrupts what is done with a task before its merge.
func TestInterrupted(t *testing.T) {
	one := about("one")

	worked := step{"worked on one", func(s *scene) {
		s.preExec("coder-1", "one")
		s.work("one", "b.txt", "b\n")
		s.as("code-reviewer-1")
	}}
	dirty := step{"dirty one", func(s *scene) {
		s.preExec("coder-1", "one")
		s.work("one", "b.txt", "b\n")
		s.write(s.path("one"), "c.txt", "not committed\n")
	}}
	expired := step{"expired", func(s *scene) {
		s.as("coder-2")
		s.clock.pass(24 * time.Hour)
	}}
	blocked := step{"blocked", func(s *scene) {
		s.do(human(), &board.Block{About: one, Reason: "r"})
	}}
	handedIn := step{"handed in", func(s *scene) {
		s.submit("coder-1", "one")
		s.do(s.as("code-reviewer-1"), &board.ClaimReview{About: one})
	}}
	cleared := step{"cleared", func(s *scene) {
		s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	}}
	registered := step{"coder-1", func(s *scene) { s.as("coder-1") }}
	elsewhere := step{"elsewhere", func(s *scene) {
		testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Unblock{About: one, Mode: board.UnblockKeepWork}))(s.t)
		s.do(s.as("coder-2"), &board.Claim{About: one, Clone: "another"})
	}}
	interrupted(t, []interruption{
		{"claim", []step{ready("one"), registered}, func(ctx context.Context, s *scene) (any, error) {
			got, err := worktrees.Claim(ctx, s.b, worktrees.ClaimRequest{Request: asked(s, "coder-1")})
			if err != nil {
				return nil, err
			}
			return got.Task.ID, warned(got.Warnings, nil)
		}},
		{"submit", []step{ready("one"), claimed("coder-1", "one"), worked}, func(ctx context.Context, s *scene) (any, error) {
			_, warnings, err := worktrees.Submit(ctx, s.b, worktrees.SubmitRequest{Request: asked(s, "coder-1"), Task: "one"})
			return nil, warned(warnings, err)
		}},
		{"abandon", []step{ready("one"), claimed("coder-1", "one"), dirty, blocked}, func(ctx context.Context, s *scene) (any, error) {
			return nothing(worktrees.End(ctx, s.b, gitboard.Request{Actor: human(), ID: "asked"}, &board.Abandon{About: one, Reason: "not needed"}))
		}},
		{"take over", []step{ready("one"), claimed("coder-1", "one"), dirty, expired}, func(ctx context.Context, s *scene) (any, error) {
			return nothing(worktrees.Claim(ctx, s.b, worktrees.ClaimRequest{Request: asked(s, "coder-2"), Task: "one"}))
		}},
		{"tidy", []step{ready("one"), claimed("coder-1", "one"), dirty, blocked}, func(ctx context.Context, s *scene) (any, error) {
			if err := worktrees.Delete(ctx, s.b, human(), "one"); err != nil {
				return nil, err
			}
			tidied, err := worktrees.TidyAll(ctx, s.b, human())
			return len(tidied), err
		}},
		{"review elsewhere", []step{ready("one"), claimed("coder-1", "one"), worked, handedIn, cleared}, func(ctx context.Context, s *scene) (any, error) {
			v, err := s.b.View(ctx)
			if err != nil {
				return nil, err
			}
			one := *s.state().Task("one")
			one.Clone = "elsewhere"
			return nothing(worktrees.ForReview(ctx, s.b, v, &one))
		}},
		{"a fresh worktree", []step{ready("one"), claimed("coder-1", "one"), dirty}, func(ctx context.Context, s *scene) (any, error) {
			ada := human()
			if _, err := worktrees.Unlock(ctx, s.b, "one"); err != nil {
				return nil, err
			}
			return nothing(worktrees.Create(ctx, s.b, "one", &ada))
		}},
		{"diagnose", []step{ready("one"), claimed("coder-1", "one"), dirty}, func(ctx context.Context, s *scene) (any, error) {
			if err := os.Remove(filepath.Join(s.path("one"), ".git")); err != nil && !os.IsNotExist(err) {
				return nil, err
			}
			found, err := doctor.Diagnose(ctx, s.b)
			if err == nil {
				_, err = fixAll(ctx, found)
			}
			return nil, err
		}},
		{"claim a fix", append(conflicting(), conflicted, expired), func(ctx context.Context, s *scene) (any, error) {
			got, err := worktrees.Claim(ctx, s.b, worktrees.ClaimRequest{Request: asked(s, "coder-2")})
			if err != nil {
				return nil, err
			}
			return got.Conflicts, warned(got.Warnings, nil)
		}},
		{"status", []step{ready("one"), claimed("coder-1", "one"), dirty, moved}, func(ctx context.Context, s *scene) (any, error) {
			st, err := worktrees.StatusOf(ctx, s.b, "one")
			if err != nil {
				return nil, err
			}
			return st.Advice, nil
		}},
		{"make what another clone has", []step{ready("one"), claimed("coder-1", "one"), dirty, blocked, elsewhere}, func(ctx context.Context, s *scene) (any, error) {
			return nothing(worktrees.Create(ctx, s.b, "one", nil))
		}},
	})
}

// warned is the error of something that has warned.
func warned(warnings []string, err error) error {
	if len(warnings) == 0 {
		return err
	}
	return errors.Join(err, errors.New(strings.Join(warnings, "; ")))
}

// seen describes what there is of tasks: their states, refs and worktrees.
func (s *scene) seen() string {
	s.t.Helper()
	var b strings.Builder
	state := s.state()
	for _, t := range state.Tasks() {
		fmt.Fprintf(&b, "%s %s %s %d\n", t.ID, t.Status, t.AssignedTo, state.Task(t.ID).DriftCommits)
	}
	for _, v := range board.Violations(state) {
		fmt.Fprintln(&b, v)
	}
	b.WriteString(s.git(s.dir, "for-each-ref", "--format=%(refname) %(tree)", "refs/heads/task", "refs/heads/integration", "refs/liza/attic", "refs/liza/review"))
	fmt.Fprintf(&b, "\n%v\n", s.folders())
	for _, dir := range s.folders() {
		b.WriteString(s.git(filepath.Join(s.dir, ".worktrees", dir), "status", "--porcelain", "--branch") + "\n")
	}
	fmt.Fprintln(&b, len(s.problems()))
	return b.String()
}

// merged says what became of the tasks of a train.
func merged(all []*merge.Result, err error) (any, error) {
	text := ""
	for _, r := range all {
		text += fmt.Sprintln(r.Task, r.Merged, r.Failure)
		err = warned(r.Warnings, err)
	}
	return text, err
}

// TestInterruptedMerge interrupts what moves integration.
func TestInterruptedMerge(t *testing.T) {
	failed := step{"failed", func(s *scene) {
		s.set("integration_test", "false")
		testrun.Must(mergeOne(s.ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1"), Tasks: []string{"one"}}))(s.t)
	}}
	brought := step{"brought", func(s *scene) {
		s.git(s.dir, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/integration", taskRef("one"))
	}}
	landing := step{"landing", func(s *scene) {
		s.git(s.dir, "branch", "landing", s.git(s.dir, "commit-tree", "-m", "another", "-p", "integration", "integration^{tree}"))
	}}
	tested := step{"tested", func(s *scene) { s.set("integration_test", "test ! -e t2.txt") }}
	beside := step{"beside", func(s *scene) {
		s.git(s.dir, "worktree", "add", "-q", filepath.Join(s.dir, "beside"), "integration")
		s.git(s.dir, "worktree", "add", "-q", "--force", filepath.Join(s.dir, "gone"), "integration")
		s.check(os.RemoveAll(filepath.Join(s.dir, "gone")))
	}}
	other := step{"other", func(s *scene) { s.merge("other") }}
	drafts := []string{"specs/vision.md", "specs/new/page.md", "top.md", "mine.txt/inner.md"}
	drafted := step{"drafted", func(s *scene) {
		dir := filepath.Join(s.dir, "draft")
		s.git(s.dir, "worktree", "add", "-q", "-b", "landing", dir, "integration")
		s.check(os.Remove(filepath.Join(dir, "mine.txt"))) // a directory is in its place
		for _, name := range drafts {
			s.write(dir, name, "# "+name+"\n")
		}
		s.commitAll(dir, "drafted")
	}}
	finish := func(ctx context.Context, s *scene) (any, error) {
		all, err := merge.Finish(ctx, s.b, human())
		for _, f := range all {
			err = warned(f.Warnings, err)
		}
		return nil, err
	}
	interrupted(t, []interruption{
		{"merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), moved}, func(ctx context.Context, s *scene) (any, error) {
			got, err := mergeOne(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1"), Tasks: []string{"one"}})
			if err != nil {
				return nil, err
			}
			return got.Merged, warned(got.Warnings, nil)
		}},
		{"retry a merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), failed}, func(ctx context.Context, s *scene) (any, error) {
			return nothing(merge.Retry(ctx, s.b, asked(s, "code-reviewer-1"), "one"))
		}},
		{"finish a merge", []step{ready("one"), approved("coder-1", "one", "b.txt", "b\n"), brought}, finish},
		{"land", []step{ready("one"), landing}, func(ctx context.Context, s *scene) (any, error) {
			got, err := merge.Land(ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: human(), ID: "asked"}, Commit: "landing"})
			if err != nil {
				return nil, err
			}
			return nil, warned(got.Warnings, nil)
		}},
		{"merge a train", []step{ready("t1"), ready("t2"), approved("coder-1", "t1", "t1.txt", "1\n"), approved("coder-2", "t2", "t2.txt", "2\n"), tested, beside}, func(ctx context.Context, s *scene) (any, error) {
			return merged(merge.Train(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1")}))
		}},
		{"merge what conflicts", append(conflicting(), other), func(ctx context.Context, s *scene) (any, error) {
			return merged(merge.Train(ctx, s.b, merge.TrainRequest{Request: asked(s, "code-reviewer-1")}))
		}},
		{"land files", []step{ready("one"), beside, drafted}, func(ctx context.Context, s *scene) (any, error) {
			got, err := merge.Land(ctx, s.b, merge.LandRequest{
				Request: gitboard.Request{Actor: human(), ID: "asked"}, Commit: "landing", Files: drafts,
			})
			if err != nil {
				return nil, err
			}
			for _, name := range drafts {
				testrun.Equal(t, s.file(got.Commit, name), "# "+name+"\n", "%s did not land", name)
			}
			return nil, warned(got.Warnings, nil)
		}},
	})
}

// aged sets the time of a file or directory to half an hour ago, before any git process that is
// running now has started.
func (s *scene) aged(path string) {
	s.t.Helper()
	then := time.Now().Add(-30 * time.Minute)
	s.check(os.Chtimes(path, then, then))
}

func (s *scene) gitDirOf(task string) string {
	return strings.TrimSpace(s.git(s.path(task), "rev-parse", "--absolute-git-dir"))
}

// TestRecordWithoutCommit covers a git that was killed while adding a worktree, before that had a
// commit: git then neither fetches nor packs.
func TestRecordWithoutCommit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells who is left")
	}
	s := newScene(t, ready("one"))
	path := s.stranger(".claim-", "aaaa", "one", s.ref("refs/heads/integration"), s.dead())
	record := strings.TrimSpace(s.git(path, "rev-parse", "--absolute-git-dir"))
	head := filepath.Join(record, "HEAD")
	s.check(os.WriteFile(head, []byte(string(plumbing.ZeroOID)+"\n"), 0o644))
	s.aged(head)
	for _, name := range []string{"index", "logs", "ORIG_HEAD", "refs", "made-by-git-liza"} { // git writes them later
		s.check(os.RemoveAll(filepath.Join(record, name)))
	}
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	if len(found) != 1 || found[0].Kind != doctor.DamagedRecord || found[0].Fix == nil {
		t.Fatalf("found %+v", found)
	}
	s.check(found[0].Fix(s.ctx))
	s.git(s.dir, "rev-list", "--all")
	s.mended("left-candidate")
	s.claim("coder-1", "one")
}

// TestFixNotBegun covers an integration fix whose process was killed before it merged integration
// into the task branch.
func TestFixNotBegun(t *testing.T) {
	s := newScene(t, append(conflicting(), conflicted)...)
	got := s.claim("coder-2", "one")
	marked := s.read(got.Path, "b.txt")
	s.git(got.Path, "merge", "--abort")
	s.mended("fix-not-begun")
	if _, err := os.Stat(filepath.Join(s.gitDirOf("one"), "MERGE_HEAD")); err != nil || s.read(got.Path, "b.txt") != marked {
		t.Errorf("integration was not brought in: %v", err)
	}
	// A git that was killed during the merge left half of its files, and no MERGE_HEAD.
	s.git(got.Path, "merge", "--abort")
	s.write(got.Path, "b.txt", marked[:len(marked)/2])
	s.write(got.Path, "other_test.txt", "a test\n")
	found := s.problems()
	if len(found) != 1 || found[0].Kind != doctor.FixNotBegun || found[0].Fix != nil || !contains(found[0].Text, "b.txt") || !contains(found[0].Hint, "stash push --include-untracked") {
		t.Fatalf("found %+v", found)
	}
	s.git(got.Path, "stash", "push", "--quiet", "--include-untracked")
	s.mended("fix-not-begun")
	s.write(got.Path, "b.txt", "both\n")
	s.commitAll(got.Path, "merged")
	s.mended()
}

// TestClaimNotMovedIn covers a take-over whose process was killed before it replaced the former
// holder's worktree: doctor completes it, and so does the request when it is repeated.
func TestClaimNotMovedIn(t *testing.T) {
	for name, complete := range testrun.Some(2, map[string]func(s *scene){
		"doctor": func(s *scene) {
			s.mended("left-candidate", "missing-worktree")
			testrun.Equal(s.t, s.read(s.path("one"), "set-up.cache"), "costly\n", "the prepared worktree was not used")
		},
		"the request again": func(s *scene) {
			s.insist(func(ctx context.Context) error {
				_, err := worktrees.Claim(ctx, s.b, worktrees.ClaimRequest{Request: asked(s, "coder-2"), Task: "one"})
				return err
			})
			_, err := fixAll(s.ctx, s.problems()) // the earlier attempt's may be left
			s.check(err)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.write(s.path("one"), "left.txt", "left\n")
			former := strings.TrimSpace(s.read(s.path("one"), ".git"))
			base := s.ref("refs/heads/integration")
			s.clock.pass(time.Hour)
			s.as("coder-2")
			path := s.stranger(".claim-", "aaaa", "one", base, s.dead())
			said := s.read(s.b.Dir(), "claims/aaaa")
			events := len(s.state().Task("one").History)
			s.write(s.b.Dir(), "claims/aaaa", strings.Replace(said, "{", fmt.Sprintf(`{"replaces":{"worktree":%q,"agent":"coder-2","events":%d},`, former, events), 1))
			s.write(path, "set-up.cache", "costly\n")
			if found := s.problems(); len(found) != 1 || found[0].Kind != doctor.LeftCandidate {
				t.Errorf("before the claim: %+v", found)
			}
			clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
			_, err := s.b.Do(s.ctx, asked(s, "coder-2"), func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
				return &board.Claim{About: about("one"), Clone: clone, BaseCommit: string(base)}, []plumbing.RefUpdate{{Ref: taskRef("one"), Old: base, New: base}}, nil
			})
			s.check(err)
			s.stranger(".claim-", "bbbb", "one", base, s.dead()) // of an earlier attempt
			complete(s)
			if _, err := os.Stat(filepath.Join(s.path("one"), "left.txt")); err == nil || s.read(s.path("one"), "a.txt") == "" {
				t.Error("the worktree of the former holder is still there")
			}
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "left.txt") != "left\n" {
				t.Errorf("kept %v", kept)
			}
		})
	}
}

// TestMoveNotRecorded covers a process that was killed when it had moved a worktree to its place,
// and git's record of it still named the old one: whoever needs the worktree completes that.
func TestMoveNotRecorded(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "new", "work\n")
	for _, needs := range []func(){
		func() { s.mended(doctor.DamagedWorktree) },
		func() { testrun.Must(worktrees.Create(s.ctx, s.b, "one", nil))(s.t) },
		func() { // a human who releases it
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: about("one"), Force: true, Reason: "it is stuck"})
			s.check(err)
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "new") != "work\n" {
				s.t.Errorf("the attic has %v", kept)
			}
			s.claim("coder-2", "one")
		},
	} {
		s.write(s.gitDirOf("one"), "gitdir", filepath.Join(filepath.Dir(s.path("one")), ".claim-aaaa", ".git")+"\n")
		host := testrun.Must(os.Hostname())(s.t)
		s.write(s.b.Dir(), "claims/aaaa", fmt.Sprintf(`{"pid":%d,"host":%q,"task":"one","since":%q}`, os.Getpid(), host, s.clock.now().Format(time.RFC3339)))
		if _, err := worktrees.Create(s.ctx, s.b, "one", nil); err == nil {
			t.Error("the process that moves it is not waited for")
		}
		s.check(os.Remove(filepath.Join(s.b.Dir(), "claims", "aaaa")))
		needs()
		s.mended()
		s.lies("one")
		if out := s.git(s.dir, "worktree", "list", "--porcelain"); strings.Contains(out, "locked") {
			t.Errorf("left: %s", out)
		}
	}
}
