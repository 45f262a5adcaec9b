package rig

import (
	"fmt"
	"regexp"
	"strings"
)

// Run is an agent's assignment, according to the labels of its prompts.
type Run struct {
	Conversation
	Role      string
	Agent     string
	Task      string
	Worktree  string
	Iteration string
	Commit    string // the commit to review
	Trigger   string // for a planner
}

// Script returns the commands that an agent runs, one at a time, before its turn ends.
type Script func(r Run) (steps []string)

// Goal is a script that completes a goal with the given tasks. The first submission of the task
// named rejected is rejected once.
func Goal(tasks []string, rejected string) Script {
	return func(r Run) []string {
		switch r.Role {
		case "planner":
			if r.Trigger != "INITIAL_PLANNING" {
				return nil
			}
			return plan(tasks)
		case "coder":
			return Code(r)
		case "code_reviewer":
			return review(r, rejected)
		}
		return nil
	}
}

func plan(tasks []string) []string {
	var steps []string
	for _, id := range tasks {
		steps = append(steps, fmt.Sprintf("git liza add-task --id %s --desc 'Print %[1]s' --spec specs/vision.md --done 'sh src/%[1]s.sh prints %[1]s' --scope 'IN: src, tests. OUT: docs'", id))
	}
	return append(steps, "git liza finalize "+strings.Join(tasks, " "), "git liza alignment 'Planned'")
}

// Code are a coder's steps: a checkpoint, a test and code, a commit, a submission.
func Code(r Run) []string {
	src, test := "src/"+r.Task+".sh", "tests/test_"+r.Task+".sh"
	return []string{
		fmt.Sprintf("git liza pre-exec %s --intent 'print it' --validation 'sh %s: no output' --file %s --file %s", r.Task, test, src, test),
		fmt.Sprintf("mkdir -p src tests && echo 'echo %[1]s # %[2]s' > %[3]s && echo 'test \"$(sh %[3]s)\" = %[1]s' > %[4]s && sh %[4]s", r.Task, r.Iteration, src, test),
		fmt.Sprintf("git add src tests && git commit -q -m 'Print %s'", r.Task),
		"git liza submit " + r.Task,
	}
}

func review(r Run, rejected string) []string {
	verdict := fmt.Sprintf("git liza verdict %s APPROVED --checked tests --commit %s", r.Task, r.Commit)
	if r.Task == rejected && r.Iteration == "1" {
		verdict = fmt.Sprintf("git liza verdict %s REJECTED --commit %s --blocker 'src/%[1]s.sh:1|no comment|nobody knows why|say why' --overall 'nearly' --spec n/a --anomaly none", r.Task, r.Commit)
	}
	return []string{"git liza review " + r.Task, "sh tests/test_" + r.Task + ".sh", verdict}
}

// Play answers with a script's next step: the first one after the prompt, the next one after each
// output.
func (s Script) Play(c Conversation) Reply {
	r := Read(c)
	if r.Role == "" {
		return Reply{Text: "Done."}
	}
	steps := s(r)
	if n := len(c.Results); n < len(steps) {
		return Reply{Run: steps[n]}
	}
	return Reply{Text: "Done: my turn ends."}
}

// Read reads the labels of a conversation's prompts; newer prompts take precedence.
func Read(c Conversation) Run {
	r := Run{Conversation: c}
	find := func(label string) string {
		re := regexp.MustCompile(`(?m)^` + label + `: (.*)$`)
		for i := len(c.Prompts) - 1; i >= 0; i-- {
			if m := re.FindStringSubmatch(c.Prompts[i]); m != nil {
				return strings.TrimSpace(m[1])
			}
		}
		return ""
	}
	r.Role, r.Agent, r.Task = find("ROLE"), find("AGENT ID"), find("TASK ID")
	r.Worktree, r.Iteration, r.Commit, r.Trigger = find("WORKTREE"), find("ITERATION"), find("REVIEW COMMIT"), find("WAKE TRIGGER")
	return r
}
