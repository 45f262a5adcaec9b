package merge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestRecordsOfMoves checks which records of moves are of a checkout that has not followed, which go
// because their move did not happen, and which stay because it still may.
func TestRecordsOfMoves(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top := b.Repo().TopLevel()
	run(t, top, "checkout", "-q", "integration")
	tip := run(t, top, "commit-tree", "-p", string(base), "-m", "landed", string(base)+"^{tree}")
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", string(tip))
	later := run(t, top, "commit-tree", "-p", string(tip), "-m", "not landed", string(base)+"^{tree}")
	gone, off := filepath.Join(t.TempDir(), "gone"), filepath.Join(t.TempDir(), "off")
	run(t, top, "worktree", "add", "-q", "--force", off, "integration")
	must(t, os.RemoveAll(off))
	const another = "another process"
	missing := plumbing.OID("1234567890123456789012345678901234567890")
	text := func(new plumbing.OID, process proc.ID, at time.Time, top string) string {
		return fmt.Sprintf("%s %s\n%s\n%s\n%s", base, new, process, board.At(at), top)
	}
	now, long := b.Now(), b.Now().Add(-forwardOver-time.Minute)
	dir := filepath.Join(b.Dir(), forwardDir)
	for name, c := range map[string]struct {
		text         string
		found, stays bool
	}{
		"the move happened": {text(tip, another, now, top), true, true},
		"long ago":          {text(tip, another, long, top), true, true},
		"it is no checkout of integration any more":         {text(tip, another, now, gone), false, false},
		"its checkout is away":                              {text(tip, another, long, off), false, true},
		"its checkout is away, and the move did not happen": {text(later, another, long, off), false, false},
		"the move may still happen":                         {text(later, another, now, top), false, true},
		"it has not happened in an hour":                    {text(later, another, long, top), false, false},
		"this process has not made it":                      {text(later, proc.This(), now, top), false, false},
		"its commit is missing, and it may be made":         {text(missing, another, now, top), false, true},
		"its commit is missing, and it is too late":         {text(missing, another, long, top), false, false},
		"it is cut short":                                   {"abc\n", false, false},
		"it names no commit":                                {text("x", another, long, top), false, false},
		"it names a branch":                                 {text("integration", another, long, top), false, false},
		"it has no time":                                    {fmt.Sprintf("%s %s\n%s\n\n%s", base, later, another, top), false, false},
		"it is being written":                               {"", false, true},
	} {
		must(t, os.MkdirAll(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "one"), []byte(c.text), 0o644))
		found := testrun.Must(left(ctx, b, v))(t)
		if is := len(found) == 1; is != c.found || is && (found[0].top != top || found[0].old != base || found[0].new != tip || found[0].tip != tip) {
			t.Errorf("%s: found %+v", name, found)
		}
		if _, err := os.Stat(filepath.Join(dir, "one")); (err == nil) != c.stays {
			t.Errorf("%s: %v", name, err)
		}
		must(t, os.RemoveAll(dir))
	}
	// A process lets only those checkouts follow that it has announced itself.
	must(t, os.MkdirAll(dir, 0o755))
	for name, process := range map[string]proc.ID{"own": proc.This(), "other": another} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text(tip, process, now, top)), 0o644))
	}
	if done, warnings := follow(ctx, b, v); !slices.Equal(done, []string{top}) || len(warnings) > 0 {
		t.Errorf("%q follow, %q", done, warnings)
	}
	if all, err := announcements(b); err != nil || len(all) != 1 || all[0].process != another {
		t.Errorf("left are %+v, %v", all, err)
	}
}

