//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestInitKilled: an init that was killed has made a board with hooks, or none, and then it can be
// repeated, or doctor makes what it has begun whole.
func TestInitKilled(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	tries, takes := 6, 100*time.Millisecond
	if *testrun.Long {
		tries = 300
	}
	boards := 0
	for range tries {
		if !timeLeft(t) {
			break
		}
		p := newRepository(t)
		began := time.Now()
		if _, _, code := p.runFor(time.Duration(random.Int64N(int64(takes))), "", "git-liza", "init", "Build a calculator"); code == 0 {
			takes = (takes + time.Since(began)) / 2
		}
		if tip := p.git("for-each-ref", "refs/heads/liza/state"); tip == "" {
			// Git moves one ref after the other, and may have been killed between those of the board.
			if _, errs, code := p.liza("", "init", "Build a calculator"); code == 4 && strings.Contains(errs, "git liza doctor") {
				p.must("", "doctor", "--fix")
			} else if code != 0 {
				t.Errorf("again: exit %d\n%s", code, errs)
			}
		} else {
			boards++
		}
		if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
			t.Errorf("there is a board, and %s", said)
		}
		p.must("", "note", "a word")
		p.must("", "verify")
	}
	t.Logf("%d of %d had a board; one takes %v", boards, tries, takes.Round(time.Millisecond))
}

// TestBegunHalfway: git moves the refs of a board's first operation one after the other, and may end
// before the board, by a kill or a full disk. Then there is no board yet, and the same request
// begins it, exactly once.
func TestBegunHalfway(t *testing.T) {
	t.Parallel()
	imported := func(p *project) []string {
		old := newProject(t)
		old.addTask("alpha")
		old.must("coder-1", "claim", "alpha")
		p.write("state.yaml", old.must("", "export"))
		return []string{"import", "state.yaml"}
	}
	for name, begins := range map[string]func(*project) []string{
		"init":   func(*project) []string { return []string{"init", "Build a calculator"} },
		"import": imported,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newRepository(t)
			args := append(begins(p), "--request", "the-same")
			// No reflog can be written here: git finds that out when it comes to the board.
			log := filepath.Join(p.dir, ".git", "logs", "refs", "heads", "liza", "state")
			if err := os.MkdirAll(filepath.Join(log, "in the way"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(log, "in the way", "file"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, errs, code := p.liza("", args...); code != 3 {
				t.Fatalf("exit %d\n%s", code, errs)
			}
			refs := p.git("for-each-ref", "--format=%(refname)")
			for _, ref := range []string{"refs/heads/integration", "refs/liza/home"} {
				if !strings.Contains(refs, ref+"\n") {
					t.Fatalf("%s has not moved:\n%s", ref, refs)
				}
			}
			if strings.Contains(refs, "refs/heads/liza/state") {
				t.Fatalf("the board is there:\n%s", refs)
			}
			if err := os.RemoveAll(log); err != nil {
				t.Fatal(err)
			}
			if _, errs, code := p.liza("", "status"); code != 1 || !strings.Contains(errs, "there is no board here yet") {
				t.Errorf("status: exit %d\n%s", code, errs)
			}
			for range 2 {
				p.must("", args...)
			}
			if n := strings.Count(p.git("log", "--format=%s", "liza/state"), "\n"); n != 1 {
				t.Errorf("%d operations", n)
			}
			if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
				t.Error(said)
			}
			if out := p.must("", "doctor"); !strings.HasPrefix(out, "no problems found\n") {
				t.Error(out)
			}
			p.proven()
		})
	}
}

// TestJoinCutOff: a join that was killed when it had the board, and before the clone shared it, says
// how to continue.
func TestJoinCutOff(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, plainPath)
	q := f.clones[1]
	q.git("config", "--unset", "liza.remote")
	if _, errs, code := q.liza("", "init"); code != 1 || !strings.Contains(errs, "git liza share origin joins it") {
		t.Errorf("exit %d: %s", code, errs)
	}
	q.must("", "share", "origin")
	q.writesThere()
}

// writesThere checks that the next operation reaches the remote, and proves the board.
func (p *project) writesThere() {
	p.t.Helper()
	p.must("", "note", "a word")
	if here, there := p.git("rev-parse", "liza/state"), p.git("ls-remote", "origin", "liza/state"); !strings.HasPrefix(there, strings.TrimSpace(here)) {
		p.t.Errorf("the note is here at %s, and there is %s", here, there)
	}
	p.proven()
}

