//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// onlyBranches is the update hook of a host that accepts only branches, and lets them only grow.
const onlyBranches = `#!/bin/sh
case $1 in refs/heads/*) ;; *) echo "only branches" >&2; exit 1 ;; esac
case $2 in *[!0]*) ;; *) exit 0 ;; esac
git merge-base --is-ancestor $2 $3 || { echo "branches only grow" >&2; exit 1; }
`

// TestOnlyBranches: two clones share a board by a host that accepts only branches that grow. Of two
// claims one wins; the other clone takes the task over when the lease has expired, its rewritten
// second submission is merged, and the board verifies. The host is a hook that does what gitolite does, or
// gitolite itself.
func TestOnlyBranches(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	t.Run("an update hook", func(t *testing.T) {
		t.Parallel()
		h := newHost(t)
		h.bare()
		testrun.Check(t, testrun.WriteProgram(filepath.Join(h.hub, "hooks", "update"), onlyBranches))
		h.url = h.hub
		h.must("", "-C", h.hub, "hooks", "install", "--server")
		newFleetAt(h.project, 2, h.hub, h.url).lapse()
		h.must("", "-C", h.hub, "doctor")
		h.forgesLeases()
		h.hasOnlyBranches()
	})
	t.Run("gitolite's RW", func(t *testing.T) {
		t.Parallel()
		h := newHost(t)
		serveGitolite(h)
		f := newFleetAt(h.project, 2, h.hub, h.url)
		f.lapse()
		h.hasOnlyBranches()
		for _, p := range f.clones {
			p.hangsUp()
		}
	})
}

// hasOnlyBranches looks for the board's refs below liza, and for none in their usual place.
func (h *host) hasOnlyBranches() {
	h.t.Helper()
	refs := h.git("--git-dir="+h.hub, "for-each-ref", "--format=%(refname)")
	for _, want := range []string{"state", "home", "leases/coder-2", "review/only/2", "task/only"} {
		if !strings.Contains(refs, "refs/heads/liza/"+want+"\n") {
			h.t.Errorf("the host lacks liza/%s:\n%s", want, refs)
		}
	}
	if strings.Contains(strings.ReplaceAll(refs, "refs/liza/probe/", ""), "refs/liza/") {
		h.t.Errorf("the host has\n%s", refs)
	}
}

// forgesLeases pushes what the lock refuses as a lease, as the branch of one.
func (h *host) forgesLeases() {
	h.t.Helper()
	h.write("forever", `{"agent":"merge","session":"mine","expires":"9999-01-01T00:00:00Z","heartbeat":"2026-01-01T00:00:00Z"}`)
	h.write("entry", "100644 blob "+strings.TrimSpace(h.git("hash-object", "-w", "forever"))+"\tvalue\n")
	out, errs, code := h.run("", "sh", "-c", `o=$(git hash-object forever) && t=$(git mktree <entry) && git push origin main:refs/heads/liza/leases/merge
		c=$(printf "A ref of git liza's board, on a host that accepts only branches that grow\n\nLiza-Carries: $o\n" | git commit-tree $t) && git push origin $c:refs/heads/liza/leases/merge`)
	for _, want := range []string{"the object pushed to refs/liza/leases/merge is not a lease of it", "longer than a lease may"} {
		if code == 0 || !strings.Contains(errs, want) {
			h.t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
}

// lapse takes the only task through a lost lease and two submissions.
func (f *fleet) lapse() {
	f.t.Helper()
	f.addOnly()
	winner := f.claimsAtOnce()
	coder, its, other := coders[1-winner], f.clones[1-winner], f.clones[winner]
	for _, p := range f.clones {
		p.at(time.Now().Add(time.Hour))
	}
	if out := its.must(coder, "claim", "only"); !strings.Contains(out, "after an expired lease") {
		f.t.Errorf("the task is claimed with\n%s", out)
	}
	f.submits(coder, its, "commit", "first")
	other.must("code-reviewer-1", "claim-review", "only")
	other.must("code-reviewer-1", "verdict", "only", "REJECTED", "--commit", "refs/liza/remotes/origin/task/only",
		"--blocker", "only:1|too short|nobody reads it|write more", "--overall", "not yet", "--spec", "n/a", "--anomaly", "none")
	its.must(coder, "claim", "only")
	f.submits(coder, its, "commit --amend", "done")
	f.lands(its, other)
	for _, p := range f.clones {
		p.proven()
		p.must("", "doctor")
	}
}
