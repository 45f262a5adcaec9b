//go:build linux

package main

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A trouble is a network, a server or credentials that make a command fail.
type trouble struct {
	url  func(p *project, hub string) string // of the remote from now on
	push bool                                // only pushes meet the trouble
	env  func(t *testing.T) []string
	said string // by git, in the one line that a command prints
}

// TestNetworkTroubles: a command that the network fails ends in bounded time with exit code 3, has
// done nothing, and prints git's message in one line.
func TestNetworkTroubles(t *testing.T) {
	t.Parallel()
	var group sync.WaitGroup
	troubles := map[string]trouble{
		"a wrong password": {
			url: passing(nil), env: func(t *testing.T) []string { return settings(credentials(t, "open barley")...) },
			said: `Authentication failed for 'http://.*'`,
		},
		"no answer":                {url: silent("http"), said: `git push heard nothing for 3s`},
		"a push without an answer": {url: passing(stop("git-receive-pack", -1)), push: true, env: known, said: `git (push|fetch) heard nothing for 3s \(whether it was done shows when the remote is there again\)`},
	}
	for _, name := range slices.Sorted(maps.Keys(troubles)) {
		group.Go(func() {
			t.Run(name, func(t *testing.T) {
				c := troubles[name]
				c.strike(t)
			})
		})
	}
	group.Wait()
}

// strike runs a command that meets the trouble.
func (c *trouble) strike(t *testing.T) {
	f := newFleet(t, 1, plainPath)
	p := f.clones[0]
	if strings.Contains(c.said, "heard nothing") {
		p.git("config", "liza.networkTimeout", "3")
	}
	if c.env != nil {
		p.env = append(p.env, c.env(t)...)
	}
	asked := filepath.Join(t.TempDir(), "asked")
	p.env = append(p.env, "SSH_ASKPASS="+asker(t, asked), "DISPLAY=:0")
	key := "remote.origin.url"
	if c.push {
		key = "remote.origin.pushurl"
	}
	address := c.url(p, f.hub)
	p.git("config", key, address)
	before := p.git("rev-parse", "liza/state")
	begun := time.Now()
	out, errs, code := p.liza("", "note", "hello")
	if line := regexp.MustCompile(`^git liza: (append note: )?the remote origin: (` + c.said + `)\nhint: .*\n$`); code != 3 || out != "" || !line.MatchString(errs) {
		t.Errorf("exit %d after %s\n%s%s", code, time.Since(begun), out, errs)
	}
	if took := time.Since(begun); took > longest {
		t.Errorf("it took %s", took)
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("somebody was asked")
	}
	if c.push {
		p.git("config", "--unset", key)
	} else {
		p.git("config", key, f.hub)
	}
	p.talksAgain()
	if now := p.git("rev-parse", "liza/state"); now != before {
		t.Errorf("the board was at %s and is at %s", before, now)
	}
	f.agrees(0)
}

// talksAgain has a clone wait as long as usual for its remote, which is there again: a busy machine
// may be silent for seconds.
func (p *project) talksAgain() {
	p.t.Helper()
	if _, errs, code := p.run("", "git", "config", "--unset", "liza.networkTimeout"); code != 0 && code != 5 { // 5: it was not set
		p.t.Fatal(errs)
	}
}

// asker is a password prompt that records in a file that it was called.
func asker(t *testing.T, asked string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ask")
	testrun.Check(t, testrun.WriteProgram(path, "#!/bin/sh\n: >'"+asked+"'\nsleep 60\n"))
	return path
}

func known(t *testing.T) []string { return settings(credentials(t, password)...) }

// silent is the address of a server that accepts connections and never answers.
func silent(scheme string) func(*project, string) string {
	return func(p *project, _ string) string {
		t := p.t
		t.Helper()
		return scheme + "://" + listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).Addr().String() + "/x"
	}
}

// passing is the address of a hub behind a proxy that tampers with answers.
func passing(meddle func(w http.ResponseWriter, r *http.Request, pass http.Handler)) func(*project, string) string {
	return func(p *project, hub string) string {
		t := p.t
		t.Helper()
		behind := testrun.Must(url.Parse(serveHTTP(t, "/").URL))(t)
		proxy := httputil.NewSingleHostReverseProxy(behind)
		if meddle == nil {
			meddle = func(w http.ResponseWriter, r *http.Request, pass http.Handler) { pass.ServeHTTP(w, r) }
		}
		ctx, over := context.WithCancel(context.Background())
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			meddle(w, r.WithContext(ctx), proxy)
		}))
		t.Cleanup(func() { over(); s.CloseClientConnections(); s.Close() })
		return s.URL + hub
	}
}

// stop passes on that many bytes of a service's answers and then hangs; below zero, the service is
// not even asked.
func stop(service string, bytes int) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if part(w, r, pass, service, bytes) {
			<-r.Context().Done()
		}
	}
}

// part passes on whole every answer that isn't the service's, and reports whether it was the
// service's.
func part(w http.ResponseWriter, r *http.Request, pass http.Handler, service string, bytes int) bool {
	// With a body of 4 bytes git only probes for authentication.
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/"+service) || r.ContentLength == 4 {
		pass.ServeHTTP(w, r)
		return false
	}
	if bytes < 0 {
		_, _ = io.Copy(io.Discard, r.Body)
		return true
	}
	whole := httptest.NewRecorder()
	pass.ServeHTTP(whole, r)
	for key := range whole.Header() {
		w.Header().Set(key, whole.Header().Get(key))
	}
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:min(bytes, whole.Body.Len())])
	_ = http.NewResponseController(w).Flush()
	return true
}
