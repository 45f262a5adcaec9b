//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// scripted is a program in place of an LLM: it reads its prompt and calls git and git liza
// accordingly. It commits each of its misdeeds once in a run; the seed chooses the tasks.
type scripted struct {
	prompt string
	dir    string // state that all agents of a run keep between starts
	deeds  map[string]string
	rough  bool // many agents are killed: work slowly, and ignore signals on some tasks
}

func init() { programs["scripted-agent"] = func() { os.Exit(scriptedAgent()) } }

// The misdeeds. If there are more of them than tasks, the last ones, which do not end a run, share
// a task with the first.
var (
	coderDeeds    = []string{"flood", "fork", "discover", "crash", "kill", "early", "handoff", "block", "unfinished", "unfinished-2", "stubborn"}
	reviewerDeeds = []string{"review-crash", "review-kill", "review-early"}
)

// dealt assigns the misdeeds to the tasks.
func dealt(seed uint64, tasks []string) map[string]string {
	random := rand.New(rand.NewPCG(seed, 0))
	deeds := map[string]string{}
	for _, all := range [][]string{coderDeeds, reviewerDeeds} {
		at := random.Perm(len(tasks))
		for i, deed := range all {
			deeds[deed] = tasks[at[i%len(at)]]
		}
	}
	return deeds
}

// scriptedAgent is the program. It learns its role and task from the prompt alone, and where its
// plan is and the seed from LIZA_SCRIPT_DIR and LIZA_SCRIPT_SEED.
func scriptedAgent() (code int) {
	a := &scripted{dir: os.Getenv("LIZA_SCRIPT_DIR")}
	defer func() {
		if failed := recover(); failed != nil {
			fault, is := failed.(scriptFault)
			if !is {
				panic(failed)
			}
			fmt.Fprintln(os.Stderr, fault.text)
			a.complain(fault.text)
			code = 1
		}
	}()
	text, err := os.ReadFile(os.Getenv("LIZA_PROMPT_FILE"))
	must(err)
	a.prompt = string(text)
	var seed uint64
	_, err = fmt.Sscan(os.Getenv("LIZA_SCRIPT_SEED"), &seed)
	must(err)
	a.deeds = dealt(seed, planned(a.plan()))
	if a.rough = os.Getenv("LIZA_SCRIPT_ROUGH") != ""; a.rough && rand.New(rand.NewPCG(seed, uint64(len(a.field("TASK ID"))))).IntN(2) == 0 {
		signal.Ignore(syscall.SIGTERM)
	}
	switch role := a.field("ROLE"); role {
	case "planner":
		return a.plans()
	case "coder":
		return a.codes()
	case "code_reviewer":
		return a.reviews()
	default:
		fail("it is asked to be a %q", role)
		return 1
	}
}

// scriptFault ends the agent: something contradicts its prompt.
type scriptFault struct{ text string }

func fail(format string, args ...any) { panic(scriptFault{fmt.Sprintf(format, args...)}) }

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

// complain leaves a message for the test.
func (a *scripted) complain(text string) {
	f, err := os.OpenFile(filepath.Join(a.dir, "complaints"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s: %s\n", os.Getenv("LIZA_AGENT_ID"), text)
}

// field is the value of a label in the prompt, "" if it is missing.
func (a *scripted) field(label string) string {
	for line := range strings.Lines(a.prompt) {
		if value, is := strings.CutPrefix(line, label+":"); is {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// below returns the lines that are indented below a label.
func (a *scripted) below(label string) (lines []string) {
	in := false
	for line := range strings.Lines(a.prompt) {
		switch {
		case strings.HasPrefix(line, label+":"):
			in = true
		case in && strings.HasPrefix(line, "  "):
			lines = append(lines, strings.TrimRight(line[2:], "\n"))
		default:
			in = false
		}
	}
	return lines
}

// once reports whether a misdeed is due on a task: the seed chose it, and no agent has committed it
// yet.
func (a *scripted) once(deed, task string) bool {
	return a.deeds[deed] == task && a.first(deed)
}

// first reports whether this is the first call with that name in the run.
func (a *scripted) first(deed string) bool {
	err := os.Mkdir(filepath.Join(a.dir, "did-"+deed), 0o755)
	if err != nil && !errors.Is(err, os.ErrExist) {
		must(err)
	}
	return err == nil
}

// run runs a command and returns its output and exit code.
func run(dir, name string, args ...string) (string, int) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fail("%s: %v", name, err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// liza calls git liza and retries after a lost race, as the prompt says.
func (a *scripted) liza(args ...string) string {
	if a.rough && a.field("TASK ID") != "" { // a planner would never finish its plan
		time.Sleep(rand.N(300 * time.Millisecond))
	}
	for try := 0; ; try++ {
		out, code := run("", "git", append([]string{"liza"}, args...)...)
		switch {
		case code == 0:
			return out
		case code == 2 && try < 3:
			time.Sleep(time.Second)
		default:
			fail("git liza %s: exit %d: %s", strings.Join(args, " "), code, out)
		}
	}
}

// git calls git in the worktree. A lock there is left over from a killed git, since only one agent
// works in it.
func (a *scripted) git(dir string, args ...string) string {
	for try := 0; ; try++ {
		out, code := run(dir, "git", args...)
		if code == 0 {
			return out
		}
		_, rest, locked := strings.Cut(out, "Unable to create '")
		lock, _, named := strings.Cut(rest, "': File exists")
		if !locked || !named || try > 0 {
			fail("git %s: exit %d: %s", strings.Join(args, " "), code, out)
		}
		must(os.Remove(lock))
	}
}

// kills ends the agent as a crash of the machine would.
func kills() {
	must(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	select {}
}

// step is a line of the plan.
type step struct {
	id, priority string
	depends      []string
}

// plan reads the plan: each line is a task, its priority and its dependencies.
func (a *scripted) plan() (steps []step) {
	text, err := os.ReadFile(filepath.Join(a.dir, "plan"))
	must(err)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 {
			steps = append(steps, step{f[0], f[1], f[2:]})
		}
	}
	return steps
}

func planned(steps []step) (ids []string) {
	for _, s := range steps {
		ids = append(ids, s.id)
	}
	return ids
}

// boardTask has the fields of a task that an agent reads.
type boardTask struct {
	ID, Status, Description string
	DoneWhen                string   `json:"done_when"`
	BlockedReason           string   `json:"blocked_reason"`
	FailedBy                []string `json:"failed_by"`
	History                 []struct{ Event string }
}

// tasks reads all tasks.
func (a *scripted) tasks() map[string]boardTask {
	var board struct{ Tasks []boardTask }
	must(json.Unmarshal([]byte(a.liza("read", "--json")), &board))
	tasks := map[string]boardTask{}
	for _, t := range board.Tasks {
		tasks[t.ID] = t
	}
	return tasks
}