// TestShareOnFullDisks: a share that fails because the remote can't store the board, or because this
// clone can't take back what it has begun, is no reason for another remote, and can be repeated.
func TestShareOnFullDisks(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	hub := bareHub(p)
	p.git("remote", "add", "origin", hub)
	p.git("push", "-q", "origin", "main")
	if exec.Command("chattr", "+i", filepath.Join(hub, "objects")).Run() == nil {
		_, errs, code := p.liza("", "share", "origin")
		if err := exec.Command("chattr", "-i", filepath.Join(hub, "objects")).Run(); err != nil {
			t.Fatal(err)
		}
		if code != 3 || strings.Contains(errs, "share by another remote") {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
	lock := filepath.Join(p.dir, ".git", "refs", "liza", "home.lock") // a directory, which nothing removes
	hook := "#!/bin/sh\nif grep -q refs/heads/liza/state; then mkdir -p '" + filepath.Join(lock, "full") + "'; exit 1; fi\n"
	if err := testrun.WriteProgram(filepath.Join(hub, "hooks", "pre-receive"), hook); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := p.liza("", "share", "origin"); code == 0 {
		t.Errorf("it was shared: %s", errs)
	}
	if err := errors.Join(os.RemoveAll(lock), os.Remove(filepath.Join(hub, "hooks", "pre-receive"))); err != nil {
		t.Fatal(err)
	}
	if home := p.git("for-each-ref", "refs/liza/home"); home != "" {
		t.Fatalf("the board is at home here: %s", home)
	}
	p.must("", "share", "origin")
	p.writesThere()
}

// TestShareArrivedInPart: the remote's git was killed when it had moved some of a board's refs, and
// not the board. The remote has lost no board: the share can be repeated, and all arrives.
func TestShareArrivedInPart(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.committed("alpha", map[string]string{"alpha.txt": "alpha\n"})
	p.must("coder-1", "submit", "alpha")
	hub := bareHub(p)
	p.git("remote", "add", "origin", hub)
	p.git("push", "-q", "origin", "main", "integration", "refs/heads/liza/state:refs/liza/home")
	if _, errs, code := p.liza("", "share", "origin"); code != 4 || !strings.Contains(errs, "has lost its board") {
		t.Errorf("what this clone did not begin: exit %d: %s", code, errs)
	}
	p.git("update-ref", "-d", "refs/liza/home")
	p.write(".git/liza/sharing", "origin\n"+hub)
	p.must("", "share", "origin")
	there := p.git("ls-remote", "origin")
	for _, ref := range []string{"refs/heads/liza/state", "refs/heads/liza/task/alpha", "refs/liza/review/alpha/1", "refs/liza/leases/coder-1"} {
		if !strings.Contains(there, ref+"\n") {
			t.Errorf("%s is not there:\n%s", ref, there)
		}
	}
	p.must("code-reviewer-1", "claim-review", "alpha")
	if out := p.must("", "doctor"); !strings.HasPrefix(out, "no problems found\n") {
		t.Error(out)
	}
	p.proven()
}

// TestInitInTheWay: an init that fails before there is a board leaves no hooks, and can be repeated.
func TestInitInTheWay(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	p.write(".liza", "")
	if _, errs, code := p.liza("", "init", "Build a calculator"); code == 0 || !strings.Contains(errs, ".liza") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if tip := p.git("for-each-ref", "refs/heads/liza"); tip != "" {
		t.Errorf("there is a board: %s", tip)
	}
	p.git("clean", "-fdq", ".liza")
	p.must("", "init", "Build a calculator")
	if said := p.must("", "hooks", "status"); !strings.HasPrefix(said, "hooks: on, for agents") {
		t.Error(said)
	}
	q := newRepository(t)
	config := q.git("config", "--list", "--local")
	if _, _, code := q.liza("", "init", "Build a calculator", "--spec", "specs/none.md"); code != 1 {
		t.Errorf("exit %d", code)
	}
	if now := q.git("config", "--list", "--local"); now != config {
		t.Errorf("a refused init has changed the settings:\n%s\n%s", config, now)
	}
}
