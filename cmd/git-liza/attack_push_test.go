package main

import (
	"strings"
	"testing"
)

// TestPushesIntoAClone: a push into a clone moves none of the board's refs there. Git passes an
// agent's environment, and with it the hooks, to no repository that it pushes to, so the clone has
// to refuse by itself.
func TestPushesIntoAClone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.committed("parse.txt")
	s.ok("", "", "git update-ref refs/liza/review/parse/9 integration && git clone -q . ../other && git -C ../other commit -q --allow-empty -m elsewhere")
	const other = "../other"
	for _, c := range []struct{ name, agent, dir, script string }{
		{"integration, by the project's path", "coder-1", parse, `git push --no-verify "$(dirname "$PWD")/.." HEAD:integration`},
		{"integration and the board together", "coder-1", parse, "git push --no-verify --atomic ../.. HEAD:integration liza/state~1:refs/heads/liza/state"},
		{"the board", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/heads/liza/state"},
		{"a submission", "coder-1", parse, "git push --no-verify --force ../.. HEAD:refs/liza/review/parse/9"},
		{"another's branch, by its worktree", "coder-1", parse, "git push --no-verify --force ../print HEAD:task/print"},
		{"by a clone of the agent's own", "coder-1", parse, "git clone -q ../.. ../../../own && cd ../../../own && git commit -q --allow-empty -m mine && git push -q origin HEAD:integration; e=$?; rm -rf ../own; exit $e"},
		{"an object in another's place", "coder-1", parse, "git push --no-verify ../.. HEAD:refs/replace/$(git rev-parse integration)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.refs()
			if said, exit := s.sh(c.agent, c.dir, c.script); exit == 0 || !strings.Contains(said, " a hidden ref)") {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if after := s.refs(); after != before {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
		})
	}
	// A human's own branches and tags are accepted as before, and clones still see every ref.
	s.ok("", other, "git push -q origin HEAD:refs/heads/human HEAD:refs/tags/v1 && git fetch -q origin && git rev-parse -q --verify origin/integration && git ls-remote --exit-code origin refs/liza/review/parse/9")
	s.must("", "verify")
}

// TestServedClone: a clone accepts operations from others only after it has been configured to
// serve them.
func TestServedClone(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	config := p.git("config", "--local", "--list")
	p.git("config", "receive.denyNonFastForwards", "true")
	other := *p
	other.dir += " elsewhere"
	p.git("clone", "-q", ".", other.dir)
	other.must("", "init")
	tip := p.git("rev-parse", "liza/state")
	_, said, exit := other.liza("", "note", "hello")
	if exit != 3 || !strings.Contains(said, "hint: that repository takes no push to the board") || !strings.Contains(said, "git liza hooks install --served\n") {
		t.Errorf("exit %d\n%s", exit, said)
	}
	if now := p.git("rev-parse", "liza/state"); now != tip {
		t.Error("the note came there")
	}
	p.must("", "hooks", "install", "--served")
	other.must("", "note", "hello")
	p.must("", "note", "welcome")
	other.must("", "note", "thanks")
	if said := p.must("", "log"); strings.Count(said, "  note: ") != 3 {
		t.Error(said)
	}
	// hooks install only renews the hooks and leaves that setting alone.
	p.must("", "hooks", "install")
	other.must("", "note", "again")
	if said := p.must("", "hooks", "status"); !strings.Contains(said, "pushes from other clones to the board: taken\n") {
		t.Error(said)
	}
	p.must("", "hooks", "install", "--served=false")
	if _, said, exit := other.liza("", "note", "late"); exit != 3 {
		t.Errorf("exit %d\n%s", exit, said)
	}
	p.git("config", "--unset", "receive.denyNonFastForwards")
	if now := p.git("config", "--local", "--list"); now != config {
		t.Errorf("the settings\n%s\nwere\n%s", now, config)
	}
	p.must("", "hooks", "uninstall")
	other.must("", "note", "late")
	p.proven()
	other.proven()
}
