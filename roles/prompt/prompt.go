// Package prompt builds what a supervisor hands to an agent: who it is, its task with all that the board says of
// it, and what to do with which command. The texts are templates, one a role and a situation.
//
// It promises that a prompt is a function of its input alone, that it stays under Limit whatever the records
// hold, and that no text of a record begins a line: at the beginning of a line stands what this package wrote,
// mostly as `LABEL: value`, so that a script can read it. A longer text follows its label indented.
//
// It is pure: no I/O, no clock, no environment.
//
// It may import gitboard/board, gitboard/plain, gitboard/report and gitboard/roles.
package prompt

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Limit is how many bytes a prompt has at most.
const Limit = 16_000

// Input is all that a prompt is built from.
type Input struct {
	State     *board.State
	Agent     string // id
	Role      roles.Role
	Root      string          // the project's root, absolute
	Task      string          // of a coder or reviewer
	Worktree  string          // absolute, of the task
	Wake      *report.Wake    // of a planner: why it is woken
	Review    *Review         // what only the repository knows about the submission; nil for none
	Remarks   []report.Remark // comments on lines of its submissions
	Continued bool            // the agent's own conversation on this task goes on: only what is new is said
	Restarted bool            // the agent was started on this claim, review or trigger before
	Warnings  []string        // what the supervisor noticed, e.g. conflicts left open in the worktree
}

// Review is what only the repository knows about a submission.
type Review = report.Submission

//go:embed templates/*.tmpl
var files embed.FS

// templates are parsed when first needed: most commands never show a prompt.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(files, "templates/*.tmpl"))
})

// Build writes the prompt. The error is a refusal when the input names no such task, or nothing wakes the
// planner; else that of a record which could not be read.
func Build(in Input) (string, error) {
	v := &view{Input: in}
	if err := v.complete(); err != nil {
		return "", err
	}
	for _, v.share = range []int{100, 60, 35, 20, 10, 5} {
		text, err := v.render()
		if err != nil || len(text) < Limit {
			return text, err
		}
	}
	return "", fmt.Errorf("the prompt of %s is longer than %d bytes", plain.Line(in.Agent, 40), Limit)
}

func (v *view) render() (string, error) {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, v.template(), v); err != nil {
		return "", err
	}
	if err := v.State.Err(); err != nil {
		return "", err
	}
	return squeezed(b.String()), nil
}

// template is the outermost one.
func (v *view) template() string {
	if v.Continued && v.Role == roles.Coder {
		return "continued.tmpl"
	}
	return "prompt.tmpl"
}

// squeezed leaves one empty line where templates left several.
func squeezed(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text) + "\n"
}
