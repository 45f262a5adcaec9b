package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestPrimeIsShort: what an agent reads first fits into 4 KB, whatever the state of its task and
// however long the texts, and names the caller's own next command.
func TestPrimeIsShort(t *testing.T) {
	testrun.NotShort(t)
	l := wrongScene(t)
	long := func(text string) string { return strings.Repeat(text, 60) }
	l.liza("planner-1", "add-task", "--id", "big", "--desc", long("a long story "), "--spec", "specs/vision.md", "--priority", "1",
		"--done", long("it prints ok and "), "--scope", long("IN: the parser. "))
	l.liza("planner-1", "finalize", "big")
	l.liza("coder-7", "claim", "big")
	for range 5 {
		l.liza("", "note", strings.Repeat("mind the umlauts ", 30))
	}
	for who, said := range map[string]string{
		"":                "Drafts: plan, vague",
		"planner-1":       "Drafts: plan, vague",
		"planner-2":       "git liza answer stuck TEXT  # it asks: Which pint?",
		"coder-1":         "git liza submit held",
		"coder-2":         "git liza pre-exec fresh --intent TEXT --validation TEXT --file PATH",
		"coder-3":         "Submitted, waiting for a verdict: waiting",
		"coder-4":         "rejected for  back.go:1 empty: write it; No.",
		"coder-5":         "git liza claim open  # claimable",
		"coder-7":         "git liza pre-exec big --intent TEXT --validation TEXT --file PATH",
		"coder-9":         "git liza claim open  # claimable",
		"code-reviewer-1": "git liza review review",
		"code-reviewer-2": "git liza claim-review waiting  # waits for a review",
	} {
		for _, supervised := range []string{"", "1"} {
			l.env["LIZA_SUPERVISED"] = supervised
			text := l.liza(who, "prime")
			if len(text) > prime.MaxSize {
				t.Errorf("%s reads %d bytes:\n%s", who, len(text), text)
			}
			if supervised == "" && !strings.Contains(text, said) {
				t.Errorf("%s does not read %q:\n%s", who, said, text)
			}
		}
	}
	l.env["LIZA_SUPERVISED"] = ""
}

// TestClaimShowsTheAnswer: the coder that continues a task sees the block, its answer and the old
// work, both from claim and from prime.
func TestClaimShowsTheAnswer(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("coder-1", "claim", "sums")
	for _, afresh := range []bool{false, true} {
		l.liza("coder-1", "block", "sums", "--reason", "no base is named", "--question", "Which base?", "--attempted", "read the spec")
		want := []string{"was blocked   no base is named", "asked         Which base?", "answer        ten", "attempted     read the spec", "old work      it is in your worktree"}
		if afresh {
			l.commit("sums", "Begin", map[string]string{"sums.go": "package sums\n"})
			l.liza("", "answer", "sums", "ten", "--afresh")
			want[4] = "not in your worktree: git log "
		} else {
			l.liza("", "answer", "sums", "ten")
		}
		for command, text := range map[string]string{"claim": l.liza("coder-1", "claim", "sums"), "prime": l.liza("coder-1", "prime")} {
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s does not say %q:\n%s", command, w, text)
				}
			}
		}
	}
}

// TestPrimeNamesAck: a planner that a note wakes reads how to end that, and not that nothing waits.
func TestPrimeNamesAck(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("", "note", "Numbers are decimal", "--for", "planner")
	text := l.liza("planner-1", "prime")
	if !strings.Contains(text, "Wakes you: REPLAN: note-1") || !strings.Contains(text, "git liza ack note-1  # ") {
		t.Errorf("the planner does not read what to do:\n%s", text)
	}
	l.liza("planner-1", "ack", "note-1")
	if text := l.liza("planner-1", "prime"); !strings.Contains(text, "git liza prime --wait  # nothing waits for a planner now") {
		t.Errorf("the note is dealt with:\n%s", text)
	}
}

func TestPrimeOfAFinishedGoal(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("coder-1", "claim", "sums")
	if text := l.liza("coder-2", "prime"); !strings.Contains(text, "git liza prime --wait  # nothing is claimable for you now") {
		t.Errorf("coder-2 has nothing to do:\n%s", text)
	}
	l.liza("coder-1", "release", "sums")
	l.liza("", "abandon", "sums", "--reason", "no use")
	l.liza("", "goal", "complete")
	for _, who := range []string{"", "planner-1", "coder-1", "code-reviewer-1"} {
		if text := l.liza(who, "prime"); !strings.Contains(text, "The goal is COMPLETED: A calculator") {
			t.Errorf("%s is not told that the goal is reached:\n%s", who, text)
		}
	}
}

