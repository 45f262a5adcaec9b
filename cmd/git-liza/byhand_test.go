//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
	if out := p.reads("goal", "list"); !strings.Contains(out, "COMPLETED") {
		t.Errorf("the goal is not reached:\n%s", out)
	}
	for _, id := range []string{"part-2", "extra"} {
		p.stands(id, "MERGED")
	}
	p.proven()
}
