package worktrees

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestListed checks that a sentence names the first few of many paths, and counts the others.
func TestListed(t *testing.T) {
	for want, paths := range map[string]string{
		"": "", "a": "a", "a, b, c, d, e": "a b c d e", "a, b, c, d, e and 2 more": "a b c d e f g",
	} {
		testrun.Equal(t, Listed(strings.Fields(paths)), want, "the value")
	}
	if got := paths([]git.StatusEntry{{Code: "D ", Path: "a"}, {Code: "??", Path: "a"}}); len(got) != 1 {
		t.Errorf("a file that was taken out of the index is listed as %q", got)
	}
}

// TestUnsigned checks which commits of a submission are warned of: those without trailers of its
// task and of an agent, except merges.
func TestUnsigned(t *testing.T) {
	one := &board.Task{ID: "one"}
	var work []plumbing.Commit
	for i, message := range []string{
		"no trailers", "a merge", "of another\n\nLiza-Task: two\nLiza-Agent: coder-1\n", "of nobody\n\nLiza-Task: one\n", "signed\n\nLiza-Task: one\nLiza-Agent: coder-1\n",
	} {
		parents := make([]plumbing.OID, 1)
		if message == "a merge" {
			parents = make([]plumbing.OID, 2)
		}
		work = append(work, plumbing.Commit{OID: plumbing.OID(strings.Repeat(string(rune('0'+i)), 40)), Message: message, Parents: parents})
	}
	got := unsigned(one, work)
	if want := "no trailer in 0000000000, 2222222222, 3333333333 names who made it"; len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := unsigned(one, work[4:]); got != nil {
		t.Errorf("warned of a signed one: %q", got)
	}
}

// TestNamed checks which commit a person means: the expected one by its first few digits, or any
// revision.
func TestNamed(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/own", New: commits[1]}}, ""))
	expected := string(commits[0])
	lost := plumbing.OID(strings.Repeat("a", 40))
	for _, c := range []struct {
		rev      string
		expected plumbing.OID
		want     plumbing.OID // "" where it is refused
	}{
		{expected, commits[0], commits[0]},
		{expected[:4], commits[0], commits[0]},
		{"AAAA", lost, lost}, // though it is not here
		{"aaa", lost, ""},    // too short to be meant
		{"bbbb", lost, ""},
		{"own", commits[0], commits[1]},
		{string(commits[2]), commits[0], commits[2]},
		{"nonsense", commits[0], ""},
	} {
		got, err := s.named(ctx, c.rev, c.expected)
		refused := (*board.Refusal)(nil)
		if got != c.want || (err != nil) != (c.want == "") || err != nil && (!errors.As(err, &refused) || refused.Code != board.CodeStale || !strings.Contains(cmdline.Hint(refused.Hint), string(c.expected))) {
			t.Errorf("%q: %s %v", c.rev, got, err)
		}
	}
}

// TestLater checks that only commits after the approved one are counted, where the branch is here.
func TestLater(t *testing.T) {
	ctx, s, commits := began(t)
	for _, c := range []struct {
		tip  plumbing.OID
		want int
	}{{plumbing.ZeroOID, 0}, {commits[0], 0}, {commits[2], 2}} {
		if !c.tip.IsZero() {
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", New: c.tip}}, ""))
		}
		n, kept, err := Later(ctx, s.b, noBoard(), &board.Task{ID: "one", ReviewCommit: string(commits[0])})
		if n != c.want || strings.Contains(kept, plumbing.AtticPrefix+"one") != (n > 0) || err != nil {
			t.Errorf("at %s: %d %q %v", c.tip, n, kept, err)
		}
		if !c.tip.IsZero() {
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", Old: c.tip}}, ""))
		}
	}
}

// TestWork checks in which state a worktree's commit counts as a task's work.
func TestWork(t *testing.T) {
	ctx, s, commits := began(t)
	v := noBoard()
	const ref = "refs/heads/task/one"
	ours := Slot{Ours: true, Path: s.Path("one")}
	broken := errors.New("git failed")
	for _, c := range []struct {
		name string
		t    board.Task
		g    glance
		want board.ErrorCode
		says string
	}{
		{"on its branch", board.Task{}, glance{Slot: ours, Checkout: git.Checkout{Head: commits[0], Branch: ref}}, "", ""},
		{"in another clone", board.Task{Clone: "another"}, glance{}, board.CodeElsewhere, "in another clone"},
		{"gone", board.Task{Clone: s.Clone}, glance{}, board.CodeMissing, "the worktree of one is missing"},
		{"changed", board.Task{}, glance{Slot: ours, Checkout: git.Checkout{Head: commits[0], Branch: ref, Dirty: []git.StatusEntry{{Code: " M", Path: "a.txt"}}}}, board.CodeDirty, "a.txt"},
		{"without its branch", board.Task{}, glance{Slot: ours, Checkout: git.Checkout{Branch: ref, Dirty: []git.StatusEntry{{Code: "A ", Path: "a.txt"}}}}, board.CodeMissing, "task/one is missing"},
		{"on another branch", board.Task{}, glance{Slot: ours, Checkout: git.Checkout{Head: commits[0], Branch: "refs/heads/own"}}, board.CodeStale, "on own, not on task/one"},
		{"on none", board.Task{}, glance{Slot: ours, Checkout: git.Checkout{Head: commits[0]}}, board.CodeStale, "on a detached HEAD, not on task/one"},
	} {
		c.t.ID = "one"
		head, err := s.work(ctx, v, &c.t, c.g)
		refused := (*board.Refusal)(nil)
		switch {
		case c.want == "":
			if head != commits[0] || err != nil {
				t.Errorf("%s: %s %v", c.name, head, err)
			}
		case !errors.As(err, &refused) || refused.Code != c.want || refused.Task != "one" || !strings.Contains(refused.Message, c.says) || head != "":
			t.Errorf("%s: %s %v", c.name, head, err)
		}
	}
	if _, err := s.work(ctx, v, &board.Task{ID: "one"}, glance{Slot: ours, err: broken}); !errors.Is(err, broken) {
		t.Errorf("it can't be read: %v", err)
	}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, New: commits[0]}}, ""))
	must(t, os.WriteFile(filepath.Join(s.repo.CommonDir(), filepath.FromSlash(ref)), []byte("garbage\n"), 0o644))
	if _, err := s.work(ctx, v, &board.Task{ID: "one"}, glance{Slot: ours, Checkout: git.Checkout{Head: commits[0]}}); !errors.As(err, new(*git.BrokenRefError)) {
		t.Errorf("on none, and its branch can't be read: %v", err)
	}
	through := *s
	through.Bare = true
	if _, err := through.work(ctx, v, &board.Task{ID: "one"}, glance{Slot: ours, err: broken}); err == nil || errors.Is(err, broken) {
		t.Errorf("in a bare repository: %v", err)
	}
}
