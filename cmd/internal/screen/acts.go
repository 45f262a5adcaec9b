package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
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
	do   func(s *subject, answers []string) call.Act
}

// subject is the target of an act.
type subject struct {
	o  *report.Overview
	st *board.State
	t  *board.Task // the selected task, nil for none
	at string      // FILE:LINE of the current line of the diff, "" for none
}

// about is an act on the selected task, refused if it has changed since it was asked about.
func (s *subject) about(a call.Act) call.Act {
	a.Seen = []string{s.t.ID + "=" + s.t.Version()}
	return a
}

// onHalt is the same for an act on what halts the board.
func (s *subject) onHalt(a call.Act) call.Act {
	a.Seen = []string{"control=" + board.HaltVersion(s.st)}
	return a
}

// asks is the next of an act with one question.
func asks(label func(s *subject) string) func(*subject, []string) *input {
	return func(s *subject, answers []string) *input {
		if len(answers) > 0 {
			return nil
		}
		return newInput(label(s), "")
	}
}

func inState(states ...board.Status) func(*subject) bool {
	return func(s *subject) bool { return s.t != nil && slices.Contains(states, s.t.Status) }
}

// bindings are what a human can do, in the order of the list of keys.
var bindings = []act{
	{key: 'a', name: "answer", help: "answer a BLOCKED task: it continues with its work", open: inState(board.Blocked), next: asks(questionOf), do: answer},
	{key: 'a', name: "approve", help: "approve a submission; the review is taken first", open: inState(board.ReadyForReview), next: asks(approvalOf),
		do: func(s *subject, a []string) call.Act {
			return s.judge(worktrees.VerdictRequest{Verdict: board.VerdictApproved, Reason: a[0]})
		}},
	{key: 'c', name: "comment", help: "comment on the line of the diff; a rejection takes the comments along", open: onALine,
		next: asks(func(s *subject) string { return s.at + ":" }),
		do: func(s *subject, a []string) call.Act {
			path, line, _ := text.ParsePlace(s.at)
			r := gitboard.CommentRequest{Task: s.t.ID, Commit: s.t.ReviewCommit, Path: path, Line: line, Text: a[0]}
			return acts.Named("comment", acts.Comment, r)
		}},
	{key: 'x', name: "reject", help: "reject a submission, with its comments or blocker by blocker", open: inState(board.ReadyForReview), next: nextOfRejection,
		do: func(s *subject, a []string) call.Act {
			return s.judge(worktrees.VerdictRequest{Verdict: board.VerdictRejected, Rejection: rejectionOf(s, a)})
		}},
	{key: 'f', name: "finalize", help: "open a DRAFT to coders", open: inState(board.Draft),
		next: asks(func(s *subject) string { return s.t.ID + " is opened to coders: enter" }),
		do: func(s *subject, _ []string) call.Act {
			return s.about(acts.Named("finalize", acts.Finalize, []string{s.t.ID}))
		}},
	{key: 'b', name: "block", help: "stop a task until you or a planner have looked at it", open: blockable,
		next: asks(func(s *subject) string { return "why is " + s.t.ID + " blocked?" }),
		do: func(s *subject, a []string) call.Act {
			return acts.Of(acts.Block, &board.Block{About: board.About{Task: s.t.ID}, Reason: a[0]})
		}},
	{key: 'n', name: "note", help: "leave a note for a task; its agent reads it", open: func(s *subject) bool { return s.t != nil },
		next: asks(noteFor),
		do: func(s *subject, a []string) call.Act {
			return acts.Of(acts.Note, &board.AddNote{For: s.t.ID, Message: a[0]})
		}},
	{key: 'e', name: "end run", help: "end the run of a task's agent, or restart it, also in a new conversation", open: atWork,
		next: asks(func(s *subject) string { return report.Worker(s.t.Brief()) + ": restart, fresh or end?" }),
		do: func(s *subject, a []string) call.Act {
			return acts.Plain(acts.Ask(report.Worker(s.t.Brief()), a[0] == string(board.AskEnd), a[0] == string(board.AskFresh)))
		}},
	{key: 'r', name: "resolve", board: true, help: "say what you decided about the breaker's trigger", open: tripped,
		next: asks(func(s *subject) string {
			return "the breaker tripped (" + s.o.Breaker.Pattern + "): what did you find and decide?"
		}),
		do: func(s *subject, a []string) call.Act {
			return s.onHalt(acts.Named("resolve", acts.Resolve, a[0]))
		}},
	{key: 'r', name: "resume", board: true, help: "resume; after a checkpoint with your decision", open: halted, next: decisionAsked,
		do: func(s *subject, a []string) call.Act {
			return s.onHalt(acts.Of(acts.Resume, &board.Resume{Decision: strings.ToUpper(call.First(a))}))
		}},
	{key: 'r', name: "resume it", help: "let a paused task continue", open: func(s *subject) bool { return s.t != nil && s.t.Paused },
		do: func(s *subject, _ []string) call.Act {
			return acts.Plain(&board.Resume{About: board.About{Task: s.t.ID}})
		}},
	{key: 'p', name: "pause", board: true, help: "pause; no claims, review claims or merges until resumed", open: running,
		next: asks(func(*subject) string { return "why is the board paused? Esc: it is not" }),
		do:   func(_ *subject, a []string) call.Act { return acts.Plain(&board.Pause{Reason: a[0]}) }},
}

