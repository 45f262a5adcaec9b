package edge

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Command is a row of the table of commands: help, man pages and completion come from it.
type Command struct {
	Name    string // one or two words
	Group   string // whose it is, as the overview groups them
	Args    string // the arguments as help shows them
	Min     int    // how many arguments at least
	Max     int    // and at most; -1 for any number
	Short   string // what it does, in a line
	Long    string // more about it
	Example string // a command line that works, or several, one a line
	Writes  bool   // it takes --request
	Reads   bool   // it takes --at
	Flags   func(*pflag.FlagSet)
	Run     func(*Call) error
}

// FlagSet is the command's flags with those that every command has.
func (c *Call) FlagSet() *pflag.FlagSet {
	f := pflag.NewFlagSet(c.Cmd.Name, pflag.ContinueOnError)
	f.SetOutput(discard{})
	f.SortFlags = false
	if c.Cmd.Flags != nil {
		c.Cmd.Flags(f)
	}
	f.StringVarP(&c.Dir, "directory", "C", c.Dir, "run as if started in `DIR`")
	f.BoolVar(&c.JSON, "json", c.JSON, "print one JSON object")
	if c.Cmd.Writes {
		f.StringVar(&c.Request, "request", "", "unique `ID` of this request: a repetition acts once")
		f.IntVar(&c.retries, "retries", gitboard.DefaultRetries, "how often a lost race is decided again")
		f.BoolVar(&c.AllowSecret, "allow-secret", false, "store text that looks like a credential")
	}
	if slices.Contains(board.OfflineOps(), c.Cmd.Name) {
		f.BoolVar(&c.Offline, "offline", false, "keep it for git liza sync, where the remote of a shared board is out of reach")
	}
	if c.Cmd.Reads {
		f.StringVar(&c.At, "at", "", "as the board was at a `COMMIT` or time")
	}
	return f
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
