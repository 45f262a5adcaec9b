//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// coding is a coder's run on a task.
type coding struct {
	*scripted
	task, tree string
}

// codes is a coder's run.
func (a *scripted) codes() int {
	c := &coding{a, a.field("TASK ID"), a.field("WORKTREE")}
	if c.once("crash", c.task) {
		fmt.Println("panic: not today")
		return 1
	}
	must(os.Chdir(c.tree))
	if on := strings.TrimSpace(c.git(c.tree, "branch", "--show-current")); on != "task/"+c.task {
		fail("the worktree of %s is on %q", c.task, on)
	}
	c.liza("worktree", "status", c.task)
	c.liza("pre-exec", c.task, "--intent", "sh src/"+c.task+".sh prints it", "--validation", "sh tests/test_"+c.task+".sh: no output",
		"--file", c.file(), "--file", c.test())
	if c.once("flood", c.task) {
		flood()
	}
	if c.once("fork", c.task) {
		c.forks()
	}
	if c.once("discover", c.task) {
		c.liza("discover", "--during", c.task, "--desc", "the "+c.task+" wobbles", "--severity", "high", "--urgency", "immediate")
	}
	if c.once("block", c.task) {
		c.liza("block", c.task, "--reason", "nothing says in which letters", "--question", "Plain or bold?", "--attempted", "read specs/vision.md")
		return 42
	}
	c.repairs()
	c.meetsRival()
	c.writes()
	if c.once("kill", c.task) {
		kills() // with all work uncommitted
	}
	c.commits("The " + c.task)
	if c.once("early", c.task) {
		return 42
	}
	if c.once("handoff", c.task) {
		c.liza("handoff", c.task, "--summary", "the "+c.task+" is built", "--next", "look at it and submit", "--context-used", "90%")
		return 42
	}
	c.tests()
	c.liza("submit", c.task)
	return 42
}

func (c *coding) file() string { return "src/" + c.task + ".sh" }
func (c *coding) test() string { return "tests/test_" + c.task + ".sh" }

func (c *coding) step() step {
	for _, s := range c.plan() {
		if s.id == c.task {
			return s
		}
	}
	return step{}
}

// writes writes the test, sees it fail, then writes the code. Some work, as the seed decides, is
// left unfinished, which the reviewer notices and points at. Feedback is followed, by the stubborn
// coder only at the second time.
func (c *coding) writes() {
	var code, want strings.Builder
	for _, d := range c.step().depends {
		fmt.Fprintf(&code, "sh \"$(dirname \"$0\")/%s.sh\"\n", d)
		fmt.Fprintf(&want, "sh src/%s.sh\n", d)
	}
	must(os.MkdirAll("src", 0o755))
	must(os.MkdirAll("tests", 0o755))
	must(os.WriteFile(c.test(), fmt.Appendf(nil, "want=$(%s\necho %s)\ntest \"$(sh %s)\" = \"$want\" || { echo the %s is wrong; exit 1; }\n%s",
		want.String(), c.task, c.file(), c.task, c.priceTest()), 0o644))
	if _, err := os.Stat(c.file()); errors.Is(err, os.ErrNotExist) {
		if out, code := run(c.tree, "sh", c.test()); code == 0 {
			fail("its test passes before there is code: %s", out)
		}
	}
	fmt.Fprintf(&code, "echo %s\n", c.task)
	if c.unfinished() {
		// The iteration makes every submission differ.
		fmt.Fprintf(&code, "# TODO: polish, now or in iteration %s\n", c.field("ITERATION"))
	}
	must(os.WriteFile(c.file(), []byte(code.String()), 0o644))
	if c.priced() {
		must(os.WriteFile("prices.txt", []byte(pricesWith(prices(c.tree), c.task)), 0o644))
	}
}

var blockerLine = regexp.MustCompile(`(?m)^ *- \[blocker\] (\S+):(\d+) — (.*)$`)

