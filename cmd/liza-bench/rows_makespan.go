package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// makespan is a row: teamwork whose makespan may exceed the ideal one by a factor.
type makespan struct {
	name string
	teamwork
	bar float64

	clones  int // that share the team by a hub, 0 for one without
	hub     hubKind
	distant bool
	faults  bool // a coder in eight crashes
}

var makespans = []makespan{
	{name: "24 tasks in 4 chains, 4 coders, 2 reviewers", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8}, bar: 1.10},
	{name: "24 tasks in 4 chains, 4 coders, 1 reviewer, a test of 4 s", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 1, code: 6, review: 2, test: 4, batch: 8}, bar: 1.15},
	{name: "8 tasks, 4 coders, 2 reviewers, a test of 20 s", teamwork: teamwork{dependsOn: chains(8, 8), coders: 4, reviewers: 2, code: 6, review: 2, test: 20, batch: 8}, bar: 1.10},
	{name: "60 tasks in 12 chains, 12 coders, 4 reviewers", teamwork: teamwork{dependsOn: chains(60, 12), coders: 12, reviewers: 4, code: 6, review: 2, test: 1, batch: 8}, bar: 1.25},
	{name: "24 tasks in 4 chains, 4 coders, 2 reviewers, faults", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8, reject: 5, killed: 30}, bar: 1.15, faults: true},
	{name: "24 tasks in 4 chains, two clones by a near hub", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8}, bar: 1.25, clones: 2},
	{name: "24 tasks in 4 chains, two clones by a distant hub", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8}, bar: 2, clones: 2, distant: true},
	{name: "24 tasks in 4 chains, two clones by a distant hub that sequences", teamwork: teamwork{dependsOn: chains(24, 4), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8}, bar: 2, clones: 2, hub: sequencingHub, distant: true},
	{name: "10 pairs that edit the same lines, declared", teamwork: teamwork{dependsOn: chains(20, 20), coders: 4, reviewers: 2, code: 6, review: 2, test: 1, batch: 8, pairs: true}, bar: 1.2},
}

// makespanOf returns the group of some of the rows.
func makespanOf(from, to int) func(*lab) error {
	return func(l *lab) error { return l.makespan(makespans[from:to]) }
}

// makespan lets teams of scripted agents finish tasks, against a scheduler without overhead that has
// a lane for merges.
func (l *lab) makespan(rows []makespan) error {
	for _, row := range rows {
		l.peak = 0
		s, err := l.project(fmt.Sprintf("makespan-%d", l.next()))
		if err == nil {
			err = s.prepare(row.teamwork)
		}
		if err != nil {
			return err
		}
		clones := []*site{s}
		if row.clones > 1 {
			if clones, err = s.shareOut(row.clones, row.hub, row.distant); err != nil {
				return err
			}
		}
		used, start := processorTime(), time.Now()
		if err := row.work(clones); err != nil {
			return err
		}
		took := time.Since(start)
		used = processorTime() - used
		own, err := row.agentsOwn(l)
		if err != nil {
			return err
		}
		if row.clones > 1 {
			if _, err := s.liza("", "sync"); err != nil {
				return err
			}
		}
		if _, err := s.liza("", "verify"); err != nil {
			return err
		}
		failures, err := s.git("log", "--format=%h", "--grep=: not merged:", plumbing.BoardRef)
		if err != nil {
			return err
		}
		l.row("makespan: "+row.name, samples{ms(took)}, samples{float64(1000 * row.ideal(false))}, "ideal", row.bar, 0)
		l.remark("%s: %.1f s; ideal with a lane for merges %d s, in reviewers' time %d s; %.2f s of processor time a task and %.2f s of the agents' own; %d MB at most; %d failed merges",
			row.name, took.Seconds(), row.ideal(false), row.ideal(true), used.Seconds()/float64(len(row.dependsOn))-own.Seconds(), own.Seconds(), l.peak>>20, len(strings.Fields(failures)))
	}
	return nil
}

