package edit

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/specs"
)

// TemplateFlag adds the flag that names a team to start from.
func TemplateFlag(f *pflag.FlagSet, template *string) {
	f.StringVar(template, "template", "", "the team to start from of this `NAME`: "+strings.Join(specs.TeamNames(), ", "))
}

// TeamTemplate is the text of a team to start from.
func TeamTemplate(name string) (string, error) {
	line, known := specs.Team(name)
	if known {
		return line, nil
	}
	hint := "use " + strings.Join(specs.TeamNames(), ", ")
	if near := text.Nearest(name, specs.TeamNames(), 3); len(near) > 0 {
		hint = "nearest: " + strings.Join(near, ", ")
	}
	return "", board.Refuse(board.CodeInvalid, "no team to start from is called "+text.Line(name, 60), hint)
}
