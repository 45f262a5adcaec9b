package worktrees_test

import (
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
)

func (s *scene) tidy(task string) error {
	s.t.Helper()
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	return worktrees.Tidy(s.ctx, s.b, v, human(), task)
}

// TestTidyWithoutSnapshot checks that a worktree whose work can't be kept is left in place with all
// its files.
func TestTidyWithoutSnapshot(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "work.txt", "nowhere else\n")
	// Git can't add a file that it can't filter.
	s.write(s.path("one"), ".gitattributes", "*.txt filter=broken\n")
	if err := s.tidy("one"); err == nil {
		t.Error("no error")
	}
	if got := s.read(s.path("one"), "work.txt"); got != "nowhere else\n" {
		t.Errorf("the work is %q", got)
	}
	s.lies("one")
}

// TestTidyAnAlias checks that no other branch is deleted in place of a task's branch that an agent has
// made a symbolic ref to it.
func TestTidyAnAlias(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	const integration = "refs/heads/integration"
	at := s.ref(integration)
	s.git(s.dir, "symbolic-ref", taskRef("one"), integration)
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.check(s.tidy("one"))
	if now := s.ref(integration); now != at {
		t.Errorf("integration is at %s, not at %s", now, at)
	}
	if left := s.ref(taskRef("one")); !left.IsZero() {
		t.Errorf("the branch is at %s", left)
	}
}

// TestTidyIntegrationsAlias checks that what integration has is kept where that is a symbolic ref to
// the branch that goes.
func TestTidyIntegrationsAlias(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	at := s.ref("refs/heads/integration")
	s.git(s.dir, "symbolic-ref", "refs/heads/integration", taskRef("one"))
	tip := s.work("one", "b.txt", "b\n")
	s.git(s.dir, "worktree", "remove", "--force", s.path("one"))
	s.check(s.tidy("one"))
	if kept := s.attic("one"); len(kept) != 1 || kept[0] != tip {
		t.Errorf("the attic has %v, not %s", kept, tip)
	}
	s.git(s.dir, "update-ref", "--no-deref", "refs/heads/integration", string(at))
}

// TestLeave checks that a clone without a board keeps as branches what integration lacks, and loses
// all else of ours.
func TestLeave(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), approved("coder-2", "two", "b.txt", "b\n"), ready("three"), claimed("coder-3", "three"))
	s.merge("two")
	s.write(s.path("one"), "new.txt", "new\n")
	if tasks := testrun.Must(worktrees.Unmerged(s.ctx, s.b, human()))(t); !slices.Equal(tasks, []string{"one"}) {
		t.Errorf("work of %q is not merged", tasks)
	}
	tip := s.ref("refs/heads/liza/state")
	branch := worktrees.KeptPrefix + "one/1"
	if kept := testrun.Must(worktrees.Leave(s.ctx, s.b, human()))(t); !slices.Equal(kept, []string{branch}) {
		t.Errorf("kept %q", kept)
	}
	if refs := s.git(s.dir, "for-each-ref", "--format=%(refname:short)"); refs != "integration\n"+branch+"\nmain" || s.file(s.ref("refs/heads/"+branch), "new.txt") != "new\n" {
		t.Errorf("left: %s", refs)
	}
	s.lies()
	s.git(s.dir, "update-ref", "refs/heads/liza/state", string(tip)) // for the end of the test
}
