// Package prompt builds the prompt that a supervisor gives an agent: who it is, its task with
// everything on the board about it, and which commands to use. The texts are templates, one for
// each role and situation.
//
// It promises that a prompt depends only on its input, that it stays below Limit whatever the
// records contain, and that no text of a record begins a line. Every line begins with this
// package's own text, mostly as `LABEL: value` so that scripts can read it. A longer text follows
// its label, indented.
//
// It is pure: no I/O, no clock, no environment.
//
// It may import gitboard/board, gitboard/report, gitboard/roles and gitboard/text.
package prompt

import (
	"embed"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Limit is the maximal size of a prompt in bytes.
const Limit = 16_000

// Input is everything that a prompt is built from.
type Input struct {
	State *board.State
	Agent string // id
	Role  roles.Role
	Root  string // absolute path of the project's root
	// Integration is the commit of the integration branch, NewerSpec what that has changed in a coder's
	// spec since its work began, "" for nothing.
	Integration, NewerSpec string
	Task                   string          // for a coder or reviewer
	Worktree               string          // absolute path of the task's worktree
	Wake                   *report.Wake    // for a planner, or a reviewer of plans: why it is woken
	Review                 *Review         // what only the repository knows about the submission; nil if none
	Remarks                []report.Remark // comments on lines of its submissions
	Continued              bool            // in its own conversation on the task: only news are included
	Extra                  string          // the instructions of the agent's role in the team
	Restarted              bool            // the agent was started before on this claim, review or trigger
	Warnings               []string        // from the supervisor, e.g. unresolved conflicts
}

// Review is what only the repository knows about a submission.
type Review = report.Submission

//go:embed templates/*.tmpl
var files embed.FS

// templates are parsed on first use, since most commands never show a prompt.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(files, "templates/*.tmpl"))
})

// Build writes the prompt. It returns a refusal if the task does not exist or the planner has no
// reason to wake, and the error of a record that could not be read.
func Build(in Input) (string, error) {
	v := &view{Input: in}
	if err := v.complete(); err != nil {
		return "", err
	}
	for _, v.share = range []int{100, 60, 35, 20, 10, 5} {
		line, err := v.render()
		if err != nil || len(line) < Limit {
			return line, err
		}
	}
	return "", fmt.Errorf("the prompt of %s is longer than %d bytes", text.Line(in.Agent, 40), Limit)
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

// template is the name of the outermost template.
func (v *view) template() string {
	if v.Continued && v.Role == roles.Coder {
		return "continued.tmpl"
	}
	return "prompt.tmpl"
}

// squeezed reduces consecutive empty lines to one.
func squeezed(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text) + "\n"
}
