package prompt_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/prompt"
)

// said lists, as patterns, the labels and instructions that the prompt of each situation must have.
// A space matches any white space. "base" applies to every prompt, and a name to all situations
// that begin with it.
var said = map[string][]string{
	"base": {
		`^Mode: Liza (Coder|Code Reviewer|Planner)$`, `^ROLE: \w+$`, `^AGENT ID: \S+-\d+$`, `^PROJECT ROOT: /`, `^GOAL: `, `^GOAL SPEC: specs/vision.md$`,
		`git liza prime`, `git liza show`, `git liza status`, `git liza read`, // how to read the board
		`^RULES: `, `^LOOK UP what`, `git liza docs agent-runtime#anomaly-types`, `^YOUR COMMANDS: `, `^FORBIDDEN: `, `^FIRST ACTIONS:`, `^SILENT WORK: `,
		`LIZA_SUPERVISED=1`, `Never run register, deregister, claim, claim-review or merge yourself`, `^END YOUR TURN (after|when) `, `call no further tool`, `^INSTRUCTIONS:$`, `secrets in any text`,
		`anomaly system_ambiguity .*protocol_section=.*question=`,
	},
	"coder": {
		`^=== ASSIGNED TASK ===$`, `^TASK ID: add-login$`, `^WORKTREE: /home/ada/shop/.worktrees/add-login$`, `^ITERATION: [12]$`, `^LIMITS: 10 iterations, 5 review cycles`, `^DESCRIPTION:`, `^DONE WHEN:`,
		`^SCOPE: `, `^SPEC REF: specs/login.md#form$`, `^DEPENDENCIES: `, `^NOTES: `,
		`CHECKPOINT FIRST. Before the first commit`, `git liza pre-exec add-login --intent "[^"]+" --validation "[^"]+" --file PATH`,
		`TESTS FIRST`, `Enter the worktree .* and stay in it`, `ONLY IN SCOPE`, `adjacent problem is a discovery`, `git liza discover --during add-login`,
		`LOG ANOMALIES as they occur`, `anomaly retry_loop --task add-login count=`, `anomaly trade_off .*debt_created=`, `anomaly spec_ambiguity`,
		`anomaly external_blocker .*blocker_service=`, `anomaly assumption_violated .*reality=`,
		`Don't reinterpret it, don't work around it, don't negotiate`, `BLOCK when`, `git liza block add-login --reason "[^"]+" --question`, `1 to 3 questions`, `Don't block for`,
		`HAND OFF when .*context about 90 %`, `git liza handoff add-login --summary "[^"]+" --next`, `500 characters`,
		`git liza worktree status add-login`, `at most 2 files`, `git liza submit add-login`, `end your turn at once`, `--no-tests-because`,
	},
	"coder_notes":    {`note-1 by human for add-login: Mind the umlauts`, `note-2 by human: Release`, `note-3 by human for coder-1`, `add-users MERGED dddddddddd`, `^WARNINGS: 1$`},
	"coder_handoff":  {`^HANDOFF SUMMARY: handler done`, `^HANDOFF NEXT ACTION: answer 401`, `same iteration`},
	"coder_rework":   {`^=== PRIOR REJECTION FEEDBACK \(MUST ADDRESS\) ===$`, `- \[blocker\] login/login.go:12`, `new checkpoint`, `^ITERATION: 2$`},
	"coder_fix":      {`^INTEGRATION FAILURE: (conflict|test)$`, `scope is the fix alone`, `^ITERATION: 2$`},
	"coder_fix_con":  {`^CONFLICTING FILES: 1\n  login/login.go$`, `conflict markers`},
	"coder_fix_tes":  {`^TEST OUTPUT:\n  --- FAIL`},
	"coder_kept":     {`^ASSESSMENT: 423 it is`, `^WAS BLOCKED: the spec names`, `the work in the worktree`},
	"coder_answered": {`^WAS BLOCKED: the spec names`, `^QUESTIONS: 1$`, `^  401 or 423`, `^ANSWER: 423, for three minutes`, `^EARLIER WORK: 9999`},
	"coder_same":     {`^ASSESSMENT: 423 it is`},
	"coder_inherit":  {`^=== PRIOR REJECTION FEEDBACK \(MUST ADDRESS\) ===$`, `^REJECTIONS: 1 of 5$`, `Your worktree is fresh`, `^ITERATION: 2$`},
	"coder_again":    {`^STARTED AGAIN: `, `begin nothing twice`},
	"reviewer": {
		`^=== REVIEW TASK ===$`, `^TASK ID: add-login$`, `^WORKTREE: /`, `^BASE COMMIT: b{40}$`, `^REVIEW COMMIT: [cd]{40}$`, `^AUTHOR: coder-1$`, `^ITERATION: [12]$`, `^DESCRIPTION:`, `^DONE WHEN:`,
		`^SCOPE: `, `^SPEC REF: `, `^SPEC CHANGED: (yes|no)`, `^NOTES: `, `^SPEC CHANGES: `, `^CHECKPOINT INTENT: `, `^CHECKPOINT VALIDATION: `, `^CHECKPOINT FILES: 2`, `^FILES OUTSIDE CHECKPOINT: `, `^TESTS TOUCHED: `,
		`VERIFY THE COMMIT: `, `READ THE WHOLE RANGE`, `READ THE WHOLE RANGE, every file: git liza diff add-login`, `written before the code`, `the diff does what INTENT says`, `run VALIDATION`, `each assumption holds`,
		`criterion by criterion: met, and shown by a test`, `lists as OUT.* is a violation`, `DON'T JUDGE style, other ways .* what else could be added`, `READ-ONLY: change nothing`,
		`^REJECTION FORMAT`, `Blockers: 1`, `- \[blocker\] \S+:\d+ `, `Why it matters:`, `Suggestion:`, `Concerns: 0`, `Overall:`, `Spec: REF or n/a`, `Anomaly: ID or none`,
		`^VERDICT `, `git liza verdict add-login APPROVED --commit [cd]{40} --checked "`, `git liza verdict add-login REJECTED --commit [cd]{10} --blocker`, `^APPROVAL MEANS: `, `^APPROVAL DOES NOT MEAN: `,
		`anomaly scope_deviation`, `workaround, debt_created, spec_changed`, `git liza release add-login`, `git liza review add-login`, `git liza handoff add-login --summary`,
	},
	"reviewer_handoff":      {`^HANDOFF FROM: code-reviewer-2 at`, `^HANDOFF SUMMARY: login.go is read`, `^HANDOFF NEXT ACTION: run the validation`, `judge for yourself`},
	"reviewer_second":       {`^=== PRIOR REJECTION ===$`, `Prior Feedback Status:`, `RESOLVED: .*STILL PRESENT: .*PARTIAL`, `Each earlier finding needs`, `--prior "RESOLVED`, `^STARTED AGAIN: `},
	"coder_comments":        {`^=== COMMENTS ON LINES ===$`, "^  login/login.go:30 `if name == other {`: this leaks the file \\[Ada\\]$", "^  login/login.go:12 `if name == other {`: an empty name gets in"},
	"reviewer_comments":     {"login.go:12 .*: an empty name gets in \\[Ada; submission 2 changed it there\\]$", "login.go:30 .*; not changed up to submission 2\\]$", `git liza comment add-login FILE:LINE`},
	"reviewer_spec_changed": {`^SPEC CHANGED: yes`, `^SPEC DIFF:\n  @@ `, `change-1 specs/login.md: Locked`},
	"coder_stage":           {`^STAGE: backend$`},
	"reviewer_quorum":       {`^STAGE: backend$`, `^APPROVALS SO FAR: 1 of 2 approvals: code-reviewer-1$`},
	"reviewer_no_tests":     {`^NO TESTS BECAUSE: a colour only$`, `^TESTS TOUCHED: none$`},
	"planner": {
		`^=== PLANNING CONTEXT ===$`, `^WAKE TRIGGER: [A-Z_]+$`, `^SPRINT STATE: `, `^TOTAL TASKS: \d`, `^MERGED: \d`, `^IN PROGRESS: \d`, `^UNCLAIMED: \d`, `^BLOCKED: \d`, `^INTEGRATION FAILED: \d`,
		`^HYPOTHESIS EXHAUSTED: \d`, `^IMMEDIATE DISCOVERIES: \d`, `^NOTES: `, `^ANOMALIES: `, `git liza ack note-1 anomaly-2`, `DONE WHEN is falsifiable`, `"works correctly"`,
		`git liza add-task --id \S+ --desc .* --spec .* --done .* --scope`, `git liza finalize`, `git liza note --for human`, `anomaly spec_gap`, `git liza spec-change`, `root cause`, `git liza handoff --summary`,
	},
	"planner_handoff":            {`note-1 by planner-1 for planner: hand-off: two tasks drafted next: draft the login`},
	"planner_initial":            {`^WAKE TRIGGER: INITIAL_PLANNING$`, `git liza alignment "initial plan`, `note-1 by human for planner: Smaller`},
	"planner_left_drafts":        {`^WAKE TRIGGER: INITIAL_PLANNING$`, `^ABOUT: 1`, `A planner that has left wrote the drafts of ABOUT`, `git liza finalize`},
	"planner_blocked":            {`^WAKE TRIGGER: BLOCKED_TASKS$`, `question: 401 or 423`, `attempted: read`, `git liza amend-task`, `git liza answer ID`, `--afresh`, `git liza unblock`, `--same-coder`, `git liza supersede`, `git liza abandon`, `--assessment`, `unblock alone is refused`, `LIMIT of iterations`, `anomaly-1 spec_ambiguity`},
	"planner_integration_failed": {`^WAKE TRIGGER: INTEGRATION_FAILED$`, `integration failed: conflict login/login.go`, `A coder takes INTEGRATION_FAILED tasks first`, `you look once`},
	"planner_hypothesis":         {`^WAKE TRIGGER: HYPOTHESIS_EXHAUSTED$`, `asked by: coder-1, coder-2`, `presume that its framing is wrong`, `refused until`},
	"planner_discovery":          {`^WAKE TRIGGER: IMMEDIATE_DISCOVERY$`, `disc-1, critical, by coder-1 during add-login: passwords`, `recommended: mask`, `git liza convert-discovery`, `git liza settle-discovery ID --defer`, `settle-discovery ID --reject`},
	"planner_plan_rejected":      {`^WAKE TRIGGER: PLAN_REJECTED$`, `^PLAN REVIEW: code-reviewer$`, `rejected by code-reviewer-1: nothing says what`, `proposes drafts to a code-reviewer`, `git liza finalize ID ID`},
	"plan_review":                {`^=== PLAN TO REVIEW ===$`, `^DRAFTS: 1$`, `add-login, DRAFT`, `rejected by code-reviewer-1: nothing says what`, `spec ref: specs/login.md#form`, `git liza finalize ID ID`, `git liza reject-draft ID ID --reason`, `YOUR COMMANDS: finalize, reject-draft`},
	"planner_all_terminal":       {`^WAKE TRIGGER: ALL_TERMINAL$`, `Assess the goal`, `add nothing and end your turn`, `add and finalize the tasks`},
}