// TestRecordsUnreadable checks that nothing is announced, brought forward or reported as up to date
// while the records of moves can't be read.
func TestRecordsUnreadable(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top := b.Repo().TopLevel()
	run(t, top, "checkout", "-q", "integration")
	dir := filepath.Join(b.Dir(), forwardDir)
	everything := func(name string, cause error) {
		t.Helper()
		_, caughtUp := catchUp(ctx, b, v)
		_, diagnosed := Diagnose(ctx, b, ada())
		for what, err := range map[string]error{
			"announced": announced(ctx, b, v, base, base), "announced elsewhere": announced(ctx, b, v, v.Commit, base), "caught up": caughtUp, "diagnosed": diagnosed, "withdrawn": withdraw(b, base, base),
		} {
			if !errors.Is(err, cause) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if done, warnings := follow(ctx, b, v); len(done) > 0 || len(warnings) != 1 {
			t.Errorf("%s: %q followed, with %q", name, done, warnings)
		}
	}
	must(t, os.WriteFile(dir, nil, 0o644))
	everything("a file is in their place", syscall.ENOTDIR)
	if err := announce(b, []string{top}, base, base); err == nil {
		t.Error("a checkout is announced, and there is no record of it")
	}
	must(t, os.Remove(dir))
	must(t, os.MkdirAll(filepath.Join(dir, "one"), 0o755))
	everything("a folder is among them", syscall.EISDIR)
	must(t, os.RemoveAll(dir))
}

// TestAnnounced checks which checkouts a move announces: all but those that a record says to be
// behind already. Those of a move that has not happened, or that is being written, say nothing.
func TestAnnounced(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top, side := b.Repo().TopLevel(), filepath.Join(t.TempDir(), "side")
	run(t, top, "checkout", "-q", "integration")
	run(t, top, "worktree", "add", "-q", "--force", side, "integration")
	next := run(t, top, "commit-tree", "-p", string(base), "-m", "next", string(base)+"^{tree}")
	other := run(t, top, "commit-tree", "-p", string(base), "-m", "another", string(base)+"^{tree}")
	dir := filepath.Join(b.Dir(), forwardDir)
	must(t, os.MkdirAll(dir, 0o755))
	record := func(name string, process proc.ID, old, new plumbing.OID) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "%s %s\n%s\n%s\n%s", old, new, process, board.At(b.Now()), top), 0o644))
	}
	const another = "another process"
	record("waits", another, base, other)
	record(".new-1", another, base, next)
	must(t, os.WriteFile(filepath.Join(dir, ".new-2"), []byte("half of"), 0o644))
	must(t, announced(ctx, b, v, base, next))
	all := testrun.Must(announcements(b))(t)
	tops := map[string]bool{}
	for _, f := range all {
		if f.process == proc.This() && f.old == base && f.new == next {
			tops[f.top] = true
		}
	}
	if !tops[top] || !tops[side] || len(all) != 3 {
		t.Errorf("announced are %+v", all)
	}
	// Only what this process has announced for this move is withdrawn.
	record("same", another, base, next)
	record("elsewhere", proc.This(), base, other)
	record("from elsewhere", proc.This(), other, next)
	must(t, withdraw(b, base, next))
	left := map[string]bool{}
	entries := testrun.Must(os.ReadDir(dir))(t)
	for _, e := range entries {
		left[e.Name()] = true
	}
	for _, name := range []string{"waits", "same", "elsewhere", "from elsewhere", ".new-1", ".new-2"} {
		if !left[name] {
			t.Errorf("%s is withdrawn", name)
		}
	}
	testrun.Equal(t, len(left), 6, "left are %v", left)
}

// TestBehindElsewhere checks when doctor reports a checkout that has not followed: not before a
// process of which nobody can see whether it runs has had its time, and not while git can list no
// checkouts, since then that is the problem.
func TestBehindElsewhere(t *testing.T) {
	ctx, b, clock := begin(t)
	top := b.Repo().TopLevel()
	run(t, top, "commit", "-q", "--allow-empty", "-m", "first")
	base := run(t, top, "rev-parse", "HEAD")
	run(t, top, "branch", "integration")
	do(t, ctx, b, ada(), &board.Init{Goal: "A goal", IntegrationBranch: "integration"})
	run(t, top, "checkout", "-q", "integration")
	tip := run(t, top, "commit-tree", "-p", string(base), "-m", "landed", string(base)+"^{tree}")
	setIntegration(t, b, tip)
	must(t, b.Clone().Keep(forwardDir+"/one", fmt.Sprintf("%s %s\nanother process\n%s\n%s", base, tip, board.At(b.Now()), top)))
	reports := func(when string, want int) {
		t.Helper()
		found, err := Diagnose(ctx, b, ada())
		if err != nil || len(found) != want || want > 0 && (found[0].Kind != BehindCheckout || found[0].Path != top) {
			t.Errorf("%s: %+v (%v)", when, found, err)
		}
	}
	reports("at once", 0)
	clock.Pass(2 * time.Minute)
	reports("later", 1)
	side := filepath.Join(t.TempDir(), "side")
	run(t, top, "worktree", "add", "-q", "--detach", side)
	record := filepath.Join(b.Repo().CommonDir(), "worktrees", "side")
	must(t, os.WriteFile(filepath.Join(record, "commondir"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(record, "gitdir"), []byte(filepath.Join(top, ".git")+"\n"), 0o644)) // nobody knows whose it is
	long := time.Now().Add(-time.Hour)                                                                     // nobody is writing it
	must(t, os.Chtimes(record, long, long))
	if _, err := left(ctx, b, view(t, ctx, b)); !errors.As(err, new(*git.DamagedRecordError)) {
		t.Fatalf("a damaged record: %v", err)
	}
	reports("with a damaged record", 0)
}
