package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

// App is the edge of the program: what a process has from outside. A test gives it other values.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // where commands run; "" is the working directory
	Now    func() time.Time
	Random io.Reader // nil: the system's
}

// OS is the edge of a real process.
func OS() *App {
	return &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
}

// Main runs one command line and returns the exit code.
func (a *App) Main(args []string) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	return a.Run(ctx, args)
}

// Run is Main under a context.
func (a *App) Run(ctx context.Context, args []string) int {
	json := wantsJSON(args)
	err := a.run(ctx, args)
	if err != nil {
		a.printError(err, json)
	}
	return ExitCode(err)
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

func (a *App) run(ctx context.Context, args []string) error {
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
	args = global.Args()
	switch {
	case *version:
		args = []string{"version"}
	case *help || len(args) == 0:
		return a.overview()
	case args[0] == "help":
		if len(args) == 1 {
			return a.overview()
		}
		args = []string{args[1], "--help"}
	}
	cmd := findCommand(args)
	if cmd == nil {
		return unknownCommand(args[0])
	}
	args = args[len(strings.Fields(cmd.name)):]
	c := &call{app: a, ctx: ctx, cmd: cmd, dir: *dir, json: *json}
	defer c.close()
	flags := c.flagSet()
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			_, err := io.WriteString(a.Stdout, cmd.help(flags))
			return err
		}
		return flagFault(cmd, flags, err)
	}
	c.args = flags.Args()
	if n := len(c.args); n < cmd.min || cmd.max >= 0 && n > cmd.max {
		return usage(cmd, "%s", argumentFault(cmd, c.args))
	}
	if c.request != "" && !cmd.writes {
		return usage(cmd, "--request is for commands that write")
	}
	if cmd.writes {
		a.outlivePipes()
	}
	return cmd.hinted(cmd.run(c))
}

func argumentFault(cmd *command, args []string) string {
	n := len(args)
	if n < cmd.min {
		return fmt.Sprintf("%s needs %s", cmd.name, cmd.args)
	}
	extra := board.Line(args[cmd.max], 40)
	if cmd.max == 0 {
		return fmt.Sprintf("%s takes no arguments, and %q is one", cmd.name, extra)
	}
	return fmt.Sprintf("%s takes %s, and %q is too many", cmd.name, cmd.args, extra)
}

// flagFault says what is wrong with a flag, in the words of who typed it.
func flagFault(cmd *command, flags *pflag.FlagSet, err error) error {
	var (
		unknown *pflag.NotExistError
		value   *pflag.InvalidValueError
		bare    *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, flags, unknown)
	case errors.As(err, &value):
		return usage(cmd, "--%s takes %s, not %q", value.GetFlag().Name, takes(value.GetFlag()), board.Line(value.GetValue(), 40))
	case errors.As(err, &bare):
		return usage(cmd, "--%s needs a value", bare.GetSpecifiedName())
	}
	return usage(cmd, "%s", board.Line(err.Error(), 200))
}

func unknownFlag(cmd *command, flags *pflag.FlagSet, e *pflag.NotExistError) error {
	name := "git liza"
	if cmd != nil {
		name = cmd.name
	}
	if short := e.GetSpecifiedShortnames(); short != "" {
		fault := &usageError{message: fmt.Sprintf("%s has no flag -%s", name, board.Line(short, 40)), hint: "git liza help"}
		if cmd != nil {
			fault.hint = "git liza " + name + " -h; what begins with - and is no flag goes behind --"
		}
		return fault
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	fault := usage(cmd, "%s has no flag --%s", name, board.Line(e.GetSpecifiedName(), 40)).(*usageError)
	if near := board.Nearest(e.GetSpecifiedName(), known, 3); len(near) > 0 {
		fault.hint = "nearest: --" + strings.Join(near, ", --")
	}
	return fault
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
