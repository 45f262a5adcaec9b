// Package clis knows the coding-agent CLIs that a supervisor can run: how to start each one
// unattended and interactively, how it takes its prompt, and its output when its quota is used
// up.
//
// It is pure: it starts nothing and reads neither clock nor environment.
//
// It may import gitboard/board and gitboard/text.
package clis

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Prompting is how a CLI takes its prompt.
type Prompting string

// The ways to pass a prompt.
const (
	Stdin    Prompting = "stdin"    // the prompt on standard input
	Argument Prompting = "argument" // the prompt as the last argument, standard input empty
	File     Prompting = "file"     // the path of the prompt's file as the last argument, standard input empty
	ACP      Prompting = "acp"      // by the Agent Client Protocol, which git liza acp speaks for it
)

// CLI is a program that works on a prompt.
type CLI struct {
	Name    string
	Program string
	Args    []string // of an unattended run: it may edit the worktree and call `git liza` unasked
	Prompt  Prompting

	// Sandbox is the CLI's own sandbox; nil if it has none that an unattended run can work in.
	Sandbox *Sandbox

	// Root replaces Args if the user is root and the CLI refuses to run as root; nil if it does not
	// refuse.
	Root []string

	// Resume are additional arguments that continue a conversation; SESSION in them stands for its
	// id. nil if the CLI can't.
	Resume []string

	// Model are additional arguments that choose the model; MODEL in them stands for its name. nil if
	// the CLI has no such arguments.
	Model []string

	// Hooks are additional arguments by which it asks `git liza hook` after each tool call and at the
	// end of a turn. nil if it can't.
	Hooks []string

	// Last are arguments that come after all others.
	Last []string

	// Interrupt means that on SIGINT it ends its tools and then itself, as from a terminal. Other CLIs
	// get SIGTERM.
	Interrupt bool

	// Interactive are the arguments of an interactive run, before its first message. The CLI still
	// asks for permission, because a person can answer, but not to read a prompt; PROMPTS stands for
	// the directory of those.
	Interactive []string

	// Quota are regular expressions for its output when it stops because of its quota, a rate
	// limit or an overloaded service. The named groups at (a time), zone, in (a duration) and epoch
	// (seconds since 1970) give the time when it can continue.
	Quota []string

	// Overhead is roughly how many bytes it sends with each request besides the conversation: its
	// own instructions and tools. It is used if the CLI reports its usage only at the end.
	Overhead int

	// Mode is the mode of its sessions by the Agent Client Protocol; "" for its own choice.
	Mode string

	// NoUsage means that it reports no tokens: no budget ends its runs.
	NoUsage bool

	// Places are files of the program below the user's home that are not in PATH, as where a shell
	// knows it by an alias.
	Places []string

	// LoggedIn are arguments with which the program succeeds if its user is logged in; nil if it has
	// no such command.
	LoggedIn []string

	// Traces are what a login leaves: files below the user's home, and variables, as $NAME. Without
	// any its user is not logged in. nil if it shows none.
	Traces []string

	// Keeps are variables with a host's token that it logs in by. Other CLIs don't get them.
	Keeps []string

	Install string // command that installs a missing program; "" if unknown
}

// Sandbox is a CLI's own sandbox. Commands in it can write to their own directory and to those
// named, and nowhere else.
type Sandbox struct {
	On    []string // arguments after Args or Interactive; FOLDERS stands for a list as in JSON or TOML
	Off   []string // arguments after Args that turn it off
	Probe []string // arguments with which the program succeeds if the sandbox works
	Use   Use

	Writable []string // further directories that the user makes writable
}

// Use is when a sandbox is used.
type Use string

// The values of liza.NAME.sandbox.
const (
	WhereItStarts Use = ""
	Always        Use = "true" // required to start a CLI
	Never         Use = "false"
)

// on returns the arguments for a run in the sandbox.
func (s *Sandbox) on(folders []string) []string {
	args := make([]string, len(s.On))
	for i, arg := range s.On {
		args[i] = strings.ReplaceAll(arg, "FOLDERS", stringList(slices.Concat(folders, s.Writable)))
	}
	return args
}

// Find returns the CLI with a name, from the user's own or else from the known ones. If there is
// none, it returns a refusal that names the closest match.
func Find(name string, own []CLI) (CLI, error) {
	all := slices.Concat(own, Known)
	names := make([]string, len(all))
	for i, c := range all {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	near := text.Nearest(name, names, 3)
	if len(near) == 0 {
		near = names
	}
	return CLI{}, board.Refuse(board.CodeInvalid, fmt.Sprintf("no CLI is called %q", name),
		fmt.Sprintf("nearest: %s; another one: git config liza.%s.command 'COMMAND', or --exec 'COMMAND'", strings.Join(near, ", "), configName(name)))
}

// configName is a name as a hint can show it in a git configuration key.
func configName(name string) string {
	if word().MatchString(name) {
		return name
	}
	return "NAME"
}

// Start is the input of a run.
type Start struct {
	Prompt  string
	File    string // the file that holds the prompt
	Session string // the conversation to continue, "" for a new one
	Root    bool   // the user is root
	Hooks   bool   // a supervisor runs it

	// Folders are the directories outside its own that the sandbox lets it write to; nil for no
	// sandbox.
	Folders []string
}

// Command returns the arguments and the standard input of an unattended run.
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
	if s.Hooks {
		args = append(args, c.Hooks...)
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

// Hears reports whether a supervised run gets unread notes after its next tool call.
func (c CLI) Hears() bool { return c.Hooks != nil || c.Prompt == ACP }

// Bridge returns the arguments of git liza that run a CLI by the Agent Client Protocol. program is
// its program's file.
func (c CLI) Bridge(program, session string) []string {
	args := []string{"acp"}
	if session != "" {
		args = append(args, "--session", session)
	}
	if c.Mode != "" {
		args = append(args, "--mode", c.Mode)
	}
	return slices.Concat(args, c.Last, []string{"--", program}, c.Args)
}

// WithModel returns the CLI with a model chosen. It refuses a CLI without an option for it.
func (c CLI) WithModel(model string) (CLI, error) {
	if c.Prompt == ACP {
		c.Last = []string{"--model", model}
		return c, nil
	}
	if c.Model == nil {
		return c, board.Refuse(board.CodeInvalid, fmt.Sprintf("%s, as it is called, has no option for a model, and the role's is %q", c.Name, text.Line(model, 60)),
			fmt.Sprintf("put it into the command: git config liza.%s.command 'COMMAND'; and take it out of the team: git liza team edit", configName(c.Name)))
	}
	args := make([]string, len(c.Model))
	for i, arg := range c.Model {
		args[i] = strings.ReplaceAll(arg, "MODEL", model)
	}
	c.Args = slices.Concat(c.Args, args)
	c.Interactive = slices.Concat(args, c.Interactive)
	if c.Root != nil {
		c.Root = slices.Concat(c.Root, args)
	}
	return c, nil
}

// InteractiveCommand returns the arguments of a run that a person watches; its first message makes
// the CLI read the prompt's file. folders is Start.Folders.
func (c CLI) InteractiveCommand(promptFile string, folders []string) []string {
	args := make([]string, len(c.Interactive))
	for i, arg := range c.Interactive {
		args[i] = strings.ReplaceAll(arg, "PROMPTS", path.Dir(promptFile))
	}
	if c.Sandbox != nil && folders != nil {
		args = append(args, c.Sandbox.on(folders)...)
	}
	return append(args, "Read "+promptFile+" and follow it.")
}

// stringList formats strings as a list that is valid JSON and TOML.
func stringList(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