// actOf returns a key's effect now, nil for none; any is its effect at other times.
func actOf(k tty.Key, s *subject) (now, any *act) {
	for i := range bindings {
		if a := &bindings[i]; a.key == k {
			if any = a; a.open(s) {
				return a, a
			}
		}
	}
	return nil, any
}

// noteFor asks for a note, and adds when it is read.
func noteFor(s *subject) string {
	if agent, when := acts.Reader(s.st, s.t.ID); agent != "" {
		return "note for " + s.t.ID + ", which " + agent + " reads " + when + ":"
	}
	return "note for " + s.t.ID + ":"
}

// atWork reports whether a supervised agent has the task.
func atWork(s *subject) bool {
	if s.t == nil || s.t.Status != board.Claimed && s.t.ReviewingBy == "" {
		return false
	}
	a := s.st.Agent(report.Worker(s.t.Brief()))
	return a != nil && !a.ByHand()
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

// answer answers a task's questions; without a text the task continues as it is.
func answer(s *subject, a []string) call.Act {
	about := board.About{Task: s.t.ID}
	if a[0] == "" {
		return s.about(acts.Of(acts.Unblock, &board.Unblock{About: about, Mode: board.UnblockKeepWork}))
	}
	return s.about(acts.Of(acts.Answer, &board.Answer{About: about, Text: a[0]}))
}

func approvalOf(s *subject) string {
	return fmt.Sprintf("%s is approved at %.10s; a comment, or enter:", s.t.ID, s.t.ReviewCommit)
}

// judge gives a verdict on the submission. It claims the review first, unless the human has claimed it already.
func (s *subject) judge(r worktrees.VerdictRequest) call.Act {
	r.Task, r.Commit = s.t.ID, s.t.ReviewCommit
	take := s.t.ReviewingBy != roles.HumanID
	return call.Act{Op: "verdict", Do: func(ctx context.Context, c *call.Call) (call.Result, error) { return acts.Judge(ctx, c, r, take) }}
}

// blockerParts are the questions about each blocker of a rejection. Before them come the assessment,
// the spec, the anomaly and, if there were blockers before, their state.
var blockerParts = []string{"what is wrong there?", "why does it matter?", "what do you suggest?"}

func rejectionAsks(s *subject) (first []string) {
	if n := len(s.t.OpenComments()); n > 0 { // the comments contain the rest
		return []string{fmt.Sprintf("%s is rejected, with %s. Your assessment in a sentence or two:", s.t.ID, text.Plural(n, "comment"))}
	}
	first = []string{s.t.ID + " is rejected. Your assessment in a sentence or two:", "the part of the spec that it is about, or n/a:", "the anomaly that you logged, or none:"}
	if s.t.HasPriorFeedback() {
		first = append(first, "what became of the blockers before? RESOLVED, STILL PRESENT or PARTIAL, and what:")
	}
	return first
}

func nextOfRejection(s *subject, a []string) *input {
	first := rejectionAsks(s)
	if len(a) < len(first) {
		text := ""
		if len(a) == 3 {
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

// rejectionOf is the rejection that the answers describe.
func rejectionOf(s *subject, a []string) *board.Rejection {
	r := &board.Rejection{Overall: a[0]}
	if len(s.t.OpenComments()) > 0 {
		return r
	}
	first := len(rejectionAsks(s))
	r.Spec, r.Anomaly = a[1], a[2]
	if first > 3 && a[3] != "" {
		r.Prior = a[3:4]
	}
	for b := range slices.Chunk(a[first:], 4) {
		if len(b) == 4 {
			r.Blockers = append(r.Blockers, board.Finding{Where: b[0], Issue: b[1], Why: b[2], Suggestion: b[3]})
		}
	}
	return r
}

// decisionAsked asks for the decision after a checkpoint.
func decisionAsked(s *subject, a []string) *input {
	if s.o.Mode != board.CheckpointMode || len(a) > 0 {
		return nil
	}
	return newInput("CONTINUE, ADJUST, REPLAN, PIVOT or STOP:", "CONTINUE")
}