// unfinished reports whether the work is left with something to reject.
func (c *coding) unfinished() bool {
	if m := blockerLine.FindStringSubmatch(c.prompt); m != nil {
		if m[1] != c.file() && m[1] != c.test() {
			fail("a rejection is about %s", m[1])
		}
		return c.deeds["stubborn"] == c.task && c.first("stubborn-again")
	}
	return c.once("unfinished", c.task) || c.once("unfinished-2", c.task) || c.once("stubborn", c.task)
}

// priced reports whether the task is one of two that write the same line of prices.txt.
func (c *coding) priced() bool { return strings.HasPrefix(c.task, "price-") }

func (c *coding) priceTest() string {
	if !c.priced() {
		return ""
	}
	return fmt.Sprintf("grep -qw %s prices.txt || { echo no %s in prices.txt; exit 1; }\n", c.task, c.task)
}

func prices(tree string) string {
	text, _ := os.ReadFile(filepath.Join(tree, "prices.txt"))
	return string(text)
}

// pricesWith is that one line, with all the prices that a text contains.
func pricesWith(text string, more ...string) string {
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "price-") {
			more = append(more, word)
		}
	}
	slices.Sort(more)
	return "prices: " + strings.Join(slices.Compact(more), " ") + "\n"
}

// meetsRival waits until the other task of the same line is in work, too, since otherwise nothing
// would conflict. A claim is not enough: a blocked task is claimed again from where integration is
// by then.
func (c *coding) meetsRival() {
	if !c.priced() || !c.first("met-"+c.task) {
		return
	}
	rival := "price-low"
	if c.task == rival {
		rival = "price-high"
	}
	met := func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "did-met-"+rival))
		return err == nil
	}
	for begun := time.Now(); time.Since(begun) < longest && !met(); {
		time.Sleep(50 * time.Millisecond)
	}
}

// repairs completes a merge of integration that stopped at a conflict, keeping both sides.
func (c *coding) repairs() {
	open := strings.Fields(c.git(c.tree, "diff", "--name-only", "--diff-filter=U"))
	_, merging := run(c.tree, "git", "rev-parse", "-q", "--verify", "MERGE_HEAD")
	if told := c.field("INTEGRATION FAILURE"); len(open) > 0 && told == "" {
		fail("there is a conflict in %s, and the prompt says nothing of it", open)
	}
	for _, path := range open {
		if path != "prices.txt" {
			fail("there is a conflict in %s", path)
		}
		must(os.WriteFile(path, []byte(pricesWith(prices(c.tree))), 0o644))
		c.git(c.tree, "add", path)
	}
	if merging == 0 {
		c.git(c.tree, "commit", "-q", "--no-edit")
	}
}

// commits commits everything in the worktree.
func (c *coding) commits(message string) {
	c.git(c.tree, "add", "-A")
	if _, code := run(c.tree, "git", "diff", "--cached", "--quiet"); code != 0 {
		c.git(c.tree, "commit", "-q", "-m", message)
	}
}

// tests runs all existing tests.
func (c *coding) tests() {
	if out, code := run(c.tree, "sh", "scripts/integration-test.sh"); code != 0 {
		fail("its tests fail: %s", out)
	}
}

// flood prints 100 MB in a second, or as much of it as is read.
func flood() {
	line := []byte(strings.Repeat("flood ", 20) + "\n")
	chunk := []byte(strings.Repeat(string(line), 1<<20/len(line)))
	for range 100 {
		_, _ = os.Stdout.Write(chunk)
	}
}

// forks leaves children behind that keep its output open: one in its process group, one in its own
// session.
func (c *coding) forks() {
	for name, own := range map[string]bool{"group": false, "session": true} {
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, &syscall.SysProcAttr{Setsid: own}
		must(cmd.Start())
		must(os.WriteFile(filepath.Join(c.dir, "child-"+name), fmt.Append(nil, cmd.Process.Pid), 0o644))
	}
}
