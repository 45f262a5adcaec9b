package prompt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/prompt"
)

// situations lists the ways in which an agent is started, by golden file.
var situations = map[string]func(*scene) prompt.Input{
	"coder_first": func(s *scene) prompt.Input {
		return s.ready("add-users").ready("add-login").claim(coder, "add-login", sha("b")).input(coder, "add-login")
	},
	"coder_notes": func(s *scene) prompt.Input {
		s.submitted("add-users").verdict("add-users", "APPROVED", nil).
			do(reviewer, &board.Merge{About: about("add-users"), ReviewCommit: sha("c"), Before: sha("b"), MergeCommit: sha("d"), MergeType: board.MergeCommitType})
		s.ready("add-login", "add-users").claim(coder, "add-login", sha("d"))
		in := s.note("add-login", "Mind the umlauts").note("", "Release on Friday").note("coder-1", "Small commits").note("coder-2", "Not yours").input(coder, "add-login")
		in.Warnings = []string{"3 files in the worktree are not committed"}
		return in
	},
	"coder_rework": func(s *scene) prompt.Input {
		return s.submitted("add-login").verdict("add-login", "REJECTED", feedback()).claim(coder, "add-login", "").input(coder, "add-login")
	},
	"coder_inherited": func(s *scene) prompt.Input {
		return s.submitted("add-login").verdict("add-login", "REJECTED", feedback()).do(planner, &board.Reassign{About: about("add-login")}).
			claim(coder2, "add-login", sha("b")).input(coder2, "add-login")
	},
	"coder_fix_conflict": func(s *scene) prompt.Input {
		return s.failed("add-login", board.FailConflict).claim(coder2, "add-login", "").input(coder2, "add-login")
	},
	"coder_fix_test": func(s *scene) prompt.Input {
		return s.failed("add-login", board.FailTest).claim(coder2, "add-login", "").input(coder2, "add-login")
	},
	"coder_handoff": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login")
		s.do(coder, &board.HandOff{About: about("add-login"), Summary: "handler done, two tests red", NextAction: "answer 401 for unknown names",
			Approach: "one table of cases", FilesModified: []string{"login/login.go"}, NextSteps: []string{"empty names"}})
		return s.claim(coder2, "add-login", "").input(coder2, "add-login")
	},
	"coder_kept": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login").block(coder, "add-login")
		s.do(planner, &board.Unblock{About: about("add-login"), Mode: board.UnblockKeepWork, To: "coder-2", Assessment: "423 it is"})
		return s.claim(coder2, "add-login", "").input(coder2, "add-login")
	},
	"coder_answered": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login").block(coder, "add-login")
		s.do(planner, &board.Answer{About: about("add-login"), Text: "423, for three minutes", Afresh: true, Kept: sha("9")})
		return s.claim(coder2, "add-login", sha("b")).input(coder2, "add-login")
	},
	"coder_same": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login").block(coder, "add-login")
		return s.do(planner, &board.Unblock{About: about("add-login"), Mode: board.UnblockSameCoder, Assessment: "423 it is"}).input(coder, "add-login")
	},
	"coder_again": func(s *scene) prompt.Input {
		return s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login").input(coder, "add-login")
	},
	"coder_stage": func(s *scene) prompt.Input {
		return s.staged("add-login").claim(coder, "add-login", sha("b")).input(coder, "add-login")
	},
	"coder_spec_changed": func(s *scene) prompt.Input {
		in := s.ready("add-login").claim(coder, "add-login", sha("b")).input(coder, "add-login")
		in.NewerSpec = "-Names are Latin.\n+Names are Unicode."
		return in
	},
	"planner_stages": func(s *scene) prompt.Input {
		return s.staged("add-login").claim(coder, "add-login", sha("b")).block(coder, "add-login").woken(report.BlockedTasks)
	},
	"reviewer_quorum": func(s *scene) prompt.Input {
		reviewer2 := agent("code-reviewer-2")
		s.staged("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login").submit(coder, "add-login").verdict("add-login", "APPROVED", nil)
		s.do(reviewer2, &board.Register{Session: reviewer2.Session}).do(reviewer2, &board.ClaimReview{About: about("add-login")})
		in := s.input(reviewer2, "add-login")
		in.Review = material()
		return in
	},
	"reviewer_first": func(s *scene) prompt.Input {
		in := s.submitted("add-login").note("add-login", "Mind the umlauts").do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review = material()
		return in
	},
	"reviewer_handoff": func(s *scene) prompt.Input {
		reviewer2 := agent("code-reviewer-2")
		s.submitted("add-login").do(reviewer2, &board.Register{Session: reviewer2.Session}).do(reviewer2, &board.ClaimReview{About: about("add-login")})
		s.do(reviewer2, &board.HandOff{About: about("add-login"), Summary: "login.go is read", NextAction: "run the validation", NextSteps: []string{"login_test.go"}})
		in := s.do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review = material()
		return in
	},
	"reviewer_second": func(s *scene) prompt.Input {
		s.submitted("add-login").verdict("add-login", "REJECTED", feedback()).claim(coder, "add-login", "").preExec(coder, "add-login").submit(coder, "add-login")
		in := s.do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review, in.Restarted = material(), true
		return in
	},
	"coder_comments": func(s *scene) prompt.Input {
		s.submitted("add-login").commented("add-login").verdict("add-login", "REJECTED", &board.Rejection{Overall: "See the comments."})
		in := s.claim(coder, "add-login", "").input(coder, "add-login")
		in.Remarks = remarks(s.state().Task("add-login").Comments, 0)
		return in
	},
	"reviewer_comments": func(s *scene) prompt.Input {
		s.submitted("add-login").commented("add-login").verdict("add-login", "REJECTED", &board.Rejection{Overall: "See the comments."})
		s.claim(coder, "add-login", "").preExec(coder, "add-login").submit(coder, "add-login")
		in := s.do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review, in.Remarks = material(), remarks(s.state().Task("add-login").Comments, 2)
		return in
	},
	"reviewer_spec_changed": func(s *scene) prompt.Input {
		s.submitted("add-login").do(planner, &board.RecordSpecChange{Spec: "specs/login.md", Change: "Locked accounts get 423"})
		in := s.do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review = material()
		in.Review.SpecChanged, in.Review.SpecDiff = true, "@@ -1 +1,2 @@\n A form.\n+Locked accounts get 423.\n"
		return in
	},
	"reviewer_no_tests": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).preExec(coder, "add-login")
		s.do(coder, &board.Submit{About: about("add-login"), Commit: sha("c"), ReviewBase: sha("b"), Commits: 1, Files: 1, NoTestsBecause: "a colour only"})
		in := s.do(reviewer, &board.ClaimReview{About: about("add-login")}).input(reviewer, "add-login")
		in.Review = &prompt.Review{Commits: []string{"cccccccccc Paint it"}, Files: []string{"login/login.go"}, NoTestsBecause: "a colour only", Verified: "go test ./login: exit 1\nFAIL"}
		return in
	},
	"planner_initial": func(s *scene) prompt.Input {
		return s.note("planner", "Smaller tasks, please").woken(report.InitialPlanning)
	},
	"planner_handoff": func(s *scene) prompt.Input {
		return s.do(planner, &board.HandOff{Summary: "two tasks drafted", NextAction: "draft the login"}).woken(report.InitialPlanning)
	},
	"planner_left_drafts": func(s *scene) prompt.Input {
		s.do(planner, &board.AddTask{About: about("add-login"), Definition: board.Definition{Description: "Let customers log in", Kind: board.Code, Priority: 2}})
		again := planner
		again.Session += "-again"
		s.do(again, &board.Register{Session: again.Session, Clone: "here"})
		return s.woken(report.InitialPlanning)
	},
	"planner_blocked": func(s *scene) prompt.Input {
		s.ready("add-cart").ready("add-login").claim(coder, "add-login", sha("b")).block(coder, "add-login").
			do(coder, &board.LogAnomaly{Type: "spec_ambiguity", Task: "add-login", Details: map[string]board.Scalar{"spec_ref": "specs/login.md"}})
		return s.woken(report.BlockedTasks)
	},
	"planner_integration_failed": func(s *scene) prompt.Input {
		return s.failed("add-login", board.FailConflict).woken(report.IntegrationFailures)
	},
	"planner_hypothesis": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).fails(coder, "add-login").do(planner, &board.Unblock{About: about("add-login"), Mode: board.UnblockFresh})
		return s.claim(coder2, "add-login", sha("b")).fails(coder2, "add-login").woken(report.HypothesisExhausted)
	},
	"planner_discovery": func(s *scene) prompt.Input {
		s.ready("add-login").do(coder, &board.Discover{During: "add-login", Description: "passwords lie in the log", Severity: "critical", Urgency: "immediate", Recommendation: "mask them"})
		return s.woken(report.ImmediateDiscovery)
	},
	"planner_stale_reservation": func(s *scene) prompt.Input {
		s.ready("add-login").claim(coder, "add-login", sha("b")).block(coder, "add-login")
		s.do(planner, &board.Unblock{About: about("add-login"), Mode: board.UnblockKeepWork, To: "coder-1"}).do(coder, &board.Deregister{})
		return s.woken(report.StaleReservation)
	},
	"planner_plan_rejected": func(s *scene) prompt.Input {
		return s.reviewsPlans().ready("add-login").rejected("add-login").woken(report.PlanRejected)
	},
	"plan_review": func(s *scene) prompt.Input {
		s.reviewsPlans().ready("add-login").rejected("add-login").do(planner, &board.Finalize{About: about("add-login"), SpecOID: sha("5")})
		in := s.input(reviewer, "")
		in.Wake = &report.PlansToReview(s.state(), reviewer.ID)[0]
		return in
	},
	"planner_all_terminal": func(s *scene) prompt.Input {
		return s.ready("add-login").do(planner, &board.Abandon{About: about("add-login"), Reason: "not needed"}).woken(report.AllTerminal)
	},
}

