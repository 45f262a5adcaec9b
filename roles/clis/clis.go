// Package clis knows the coding-agent CLIs that a supervisor can run: how each is started unattended and
// interactively, how it takes its prompt, and what it prints when its quota is used up.
//
// It promises to be pure: it starts nothing and reads neither clock nor environment.
//
// It may import gitboard/board and gitboard/plain.
package clis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// Prompting is how a CLI is given its prompt.
type Prompting string

// The ways to hand a prompt over.
const (
	Stdin    Prompting = "stdin"    // the prompt on standard input
	Argument Prompting = "argument" // the prompt as the last argument, standard input empty
	File     Prompting = "file"     // the path of the prompt's file as the last argument, standard input empty
)

// CLI is a program that works on a prompt.
type CLI struct {
	Name    string
	Program string
	Args    []string // of the unattended form: they let it edit the worktree and call `git liza` unasked
	Prompt  Prompting

	// Sandbox is the CLI's own; nil where it has none that an unattended run can work in.
	Sandbox *Sandbox

	// Root takes the place of Args where the user is root and the CLI refuses to run so; nil where it does not.
	Root []string

	// Resume are further arguments that continue a conversation: SESSION among them is its id. nil where the CLI can't.
	Resume []string

	// Last are arguments behind all others.
	Last []string

	// Interrupt says that it ends its tools and itself in order on SIGINT, as from a terminal. Others get SIGTERM.
	Interrupt bool

	// Interactive are the arguments of the interactive form, before its first message. The CLI's own questions
	// stay: a person is there to answer.
	Interactive []string

	// Quota are regular expressions of what it prints when it stops for its quota, a rate limit or a service
	// that is overloaded. What the named groups at (a time), zone, in (a duration) and epoch (seconds since
	// 1970) catch says when it can go on.
	Quota []string

	// Overhead is about how many bytes it sends with each request beside the conversation: its own instructions and
	// tools. It counts where the CLI reports its usage only at its end.
	Overhead int

	Install string // what to type when the program is missing; "" when nobody can say
}

// Sandbox is a CLI's own. The commands that it runs there can write to their folder and to those
// that are named, and to nothing else of this machine.
type Sandbox struct {
	On    []string // arguments behind Args, or Interactive; FOLDERS among them is their list, as JSON and TOML have it
	Off   []string // arguments behind Args that do without it
	Probe []string // the program's arguments that succeed where the sandbox starts
	Use   Use

	Writable []string // further folders that its user lets it write to
}

// Use is when a sandbox is used.
type Use string

// The uses of a sandbox, as liza.NAME.sandbox says.
const (
	WhereItStarts Use = ""
	Always        Use = "true" // nothing starts where it does not
	Never         Use = "false"
)

// on are the arguments of a run in the sandbox.
func (s *Sandbox) on(folders []string) []string {
	args := make([]string, len(s.On))
	for i, arg := range s.On {
		args[i] = strings.ReplaceAll(arg, "FOLDERS", stringList(slices.Concat(folders, s.Writable)))
	}
	return args
}

// Find is the CLI of a name among one's own and the known ones; one's own come first. Otherwise a refusal that
// names the nearest.
func Find(name string, own []CLI) (CLI, error) {
	all := slices.Concat(own, Known)
	names := make([]string, len(all))
	for i, c := range all {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	near := plain.Nearest(name, names, 3)
	if len(near) == 0 {
		near = names
	}
	return CLI{}, board.Refuse(board.CodeInvalid, fmt.Sprintf("no CLI is called %q", name),
		fmt.Sprintf("nearest: %s; another one: git config liza.%s.command 'COMMAND', or --exec 'COMMAND'", strings.Join(near, ", "), configName(name)))
}

// configName is a name as a hint can show it in a key of git's configuration.
func configName(name string) string {
	if word().MatchString(name) {
		return name
	}
	return "NAME"
}

// Start is what a run begins with.
type Start struct {
	Prompt  string
	File    string // where the prompt is kept
	Session string // the conversation to continue; "" for a new one
	Root    bool   // the user is root

	// Folders are those outside its own to which the sandbox lets it write; nil for no sandbox.
	Folders []string
}

// Command is how the program is started unattended: its arguments, and what it gets on standard input.
func (c CLI) Command(s Start) (args []string, stdin string) {
	args = slices.Clone(c.Args)
	if s.Root && c.Root != nil {
		args = slices.Clone(c.Root)
	}
	switch {
	case c.Sandbox == nil:
	case s.Folders == nil:
		args = append(args, c.Sandbox.Off...)
	default:
		args = append(args, c.Sandbox.on(s.Folders)...)
	}
	if s.Session != "" {
		for _, arg := range c.Resume {
			args = append(args, strings.ReplaceAll(arg, "SESSION", s.Session))
		}
	}
	args = append(args, c.Last...)
	switch c.Prompt {
	case Argument:
		return append(args, s.Prompt), ""
	case File:
		return append(args, s.File), ""
	}
	return args, s.Prompt
}

// InteractiveCommand are the arguments with which the program is started for a person to watch: its
// first message tells it to read the prompt's file. folders are as in Start.
func (c CLI) InteractiveCommand(promptFile string, folders []string) []string {
	args := slices.Clone(c.Interactive)
	if c.Sandbox != nil && folders != nil {
		args = append(args, c.Sandbox.on(folders)...)
	}
	return append(args, "Read "+promptFile+" and follow it.")
}

// stringList is a list of strings as JSON and TOML have it.
func stringList(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
