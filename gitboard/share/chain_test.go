package share_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// gate holds the first push that arrives at the hub and counts all pushes.
type gate struct {
	w               *world
	came, go_, list string
}

func (w *world) gate() *gate {
	w.t.Helper()
	dir := w.t.TempDir()
	g := &gate{w, filepath.Join(dir, "came"), filepath.Join(dir, "go"), filepath.Join(dir, "list")}
	script := fmt.Sprintf("#!/bin/sh\necho push >>'%s'\n[ -e '%s' ] && exit 0\ntouch '%[2]s'\nwhile [ ! -e '%s' ]; do sleep 0.01; done\n", g.list, g.came, g.go_)
	w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", "pre-receive"), script))
	return g
}

// until waits until a condition holds that another goroutine or process brings about.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for !is() {
		select {
		case <-w.ctx.Done():
			w.t.Fatalf("it never came that %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func exists(file string) func() bool {
	return func() bool { _, err := os.Stat(file); return err == nil }
}

func (g *gate) open() { g.w.check(os.WriteFile(g.go_, nil, 0o644)) }

func (g *gate) pushes() int {
	text, err := os.ReadFile(g.list)
	g.w.check(err)
	return strings.Count(string(text), "push\n")
}

// queue starts a first operation, whose push the gate holds at the hub, and waiting operations
// behind it.
func (w *world) queue(g *gate, waiting int) (ended *sync.WaitGroup, errs []error) {
	w.t.Helper()
	ended, errs = &sync.WaitGroup{}, make([]error, waiting+1)
	for n := range waiting + 1 {
		queued := make(chan struct{})
		var once sync.Once
		c := w.open(w.a.Local().TopLevel()) // acts as a separate process
		ended.Go(func() {
			defer once.Do(func() { close(queued) })
			_, errs[n] = w.writeWith(c, note(fmt.Sprint("note ", n)), log.Batch{Queued: func() { once.Do(func() { close(queued) }) }})
		})
		<-queued
		if n == 0 {
			w.until("the first push comes", exists(g.came))
		}
	}
	return ended, errs
}

// TestTravelTogether checks that everything that waits during a push goes with the next one.
func TestTravelTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gate()
	const waiting = 5
	ended, errs := w.queue(g, waiting)
	if n, err := w.a.Waiting(w.ctx); n != waiting+1 || err != nil {
		t.Errorf("%d are on their way: %v", n, err)
	}
	before := w.a.here()
	if w.there() != before {
		t.Error("the hub has taken what is held")
	}
	g.open()
	ended.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if n := g.pushes(); n != 2 {
		t.Errorf("%d pushes", n)
	}
	if n, err := w.a.Waiting(w.ctx); n != 0 || err != nil {
		t.Errorf("%d are left: %v", n, err)
	}
	if left := filepath.Join(w.a.Local().CommonDir(), "liza", "pending"); exists(left)() {
		t.Errorf("left: %s", left)
	}
	w.end(waiting + 1)
}
