package dispatch

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Groups are the groups of commands, in the order of the overview.
var Groups = []string{"setting up", "planner", "coder", "reviewer", "any agent", "supervision", "worktrees", "human", "machines"}

// Find finds the command that the first words name, preferring longer names.
func Find(args []string) *call.Command {
	for words := min(2, len(args)); words > 0; words-- {
		name := strings.Join(args[:words], " ")
		if i := slices.IndexFunc(described(), func(c *call.Command) bool { return c.Name == name }); i >= 0 {
			return makers[i]()
		}
	}
	return nil
}

// withFirstWord lists the commands whose name has two words, the first of which is word.
func withFirstWord(word string) (group []*call.Command) {
	for _, c := range described() {
		if first, _, two := strings.Cut(c.Name, " "); two && first == word {
			group = append(group, c)
		}
	}
	return sorted(group)
}

// groupPage prints the commands of a group, unless the words after its name ask for something else.
func groupPage(a *call.App, group []*call.Command, args []string, asJSON bool) error {
	name := args[0]
	if len(args) > 1 && !slices.Contains([]string{"-h", "--help", "--json"}, args[1]) {
		var names []string
		for _, c := range group {
			names = append(names, "git liza "+c.Name)
		}
		message := fmt.Sprintf("%s has no command %q", name, text.Line(args[1], 40))
		return &call.UsageError{Message: message, Hint: strings.Join(names, ", ")}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "git liza %s COMMAND\n\n", name)
	b.WriteString(rows(a, group))
	fmt.Fprintf(&b, "\ngit liza %s COMMAND -h shows more.\n", name)
	return printPage(a, b.String(), asJSON)
}

// printPage prints a page of help, with --json as the text of one object.
func printPage(a *call.App, text string, asJSON bool) error {
	if asJSON {
		return (&call.Call{App: a}).PrintJSON(map[string]string{"text": text})
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// rows lists commands, a line each. On a terminal the summaries are wrapped at its width.
func rows(a *call.App, group []*call.Command) string {
	const indent = 23
	var b strings.Builder
	page := (&call.Call{App: a}).Page()
	for _, c := range group {
		about := []string{c.Short}
		if !page.Whole {
			about = call.Wrap(c.Short, max(page.Width-indent, 20))
		}
		fmt.Fprintf(&b, "  %-20s %s\n", c.Name, strings.Join(about, "\n"+strings.Repeat(" ", indent)))
	}
	return b.String()
}

// unknownCommand explains a word that is no command. Of a coder with a task, words for its end or
// for tasks mean handsIn, its submission.
func unknownCommand(word, handsIn string) error {
	var names []string
	for _, c := range Commands() {
		names = append(names, c.Name)
	}
	fault := &call.UsageError{Message: fmt.Sprintf("%q is not a command", text.Line(word, 40))}
	switch near := text.Nearest(word, names, 3); {
	case handsIn != "" && slices.Contains([]string{"close", "complete", "done", "finish", "task", "tasks"}, word):
		fault.Hint = handsIn
	case ways[word] != "":
		fault.Hint = ways[word]
	case slices.Contains(board.Ops(), word):
		fault.Message = fmt.Sprintf("%s is recorded where it happens, and is not a command", word)
	case len(near) > 0:
		fault.Hint = "nearest: git liza " + strings.Join(near, ", git liza ")
	}
	return fault
}

// helpPage is the page that -h prints.
func helpPage(a *call.App, cmd *call.Command, f *pflag.FlagSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "git liza %s", cmd.Name)
	if cmd.Args != "" {
		b.WriteString(" " + cmd.Args)
	}
	fmt.Fprintf(&b, "\n\n%s.\n", capital(cmd.Short))
	if cmd.Long != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.Long) + "\n")
	}
	b.WriteString("\n" + options(f))
	if group := withFirstWord(cmd.Name); len(group) > 0 {
		b.WriteString("\nMore:\n" + rows(a, group))
	}
	b.WriteString("\nExample:\n  " + strings.ReplaceAll(cmd.Example, "\n", "\n  ") + "\n")
	return b.String()
}

// options describes the flags, one per line.
func options(f *pflag.FlagSet) string {
	return placeholders().ReplaceAllStringFunc(f.FlagUsagesWrapped(96), placeholder)
}

// placeholders matches the types that pflag shows for flags whose value has no name.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^ .*?--[a-z-]+ (stringArray|string|int)\b`)
})

// placeholder replaces a type by a word of the same width that a user understands.
func placeholder(row string) string {
	flag, typ := row[:strings.LastIndexByte(row, ' ')+1], row[strings.LastIndexByte(row, ' ')+1:]
	return flag + call.Pad(typeName(typ), len(typ))[:len(typ)]
}

// typeName is a type as users read it.
func typeName(typ string) string {
	if typ == "int" {
		return "N"
	}
	return "TEXT"
}

// valueName is the placeholder for a flag's value in hints and help, "" for a flag without one.
func valueName(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	if name == "" || name != f.Value.Type() {
		return name
	}
	return typeName(name)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func overview(a *call.App, asJSON bool) error {
	var b strings.Builder
	b.WriteString("git liza: a blackboard for teams of coding agents that is a git branch.\n")
	all := Commands()
	for _, g := range Groups {
		group := slices.DeleteFunc(slices.Clone(all), func(c *call.Command) bool { return c.Group != g })
		if len(group) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", g, rows(a, group))
		}
	}
	b.WriteString("\ngit liza COMMAND -h shows more; git liza docs lists the protocol's documents.\n")
	return printPage(a, b.String(), asJSON)
}
