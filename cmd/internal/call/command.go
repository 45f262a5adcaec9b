package call

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Command is a row of the table of commands, from which help, man pages and completion are made.
type Command struct {
	Name     string // one or two words
	Group    string // in the overview
	Args     string // as help shows them
	Min      int    // least number of arguments
	Max      int    // greatest number, -1 for any
	Short    string // its purpose in one line
	Long     string // further explanation
	Example  string // a working command line, or several, one per line
	Writes   bool   // accepts --request
	Reads    bool   // accepts --at
	Flags    func(*pflag.FlagSet)
	Lasts    bool // may run until it is stopped: each of its requests has retries of its own
	Anywhere bool // runs outside a repository, too: Call.Board is nil unless it opens one
	Run      func(context.Context, *Call) error
}

// FlagSet returns the command's flags and those that every command has.
func (c *Call) FlagSet() *pflag.FlagSet {
	f := pflag.NewFlagSet(c.Cmd.Name, pflag.ContinueOnError)
	f.SetOutput(discard{})
	f.SortFlags = false
	if c.Cmd.Flags != nil {
		c.Cmd.Flags(f)
	}
	f.StringVarP(&c.Dir, "directory", "C", c.Dir, "run as if started in `DIR`")
	c.retries = gitboard.DefaultRetries
	f.BoolVar(&c.JSON, "json", c.JSON, "print one JSON object")
	f.Lookup("json").DefValue = "false" // also where git liza --json COMMAND has set it
	if c.Cmd.Writes {
		f.StringVar(&c.Request, "request", "", "unique `ID` of this request: a repetition acts once")
		f.IntVar(&c.retries, "retries", gitboard.DefaultRetries, "how often lost races are retried, in all")
		f.StringArrayVar(&c.Versions, "seen", nil, "refuse if the task has changed since it was seen, as `ID=VERSION`")
		f.BoolVar(&c.AllowSecret, "allow-secret", false, "store text that looks like a credential")
	}
	if slices.Contains(board.OfflineOps(), c.Cmd.Name) {
		f.BoolVar(&c.Offline, "offline", false, "keep it for git liza sync, where the remote of a shared board is out of reach")
	}
	if c.Cmd.Reads {
		f.StringVar(&c.At, "at", "", "as the board was at a `COMMIT` or time")
	}
	onceEach(f)
	byField(f)
	return f
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// takes reports whether a command has a flag of its own with a given name.
func (cmd *Command) takes(flag string) bool {
	f := pflag.NewFlagSet(cmd.Name, pflag.ContinueOnError)
	if cmd.Flags != nil {
		cmd.Flags(f)
	}
	return f.Lookup(flag) != nil
}
