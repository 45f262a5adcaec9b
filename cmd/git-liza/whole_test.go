//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		testrun.Equal(p.t, task.Status, "MERGED", "%s is", task.ID)
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

// byHand is an agent without a supervisor or a memory: it knows what git liza prime prints, and the
// first line under Next: decides what it does.
const byHand = `
eval "$(git liza env "$1")"
id=$1 page=$SAID/$1.page all=$SAID/$1.all failed=0
act() { echo "$ $*" >>"$all"; "$@" >"$SAID/$id.act" 2>&1 || failed=$((failed + 1)); cat "$SAID/$id.act" >>"$all"; [ $failed -lt 20 ] || exit 9; }
field() { sed -n "s/^$1  *//p" "$page"; }
while git liza prime --wait >"$page" 2>&1 </dev/null; do
	cat "$page" >>"$all"
	next=$(sed -n '/^Next:$/{n;s/^  //;s/  # .*//;p;q;}' "$page")
	read -r _ _ _ task _ <<<"$next"
	file=$(field description) text=$(field 'done when')
	file=${file#Write } text=${text##* prints }
	case $next in
	'git liza prime --wait') echo >>"$SAID/$id.idle" ;;
	'nothing: the goal is COMPLETED') exit 0 ;;
	'git liza add-task --id '*)
		for n in 1 2; do
			act git liza add-task --id part-$n --desc "Write part-$n.txt" --spec specs/vision.md --done "cat part-$n.txt prints $n" --scope "IN: part-$n.txt"
		done ;;
	'git liza convert-discovery '*)
		act git liza add-task --id extra --desc 'Write extra.txt' --spec specs/vision.md --done 'cat extra.txt prints more' --scope 'IN: extra.txt' --depends part-2
		act ${next/TASK/extra} ;;
	'git liza finalize '* | 'git liza goal complete'* | 'git liza claim '* | 'git liza claim-review '* | 'git liza merge '*) act $next ;;
	'git liza pre-exec '*)
		act git liza pre-exec $task --intent "write $file" --validation "cat $file: $text" --file $file
		[ $file != part-2.txt ] || [ -n "$(field 'rejected for')" ] || text=wrong # as the reviewer has to see
		(cd "$(field worktree)" && echo $text >$file && git add $file && git commit -qm "Write $file")
		if [ $file = part-1.txt ]; then act git liza discover --during $task --desc 'extra.txt is missing, too' --severity low; fi ;;
	'git liza submit '*) act git liza submit $task --no-tests-because 'it is a text' ;;
	'git liza review '*)
		act $next
		if [ "$(git show $(field submitted):$file)" = $text ]; then act git liza verdict $task APPROVED --commit $(field submitted) --checked "cat $file"
		else act git liza verdict $task REJECTED --commit $(field submitted) --overall "not $text" --blocker "$file:1|not $text|so says done_when|write it" --spec n/a --anomaly none; fi ;;
	*) echo "what is this: $next" >>"$all"; exit 8 ;;
	esac
done
cat "$page" >>"$all"
exit 7
`

// TestTeamByHand: a planner, two coders and a reviewer without supervisors build a goal by what
// prime prints.
func TestTeamByHand(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	said := t.TempDir()
	p.env = append(p.env, "SAID="+said)
	agents := []string{"planner-1", "coder-1", "coder-2", "code-reviewer-1"}
	ended := make(chan error, len(agents))
	for _, id := range agents {
		cmd := exec.Command("bash", "-c", byHand, "agent", id)
		cmd.Dir, cmd.Env = p.dir, p.env
		go func() { ended <- cmd.Run() }()
	}
	late := time.After(longest)
	for range agents {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-late:
			t.Fatal("the goal is not reached")
		}
	}
	for _, id := range agents {
		idle, _ := os.ReadFile(filepath.Join(said, id+".idle"))
		all := testrun.Must(os.ReadFile(filepath.Join(said, id+".all")))(t)
		if n := bytes.Count(idle, []byte("\n")); n > 10 || len(all) > 60<<10 || t.Failed() {
			t.Errorf("%s had nothing to do %d times, and read %d bytes:\n%s", id, n, len(all), all)
		}
	}
	testrun.Contains(t, p.reads("goal", "list"), "COMPLETED", "the goal is not reached")
	for _, id := range []string{"part-2", "extra"} {
		p.stands(id, "MERGED")
	}
	p.proven()
}
