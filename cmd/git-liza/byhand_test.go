//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
	task=$(echo "$next" | cut -d' ' -f4) file=$(field description | sed 's/^Write //') text=$(field 'done when' | sed 's/.* prints //')
	case $next in
	'git liza prime --wait') echo >>"$SAID/$id.idle" ;;
	'nothing: the goal is COMPLETED') exit 0 ;;
	'git liza add-task --id '*)
		for n in 1 2 3 4; do
			act git liza add-task --id part-$n --desc "Write part-$n.txt" --spec specs/vision.md --done "cat part-$n.txt prints $n" --scope "IN: part-$n.txt" $([ $n -le 3 ] || echo --depends part-$((n - 3)))
		done ;;
	'git liza convert-discovery '*)
		act git liza add-task --id extra --desc 'Write extra.txt' --spec specs/vision.md --done 'cat extra.txt prints more' --scope 'IN: extra.txt'
		act $(echo "$next" | sed s/TASK/extra/) ;;
	'git liza finalize '* | 'git liza goal complete'* | 'git liza claim '* | 'git liza claim-review '* | 'git liza merge '*) act $next ;;
	'git liza pre-exec '*)
		act git liza pre-exec $task --intent "write $file" --validation "cat $file: $text" --file $file
		[ $file != part-2.txt ] || [ -n "$(field 'rejected for')" ] || text=wrong # as the reviewer has to see
		(cd "$(field worktree)" && echo $text >$file && git add $file && git commit -qm "Write $file")
		if [ $file = part-3.txt ]; then act git liza discover --during $task --desc 'extra.txt is missing, too' --severity low; fi ;;
	'git liza submit '*) act git liza submit $task --no-tests-because 'it is a text' ;;
	'git liza review '*)
		act $next
		if [ ! -e "$SAID/busy" ]; then : >"$SAID/busy"; act git liza run -- sleep 6; fi
		if [ "$(git show $(field submitted):$file)" = $text ]; then act git liza verdict $task APPROVED --commit $(field submitted) --checked "cat $file"
		else act git liza verdict $task REJECTED --commit $(field submitted) --overall "not $text" --blocker "$file:1|not $text|so says done_when|write it" --spec n/a --anomaly none; fi ;;
	*) echo "what is this: $next" >>"$all"; exit 8 ;;
	esac
done
cat "$page" >>"$all"
exit 7
`

// TestTeamByHand: a planner, two coders and a reviewer without supervisors build a goal by what
// prime prints, while the reviewer is busy for longer than its lease; nobody counts as gone.
func TestTeamByHand(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.set("lease_duration_by_hand 4")
	said := t.TempDir()
	p.env = append(p.env, "SAID="+said)
	agents := []string{"planner-1", "coder-1", "coder-2", "code-reviewer-1"}
	ended := make(chan error)
	for _, id := range agents {
		cmd := exec.Command("bash", "-c", byHand, "agent", id)
		cmd.Dir, cmd.Env = p.dir, p.env
		go func() { ended <- cmd.Run() }()
	}
	seen := 0 // in how many looks in a row somebody counted as absent: a busy machine may be late for a moment
	absent := regexp.MustCompile(`\b(silent|gone|expired|gave up)\b|there is none`)
	for running, late := len(agents), time.After(longest); running > 0; {
		select {
		case err := <-ended:
			if running--; err != nil {
				t.Error(err)
			}
		case <-late:
			t.Fatal("the goal is not reached")
		case <-time.After(time.Second):
			var shown string
			for _, command := range [][]string{{"status"}, {"inbox"}, {"watch", "--once"}} {
				out, errs, _ := p.inside(command...)
				shown += out + errs
			}
			if seen++; !absent.MatchString(shown) {
				seen = 0
			}
			if seen > 3 {
				t.Errorf("somebody counts as absent:\n%s", shown)
			}
		}
	}
	for _, id := range agents {
		idle, _ := os.ReadFile(filepath.Join(said, id+".idle"))
		all := testrun.Must(os.ReadFile(filepath.Join(said, id+".all")))(t)
		if n := bytes.Count(idle, []byte("\n")); n > 10 || len(all) > 60<<10 || t.Failed() {
			t.Errorf("%s had nothing to do %d times, and read %d bytes:\n%s", id, n, len(all), all)
		}
	}
	if out := p.reads("goal", "list"); !strings.Contains(out, "COMPLETED") {
		t.Errorf("the goal is not reached:\n%s", out)
	}
	for _, id := range []string{"part-2", "extra"} {
		p.stands(id, "MERGED")
	}
	p.proven()
}

// TestPrimeWaitsForOtherClones: what happens in another clone of a shared board wakes an agent that
// waits.
func TestPrimeWaitsForOtherClones(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, plainPath)
	here, there := f.clones[0], f.clones[1]
	here.set("coder_poll_interval 1")
	there.must("", "sync")
	woken := make(chan string)
	go func() {
		out, errs, _ := there.liza("coder-1", "prime", "--wait", "300")
		woken <- out + errs
	}()
	for waits := ""; !strings.Contains(waits, "coder-1"); waits = here.reads("status") {
		here.must("", "sync")
	}
	here.addTask("alpha")
	if said := <-woken; !strings.Contains(said, "git liza claim alpha  # claimable") {
		t.Errorf("coder-1 reads\n%s", said)
	}
	there.must("coder-1", "claim", "alpha")
	f.agrees(1)
}
