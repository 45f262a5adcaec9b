//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fleet is a set of clones of one project that share its board by a bare remote.
type fleet struct {
	t      *testing.T
	hub    string
	clones []*project
}

// newFleet makes a project, and shares it by a hub with the server's lock on.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	first := prepared(t, "fleet", t.TempDir(), func(p *project) {
		p.founded()
		hub := hubOf(p)
		p.git("init", "-q", "--bare", "-b", "main", hub)
		p.must("", "-C", hub, "hooks", "install", "--server")
		newFleetAt(p, 1, hub, hub)
	})
	return &fleet{t: t, hub: hubOf(first), clones: []*project{first}}
}

// hubOf is the hub that lies in the same directory as a project.
func hubOf(p *project) string { return filepath.Join(filepath.Dir(p.dir), "hub.git") }

// bareHub makes a bare repository for a project.
func bareHub(p *project) string {
	p.t.Helper()
	hub := filepath.Join(p.t.TempDir(), "hub.git")
	p.git("init", "-q", "--bare", "-b", "main", hub)
	return hub
}

// newFleetAt is newFleet for an existing project and hub, which it clones by a URL until there are n
// clones.
func newFleetAt(first *project, n int, hub, url string) *fleet {
	t := first.t
	t.Helper()
	f := &fleet{t: t, hub: hub, clones: []*project{first}}
	first.git("remote", "add", "origin", url)
	first.git("push", "-q", "origin", "main")
	first.must("", "share", "origin")
	for i := 1; i < n; i++ {
		p := &project{t: t, dir: filepath.Join(t.TempDir(), fmt.Sprintf("clone %d", i)), env: first.env}
		first.git("clone", "-q", url, p.dir)
		p.must("", "init")
		f.clones = append(f.clones, p)
	}
	return f
}

// agrees ends a test: all clones end with the same board and the same integration, both verify, and
// each task was claimed once.
func (f *fleet) agrees(tasks int) {
	f.t.Helper()
	where := func(p *project) string { return p.git("rev-parse", "liza/state", "integration") }
	for _, p := range f.clones {
		p.must("", "sync")
	}
	at := where(f.clones[0])
	for _, p := range f.clones {
		if got := where(p); got != at {
			f.t.Errorf("%s is at\n%sand the first clone at\n%s", p.dir, got, at)
		}
		p.proven()
		p.must("", "doctor")
	}
	p := f.clones[0]
	claims := strings.Fields(p.git("log", "--format=%(trailers:key=Liza-Task,valueonly,separator=)", "--grep=^Liza-Op: claim$", "liza/state"))
	slices.Sort(claims)
	if len(slices.Compact(slices.Clone(claims))) != len(claims) || len(claims) != tasks {
		f.t.Errorf("%d tasks, and these claims: %v", tasks, claims)
	}
	if out, errs, code := p.run("", "git", "--git-dir="+f.hub, "fsck", "--full"); code != 0 {
		f.t.Errorf("the hub: %s%s", out, errs)
	}
}
