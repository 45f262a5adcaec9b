package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestQueueFiles checks which file is a queue's, and that a wait that was given up lets others in.
func TestQueueFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "liza", "queue")
	first := open(t, path)
	if !first.Current() {
		t.Error("it is not the queue's file")
	}
	check(t, os.Rename(path, path+".old"))
	if first.Current() {
		t.Error("a file that was renamed is the queue's")
	}
	second := open(t, path)
	first.Drop()
	if first.Current() || !second.Current() {
		t.Error("another file is the queue's")
	}
	second.Drop()
	if _, err := os.Stat(path); err == nil {
		t.Error("the queue is still there")
	}
	check(t, first.Close())
	if check(t, os.WriteFile(path, nil, 0o644)); first.Current() {
		t.Error("a closed file is the queue's")
	}
	check(t, second.Close())

	leaver, next, last := open(t, path), open(t, path), open(t, path)
	check(t, leaver.Try())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	testrun.ErrorIs(t, next.Await(ended, Wait{}), context.Canceled, "after its context has ended")
	check(t, leaver.Close())
	check(t, last.Await(t.Context(), Wait{Most: time.Minute})) // the wait that was given up does not keep the lock
	check(t, last.Close())
}

// TestAwait checks how a wait ends beside a holder that does not give the lock back.
func TestAwait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	holder := open(t, path)
	check(t, holder.Try())
	is := func(when string, w Wait, want error) {
		t.Helper()
		if err := open(t, path).Await(t.Context(), w); !errors.Is(err, want) {
			t.Errorf("%s: %v, not %v", when, err, want)
		}
	}
	is("for a while", Wait{Most: time.Millisecond}, ErrLate)
	is("for a while, for its release", Wait{Release: true, Most: time.Millisecond}, ErrLate)
	stop := holder.Beat(time.Millisecond)
	is("while the holder shows progress", Wait{Most: 200 * time.Millisecond, Beat: 50 * time.Millisecond, Missed: 3}, ErrLate)
	stop()
	is("while it shows none", Wait{Beat: time.Millisecond, Missed: 2}, ErrReplaced)
	if holder.Current() {
		t.Error("later processes queue at it as well")
	}
	next := open(t, path)
	check(t, next.Await(t.Context(), Wait{Beat: time.Minute, Missed: 1}))
	late := open(t, path)
	next.Drop()
	testrun.ErrorIs(t, late.Await(t.Context(), Wait{Beat: time.Minute, Missed: 1}), ErrReplaced, "at a file that was dropped")
	check(t, next.Close())
	check(t, holder.Close())
}

// TestQueueWaits checks that who waits for a queue's lock does not get it before it is released.
func TestQueueWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	holder, next := open(t, path), open(t, path)
	check(t, holder.Try())
	inode := fmt.Sprintf(":%d ", testrun.Must(next.file.Stat())(t).Sys().(*syscall.Stat_t).Ino)
	waits := func() bool {
		for line := range strings.Lines(string(testrun.Must(os.ReadFile("/proc/locks"))(t))) {
			if strings.Contains(line, "->") && strings.Contains(line, inode) {
				return true
			}
		}
		return false
	}
	granted := next.Granted()
	for !waits() && len(granted) == 0 {
		runtime.Gosched()
	}
	check(t, holder.Close())
	check(t, <-granted)
	check(t, next.Close())
}

// TestQueueIsGivenBack checks that a queue's lock is free once its file is closed, although a child
// that is being started still has the file.
func TestQueueIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue")
	holder, next := open(t, path), open(t, path)
	check(t, holder.Try())
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{holder.file}
	in := testrun.Must(child.StdinPipe())(t)
	check(t, child.Start())
	holder.Close()
	check(t, next.Try())
	next.Close()
	check(t, in.Close())
	check(t, child.Wait())
}

func open(t *testing.T, path string) *File {
	t.Helper()
	return testrun.Must(Open(path, func(dir string) error { return os.MkdirAll(dir, 0o755) }))(t)
}

var check = testrun.Check
