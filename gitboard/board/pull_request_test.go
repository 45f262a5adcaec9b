package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// TestPullRequest checks the life of a goal's pull request, and that feedback wakes its planner for
// three rounds and then reaches the human.
func TestPullRequest(t *testing.T) {
	head := strings.Repeat("a", 40)
	open := board.PROpen{Goal: "goal-1", Kind: "github", Host: "github.com", Repo: "ada/shop", Number: 7, Base: "main", Branch: "goal/goal-1", Head: head}
	feedback := func(source string) *board.PRFeedback {
		return &board.PRFeedback{Goal: "goal-1", Items: []board.Feedback{{Source: source, Author: "bob", Text: "@ada: the sign is missing"}}}
	}
	s := begun(t).claimed("login")
	s.refused("unknown-record", planner, feedback("review:1"), "goal-1 has no pull request")
	s.refused("permission", planner, &open, "human")
	bad := open
	bad.Host = "git hub"
	s.refused("invalid", human, &bad, "host")
	s.do(human, &open)
	s.refused("exists", human, &open, "ada/shop#7")
	s.refused("exists", planner, &board.PRUpdate{Goal: "goal-1", State: board.RequestOpen}, "already")
	mixed := feedback("review:1")
	mixed.Items = append(mixed.Items, board.Feedback{Source: "outside:eve", Author: "eve", Text: "hello", Outside: true})
	s.do(planner, mixed).do(planner, feedback("check:a:build")).do(planner, feedback("review:2"))
	s.refused("exists", planner, feedback("review:2"), "review:2")
	wakes := report.Wakes(s.state(), "goal-1")
	var about []string
	for _, w := range wakes {
		if w.Trigger == report.PRFeedback {
			about = w.About
		}
		if w.Trigger == report.Replan {
			t.Errorf("feedback counts as a human's word: %v", w.About)
		}
	}
	equal(t, "notes", strings.Join(about, " "), "note-1 note-3 note-4")
	equal(t, "reader of a stranger's review", s.state().Note("note-2").For, "human")
	s.do(planner, &board.Ack{IDs: strings.Fields("note-1 note-3 note-4")}).do(planner, feedback("review:3"))
	equal(t, "reader of the fourth round", s.state().Note("note-5").For, "human")
	mixed.Items = mixed.Items[1:]
	mixed.Items[0].Source = "outside:bob"
	s.do(planner, mixed)
	equal(t, "rounds", s.state().Goal("goal-1").PullRequest.Rounds, 4)
	merged := &board.PRMerged{Goal: "goal-1", Commit: head, Kind: "squash", Head: head}
	s.do(human, merged).refused("exists", human, merged, "merged already")
	s.refused("wrong-state", planner, &board.PRUpdate{Goal: "goal-1", State: board.RequestClosed}, "merged")
	equal(t, "state", s.state().Goal("goal-1").PullRequest.State, board.RequestMerged)
}

// TestFeedbackReopens checks that feedback continues a completed goal.
func TestFeedbackReopens(t *testing.T) {
	head := strings.Repeat("a", 40)
	s := begun(t).in(board.Merged, "login")
	s.do(human, &board.GoalComplete{}).do(human, &board.PROpen{Goal: "goal-1", Kind: "github", Host: "github.com", Repo: "ada/shop", Number: 7, Base: "main", Branch: "goal/goal-1", Head: head})
	ahead := s.inbox(report.Outside{Leases: s.allAlive(), Ahead: &report.Ahead{Integration: "integration", Into: "main", Commits: 2}})
	equal(t, "evidence", strings.Join(ahead.Items[0].Evidence, ""), "pull request: ada/shop#7, open")
	s.do(human, &board.PRFeedback{Goal: "goal-1", Items: []board.Feedback{{Source: "review:1", Author: "bob", Text: "again"}}})
	g := s.state().Goal("goal-1")
	equals(t, "status", []any{g.Status, g.AlignmentHistory[len(g.AlignmentHistory)-1].Event}, []any{board.InProgress, "reopened"})
}

// TestMergeCompletes checks that the merge of its pull request completes a goal, if the team's setting says so
// and all its tasks are finished.
func TestMergeCompletes(t *testing.T) {
	head := strings.Repeat("a", 40)
	for _, finished := range []bool{true, false} {
		s := begun(t).in(board.Merged, "login")
		if !finished {
			s.claimed("logout")
		}
		s.do(human, &board.SetConfig{Key: "goal_completion", Value: "merged"})
		s.refused("permission", planner, &board.GoalComplete{}, "waits for the merge of its pull request")
		if finished {
			equal(t, "inbox", lined(s.inbox(report.Outside{Leases: s.allAlive()})), "goal_over human []: git liza pr submit goal-1")
		}
		s.do(human, &board.PROpen{Goal: "goal-1", Kind: "github", Host: "github.com", Repo: "ada/shop", Number: 7, Base: "main", Branch: "goal/goal-1", Head: head})
		if finished {
			items := s.inbox(report.Outside{Leases: s.allAlive()})
			equal(t, "inbox", lined(items), "goal_over human []: git liza pr sync goal-1")
			equal(t, "evidence", strings.Join(items.Items[0].Evidence, ""), "pull request: ada/shop#7, open")
		}
		s.do(planner, &board.PRMerged{Goal: "goal-1", Commit: head, Kind: "squash", Head: head})
		equal(t, "pull request", report.GoalsOf(s.state())[0].Request, "ada/shop#7, merged into main as aaaaaaaaaa (squash)")
		equal(t, "completed", s.state().Goal("goal-1").Status == board.Completed, finished)
		if !finished {
			s.refused("wrong-state", planner, &board.GoalComplete{}, "logout")
		}
	}
}
