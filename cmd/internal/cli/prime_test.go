package cli

import (
	"strings"
	"testing"

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
	for who, said := range testrun.Some(2, map[string]string{
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
	}) {
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

// TestPrimeWaits: an agent that has nothing to do waits for its turn or for news, and knows what is
// probably next. A planner that leaves something is not started on it again.
func TestPrimeWaits(t *testing.T) {
	l := newLife(t)
	l.task("sums", "Add numbers")
	l.task("print", "Print them", "--depends", "sums")
	l.liza("coder-1", "claim", "sums")
	if text := l.liza("coder-2", "prime"); !strings.Contains(text, "git liza prime --wait  # nothing is claimable") || !strings.Contains(text, "Probably next: print, which waits for sums") {
		t.Errorf("coder-2 is not told to wait for print:\n%s", text)
	}
	if text := l.liza("code-reviewer-1", "prime", "--wait", "1"); !strings.Contains(text, "Probably next: the review of sums") || strings.Contains(text, "Rules:") {
		t.Errorf("the reviewer does not wait for sums, or reads the rules again:\n%s", text)
	}
	testrun.Contains(t, l.liza("", "status", "--json"), `"id":"coder-2"`, "prime did not register coder-2")
	done := make(chan string)
	go func() {
		_, out, errs := l.run("coder-2", "prime", "--wait", "60")
		done <- out + errs
	}()
	for waiting := true; waiting; {
		select {
		case text := <-done:
			waiting = false
			if !strings.Contains(text, "New: Message note-") {
				t.Errorf("coder-2 does not hear of a note:\n%s", text)
			}
		default: // as often as needed: the wait may not have begun
			l.liza("", "note", "--for", "coder-2", "Mind the sign")
		}
	}
	l.liza("coder-1", "block", "sums", "--reason", "no base is named", "--question", "Which base?")
	for _, said := range []string{"Wakes you: BLOCKED_TASKS: sums", "Wakes you: BLOCKED_TASKS: sums"} {
		testrun.Contains(t, l.liza("planner-1", "prime", "--wait", "1"), said, "the planner does not read")
	}
	l.liza("", "verify")
}
