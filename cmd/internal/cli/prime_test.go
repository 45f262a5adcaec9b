package cli

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestPrimeIsShort: what an agent reads first fits into 1.2 KB, whatever the state of its task and
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
		"planner-2":       "git liza unblock stuck",
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
	if text := l.liza("planner-1", "prime"); !strings.Contains(text, "wait: nothing waits for a planner now") {
		t.Errorf("the note is dealt with:\n%s", text)
	}
}

func TestPrimeOfAFinishedGoal(t *testing.T) {
	l := newLife(t)
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	l.task("sums", "Add numbers")
	l.liza("coder-1", "claim", "sums")
	if text := l.liza("coder-2", "prime"); !strings.Contains(text, "wait: nothing is claimable for you now") {
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
