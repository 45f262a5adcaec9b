package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// command is a row of the table of commands: help, man pages and completion come from it.
type command struct {
	name   string // one or two words
	group  string // whose it is, as the overview groups them
	args   string // the arguments as help shows them
	min    int    // how many arguments at least
	max    int    // and at most; -1 for any number
	short  string // what it does, in a line
	long   string // more about it
	writes bool   // it takes --request
	reads  bool   // it takes --at
	queues bool   // it takes --offline
	flags  func(*pflag.FlagSet)
	run    func(*call) error
}

// The groups of commands, in the order of the overview.
var groups = []string{"setting up", "planner", "coder", "reviewer", "any agent", "supervision", "worktrees", "human", "machines"}

// flagSet is the command's flags with those that every command has.
func (c *call) flagSet() *pflag.FlagSet {
	f := pflag.NewFlagSet(c.cmd.name, pflag.ContinueOnError)
	f.SetOutput(discard{})
	f.SortFlags = false
	if c.cmd.flags != nil {
		c.cmd.flags(f)
	}
	f.StringVarP(&c.dir, "directory", "C", c.dir, "run as if started in `DIR`")
	f.BoolVar(&c.json, "json", c.json, "print one JSON object")
	if c.cmd.writes {
		f.StringVar(&c.request, "request", "", "unique `ID` of this request: a repetition acts once")
		f.IntVar(&c.retries, "retries", gitboard.DefaultRetries, "how often a lost race is decided again")
		f.BoolVar(&c.allowSecret, "allow-secret", false, "store text that looks like a credential")
	}
	if c.cmd.queues {
		f.BoolVar(&c.offline, "offline", false, "keep it for git liza sync, where the remote of a shared board is out of reach")
	}
	if c.cmd.reads {
		f.StringVar(&c.at, "at", "", "as the board was at a `COMMIT` or time")
	}
	return f
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// findCommand finds the command that the first words name, the longer name first.
func findCommand(args []string) *command {
	all := commands()
	for words := min(2, len(args)); words > 0; words-- {
		name := strings.Join(args[:words], " ")
		if i := slices.IndexFunc(all, func(c *command) bool { return c.name == name }); i >= 0 {
			return all[i]
		}
	}
	return nil
}

func unknownCommand(word string) error {
	var names, longer []string
	for _, c := range commands() {
		names = append(names, c.name)
		if first, _, two := strings.Cut(c.name, " "); two && first == word {
			longer = append(longer, "git liza "+c.name)
		}
	}
	if len(longer) > 0 {
		return &usageError{message: fmt.Sprintf("%s is not a command by itself", word), hint: strings.Join(longer, ", ")}
	}
	hint := "git liza help"
	if near := board.Nearest(word, names, 3); len(near) > 0 {
		hint = "nearest: " + strings.Join(near, ", ")
	}
	return &usageError{message: fmt.Sprintf("%q is not a command", board.Line(word, 40)), hint: hint}
}

// help is the page that -h prints.
func (cmd *command) help(f *pflag.FlagSet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "git liza %s", cmd.name)
	if cmd.args != "" {
		b.WriteString(" " + cmd.args)
	}
	fmt.Fprintf(&b, "\n\n%s.\n", capital(cmd.short))
	if cmd.long != "" {
		b.WriteString("\n" + strings.TrimSpace(cmd.long) + "\n")
	}
	b.WriteString("\n" + cmd.options(f))
	return b.String()
}

// options are the flags, a line each.
func (cmd *command) options(f *pflag.FlagSet) string {
	return placeholders.ReplaceAllStringFunc(f.FlagUsagesWrapped(96), placeholder)
}

// placeholders are the types that pflag shows for a flag whose value has no name.
var placeholders = regexp.MustCompile(`(?m)^ .*?--[a-z-]+ (stringArray|string|int)\b`)

// placeholder puts a user's word in the place of a type, as wide as that.
func placeholder(row string) string {
	flag, typ := row[:strings.LastIndexByte(row, ' ')+1], row[strings.LastIndexByte(row, ' ')+1:]
	word := "TEXT"
	if typ == "int" {
		word = "N"
	}
	return flag + pad(word, len(typ))[:len(typ)]
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (a *App) overview() error {
	var b strings.Builder
	b.WriteString("git liza: a blackboard for teams of coding agents that is a git branch.\n")
	all := commands()
	for _, g := range groups {
		var rows []*command
		for _, c := range all {
			if c.group == g {
				rows = append(rows, c)
			}
		}
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", g)
		for _, c := range rows {
			fmt.Fprintf(&b, "  %-20s %s\n", c.name, c.short)
		}
	}
	b.WriteString("\ngit liza COMMAND -h tells more; git liza docs lists the protocol's documents.\n")
	_, err := a.Stdout.Write([]byte(b.String()))
	return err
}