// commented adds two comments to a submission.
func (s *scene) commented(id string) *scene {
	s.t.Helper()
	s.do(human, &board.Comment{About: about(id), Commit: sha("c"), Path: "login/login.go", Line: 12, Lines: 40, Text: "an empty name\ngets in"})
	return s.do(human, &board.Comment{About: about(id), Commit: sha("c"), Path: "login/login.go", Line: 30, Lines: 40, Text: "this leaks the file"})
}

// remarks completes comments as the repository does. The first one was acted upon.
func remarks(all []board.LineComment, touched int) []report.Remark {
	left := make([]report.Remark, len(all))
	for i, c := range all {
		left[i] = report.Remark{LineComment: c, Code: "\tif name == other {"}
	}
	left[0].Touched, left[1].Later = touched, touched
	return left
}

// failed brings a task to a failed merge.
func (s *scene) failed(id, how string) *scene {
	s.t.Helper()
	m := &board.Merge{About: about(id), ReviewCommit: sha("c"), Before: sha("e"), Failure: how}
	if m.Log = "--- FAIL: TestShop\nshop_test.go:7: two carts"; how == board.FailConflict {
		m.Log, m.Files = "", []string{"login/login.go"}
	}
	return s.submitted(id).verdict(id, "APPROVED", nil).do(reviewer, m)
}

