package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// act is a key's effect on the selected task or on the board.
type act struct {
	key   tty.Key
	name  string // in the list of keys at the bottom
	help  string
	board bool // it is not about a task
	// open reports whether the act is possible now.
	open func(s *subject) bool
	// next is the question after these answers, nil if there is none left.
	next func(s *subject, answers []string) *input
	// lines are the command lines that carry out the act.
	lines func(s *subject, answers []string) [][]string
}

// subject is the target of an act.
type subject struct {
	o  *report.Overview
	st *board.State
	t  *board.Task // the selected task, nil for none
	at string      // FILE:LINE of the current line of the diff, "" for none
}

// seen is the flag that refuses an act on a task that has changed since it was asked about.
func (s *subject) seen() []string { return flag("seen", s.t.ID+"="+s.t.Version()) }

// seenHalt is the same for what halts the board.
func (s *subject) seenHalt() []string { return flag("seen", "control="+board.HaltVersion(s.st)) }

// line is a command line. Values follow "--name=" and arguments follow "--", so that they can't
// become flags.
func line(command string, flags []string, args ...string) []string {
	l := append(strings.Fields(command), flags...)
	if len(args) > 0 {
		l = append(append(l, "--"), args...)
	}
	return l
}

// flag is a flag with its value, nil for an empty value.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + name + "=" + value}
}

// asks is the next of an act with one question.
func asks(label func(s *subject) string, text func(s *subject) string) func(*subject, []string) *input {
	return func(s *subject, answers []string) *input {
		if len(answers) > 0 {
			return nil
		}
		filled := ""
		if text != nil {
			filled = text(s)
		}
		return newInput(label(s), filled)
	}
}

func inState(states ...board.Status) func(*subject) bool {
	return func(s *subject) bool { return s.t != nil && slices.Contains(states, s.t.Status) }
}

// acts are what a human can do, in the order of the list of keys.
var acts = []act{
	{key: 'a', name: "answer", help: "answer a BLOCKED task: it continues with its work", open: inState(board.Blocked),
		next: asks(questionOf, nil), lines: answerLines},
	{key: 'a', name: "approve", help: "approve a submission; the review is taken first", open: inState(board.ReadyForReview),
		next: asks(approvalOf, nil),
		lines: func(s *subject, a []string) [][]string {
			return append(s.takesReview(), line("verdict", append(flag("commit", s.t.ReviewCommit), flag("reason", a[0])...), s.t.ID, board.VerdictApproved))
		}},
	{key: 'c', name: "comment", help: "comment on the line of the diff; a rejection takes the comments along", open: onALine,
		next: asks(func(s *subject) string { return s.at + ":" }, nil),
		lines: func(s *subject, a []string) [][]string {
			return [][]string{line("comment", flag("commit", s.t.ReviewCommit), s.t.ID, s.at, a[0])}
		}},
	{key: 'x', name: "reject", help: "reject a submission, with its comments or blocker by blocker", open: inState(board.ReadyForReview), next: nextOfRejection, lines: rejectionLines},
	{key: 'f', name: "finalize", help: "open a DRAFT to coders", open: inState(board.Draft),
		next:  asks(func(s *subject) string { return s.t.ID + " is opened to coders: enter" }, nil),
		lines: func(s *subject, _ []string) [][]string { return [][]string{line("finalize", s.seen(), s.t.ID)} }},
	{key: 'b', name: "block", help: "stop a task until you or a planner have looked at it", open: blockable,
		next: asks(func(s *subject) string { return "why is " + s.t.ID + " blocked?" }, nil),
		lines: func(s *subject, a []string) [][]string {
			return [][]string{line("block", flag("reason", a[0]), s.t.ID)}
		}},
	{key: 'n', name: "note", help: "leave a note for a task; its agent reads it", open: func(s *subject) bool { return s.t != nil },
		next:  asks(func(s *subject) string { return "note for " + s.t.ID + ":" }, nil),
		lines: func(s *subject, a []string) [][]string { return [][]string{line("note", flag("for", s.t.ID), a[0])} }},
	{key: 'r', name: "resolve", board: true, help: "say what you decided about the breaker's trigger", open: tripped,
		next: asks(func(s *subject) string {
			return "the breaker tripped (" + s.o.Breaker.Pattern + "): what did you find and decide?"
		}, nil),
		lines: func(s *subject, a []string) [][]string {
			return [][]string{line("resolve", append(s.seenHalt(), flag("text", a[0])...))}
		}},
	{key: 'r', name: "resume", board: true, help: "resume; after a checkpoint with your decision", open: halted, next: decisionAsked, lines: resumeLines},
	{key: 'r', name: "resume it", help: "let a paused task continue", open: func(s *subject) bool { return s.t != nil && s.t.Paused },
		lines: func(s *subject, _ []string) [][]string { return [][]string{line("resume", flag("task", s.t.ID))} }},
	{key: 'p', name: "pause", board: true, help: "pause; no claims, review claims or merges until resumed", open: running,
		lines: func(*subject, []string) [][]string { return [][]string{line("pause", nil)} }},
}

