package clis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// ExecName is the name of the CLI that runs an arbitrary command.
const ExecName = "exec"

// Exec is a CLI that runs an arbitrary command by sh, with the prompt on standard input.
func Exec(command string) CLI {
	return CLI{
		Name:        ExecName,
		Program:     "sh",
		Args:        []string{"-c", command, "sh"},
		Prompt:      Stdin,
		Interactive: []string{"-c", command, "sh"},
		Quota:       generic(),
	}
}

// ACPName is the name of the CLI that runs an arbitrary command of the Agent Client Protocol.
const ACPName = "acp"

// ExecACP is a CLI that runs an arbitrary command by sh and speaks the Agent Client Protocol with it.
func ExecACP(command string) CLI {
	c := byACP(ACPName, "", "sh", "-c", command)
	c.Quota = generic()
	return c
}

// FromConfig returns the CLI with a name as git's configuration defines it: a known CLI in which
// the keys that are set replace the defaults, or another one, which needs liza.NAME.command. get
// returns the value of a key, "" if it is not set.
//
// The keys are liza.NAME.command (run by sh; if the prompt is not on standard input, it or its path
// is the last argument), .interactive (likewise, with a first message), .prompt (stdin, argument,
// file or acp), .resume and .model (as CLI.Resume and CLI.Model, with spaces between), .quota (a
// regular expression as in CLI.Quota, which replaces all others) and .install; for
// a CLI with a sandbox also .sandbox (see Use) and .writable (absolute directories, separated by
// colons).
func FromConfig(name string, get func(key string) string) (CLI, error) {
	set := func(key string) string {
		if !word().MatchString(name) {
			return ""
		}
		return get("liza." + name + "." + key)
	}
	command, interactive := set("command"), set("interactive")
	c, err := Find(name, nil)
	if err != nil {
		if command == "" {
			return CLI{}, err
		}
		c = CLI{Name: name, Prompt: Stdin, Quota: generic()}
	}
	if c.Quota == nil {
		c.Quota = generic()
	}
	if command != "" || interactive != "" {
		if command == "" {
			command = c.Shell(slices.Concat(c.Args, c.without(), c.Last))
		}
		if interactive == "" && c.Program != "" {
			interactive = c.Shell(c.Interactive)
		}
		if interactive == "" {
			interactive = command
		}
		c.Program, c.LoggedIn, c.Traces = "sh", nil, nil
		c.Root, c.Resume, c.Last, c.Hooks, c.Sandbox, c.Model = nil, nil, nil, nil, nil, nil
		c.Args = inShell(name, command)
		c.Interactive = inShell(name, interactive)
	}
	if p := Prompting(set("prompt")); p != "" {
		if !slices.Contains([]Prompting{Stdin, Argument, File, ACP}, p) {
			return CLI{}, board.Refuse(board.CodeInvalid, fmt.Sprintf("liza.%s.prompt is %q", name, p), "git config liza."+name+".prompt stdin, or argument, or file, or acp")
		}
		c.Prompt = p
		if p == ACP {
			c.Resume, c.Interrupt = []string{}, true
		}
	}
	for key, args := range map[string]*[]string{"resume": &c.Resume, "model": &c.Model} {
		if words := strings.Fields(set(key)); len(words) > 0 {
			*args = words
		}
	}
	if q := set("quota"); q != "" {
		if _, err := regexp.Compile(q); err != nil {
			return CLI{}, board.Refuse(board.CodeInvalid, fmt.Sprintf("liza.%s.quota is not a regular expression: %v", name, err), "git config liza."+name+".quota 'REGEXP'")
		}
		c.Quota = []string{q}
	}
	if i := set("install"); i != "" {
		c.Install = i
	}
	return c, c.configureSandbox(set)
}

// without returns the arguments that turn its sandbox off.
func (c CLI) without() []string {
	if c.Sandbox == nil {
		return nil
	}
	return c.Sandbox.Off
}

// configureSandbox applies the settings of the sandbox.
func (c *CLI) configureSandbox(set func(key string) string) error {
	use, writable := strings.ToLower(set("sandbox")), strings.FieldsFunc(set("writable"), func(r rune) bool { return r == ':' })
	if use == "" && len(writable) == 0 {
		return nil
	}
	if c.Sandbox == nil {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("liza.%s.sandbox and .writable are set, and %[1]s, as it is called, has no sandbox that git liza knows", c.Name),
			fmt.Sprintf("git config --unset liza.%s.sandbox; --container IMAGE holds for each CLI", c.Name))
	}
	s := *c.Sandbox
	switch use {
	case "":
	case "true", "yes", "on", "1":
		s.Use = Always
	case "false", "no", "off", "0":
		s.Use = Never
	default:
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("liza.%s.sandbox is %q", c.Name, use), "git config liza."+c.Name+".sandbox true, or false")
	}
	for _, folder := range writable {
		if !strings.HasPrefix(folder, "/") {
			return board.Refuse(board.CodeInvalid, fmt.Sprintf("liza.%s.writable names %q, which is not an absolute path", c.Name, text.Line(folder, 100)),
				"git config liza."+c.Name+".writable /home/ann/go/pkg/mod")
		}
	}
	s.Writable = writable
	c.Sandbox = &s
	return nil
}

// Shell quotes the program and its arguments for sh.
func (c CLI) Shell(args []string) string {
	words := []string{c.Program}
	for _, a := range args {
		if !unquoted().MatchString(a) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// unquoted matches a word that sh takes literally.
var unquoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w=.,/-]+$`) })

// inShell runs a command by sh so that additional arguments are appended to it, as for git's
// aliases.
func inShell(name, command string) []string {
	return []string{"-c", command + ` "$@"`, name}
}