// agentsOwn is the processor time that the scripted agents of one task cost without git liza: their
// shells and their git, in a repository without its hooks, the mean of ten tasks.
func (m makespan) agentsOwn(l *lab) (time.Duration, error) {
	s, err := l.project(fmt.Sprintf("agents-own-%d", l.next()))
	if err != nil {
		return 0, err
	}
	m.faults, m.reject = false, 0
	const n = 10
	start := processorTime()
	for i := range n {
		prompt := filepath.Join(s.dir, ".git", "prompt")
		if err := os.WriteFile(prompt, []byte("TASK ID: "+taskID(i)+"\n"), 0o644); err != nil {
			return 0, err
		}
		for _, agent := range []string{"coder-1", "code-reviewer-1"} {
			cmd := l.command(s.dir, "sh", "-c", `sleep() { command sleep 0; }; git() { test "$1" = liza || command git "$@"; }`+m.agent())
			cmd.Env = append(slices.Clone(cmd.Env), "LIZA_AGENT_ID="+agent, "LIZA_PROMPT_FILE="+prompt)
			if out, err := cmd.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%s without git liza: %w: %s", agent, err, out)
			}
		}
	}
	return (processorTime() - start) / n, nil
}

// shareOut shares a project's board by a hub, with so many clones in all.
func (s *site) shareOut(n int, kind hubKind, distant bool) ([]*site, error) {
	hub, err := s.l.share(s, kind)
	if err != nil {
		return nil, err
	}
	clones, err := s.l.clones(s, hub, n)
	for _, c := range clones {
		if _, failed := c.liza("", "sync"); failed != nil {
			err = errors.Join(err, failed)
		} else if distant {
			err = errors.Join(err, c.distance())
		}
	}
	return clones, err
}

// prepare makes a board with the tasks of teamwork.
func (s *site) prepare(w teamwork) error {
	set := [][]string{{"init", "--unattended", "To be measured"}, {"config", "set", "integration_test", fmt.Sprintf("sleep %d", w.test)}}
	for i, on := range w.dependsOn {
		var ids []string
		for _, d := range on {
			ids = append(ids, taskID(d))
		}
		add := []string{"add-task", "--id", taskID(i), "--desc", "Write a file", "--done", "it is there", "--scope", "IN: the file", "--spec", "specs/vision.md",
			"--kind", "doc", "--depends", strings.Join(ids, ","), "--ready"}
		if w.pairs {
			add = append(add, "--touches", fmt.Sprintf("pair-%d.txt", i/2))
		}
		set = append(set, add)
	}
	for _, args := range set {
		if _, err := s.liza("", args...); err != nil {
			return err
		}
	}
	return nil
}