// actOf returns a key's effect now, nil for none; any is its effect at other times.
func actOf(k tty.Key, s *subject) (now, any *act) {
	for i := range acts {
		if a := &acts[i]; a.key == k {
			if any = a; a.open(s) {
				return a, a
			}
		}
	}
	return nil, any
}

func onALine(s *subject) bool { return s.at != "" && s.t.Status == board.ReadyForReview }

func running(s *subject) bool { return s.o.Mode == board.Running && s.o.GoalStatus == board.InProgress }

func halted(s *subject) bool {
	return (s.o.Mode == board.Paused || s.o.Mode == board.CheckpointMode) && !tripped(s)
}

func tripped(s *subject) bool { return s.o.Breaker != nil }

func blockable(s *subject) bool {
	return s.t != nil && slices.Contains(board.AllowedFrom(s.t.Status, roles.Human), "block")
}

// questionOf is the question of a BLOCKED task.
func questionOf(s *subject) string {
	asked := s.t.BlockedQuestions
	if len(asked) == 0 {
		asked = []string{s.t.BlockedReason}
	}
	lines := make([]string, len(asked))
	for i, q := range asked {
		lines[i] = "? " + text.Line(q, 400)
	}
	return s.t.ID + " asks:\n" + strings.Join(lines, "\n") + "\nanswer:"
}

// answerLines answer a task's questions; without a text the task continues as it is.
func answerLines(s *subject, a []string) [][]string {
	if a[0] == "" {
		return [][]string{line("unblock", s.seen(), s.t.ID)}
	}
	return [][]string{line("answer", s.seen(), s.t.ID, a[0])}
}

func approvalOf(s *subject) string {
	return fmt.Sprintf("%s is approved at %.10s; a comment, or enter:", s.t.ID, s.t.ReviewCommit)
}

// takesReview claims the review, unless the human has claimed it already.
func (s *subject) takesReview() [][]string {
	if s.t.ReviewingBy == roles.HumanID {
		return nil
	}
	return [][]string{line("claim-review", nil, s.t.ID)}
}

// blockerParts are the questions about each blocker of a rejection. Before them come the assessment
// and, if there were blockers before, their state.
var blockerParts = []string{"what is wrong there?", "why does it matter?", "what do you suggest?"}

func rejectionAsks(s *subject) (first []string) {
	if n := len(s.t.OpenComments()); n > 0 { // the comments contain the rest
		return []string{fmt.Sprintf("%s is rejected, with %s. Your assessment in a sentence or two:", s.t.ID, text.Plural(n, "comment"))}
	}
	first = []string{s.t.ID + " is rejected. Your assessment in a sentence or two:"}
	if s.t.HasPriorFeedback() {
		first = append(first, "what became of the blockers before? RESOLVED, STILL PRESENT or PARTIAL, and what:")
	}
	return first
}

func nextOfRejection(s *subject, a []string) *input {
	first := rejectionAsks(s)
	if len(a) < len(first) {
		text := ""
		if len(a) == 1 {
			text = "RESOLVED: "
		}
		return newInput(first[len(a)], text)
	}
	if len(s.t.OpenComments()) > 0 {
		return nil
	}
	blockers := a[len(first):]
	n, part := len(blockers)/4+1, len(blockers)%4
	switch {
	case part == 1 && blockers[len(blockers)-1] == "":
		return nil
	case part > 0:
		return newInput(fmt.Sprintf("blocker %d: %s", n, blockerParts[part-1]), "")
	case n == 1:
		return newInput("blocker 1, as FILE:LINE:", s.at)
	}
	return newInput(fmt.Sprintf("blocker %d, as FILE:LINE; enter: there are no more", n), "")
}

func rejectionLines(s *subject, a []string) [][]string {
	if len(s.t.OpenComments()) > 0 {
		return append(s.takesReview(), line("verdict", append(flag("commit", s.t.ReviewCommit), flag("reason", a[0])...), s.t.ID, board.VerdictRejected))
	}
	flags := append(flag("commit", s.t.ReviewCommit), flag("overall", a[0])...)
	first := len(rejectionAsks(s))
	if first > 1 {
		flags = append(flags, flag("prior", a[1])...)
	}
	for b := range slices.Chunk(a[first:], 4) {
		if len(b) == 4 {
			flags = append(flags, flag("blocker", board.Finding{Where: b[0], Issue: b[1], Why: b[2], Suggestion: b[3]}.Flag())...)
		}
	}
	return append(s.takesReview(), line("verdict", flags, s.t.ID, board.VerdictRejected))
}

// decisionAsked asks for the decision after a checkpoint.
func decisionAsked(s *subject, a []string) *input {
	if s.o.Mode != board.CheckpointMode || len(a) > 0 {
		return nil
	}
	return newInput("CONTINUE, ADJUST, REPLAN, PIVOT or STOP:", "CONTINUE")
}

func resumeLines(s *subject, a []string) [][]string {
	return [][]string{line("resume", append(s.seenHalt(), flag("decision", strings.ToUpper(call.First(a)))...))}
}
