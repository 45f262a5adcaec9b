package worktrees_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// fixed makes a file that nobody can remove, as one of another user in a directory of its own, until
// the function that it returns is called with the path at which the file is then.
func (s *scene) fixed(dir, name string) (loosen func(path string)) {
	s.t.Helper()
	s.write(dir, name, "x\n")
	change := func(flag, path string) error { return exec.Command("chattr", flag, path).Run() }
	if err := change("+i", filepath.Join(dir, name)); err != nil {
		s.t.Skip("nothing can be made immutable here: ", err)
	}
	s.t.Cleanup(func() { _ = exec.Command("chattr", "-R", "-i", s.dir).Run() })
	return func(path string) {
		s.t.Helper()
		s.check(change("-i", path))
	}
}

// TestUnremovableFile: a file of a worktree that can't be removed is named when the work of a task
// ends, or begins anew. It is in nobody's way, and doctor reports it until it removes it.
func TestUnremovableFile(t *testing.T) {
	for i, end := range []string{"release", "a fresh worktree"} {
		if !testrun.OneIn(2, i) {
			continue
		}
		t.Run(end, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			loosen := s.fixed(s.path("one"), "below/x.cache")
			s.write(s.path("one"), "new", "work\n")
			if end == "release" {
				p := &board.Release{About: about("one"), Force: true, Reason: "it is stuck"}
				_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, p)
				if err == nil || !contains(err.Error(), "below/x.cache: operation not permitted") || !contains(err.Error(), "git liza doctor") || contains(err.Error(), "validation failed") {
					t.Errorf("%v", err)
				}
				s.claim("coder-2", "one")
			} else {
				who := human()
				path := testrun.Must(worktrees.Create(s.ctx, s.b, "one", &who))(s.t)
				if path != s.path("one") {
					t.Error(path)
				}
			}
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "new") != "work\n" {
				t.Errorf("the attic has %v", kept)
			}
			for range 2 { // a repair in vain loses nothing
				found := s.problems()
				if len(found) != 1 || found[0].Kind != doctor.LeftWorktree || found[0].Task != "one" {
					t.Fatalf("found %+v", found)
				}
				if err := found[0].Fix(s.ctx); err == nil || !contains(err.Error(), "below/x.cache: operation not permitted") {
					t.Errorf("%v", err)
				}
			}
			loosen(filepath.Join(s.problems()[0].Path, "below", "x.cache"))
			s.mended(doctor.LeftWorktree)
			s.lies("one")
		})
	}
}

// TestFixedWorktree: a worktree that can be neither moved nor removed, since nobody may write to the
// directory that it is in, stays what it is when its task ends. The next claim replaces it.
func TestFixedWorktree(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "new", "work\n")
	all := filepath.Dir(s.path("one"))
	fix := func(flag string) error { return exec.Command("chattr", flag, all).Run() }
	if err := fix("+i"); err != nil {
		t.Skip("nothing can be made immutable here: ", err)
	}
	t.Cleanup(func() { _ = fix("-i") })
	p := &board.Release{About: about("one"), Force: true, Reason: "it is stuck"}
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, p)
	s.check(fix("-i"))
	if err == nil || !contains(err.Error(), "it is done, but the worktree of one could not be removed (the next claim replaces it)") {
		t.Errorf("%v", err)
	}
	testrun.Equal(t, s.read(s.path("one"), "new"), "work\n", "it was emptied")
	s.mended()
	s.claim("coder-2", "one")
	if kept := s.attic("one"); len(kept) == 0 || s.file(kept[0], "new") != "work\n" {
		t.Errorf("the attic has %v", kept)
	}
	s.mended()
	s.lies("one")
}