// TestPrimeWaits: an agent that has nothing to do waits for its turn or for news, and knows what is
// probably next. A planner that leaves something is not started on it again.
func TestPrimeWaits(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.task("print", "Print them", "--depends", "sums")
	l.liza("coder-1", "claim", "sums")
	if text := l.liza("coder-2", "prime"); !strings.Contains(text, "git liza prime --wait  # nothing is claimable") || !strings.Contains(text, "Probably next: print, which waits for sums") {
		t.Errorf("coder-2 is not told to wait for print:\n%s", text)
	}
	if text := l.liza("code-reviewer-1", "prime", "--wait", "1"); !strings.Contains(text, "Probably next: the review of sums") || strings.Contains(text, "Rules:") {
		t.Errorf("the reviewer does not wait for sums, or reads the rules again:\n%s", text)
	}
	if text := l.liza("", "status", "--json"); !strings.Contains(text, `"id":"coder-2"`) {
		t.Errorf("prime did not register coder-2:\n%s", text)
	}
	done := make(chan string)
	go func() {
		var out, errs bytes.Buffer
		Run(context.Background(), l.app("coder-2", &out, &errs), []string{"prime", "--wait", "60"})
		done <- out.String() + errs.String()
	}()
	for waiting := true; waiting; {
		select {
		case text := <-done:
			waiting = false
			if !strings.Contains(text, "New: note-") {
				t.Errorf("coder-2 does not hear of a note:\n%s", text)
			}
		default: // as often as needed: the wait may not have begun
			l.liza("", "note", "--for", "coder-2", "Mind the sign")
		}
	}
	l.liza("coder-1", "block", "sums", "--reason", "no base is named", "--question", "Which base?")
	for _, said := range []string{"Wakes you: BLOCKED_TASKS: sums", "Wakes you: BLOCKED_TASKS: sums"} {
		if text := l.liza("planner-1", "prime", "--wait", "1"); !strings.Contains(text, said) {
			t.Errorf("the planner does not read %q:\n%s", said, text)
		}
	}
	l.liza("", "verify")
}

// TestCommandsRenewTheLease: each command of an agent without a supervisor renews its lease, also
// one that only reads; prime reports a lease that had expired, and the tasks behind it.
func TestCommandsRenewTheLease(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.task("print", "Print them", "--depends", "sums")
	l.liza("coder-1", "claim", "sums")
	for _, command := range []string{"status", "show sums", "prime"} {
		l.pass(25*time.Minute).liza("coder-1", strings.Fields(command)...)
	}
	if text := l.pass(25*time.Minute).liza("coder-1", "prime"); strings.Contains(text, "expired") {
		t.Errorf("the lease was not renewed:\n%s", text)
	}
	text := l.pass(45*time.Minute).liza("coder-1", "prime")
	if !strings.Contains(text, "Your lease expired 15m ago") || !strings.Contains(text, "Behind it wait: print") {
		t.Errorf("the lease expired 15 minutes ago, and print waits:\n%s", text)
	}
	if text := l.liza("coder-1", "prime"); strings.Contains(text, "expired") {
		t.Errorf("prime did not renew the lease:\n%s", text)
	}
	l.liza("", "verify")
}

// TestCoderHearsOfItsSpec: a coder whose spec changed on integration after the claim reads the
// difference in the prompt, prime, worktree status and once in the next answer, until it has it.
func TestCoderHearsOfItsSpec(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("coder-1", "claim", "sums")
	l.write("specs/vision.md", "The calculator adds negative numbers.\n")
	l.git(l.dir, "commit", "-q", "-am", "Negative numbers")
	l.liza("", "land", "--spec", "specs/vision.md")
	reads := func(args string) bool {
		var out, errs bytes.Buffer
		if code := Run(context.Background(), l.app("coder-1", &out, &errs), strings.Fields(args)); code != 0 {
			t.Fatalf("%s: exit %d: %s", args, code, errs.String())
		}
		return strings.Contains(out.String()+errs.String(), "+The calculator adds negative numbers.")
	}
	for _, c := range []struct {
		args string
		want bool
	}{{"show sums", true}, {"show sums", false}, {"prime", true}, {"worktree status sums", true}, {"prompt coder sums", true}} {
		if reads(c.args) != c.want {
			t.Errorf("%s shows the difference: %v", c.args, !c.want)
		}
	}
	if text := l.liza("coder-1", "prime"); !strings.Contains(text, "Integration: integration at ") || !strings.Contains(text, "git show integration:specs/vision.md") {
		t.Errorf("prime does not name integration:\n%s", text)
	}
	l.git(l.dir+"/.worktrees/sums", "merge", "-q", "integration")
	for _, args := range []string{"prime", "worktree status sums", "prompt coder sums"} {
		if reads(args) {
			t.Errorf("%s shows the difference that the worktree has", args)
		}
	}
	l.liza("", "verify")
}

