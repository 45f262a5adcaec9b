//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestMoveThatFailed checks that a move is judged by where the worktree is, and that git's record of
// it is repaired.
func TestMoveThatFailed(t *testing.T) {
	const atEnd = `case "$*" in *"worktree move"*) for to; do from=$last last=$to; done; `
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"done, and reported as failed": {atEnd + `git "$@"; exit 3 ;; esac`, true},
		"the record is not written":    {atEnd + `mv "$from" "$to"; exit 3 ;; esac`, true},
		"and can't be repaired":        {atEnd + `mv "$from" "$to"; exit 3 ;; *"worktree repair"*) exit 4 ;; esac`, false},
		"nothing was moved":            {atEnd + `exit 3 ;; esac`, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, r := scratch(t)
			from, below := claim(t, ctx, r, "one"), filepath.Join(r.TopLevel(), ".worktrees", "below")
			check(t, os.Mkdir(below, 0o755)) // to another directory git moves it
			search := os.Getenv("PATH")
			inFront(t, c.script)
			err := r.Worktree(from).Move(ctx, filepath.Join(below, "two"))
			t.Setenv("PATH", search)
			if (err == nil) != c.want {
				t.Errorf("got %v", err)
			}
			w := must[[]WorktreeInfo](t)(r.Worktrees(ctx))[1]
			testrun.Equal(t, filepath.Base(w.Path) == "two", c.want, "git has %+v", w)
		})
	}
}

// TestNoRetryAfterTheEnd checks that an update that failed is not tried again after its context has
// ended.
func TestNoRetryAfterTheEnd(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	tries := filepath.Join(t.TempDir(), "tries")
	inFront(t, `case "$*" in *update-ref*) echo >>'`+tries+`'; exit 3 ;; esac`)
	if err := r.UpdateRefs(endsWith(ctx, tries), []plumbing.RefUpdate{{Ref: "refs/liza/x", New: head}}, ""); child.ExitCode(err) != 3 {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(readIn(t, filepath.Dir(tries), "tries"), "\n"); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
}

// TestReleasedLock checks that who waits for a lock notices that it is gone.
func TestReleasedLock(t *testing.T) {
	ctx, r := scratch(t)
	r.patience.Watch = time.Hour
	writeIn(t, r.common, "refs/heads/x.lock", "")
	lock := filepath.Join(r.common, "refs", "heads", "x.lock")
	if !r.Locks().Await(onLook{ctx, func() bool { _ = os.Remove(lock); return false }}, &BusyError{Paths: []string{lock}}) {
		t.Error("it is not free")
	}
}

// TestModulePublishedToTheEnd checks that nothing is said about a commit if the context ends while
// its remotes are asked.
func TestModulePublishedToTheEnd(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	fetched := filepath.Join(t.TempDir(), "fetched")
	inFront(t, `case "$*" in *"fetch --progress"*) echo >'`+fetched+`'; exit 1 ;; esac`)
	if _, err := r.ModulePublished(endsWith(ctx, fetched), r.TopLevel(), head); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestPrunedBeforeItIsKept: a prune deletes what git has just written for a snapshot, before it is
// kept. It is written anew; where that goes on and on, the snapshot fails.
func TestPrunedBeforeItIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		prunes int
		whole  bool
	}{
		"now and then":    {2, true},
		"again and again": {pruned, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, r := scratch(t)
			write(t, r, "a.txt", "changed\n")
			count := filepath.Join(t.TempDir(), "count")
			inFront(t, `case "$*" in *commit-tree*)
				git "$@" || exit; echo x >>'`+count+`'
				[ $(wc -l <'`+count+`') -gt `+strconv.Itoa(c.prunes)+` ] || git --git-dir='`+r.common+`' prune --expire=now
				exit 0 ;; esac`)
			id, err := r.Worktree(r.TopLevel()).Snapshot(ctx, "what was left", ada)
			if whole := err == nil; whole != c.whole || !whole && !errors.As(err, new(*DamagedError)) {
				t.Fatalf("%s %v", id, err)
			}
			if c.whole {
				native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", string(id))
			}
		})
	}
}

// TestPrunedBeforeTheRefMoves: prunes delete a commit while git waits for the updates. It is written
// anew; where that goes on and on, the error names the reason.
func TestPrunedBeforeTheRefMoves(t *testing.T) {
	for prunes, want := range map[int]string{pruned - 1: "", pruned: "wait until its prune or gc has ended"} {
		ctx, r := scratch(t)
		count, fifo := filepath.Join(t.TempDir(), "count"), filepath.Join(t.TempDir(), "fifo")
		check(t, exec.Command("mkfifo", fifo).Run())
		inFront(t, `case "$*" in *update-ref*)
			head -c 6 >/dev/null; echo x >>'`+count+`' # start, once the objects are written
			[ $(wc -l <'`+count+`') -gt `+strconv.Itoa(prunes)+` ] || git --git-dir='`+r.common+`' prune --expire=now
			exec 3<&0; { printf 'start\0'; exec cat <&3; } >'`+fifo+`' 2>/dev/null & git "$@" <'`+fifo+`'; exit ;; esac`)
		tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "a", Mode: filemode.Regular, OID: blob("a").OID}}))
		c := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Message: "m\n"}))
		err := r.WriteAndUpdate(ctx, []plumbing.Object{blob("a"), tree, c}, []plumbing.RefUpdate{{Ref: "refs/heads/x", New: c.OID}}, "")
		if want == "" {
			check(t, err)
			native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", "refs/heads/x")
		} else if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("after %d prunes: %v", prunes, err)
		}
	}
}