// TestContinued checks that a continued conversation gets only what is new, with the same labels as
// every prompt.
func TestContinued(t *testing.T) {
	in := situations["coder_rework"](newScene(t))
	whole := build(t, in)
	in.Continued = true
	text := build(t, in)
	golden.Check(t, filepath.Join("testdata", "coder_continued.txt"), text)
	for _, part := range []string{"\nROLE: coder\n", "\nTASK ID: add-login\n", "\nITERATION: 2\n", "MUST ADDRESS", "- [blocker] login/login.go:12", "git liza submit add-login"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	if strings.Contains(text, "INSTRUCTIONS:") || len(text) > len(whole)/3 {
		t.Errorf("%d bytes, where the whole prompt has %d:\n%s", len(text), len(whole), text)
	}
}

// TestContinuedIsTold checks that a continued conversation is told whatever has become of its task
// since: a new definition, answers, another coder's work, a worktree made again.
func TestContinuedIsTold(t *testing.T) {
	const fresh = "Your worktree is fresh"
	for name, c := range map[string]struct {
		begin func(s *scene) prompt.Input
		parts []string
		never string
	}{
		"amended": {func(s *scene) prompt.Input {
			s.ready("add-login").claim(coder, "add-login", sha("b")).block(coder, "add-login")
			s.do(planner, &board.AmendTask{About: about("add-login"), Definition: board.Definition{DoneWhen: "a locked account gets 423"}, Set: []string{"done_when"}, Reason: "locked accounts"})
			s.do(planner, &board.Unblock{About: about("add-login"), Mode: board.UnblockKeepWork, To: "coder-1"})
			return s.claim(coder, "add-login", "").input(coder, "add-login")
		}, []string{"DONE WHEN: a locked account gets 423", "SCOPE: IN: login/", "amended"}, fresh},
		"answered, to be done afresh": {func(s *scene) prompt.Input {
			s.ready("add-login").claim(coder, "add-login", sha("b")).block(coder, "add-login")
			s.do(planner, &board.Answer{About: about("add-login"), Text: "423, for three minutes", Afresh: true, Kept: sha("9")})
			return s.claim(coder, "add-login", sha("b")).input(coder, "add-login")
		}, []string{"ANSWER: 423, for three minutes", fresh}, "DONE WHEN"},
		"handed over by another": {situations["coder_handoff"], []string{"HANDOFF SUMMARY: handler done, two tests red"}, fresh},
		"rejected, another's":    {situations["coder_inherited"], []string{"That was another attempt", "an empty name is accepted", fresh[5:]}, "DONE WHEN"},
		"claimed anew": {func(s *scene) prompt.Input {
			s.ready("add-login").claim(coder, "add-login", sha("b")).do(human, &board.Release{About: about("add-login"), Force: true, Reason: "later"})
			return s.claim(coder, "add-login", sha("b")).input(coder, "add-login")
		}, []string{fresh}, "DONE WHEN"},
		"started again": {situations["coder_again"], []string{"STARTED AGAIN"}, fresh},
	} {
		in := c.begin(newScene(t))
		in.Continued = true
		text := build(t, in)
		for _, part := range c.parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is missing in\n%s", name, part, text)
			}
		}
		if strings.Contains(text, c.never) {
			t.Errorf("%s: %q is in\n%s", name, c.never, text)
		}
	}
}

func build(t testing.TB, in prompt.Input) string {
	t.Helper()
	return testrun.Must(prompt.Build(in))(t)
}

// prompts are the prompts of all situations.
func prompts(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, begin := range situations {
		all[name] = build(t, begin(newScene(t)))
	}
	return all
}

func TestSituations(t *testing.T) {
	for name, text := range prompts(t) {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, filepath.Join("testdata", name+".txt"), text)
			if len(text) > 8<<10 {
				t.Errorf("%d bytes are more than a page: what the agent must know, stated once", len(text))
			}
			if strings.Contains(text, "<no value>") || strings.Contains(text, " \n") {
				t.Errorf("a hole, or space at the end of a line, in\n%s", text)
			}
		})
	}
}