// TestPrimeOffersDifferentTasks: idle coders are offered different tasks, and what a coder handed off
// goes to another one first. Rules, open discoveries and the words of other tools lead on.
func TestPrimeOffersDifferentTasks(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.task("print", "Print them")
	reads := func(agent, want string, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		Run(context.Background(), l.app(agent, &out, &errs), args)
		if text := out.String() + errs.String(); !strings.Contains(text, want) {
			t.Errorf("%s does not read %q:\n%s", agent, want, text)
		}
	}
	reads("coder-1", "git liza claim", "prime")
	reads("coder-2", "git liza claim", "prime")
	reads("coder-1", "git liza claim print", "prime")
	reads("coder-2", "git liza claim sums", "prime")
	reads("coder-2", "Work only in the worktree of your task", "prime")
	l.liza("coder-1", "claim", "print")
	reads("coder-1", "git liza submit print", "done")
	reads("coder-1", "git liza submit print", "task", "list")
	l.liza("coder-1", "handoff", "print", "--summary", "begun", "--next", "go on")
	reads("coder-1", "git liza claim sums", "prime")
	reads("coder-2", "git liza claim print", "prime")
	reads("", `eval "$(git liza env coder-3)"`, "claim", "sums")
	l.liza("coder-2", "discover", "--desc", "No sign is read", "--severity", "high")
	reads("planner-1", "disc-1, high: No sign is read", "prime")
	reads("planner-1", "git liza convert-discovery disc-1 --task TASK  # ", "prime")
	reads("planner-1", "deferred: No sign is read; because: later", "settle-discovery", "disc-1", "--defer", "--reason", "later")
	reads("planner-1", "disc-1 became sums: No sign is read", "convert-discovery", "disc-1", "--task", "sums")

	// A coder that waits for a verdict is idle, too.
	l.liza("coder-1", "claim", "print")
	l.liza("coder-1", "pre-exec", "print", "--intent", "print", "--validation", "it prints", "--file", "print.go")
	l.commit("print", "Print", map[string]string{"print.go": "package print\n"})
	l.liza("coder-1", "submit", "print", "--no-tests-because", "trivial")
	l.task("signs", "Read signs")
	reads("coder-1", "git liza claim signs", "prime")
	reads("coder-2", "git liza claim sums", "prime")
	l.liza("", "verify")
}

// TestPrimeCutsNoInstruction: a coder reads notes and hand-offs in whole, or which command shows them.
func TestPrimeCutsNoInstruction(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	for _, note := range []string{"The oldest", strings.Repeat("Mind the sign. ", 36) + "Not of zero.", strings.Repeat("Mind the sign. ", 100) + "Not of zero.", "The newest"} {
		l.liza("", "note", "--for", "sums", note)
	}
	l.liza("coder-1", "claim", "sums")
	l.liza("coder-1", "handoff", "sums", "--summary", strings.Repeat("The parser is done. ", 20)+"Two tests are red.", "--next", "Repair them")
	l.liza("coder-1", "claim", "sums")
	text := l.liza("coder-1", "prime")
	for _, want := range []string{"sign. Not of zero.", "note-3 by human: 1512 characters: git liza show note-3", "The newest\n  and 1 older: git liza read human_notes", "Two tests are red. next: Repair them"} {
		if !strings.Contains(text, want) {
			t.Errorf("coder-1 does not read %q:\n%s", want, text)
		}
	}
	if text := l.liza("coder-1", "show", "note-3"); !strings.Contains(text, "Not of zero.") {
		t.Errorf("show cuts the note:\n%s", text)
	}
	l.liza("", "verify")
}
