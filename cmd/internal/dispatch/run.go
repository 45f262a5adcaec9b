package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Main runs one command line and returns the exit code. Help is done before it could be interrupted, and
// begins sooner without preparations for other commands.
func Main(a *call.App, args []string) int {
	if len(args) > 0 && args[0] == "help" {
		return Run(context.Background(), a, args)
	}
	// A command lives for milliseconds: collecting garbage less often costs it nothing but memory.
	debug.SetGCPercent(400)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as set by nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	return Run(ctx, a, args)
}

// Run is Main with a context.
func Run(ctx context.Context, a *call.App, args []string) int {
	json := wantsJSON(args)
	err := dispatch(a.Context(ctx), a, args)
	if err != nil {
		a.PrintError(err, json)
	}
	return call.ExitCode(err)
}

func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" || arg == "--json=true" {
			return true
		}
	}
	return false
}

func dispatch(ctx context.Context, a *call.App, args []string) error {
	global := pflag.NewFlagSet("git liza", pflag.ContinueOnError)
	global.SetInterspersed(false)
	global.SetOutput(io.Discard)
	dir := global.StringP("directory", "C", "", "")
	help := global.BoolP("help", "h", false, "")
	version := global.Bool("version", false, "")
	json := global.Bool("json", false, "")
	if err := global.Parse(args); err != nil {
		return flagFault(nil, global, err)
	}
	asJSON := wantsJSON(args)
	args = global.Args()
	switch {
	case *version:
		args = []string{"version"}
	case len(args) == 0 && !*help:
		c := &call.Call{App: a, Cmd: &call.Command{Anywhere: true}, Dir: *dir, JSON: asJSON}
		defer c.Close()
		return c.Hinted(ctx, home(ctx, c))
	case *help:
		return overview(a, asJSON)
	case args[0] == "help":
		topic := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool { return word == "--json" })
		if len(topic) == 0 {
			return overview(a, asJSON)
		}
		args = append(topic, "--help")
	}
	cmd := Find(args)
	if cmd == nil {
		if group := withFirstWord(args[0]); len(group) > 0 {
			return groupPage(a, group, args, asJSON)
		}
	}
	c := &call.Call{App: a, Cmd: cmd, Dir: *dir, JSON: *json, Keys: signing.KeyOf}
	defer c.Close()
	if cmd == nil {
		c.Cmd, c.Args = &call.Command{Name: args[0]}, args[1:]
		return c.Hinted(ctx, unknownCommand(args[0], c.HandsIn(ctx)))
	}
	return c.Hinted(ctx, run(ctx, c, args[len(strings.Fields(cmd.Name)):], asJSON))
}

// run parses the rest of a command line and runs the command.
func run(ctx context.Context, c *call.Call, args []string, asJSON bool) error {
	a, cmd := c.App, c.Cmd
	c.Typed = args
	if flags, err := parse(c, args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return printPage(a, helpPage(a, cmd, flags), asJSON)
		}
		return err
	}
	if cmd.Writes {
		a.OutlivePipes()
	}
	ctx = c.Begin(ctx)
	if !cmd.Anywhere {
		if err := c.Open(ctx); err != nil {
			return err
		}
	}
	err := c.Run(ctx)
	if c.Board != nil {
		if notes := c.Board.TakeMentions(); len(notes) > 0 && c.JSON {
			_, _ = fmt.Fprintln(a.Stderr, strings.Join(notes, "\n"))
		} else if len(notes) > 0 {
			err = cmp.Or(err, c.Say(notes...))
		}
	}
	return err
}

// parse parses a command's flags and arguments. The error is pflag.ErrHelp if they ask for help.
func parse(c *call.Call, args []string) (*pflag.FlagSet, error) {
	flags := c.FlagSet()
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return flags, err
		}
		return flags, flagFault(c.Cmd, flags, err)
	}
	c.Args = flags.Args()
	if n := len(c.Args); n < c.Cmd.Min || c.Cmd.Max >= 0 && n > c.Cmd.Max {
		return flags, argumentFault(c.Cmd, c.Args)
	}
	if c.Request != "" && !c.Cmd.Writes {
		return flags, call.Usage(c.Cmd, "--request is for commands that write")
	}
	return flags, placeholderFault(c.Cmd, flags)
}