func TestInstructions(t *testing.T) {
	texts := prompts(t)
	spaces := regexp.MustCompile(` +`)
	for prefix, patterns := range said {
		used := false
		for _, p := range patterns {
			pattern := regexp.MustCompile(`(?m)` + spaces.ReplaceAllString(p, `\s+`))
			for name, text := range texts {
				if prefix != "base" && !strings.HasPrefix(name, prefix) {
					continue
				}
				used = true
				if !pattern.MatchString(text) {
					t.Errorf("%s does not say %s", name, p)
				}
			}
		}
		if !used {
			t.Errorf("%s is not a situation", prefix)
		}
	}
}

// TestOnlyWhatTheSituationNeeds checks that instructions for one situation appear in no other.
func TestOnlyWhatTheSituationNeeds(t *testing.T) {
	texts := prompts(t)
	for pattern, where := range map[string]string{
		"PRIOR REJECTION FEEDBACK": "coder_rework coder_comments coder_inherited", "You go on with this work": "coder_handoff", "A reviewer began this review": "reviewer_handoff", "INTEGRATION FAILURE: conflict": "coder_fix_conflict", "INTEGRATION FAILURE: test": "coder_fix_test",
		"That was another attempt": "coder_inherited", "Each earlier finding needs": "reviewer_second reviewer_comments", "COMMENTS ON LINES": "coder_comments reviewer_comments", "SPEC DIFF": "reviewer_spec_changed", "\nSTAGE: ": "coder_stage reviewer_quorum", "\nAPPROVALS SO FAR: ": "reviewer_quorum", "NO TESTS BECAUSE: ": "reviewer_no_tests", "WARNINGS": "coder_notes",
	} {
		for name, text := range texts {
			testrun.Equal(t, strings.Contains(text, pattern), slices.Contains(strings.Fields(where), name), "%s: %q belongs to %s", name, pattern, where)
		}
	}
}

