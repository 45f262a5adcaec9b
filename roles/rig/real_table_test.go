//go:build linux

package rig

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// agents are the rows of the table: each CLI by its own adapter, and by the Agent Client Protocol.
var agents = []string{
	"claude", "claude-acp", "codex", "codex-acp", "gemini", "gemini-acp", "qwen", "qwen-acp", "opencode", "opencode-acp", "copilot", "copilot-acp", "kimi",
}

// table is the document that has the table.
var table = filepath.Join("..", "..", "specs", "tooling.md")

var update = flag.Bool("update", false, "rewrite the rows of the table")

// The cells of the table.
const (
	holds  = "yes"
	fails  = "no"
	fresh  = "new"    // a new conversation
	itself = "itself" // the CLI retries, which is shown
	called = "call"
	asked  = "command"
)

// TestRealTable plays the scenes with each agent and compares what happens with its row in the
// document: go test ./roles/rig -run RealTable -timeout 3h, with -update to write the rows.
func TestRealTable(t *testing.T) {
	for _, agent := range agents {
		t.Run(agent, func(t *testing.T) {
			real(t, agent)
			was := documented(t, agent)
			row := slices.Clone(was)
			t.Run("work", func(t *testing.T) { copy(row[1:], work(t, agent)) })
			t.Run("killed", func(t *testing.T) { copy(row[4:], killed(t, agent)) })
			t.Run("key", func(t *testing.T) { row[7] = wrongKey(t, agent) })
			t.Run("budget", func(t *testing.T) { row[8] = spends(t, agent) })
			t.Logf("| %s |", strings.Join(row, " | "))
			if !*update && !slices.Equal(row[1:], was[1:]) {
				t.Errorf("its row in %s is | %s |", table, strings.Join(was, " | "))
			}
			if *update {
				row[0] = "`" + agent + "` " + Version(agent)
				rewrite(t, was, row)
			}
		})
	}
}

// documented is an agent's row in the document: its name and version, and the cells of the scenes.
func documented(t *testing.T, agent string) []string {
	t.Helper()
	data := testrun.Must(os.ReadFile(table))(t)
	line := regexp.MustCompile("(?m)^\\| (`" + agent + "` [0-9].*) \\|$").FindStringSubmatch(string(data))
	if line == nil {
		t.Fatalf("%s has no row for %s", table, agent)
	}
	return append(strings.Split(line[1], " | "), make([]string, 8)...)[:9]
}

// rewrite puts a row in the place of another one.
func rewrite(t *testing.T, was, row []string) {
	t.Helper()
	data, err := os.ReadFile(table)
	if err == nil {
		old := "| " + strings.TrimRight(strings.Join(was, " | "), " |") + " |"
		err = os.WriteFile(table, bytes.Replace(data, []byte(old), []byte("| "+strings.Join(row, " | ")+" |"), 1), 0o644)
	}
	testrun.Check(t, err)
}

func cell(is bool) string {
	if is {
		return holds
	}
	return fails
}

// hears reports whether notes reach an agent after its next tool call.
func hears(agent string) bool {
	return agent == "claude" || agent == "kimi" || strings.HasSuffix(agent, "-acp")
}

// work plays a goal of two tasks. During the first one a note is left and its spec changes on
// integration; the second one is rejected once.
func work(t *testing.T, agent string) []string {
	const note = "The port is 8080"
	var s *scene
	var mu sync.Mutex
	since := -1 // requests of the coder since the note
	var told, named, section, continued bool
	message := fails
	goal := Goal([]string{"one", "two"}, "two")
	s = newScene(t, agent, func(c Conversation) Reply {
		mu.Lock()
		defer mu.Unlock()
		r := Read(c)
		section = section || strings.Contains(c.Body, "git liza prime` first")
		named = named || integration.MatchString(c.Prompt())
		if r.Role != "coder" {
			return goal.Play(c)
		}
		if r.Task == "two" {
			continued = continued || strings.Contains(c.Prompt(), "Liza Coder, continued") && strings.Contains(strings.Join(c.Prompts[:len(c.Prompts)-1], "\n"), "TASK ID: two")
			return goal.Play(c)
		}
		steps := Code(r)
		steps = append(append([]string{steps[0], "echo begun"}, steps[1:]...), "true")
		told = told || strings.Contains(c.Body, "your worktree lacks it")
		if since >= 0 {
			since++
		}
		if message == fails && strings.Contains(c.Body, note) {
			if message = called; since > 1 && !(hears(agent) && since == 2) {
				message = asked
			}
		}
		switch {
		case since < 0 && len(c.Results) == 1:
			since = 0
			s.leaves(note)
		case since == 1 && message == fails && hears(agent):
			return Reply{Hang: true} // until it is interrupted
		}
		return Script(func(Run) []string { return steps }).Play(c)
	})
	s.must(s.Liza, "init", "--agents")
	for _, args := range [][]string{{"git", "add", "."}, {"git", "commit", "-qm", "Agents"}, {s.Liza, "land", "main"}} {
		s.must(args...)
	}
	out, err := s.team()
	mu.Lock()
	defer mu.Unlock()
	done := err == nil && s.goal() == "COMPLETED"
	if !done || !told || !named || !section {
		t.Errorf("the goal is %s: %v; the changed spec is told: %t; integration is named: %t; the first request has the section: %t\n%s", s.goal(), err, told, named, section, out)
	}
	s.sound()
	same := fresh
	if continued {
		same = holds
	}
	input := 0
	for _, r := range s.model.Requests() {
		if r.Main {
			input += r.Bytes
		}
	}
	t.Logf("%s: %d requests, %d bytes", agent, len(s.model.Requests()), input)
	return []string{cell(done), same, message}
}