// placeholderFault refuses a flag that was copied from a hint or a page without a value of its own.
func placeholderFault(cmd *call.Command, flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		if word := valueName(f); len(word) > 1 && slices.Contains(values, word) {
			err = call.Usage(cmd, "--%s has the placeholder %s: put your own value there", f.Name, word)
		}
	})
	return err
}

// argumentFault reports too few or too many arguments. A word too many may be the second word of a
// longer command's name.
func argumentFault(cmd *call.Command, args []string) error {
	n := len(args)
	if n < cmd.Min {
		return call.Usage(cmd, "%s needs %s", cmd.Name, cmd.Args)
	}
	extra := text.Line(args[cmd.Max], 40)
	line := fmt.Sprintf("%s takes %s, and %q is too many", cmd.Name, cmd.Args, extra)
	if cmd.Max == 0 {
		line = fmt.Sprintf("%s takes no arguments, and %q is one", cmd.Name, extra)
	}
	fault := call.Usage(cmd, "%s", line).(*call.UsageError)
	var seconds []string
	for _, c := range withFirstWord(cmd.Name) {
		_, second, _ := strings.Cut(c.Name, " ")
		seconds = append(seconds, second)
	}
	if near := text.Nearest(extra, seconds, 1); len(near) > 0 {
		fault.Hint = "nearest: git liza " + cmd.Name + " " + near[0]
	}
	return fault
}

// flagFault explains an invalid flag in a user's terms.
func flagFault(cmd *call.Command, flags *pflag.FlagSet, err error) error {
	var (
		unknown *pflag.NotExistError
		value   *pflag.InvalidValueError
		bare    *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, flags, unknown)
	case errors.Is(err, call.ErrTwice) && errors.As(err, &value):
		return call.Usage(cmd, "--%s is given twice, and takes one value: put both into one", value.GetFlag().Name)
	case errors.As(err, &value):
		return call.Usage(cmd, "--%s takes %s, not %q", value.GetFlag().Name, takes(value.GetFlag()), text.Line(value.GetValue(), 40))
	case errors.As(err, &bare):
		return call.Usage(cmd, "--%s needs a value", bare.GetSpecifiedName())
	}
	return call.Usage(cmd, "%s", text.Line(err.Error(), 200))
}

func unknownFlag(cmd *call.Command, flags *pflag.FlagSet, e *pflag.NotExistError) error {
	name := "git liza"
	if cmd != nil {
		name = cmd.Name
	}
	if short := e.GetSpecifiedShortnames(); short != "" {
		fault := &call.UsageError{Message: fmt.Sprintf("%s has no flag -%s", name, text.Line(short, 40)), Hint: "git liza help"}
		if cmd != nil {
			fault.Hint = "git liza " + name + " -h; an argument that begins with - goes after --"
		}
		return fault
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	fault := call.Usage(cmd, "%s has no flag --%s", name, text.Line(e.GetSpecifiedName(), 40)).(*call.UsageError)
	fault.Hint = cmp.Or(wayOfFlag(cmd, e.GetSpecifiedName(), known), fault.Hint)
	return fault
}

// wayOfFlag names what an unknown flag may stand for, "" if nothing is like it.
func wayOfFlag(cmd *call.Command, flag string, known []string) string {
	if cmd != nil {
		if way := flagWays[cmd.Name+" --"+flag]; way != "" {
			return way
		}
		if argument := arguments[flag]; argument != "" && slices.Contains(strings.Fields(strings.Trim(cmd.Args, `[]"`)), argument) {
			return "git liza " + cmd.Name + " " + cmd.Args
		}
	}
	near := text.Nearest(flag, known, 3)
	if other := synonyms[flag]; slices.Contains(known, other) {
		near = []string{other}
	}
	if len(near) == 0 {
		return ""
	}
	return "nearest: --" + strings.Join(near, ", --")
}

func takes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	}
	return "a " + f.Value.Type()
}
