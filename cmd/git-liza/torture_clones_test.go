//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestTortureClones: four clones write to one board behind a remote with the server's lock: by its
// path, by a URL, by a proxy that loses answers and falls silent, and from a slow machine. The
// remote's directory is renamed, and processes that talk to it are killed with SIGKILL on both
// sides. Nobody cleans up after that. Everything acknowledged is on the board exactly once, and the
// clones agree.
func TestTortureClones(t *testing.T) {
	takesTurn(t)
	t.Parallel()
	f := newFleet(t, 4, plainPath)
	each := 1
	if *long {
		each = 1 << 30
	}
	f.clones[1].git("config", "remote.origin.url", fileURL(f.hub))
	lossy := f.clones[2]
	lossy.env = append(lossy.env[:len(lossy.env):len(lossy.env)], known(t)...)
	lossy.git("config", "liza.networkTimeout", "1")
	lossy.git("config", "remote.origin.url", passing(loseSome)(lossy, f.hub))
	f.clones[3].slowed()
	for _, p := range f.clones {
		p.env = append(p.env[:len(p.env):len(p.env)], "LIZA_TRACE=1")
	}

	l := &ledger{t: t, acks: map[string]string{}, last: time.Now()}
	stop := make(chan struct{})
	var troubles sync.WaitGroup
	f.every(&troubles, stop, 6, f.unplug)
	f.every(&troubles, stop, 2, func() { l.kills += f.kill() })
	var writers sync.WaitGroup
	for n, p := range f.clones {
		for twin := range 2 {
			writers.Go(func() {
				for i := 0; i < each && timeLeft(t) && !t.Failed(); i++ {
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
	f.agrees(0)
	l.holds(f.clones[0])
	t.Logf("the longest wait: %s", f.attempts)
}

// loseSome loses some of the answers to a push, cuts off some of those to a fetch, and lets some
// pushes hang.
func loseSome(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	switch rand.IntN(10) {
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
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nsleep 0.2\nexec git \"$(basename $0)\" \"$@\"\n"), 0o755); err != nil {
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
