package gitboard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestViewHasSettings: a board whose settings can't be read is refused, to readers and to writers.
// Where they can, they stay at hand after another record could not be read.
func TestViewHasSettings(t *testing.T) {
	ctx, dir := context.Background(), begun(t)
	damage := func(path string) {
		t.Helper()
		repo := testrun.Must(git.Open(ctx, dir))(t)
		defer repo.Close()
		o := testrun.Must(repo.Object(ctx, plumbing.BoardRef+":"+path))(t)
		file := filepath.Join(dir, ".git", "objects", string(o.OID[:2]), string(o.OID[2:]))
		check(t, os.Chmod(file, 0o644))
		check(t, os.WriteFile(file, []byte("rubbish"), 0o644))
		check(t, os.RemoveAll(filepath.Join(dir, ".git", "liza", "kept")))
	}
	unread := func(err error, path string) {
		t.Helper()
		if record := (*log.RecordError)(nil); !errors.As(err, &record) || record.Path != path {
			t.Errorf("%v; want an error that names %s", err, path)
		}
	}

	damage(board.RecordPath(board.TaskDir, "alpha"))
	v := testrun.Must(open(t, dir, newClock()).View(ctx))(t)
	if v.State.Task("alpha") != nil {
		t.Error("a damaged task is read")
	}
	unread(v.State.Err(), board.RecordPath(board.TaskDir, "alpha"))
	if c := v.State.Config(); c == nil || c.IntegrationBranch != "integration" || v.TaskRef("alpha") != "refs/heads/task/alpha" {
		t.Errorf("after that the settings are %+v", c)
	}

	damage(board.ConfigPath)
	b := open(t, dir, newClock())
	_, err := b.View(ctx)
	unread(err, board.ConfigPath)
	_, err = b.ViewAt(ctx, plumbing.BoardRef)
	unread(err, board.ConfigPath)
	_, err = try(b, ada, "r", note("more"))
	unread(err, board.ConfigPath)
}
