package git

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCutMerge checks that a merge that a killed git or a full disk left unfinished is done again,
// and that a user's own changes are still refused and left alone.
func TestCutMerge(t *testing.T) {
	ctx, r := scratch(t)
	writeIn(t, r.TopLevel(), "gone.txt", "to go\n")
	writeIn(t, r.TopLevel(), "apart.txt", "apart\n")
	commitAll(t, r, "base")
	path := claim(t, ctx, r, "one")
	check(t, r.Settings().Exclude(".worktrees/"))
	writeIn(t, path, "both.txt", "ours\n")
	ours := plumbing.OID(testrun.CommitAll(t, path, "ours"))
	write(t, r, "both.txt", "theirs\n")
	write(t, r, "new.txt", "new in theirs\n")
	check(t, os.Remove(filepath.Join(r.TopLevel(), "gone.txt")))
	theirs := commitAll(t, r, "theirs")

	merge := func() ([]string, error) { return r.Worktree(path).MergeInto(ctx, theirs, "m", ada) }
	if conflicts := must[[]string](t)(merge()); len(conflicts) != 1 {
		t.Fatalf("conflicts: %v", conflicts)
	}
	if is := must[bool](t)(r.Worktree(path).Untouched(ctx, theirs)); is {
		t.Error("an open merge counts as one that was cut short")
	}
	marked := readIn(t, path, "both.txt")
	begun := func() { // all files are written, the index is not
		writeIn(t, path, "both.txt", marked)
		writeIn(t, path, "new.txt", "new in theirs\n")
		check(t, os.Remove(filepath.Join(path, "gone.txt")))
	}
	unopened := func() { // the index is written, MERGE_HEAD is not
		must[[]string](t)(merge())
		dir := must[string](t)(r.Worktree(path).gitDir(ctx))
		for _, file := range []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE"} {
			_ = os.Remove(filepath.Join(dir, file))
		}
	}
	files := func() map[string]string {
		all := map[string]string{}
		for _, name := range []string{"apart.txt", "both.txt", "gone.txt", "new.txt", "own.txt"} {
			data, _ := os.ReadFile(filepath.Join(path, name)) // "" if it does not exist
			all[name] = string(data)
		}
		return all
	}
	for name, c := range map[string]struct {
		left  func()
		owner bool // the change is a user's own
	}{
		"nothing":              {func() {}, false},
		"all files":            {begun, false},
		"half a file":          {func() { writeIn(t, path, "both.txt", marked[:len(marked)/2]) }, false},
		"an empty file":        {func() { writeIn(t, path, "new.txt", "") }, false},
		"a file gone":          {func() { check(t, os.Remove(filepath.Join(path, "gone.txt"))) }, false},
		"the index":            {unopened, false},
		"an own file":          {func() { begun(); writeIn(t, path, "own.txt", "mine\n") }, true},
		"an own change":        {func() { begun(); writeIn(t, path, "apart.txt", "mine\n") }, true},
		"an own deletion":      {func() { begun(); check(t, os.Remove(filepath.Join(path, "apart.txt"))) }, true},
		"an own resolution":    {func() { writeIn(t, path, "both.txt", "ours and theirs\n") }, true},
		"one that was staged":  {func() { writeIn(t, path, "both.txt", "mine\n"); native(t, path, "add", "both.txt"); begun() }, true},
		"a file that it takes": {func() { writeIn(t, path, "gone.txt", "mine\n") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			native(t, path, "reset", "-q", "--hard", string(ours))
			native(t, path, "clean", "-q", "-f", "-d")
			c.left()
			before := files()
			dirty := must[[]StatusEntry](t)(r.Worktree(path).Status(ctx))
			if is := must[bool](t)(r.Worktree(path).Untouched(ctx, theirs)); is == c.owner {
				t.Errorf("untouched: %v, with %v", is, dirty)
			}
			conflicts, err := merge()
			if !c.owner {
				if err != nil || strings.Join(conflicts, "|") != "both.txt" || readIn(t, path, "both.txt") != marked || readIn(t, path, "new.txt") != "new in theirs\n" {
					t.Errorf("merged again: %v %v", conflicts, err)
				}
				return
			}
			if failed := (*CommandError)(nil); !errors.As(err, &failed) {
				t.Errorf("merged: %v %v", conflicts, err)
			}
			if left := must[[]StatusEntry](t)(r.Worktree(path).Status(ctx)); !slices.Equal(left, dirty) || !maps.Equal(files(), before) {
				t.Errorf("refused, and left %v of %v", left, dirty)
			}
		})
	}
}

// TestUntouched checks what is not taken for the rest of a merge: changes before the first commit, and
// those beside a merge that nobody can look for.
func TestUntouched(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	write(t, r, "a.txt", "changed\n")
	real := must[string](t)(exec.LookPath("git"))
	path := os.Getenv("PATH")
	instead(t, `case "$*" in *rev-parse*) exit 3 ;; *) exec '`+real+`' "$@" ;; esac`)
	writeIn(t, r.GitDir(), "MERGE_HEAD", string(head)+"\n")
	if is, err := r.Worktree(r.TopLevel()).Untouched(ctx, head); is || exitCode(err) != 3 {
		t.Errorf("the git directory is not known: %v, %v", is, err)
	}
	t.Setenv("PATH", path)
	native(t, r.TopLevel(), "checkout", "-q", "--orphan", "other")
	if is, err := r.Worktree(r.TopLevel()).Untouched(ctx, head); is || err != nil {
		t.Errorf("before the first commit: %v, %v", is, err)
	}
	check(t, os.Remove(filepath.Join(r.TopLevel(), "a.txt")))
	native(t, r.TopLevel(), "read-tree", "--empty")
	if is, err := r.Worktree(r.TopLevel()).Untouched(ctx, head); !is || err != nil {
		t.Errorf("before the first commit, with nothing to commit: %v, %v", is, err)
	}
}