var integration = regexp.MustCompile(`(?m)^INTEGRATION: \S+ at [0-9a-f]{7,}`)

// leaves leaves a note for task one, and changes the spec on integration.
func (s *scene) leaves(note string) {
	err := s.Write("project/specs/vision.md", "# Vision\n\nPrograms that print their own names, each on one line.\n")
	for _, args := range [][]string{
		{s.Liza, "note", note, "--for", "one", "--now"}, {"git", "commit", "-qam", "One line"}, {s.Liza, "land", "--spec", "specs/vision.md"},
	} {
		if err == nil {
			_, err = s.Run(args...)
		}
	}
	if err != nil {
		s.t.Error(err)
	}
}

// patience is for how long a service is limited to a CLI that does not give up.
const patience = 130 * time.Second

// killed plays a task whose coder meets a limit, is killed, and loses its team.
func killed(t *testing.T, agent string) []string {
	var s *scene
	var mu sync.Mutex
	var died, resumed bool
	limit := fails
	var began time.Time
	ctx, end := context.WithTimeout(context.Background(), longest)
	defer end()
	team := make(chan struct{})
	log := func() string {
		data, _ := os.ReadFile(s.Project + "/.git/liza/logs/coder-1.log")
		return string(data)
	}
	s = newScene(t, agent, func(c Conversation) Reply {
		mu.Lock()
		defer mu.Unlock()
		r := Read(c)
		if r.Role != "coder" {
			return Goal([]string{"one"}, "").Play(c)
		}
		switch {
		case !strings.Contains(log(), "limited one: ") && !died && (began.IsZero() || time.Since(began) < patience):
			if began.IsZero() {
				began = time.Now()
			}
			return Reply{Status: 429, Error: "Rate limit reached for fake-model. Please try again in 10s.", Header: http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"3"}}}
		case !died && len(c.Results) == 1:
			died = true
			s.kill("coder-1")
			return Reply{Hang: true}
		case died && team != nil:
			resumed = len(c.Prompts) > 1
			close(team)
			team = nil
			return Reply{Hang: true}
		}
		return Goal([]string{"one"}, "").Play(c)
	})
	lost := team
	first := s.Command(ctx, s.Liza, "team", "--cli", agent, "--planners", "1", "--coders", "1", "--reviewers", "1")
	var out bytes.Buffer
	first.Stdout, first.Stderr = &out, &out
	testrun.Check(t, first.Start())
	ended := make(chan struct{})
	go func() {
		_ = first.Wait()
		close(ended)
	}()
	for waiting := true; waiting; {
		select {
		case <-lost:
			waiting = false
			_ = first.Process.Kill()
			<-ended
		case <-ended:
			waiting = false
		case <-time.After(time.Second):
			status, _ := s.Run(s.Liza, "status") // the next one may succeed
			switch {
			case strings.Contains(status, "limit of "+agent):
				limit = holds
			case limit == fails && strings.Contains(status, agent+" retries since "):
				limit = itself
			}
		}
	}
	again, err := s.teamUntil(ctx)
	mu.Lock()
	defer mu.Unlock()
	done := err == nil && s.goal() == "COMPLETED"
	if !done {
		t.Errorf("the goal is %s: %v\n%s\n--\n%s", s.goal(), err, out.String(), again)
	}
	s.sound()
	same := fails
	if died && team == nil {
		if same = fresh; resumed {
			same = holds
		}
	}
	return []string{limit, same, cell(done && team == nil)}
}

// kill kills the agent's process.
func (s *scene) kill(agent string) {
	data, err := os.ReadFile(filepath.Join(s.Project, ".git", "liza", "agents", agent, "process"))
	if err == nil {
		var pid int
		if pid, err = strconv.Atoi(strings.Fields(string(data))[0]); err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if err != nil {
		s.t.Error(err)
	}
}

// wrongKey plays a service that refuses the key.
func wrongKey(t *testing.T, agent string) string {
	s := newScene(t, agent, func(Conversation) Reply { return failures["unauthorized"] })
	ctx, end := context.WithTimeout(context.Background(), 3*time.Minute)
	defer end()
	out, err := s.teamUntil(ctx)
	exit := (*exec.ExitError)(nil)
	ends := errors.As(err, &exit) && exit.ExitCode() == 5 && strings.Contains(out, "can't work") && strings.Count(out, "started:") == 1
	if !ends {
		t.Errorf("%v\n%s", err, out)
	}
	s.sound()
	return cell(ends)
}

// spends plays a coder that calls tools endlessly.
func spends(t *testing.T, agent string) string {
	ctx, interrupt := context.WithTimeout(context.Background(), longest)
	defer interrupt()
	const most = 150_000
	var spent int
	var mu sync.Mutex
	s := newScene(t, agent, func(c Conversation) Reply {
		mu.Lock()
		defer mu.Unlock()
		r := Read(c)
		switch {
		case r.Trigger == "BLOCKED_TASKS", spent > 4*most:
			interrupt()
		case r.Role == "coder" && len(c.Results) > 0:
			spent += len(c.Body) / 4
			return Reply{Run: fmt.Sprintf("echo step %d", len(c.Results))}
		}
		return Goal([]string{"one"}, "").Play(c)
	})
	s.must(s.Liza, "config", "set", "budget_task_tokens", strconv.Itoa(most))
	out, _ := s.teamUntil(ctx)
	ends := s.read("tasks.one.blocked_reason") == "budget" && spent <= 2*most
	unknown := strings.Contains(out, "reports no tokens")
	if !ends && !unknown {
		t.Errorf("one is %s, and the model was sent about %d tokens of a budget of %d\n%s", s.read("tasks.one.status"), spent, most, out)
	}
	s.sound()
	if unknown {
		return "unknown"
	}
	return cell(ends)
}