func TestRefusals(t *testing.T) {
	s := newScene(t).ready("add-login")
	for what, in := range map[board.ErrorCode]prompt.Input{
		"no-work":      s.input(planner, ""),
		"unknown-task": s.input(coder, "add-logon"),
		"wrong-state":  s.input(reviewer, "add-login"),
		"invalid":      {State: s.state(), Agent: "coder-1", Role: roles.Planner},
	} {
		_, err := prompt.Build(in)
		var r *board.Refusal
		if !errors.As(err, &r) || r.Code != what || cmdline.Hint(r.Hint) == "" {
			t.Errorf("%v, not a refusal as %s", err, what)
		}
	}
	in := s.input(planner, "")
	in.Wake = &report.Wake{Trigger: "BOREDOM"}
	if _, err := prompt.Build(in); err == nil {
		t.Error("a planner is woken by BOREDOM")
	}
}

// TestEveryTriggerHasInstructions builds a prompt for each trigger of the planner.
func TestEveryTriggerHasInstructions(t *testing.T) {
	s := newScene(t).ready("add-login")
	for _, trigger := range report.Triggers {
		in := s.input(planner, "")
		in.Wake = &report.Wake{Trigger: trigger, About: []string{"add-login"}}
		build(t, in)
	}
}

var exampleAnomaly = regexp.MustCompile(`git liza anomaly (\w+)([^\n]*)`)

