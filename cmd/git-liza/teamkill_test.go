//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTeamKilled: supervisors, each a process, reach a goal with scripted agents while both are
// killed at random. What dies is started again.
func TestTeamKilled(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	kills, plan := 300, longPlan(60)
	p, script := newGoal(t, plan)
	p.env = append(p.env, "LIZA_SCRIPT_ROUGH=1")
	for key, value := range map[string]string{
		"lease_duration": "10", "heartbeat_interval": "2", "pause_grace": "1",
		"coder_poll_interval": "2", "reviewer_poll_interval": "2", "planner_poll_interval": "2",
	} {
		p.must("", "config", "set", key, value)
	}
	began := time.Now()
	c := &crew{project: p, random: seeded(t), ended: make(chan *member), kills: kills, killed: map[string]int{}}
	for _, role := range []string{"planner", "coder", "coder", "coder", "code-reviewer", "code-reviewer"} {
		m := &member{role: role}
		c.members = append(c.members, m)
		c.start(m)
	}
	c.run()
	t.Logf("killed %v; %d tasks, %d operations, %s", c.killed, len(p.board().Tasks), len(p.operations("")), time.Since(began).Round(time.Second))
	p.reached(script)
	if t.Failed() {
		c.tells()
	}
}

// longPlan is thePlan with more tasks before its last line.
func longPlan(more int) string {
	var b strings.Builder
	before, last, _ := strings.Cut(strings.TrimSpace(thePlan), "\nshop ")
	b.WriteString(before + "\n")
	needs := "wood"
	for i := range more {
		fmt.Fprintf(&b, "part-%d 3 %s\n", i, needs)
		needs = fmt.Sprintf("part-%d", i/2)
	}
	fmt.Fprintf(&b, "shop %s %s\n", last, needs)
	return b.String()
}

// crew is a set of supervisors that are restarted when they end.
type crew struct {
	*project
	random  *rand.Rand
	members []*member
	ended   chan *member
	kills   int // still to come
	killed  map[string]int
	stories []string
}

type member struct {
	role string
	run  *supervised
	over bool
}

func (c *crew) start(m *member) {
	run := c.supervise("agent", m.role, scriptedExec)
	m.run = run
	go func() {
		<-run.over
		c.ended <- m
	}()
}

// run kills from time to time and restarts what has ended, until all have ended by themselves. It
// waits for as long as the board moves.
func (c *crew) run() {
	c.t.Helper()
	tip, late, again := "", time.After(longest), make(chan *member)
	next := time.After(2 * time.Second)
	left := time.NewTicker(time.Second)
	defer left.Stop()
	locks := map[string]time.Time{}
	for running := len(c.members); running > 0; {
		select {
		case <-late:
			c.tells()
			c.t.Fatalf("the goal is not reached, and the board has not moved for %s", longest)
		case m := <-c.ended:
			c.stories = append(c.stories, fmt.Sprintf("-- %s\n%s", m.role, m.run.story()))
			code := m.run.cmd.ProcessState.ExitCode()
			if strings.Contains(m.run.errs.String(), "goroutine ") {
				c.t.Errorf("it panics:\n%s", m.run.story())
			}
			if code == 0 && strings.Contains(m.run.story(), "the goal is COMPLETED") {
				m.over = true
				running--
				continue
			}
			delay := time.Duration(0)
			if c.random.IntN(3) == 0 { // long enough that others see its lease expire
				delay = time.Duration(c.random.IntN(15)) * time.Second
			}
			time.AfterFunc(delay, func() { again <- m })
		case m := <-again:
			c.start(m)
		case <-next:
			pause := 10 * time.Millisecond
			if c.kill() {
				c.kills--
				pause = time.Duration(c.random.IntN(1500)) * time.Millisecond
			}
			if c.kills > 0 {
				next = time.After(pause)
			}
		case <-left.C:
			c.passTime(locks)
			if now := c.tip(); now != tip {
				tip, late = now, time.After(longest)
			}
		}
	}
}

// kill kills a supervisor, its agent, or all processes of both, or asks a supervisor to end. It
// returns false if there is nothing to kill now.
func (c *crew) kill() bool {
	what := []string{"supervisor", "agent", "both", "told supervisor"}[c.kills%4]
	for _, at := range c.random.Perm(len(c.members)) {
		m := c.members[at]
		events := m.run.all()
		if len(events) == 0 || m.over || m.run.ended() {
			continue
		}
		supervisor, agent := m.run.cmd.Process.Pid, c.agentPID(events[0].Agent)
		if agent == 0 && (what == "agent" || what == "both") {
			continue
		}
		switch what {
		case "supervisor":
			_ = syscall.Kill(supervisor, syscall.SIGKILL)
		case "told supervisor":
			_ = syscall.Kill(supervisor, syscall.SIGTERM)
		case "agent":
			_ = syscall.Kill(agent, syscall.SIGKILL)
		case "both":
			_ = syscall.Kill(-supervisor, syscall.SIGKILL)
			_ = syscall.Kill(-agent, syscall.SIGKILL)
		}
		c.killed[what+" of "+m.role]++
		return true
	}
	return false
}

// passTime has doctor remove the locks that a killed git has left.
func (c *crew) passTime(seen map[string]time.Time) {
	for _, lock := range c.lockFiles() {
		info, err := os.Stat(lock)
		if err != nil {
			continue
		}
		before, known := seen[lock]
		seen[lock] = info.ModTime()
		if known && before.Equal(info.ModTime()) && time.Since(before) > 10*time.Second {
			c.liza("", "doctor", "--fix")
			c.killed["lock left"]++
		}
	}
}

func (c *crew) lockFiles() (found []string) {
	_ = filepath.WalkDir(filepath.Join(c.dir, ".git"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".lock" {
			found = append(found, path)
		}
		return nil // a file that disappears meanwhile is not a lock left behind
	})
	return found
}

// tells logs what has happened, for a failed test.
func (c *crew) tells() {
	for _, m := range c.members {
		if !m.over {
			c.stories = append(c.stories, fmt.Sprintf("-- %s\n%s", m.role, m.run.story()))
		}
	}
	complaints, _ := os.ReadFile(filepath.Join(c.script(), "complaints"))
	c.t.Logf("%s\n-- complaints\n%s", strings.Join(c.stories, "\n"), complaints)
}

func (c *crew) script() string {
	for _, entry := range c.env {
		if dir, is := strings.CutPrefix(entry, "LIZA_SCRIPT_DIR="); is {
			return dir
		}
	}
	return ""
}
