//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTortureClones: four clones write to one board behind a remote, whose server decides
// operations or runs nothing of git liza: by its path, by a URL, by a proxy that loses answers and
// falls silent, and from a slow machine. The remote's directory is renamed, everything in it that
// no ref names is deleted again and again, and processes that talk to it are killed with SIGKILL on
// both sides. Nobody cleans up after that. Everything acknowledged is on the board exactly once, and the
// clones agree.
func TestTortureClones(t *testing.T) {
	t.Parallel()
	eachHub(t, tortureClones)
}

func tortureClones(t *testing.T, made func(*project, int, func(string) string) *fleet) {
	f := made(newProject(t), 4, plainPath)
	f.clones[1].git("config", "remote.origin.url", fileURL(f.hub))
	lossy, losses := f.clones[2], &losses{}
	lossy.env = append(lossy.env[:len(lossy.env):len(lossy.env)], known(t)...)
	lossy.git("config", "liza.networkTimeout", "1")
	lossy.git("config", "remote.origin.url", passing(losses.some)(lossy, f.hub))
	f.clones[3].slowed()
	for _, p := range f.clones {
		p.env = append(p.env[:len(p.env):len(p.env)], "LIZA_TRACE=1")
	}

	l := &ledger{t: t, acks: map[string]string{}, last: time.Now()}
	stop := make(chan struct{})
	var troubles sync.WaitGroup
	var away, pruned, kills atomic.Int64
	f.every(&troubles, stop, 6, func() { f.unplug(); away.Add(1) })
	f.every(&troubles, stop, 4, func() {
		f.clones[0].run("", "git", "--git-dir="+f.hub, "gc", "-q", "--prune=now")
		pruned.Add(1)
	})
	f.every(&troubles, stop, 2, func() { kills.Add(int64(f.surely(f.kill))) })
	allCame := func() bool {
		return away.Load() > 0 && pruned.Load() > 0 && kills.Load() > 0 && losses.pushes.Load() > 0
	}
	var writers sync.WaitGroup
	for n, p := range f.clones {
		for twin := range 2 {
			writers.Go(func() {
				for i := 0; timeLeft(t) && !t.Failed(); i++ {
					request, since := fmt.Sprintf("clone-%d-%d-%d", n, twin, i), time.Now()
					if done, refused := f.ask(p, "", request, "note", "a word"); done != nil {
						l.ack(request, done["commit"].(string), since)
					} else {
						t.Errorf("%s: %s", request, refused)
					}
				}
			})
		}
	}
	writers.Wait()
	close(stop)
	troubles.Wait()
	lossy.git("config", "remote.origin.url", f.hub)
	lossy.talksAgain()
	for _, p := range f.clones {
		p.git("gc", "--quiet") // thousands of operations leave more loose objects than doctor lets pass
	}
	f.agrees(0)
	l.kills = int(kills.Load())
	l.holds(f.clones[0])
	t.Logf("the remote was away %d times and pruned %d times, %d children were killed, %d answers to pushes were lost", away.Load(), pruned.Load(), l.kills, losses.pushes.Load())
	if !allCame() {
		t.Error("not every trouble came")
	}
}

// losses counts the answers to pushes that were lost.
type losses struct{ pushes atomic.Int64 }

// some loses the answer to the first push and some later ones, cuts off some of those to a fetch,
// and lets some pushes hang.
func (l *losses) some(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	kind := rand.IntN(10)
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") && r.ContentLength != 4 {
		if l.pushes.Load() == 0 {
			kind = 0
		}
		if kind < 2 {
			l.pushes.Add(1)
		}
	}
	switch kind {
	case 0:
		cut("git-receive-pack", 0)(w, r, pass)
	case 1:
		stop("git-receive-pack", 0)(w, r, pass)
	case 2:
		cut("git-upload-pack", 40)(w, r, pass)
	default:
		pass.ServeHTTP(w, r)
	}
}

// slowed makes the remote answer a clone slowly.
func (p *project) slowed() {
	p.t.Helper()
	slow := filepath.Join(p.t.TempDir(), "slow")
	if err := testrun.WriteProgram(slow, "#!/bin/sh\nsleep 0.2\nexec git \"$(basename $0)\" \"$@\"\n"); err != nil {
		p.t.Fatal(err)
	}
	for setting, service := range map[string]string{"receivepack": "receive-pack", "uploadpack": "upload-pack"} {
		script := filepath.Join(filepath.Dir(slow), service)
		if err := os.Symlink(slow, script); err != nil {
			p.t.Fatal(err)
		}
		p.git("config", "remote.origin."+setting, script)
	}
}