// TestAnomaliesInPrompts checks that a prompt's example anomalies may be logged by its role and
// have all required details.
func TestAnomaliesInPrompts(t *testing.T) {
	seen := map[roles.Role]int{}
	for _, begin := range situations {
		in := begin(newScene(t))
		for _, m := range exampleAnomaly.FindAllStringSubmatch(build(t, in), -1) {
			i := slices.IndexFunc(board.AnomalyTypes, func(a board.AnomalyType) bool { return a.Type == m[1] })
			if i < 0 || !slices.Contains(board.AnomalyTypes[i].Who, in.Role) {
				t.Errorf("%s is not logged by a %s", m[1], in.Role)
				continue
			}
			seen[in.Role]++
			for _, detail := range board.AnomalyTypes[i].Details {
				if !strings.Contains(m[2], " "+detail+"=") {
					t.Errorf("%s is shown without %s", m[1], detail)
				}
			}
		}
	}
	for _, role := range roles.Agents {
		if seen[role] == 0 {
			t.Errorf("no anomaly is shown to a %s", role)
		}
	}
}

var exampleRejection = regexp.MustCompile(`(?ms)^REJECTION FORMAT[^\n]*\n(.*?)^(?:   This task|END YOUR TURN)`)

// TestRejectionInPrompts checks that the form of a rejection shown to a reviewer is accepted.
func TestRejectionInPrompts(t *testing.T) {
	for name, prior := range map[string]bool{"reviewer_first": false, "reviewer_second": true} {
		m := exampleRejection.FindStringSubmatch(build(t, situations[name](newScene(t))))
		if m == nil {
			t.Fatalf("%s shows no rejection", name)
		}
		if r, err := board.ParseRejection(m[1]); err != nil || len(r.Blockers) != 1 || len(r.Prior) > 0 != prior {
			t.Errorf("%s: %+v, %v, of\n%s", name, r, err, m[1])
		}
	}
}

var ownCommands = regexp.MustCompile(`(?s)YOUR COMMANDS: (.*?)\.\n`)

// TestCommandsAreTheRoles checks that a prompt lists only commands that its role may use.
func TestCommandsAreTheRoles(t *testing.T) {
	for name, begin := range situations {
		in := begin(newScene(t))
		m := ownCommands.FindStringSubmatch(build(t, in))
		if m == nil {
			t.Fatalf("%s lists no commands", name)
		}
		for _, command := range strings.Split(m[1], ",") {
			op := strings.Fields(command)[0]
			if board.Allowed(op) != nil && !board.May(in.Role, op) {
				t.Errorf("%s: %s is not for a %s", name, op, in.Role)
			}
		}
	}
}
