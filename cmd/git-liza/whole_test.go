//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// lasting checks what must hold of the project whatever has happened, once doctor has run.
func (s *stage) lasting(where string) (faults []string) {
	s.t.Helper()
	faults = s.whole(where, s.scene.work)
	if s.scene.then != nil {
		if err := s.scene.then(s.project); err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", where, err))
		}
	}
	if next := s.scene.next; next != nil {
		if out, errs, code := s.liza(next[0], next[1:]...); code != 0 {
			faults = append(faults, fmt.Sprintf("%s: then git liza %s: exit %d\n%s%s", where, strings.Join(next[1:], " "), code, out, errs))
		}
	}
	return faults
}

// whole has doctor repair everything and returns what is still wrong. work are files, with their
// content, that must exist somewhere.
func (p *project) whole(where string, work map[string]string) (faults []string) {
	p.t.Helper()
	wrong := func(format string, args ...any) {
		faults = append(faults, where+": "+fmt.Sprintf(format, args...))
	}
	sound := func(run func(...string) (string, string, int), args ...string) string {
		out, errs, code := run(args...)
		if code != 0 {
			wrong("git liza %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out
	}
	process := func(args ...string) (string, string, int) { return p.liza("", args...) }
	if found := sound(process, "doctor", "--fix"); !strings.HasPrefix(found, "no problems found\n") {
		sound(p.inside, "doctor", "--fix") // a lock that a killed git has left may have been too young for the first look
		sound(p.inside, "doctor")
	}
	sound(p.inside, "verify")
	sound(p.inside, "validate")
	if out, errs, code := p.run("", "git", "fsck", "--full"); code != 0 || strings.Contains(errs, "error") || strings.Contains(out, "missing") {
		wrong("git fsck: exit %d\n%s%s", code, out, errs)
	}
	for _, fault := range p.worktreesAsOnBoard() {
		wrong("%s", fault)
	}
	for name, text := range work {
		if !p.holds(name, text) {
			wrong("%s with %q is nowhere", name, text)
		}
	}
	return faults
}

// allMerged ends a test: every task is MERGED, and nothing is wrong.
func (p *project) allMerged() {
	p.t.Helper()
	for _, task := range p.board().Tasks {
		if task.Status != "MERGED" {
			p.t.Errorf("%s is %s", task.ID, task.Status)
		}
	}
	for _, fault := range p.whole("at the end", nil) {
		p.t.Error(fault)
	}
}

// worktreesAsOnBoard compares the worktrees with the board: each CLAIMED task has its own, on its
// branch, and nothing temporary is left.
func (p *project) worktreesAsOnBoard() (faults []string) {
	p.t.Helper()
	var board struct {
		Tasks []struct{ ID, Status string }
	}
	testrun.Check(p.t, json.Unmarshal([]byte(p.reads("read", "--json")), &board))
	status := map[string]string{}
	for _, t := range board.Tasks {
		status[t.ID] = t.Status
		if t.Status != "CLAIMED" {
			continue
		}
		out, _, code := p.run("", "git", "-C", ".worktrees/"+t.ID, "branch", "--show-current")
		if code != 0 || out != "task/"+t.ID+"\n" {
			faults = append(faults, fmt.Sprintf("%s is CLAIMED, and its worktree is on %q", t.ID, out))
		}
	}
	entries, err := os.ReadDir(filepath.Join(p.dir, ".worktrees"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if s := status[e.Name()]; e.Name() != ".integration" && (s == "" || s == "MERGED") {
			faults = append(faults, fmt.Sprintf(".worktrees/%s is left", e.Name()))
		}
	}
	for _, line := range strings.Split(p.git("worktree", "list", "--porcelain"), "\n") {
		if strings.HasPrefix(line, "prunable") || strings.HasPrefix(line, "locked") || strings.Contains(line, "/.claim-") || strings.Contains(line, "/.gone-") {
			faults = append(faults, "git worktree list: "+line)
		}
	}
	records, _ := os.ReadDir(filepath.Join(p.dir, ".git", "liza", "claims"))
	for _, r := range records {
		said, _ := os.ReadFile(filepath.Join(p.dir, ".git", "liza", "claims", r.Name()))
		faults = append(faults, fmt.Sprintf("a record of a worktree in the making is left: %s: %s", r.Name(), said))
	}
	if out := p.git("for-each-ref", "refs/liza/leases/merge"); out != "" {
		faults = append(faults, "the merge lease is left: "+out)
	}
	return faults
}

// holds reports whether a file with that text is in a task's worktree or reachable from a ref.
func (p *project) holds(name, text string) bool {
	p.t.Helper()
	found := testrun.Must(filepath.Glob(filepath.Join(p.dir, ".worktrees", "*", name)))(p.t)
	for _, path := range found {
		if data, _ := os.ReadFile(path); string(data) == text {
			return true
		}
	}
	var wanted strings.Builder
	for _, ref := range strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/liza/attic", "refs/liza/review", "refs/heads/task", "refs/heads/integration")) {
		fmt.Fprintf(&wanted, "%s:%s\n", ref, name)
	}
	cat := exec.Command("git", "cat-file", "--batch")
	cat.Dir, cat.Stdin = p.dir, strings.NewReader(wanted.String())
	out := testrun.Must(cat.Output())(p.t)
	return strings.Contains(string(out), fmt.Sprintf(" blob %d\n%s\n", len(text), text))
}