// work lets a team in each clone finish the tasks: all have the same number of agents.
func (m makespan) work(clones []*site) error {
	n := len(clones)
	failed := make([]error, n)
	var all sync.WaitGroup
	for i, c := range clones {
		all.Go(func() {
			failed[i] = c.runTeam(m.killed, "--planners", fmt.Sprint(1-min(i, 1)), "--coders", fmt.Sprint(m.coders/n), "--reviewers", fmt.Sprint(m.reviewers/n), "--exec", m.agent())
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// runTeam runs a team until its goal is done. If killed is not 0, the team is killed after so many
// seconds, and started again.
func (s *site) runTeam(killed int, args ...string) error {
	for {
		cmd := s.l.command(s.dir, s.l.liza, append([]string{"team", "--quiet"}, args...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return err
		}
		if killed > 0 {
			time.AfterFunc(time.Duration(killed)*time.Second, func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		s.l.peak = max(s.l.peak, peakMemory(cmd.ProcessState))
		if err == nil {
			return nil
		}
		if killed == 0 {
			return fmt.Errorf("team: %w: %s", err, said.String())
		}
		killed = 0
	}
}

// agent is a scripted agent of any role.
func (m makespan) agent() string {
	file, edit, crash := "$task.txt", "echo $task", ":"
	if m.pairs {
		file = `pair-$((n / 2)).txt`
	}
	if m.faults {
		crash = `test $((n % 8)) != 7 || ! mkdir "$common/crashed-$task" 2>/dev/null || exit 1`
	}
	reject := "false"
	if m.reject > 0 {
		reject = fmt.Sprintf(`test $((n %% %d)) = %d && mkdir "$common/rejected-$task" 2>/dev/null`, m.reject, m.reject-1)
	}
	return fmt.Sprintf(`
task=$(sed -n 's/^TASK ID: //p' "$LIZA_PROMPT_FILE")
n=$((1${task##*-} - 100000))
common=$(git rev-parse --path-format=absolute --git-common-dir)
case $LIZA_AGENT_ID in
code-reviewer-*)
	sleep %d
	if %s; then
		git liza verdict $task REJECTED --commit $(git rev-parse HEAD) --blocker "$task.txt:1|too short|it says too little|say more" --overall 'Not yet.' --spec n/a --anomaly none
	else
		git liza verdict $task APPROVED --checked tests --commit $(git rev-parse HEAD)
	fi ;;
coder-*)
	%s
	git liza pre-exec $task --intent 'write it' --validation 'look at it' --file %[4]s &&
	sleep %d && %s >>%[4]s && git add %[4]s && git commit -q -m $task &&
	git liza submit $task ;;
esac`, m.review, reject, crash, file, m.code, edit)
}

// benchHuman measures what a human waits for who acts at once: from finalize to the claim, from an
// answer to the coder's next step, and from an approval to the test.
func benchHuman(l *lab) error {
	s, err := l.project("human")
	if err != nil {
		return err
	}
	begun := filepath.Join(l.dir, "test-begun")
	for _, args := range [][]string{
		{"init", "To be measured"}, {"config", "set", "integration_test", "touch " + begun},
		{"add-task", "--id", "task-0", "--desc", "Write a file", "--done", "it is there", "--scope", "IN: the file", "--spec", "specs/vision.md", "--kind", "doc"},
	} {
		if _, err := s.liza("", args...); err != nil {
			return err
		}
	}
	team := l.command(s.dir, l.liza, "team", "--quiet", "--planners", "1", "--coders", "1", "--reviewers", "1", "--exec", fmt.Sprintf(askingAgent, l.dir))
	if err := team.Start(); err != nil {
		return err
	}
	defer func() { _ = team.Process.Signal(os.Interrupt); _ = team.Wait() }()
	until := func(what string, is func() bool) error {
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				return fmt.Errorf("%s: not within a minute", what)
			}
		}
		return nil
	}
	onBoard := func(subject string) func() bool {
		return func() bool {
			out, err := s.git("log", "--format=%s", plumbing.BoardRef)
			return err == nil && strings.Contains(out, subject)
		}
	}
	there := func(file string) func() bool {
		return func() bool { _, err := os.Stat(file); return err == nil }
	}
	for _, step := range []struct {
		what  string
		after func() bool
		acts  [][]string
		then  func() bool
	}{
		{"finalize → claim", onBoard("register: code-reviewer-1"), [][]string{{"finalize", "task-0"}}, onBoard("claim(task-0)")},
		{"answer → the coder works", onBoard("block(task-0)"), [][]string{{"answer", "task-0", "blue"}}, there(filepath.Join(l.dir, "works"))},
		{"approve → the test begins", there(filepath.Join(l.dir, "reviews")), [][]string{{"claim-review", "task-0"}, {"verdict", "task-0", "APPROVED", "--checked", "tests", "--commit", "task/task-0"}}, there(begun)},
	} {
		if err := until("before "+step.what, step.after); err != nil {
			return err
		}
		for _, args := range step.acts {
			if _, err := s.liza("", args...); err != nil {
				return err
			}
		}
		start := time.Now()
		if err := until(step.what, step.then); err != nil {
			return err
		}
		took := max(time.Since(start), time.Millisecond)
		l.row("a human at once: "+step.what, samples{ms(took)}, samples{500}, "half a second", 0, 500)
	}
	return nil
}

// askingAgent is a coder that asks once, and a reviewer that leaves the verdict to the human. They
// note in a directory that they are done.
const askingAgent = `
task=$(sed -n 's/^TASK ID: //p' "$LIZA_PROMPT_FILE")
case $LIZA_AGENT_ID in
code-reviewer-*) git liza release $task --reason 'a human judges it' && touch %[1]s/reviews ;;
coder-*)
	if mkdir %[1]s/asked 2>/dev/null; then
		git liza block $task --reason 'the colour is open' --question 'Which colour?'; exit
	fi
	touch %[1]s/works
	git liza pre-exec $task --intent 'write it' --validation 'look at it' --file a.txt &&
	echo blue >a.txt && git add a.txt && git commit -q -m a && git liza submit $task ;;
esac`
