package call

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// ListFlag defines a flag whose value is a list: it may be repeated, and each value may have commas.
func ListFlag(f *pflag.FlagSet, to *[]string, name, usage string) {
	f.Var((*list)(to), name, usage)
}

type list []string

func (l *list) Set(value string) error {
	*l = append(*l, Commas(value)...)
	return nil
}

func (l *list) String() string { return strings.Join(*l, ",") }
func (l *list) Type() string   { return "list" }

// ErrTwice means that a flag with one value was given twice.
var ErrTwice = errors.New("given twice")

// once is the value of a flag that must not be repeated, since the last value would win silently.
type once struct {
	pflag.Value
	set bool
}

func (o *once) Set(value string) error {
	if o.set {
		return ErrTwice
	}
	o.set = true
	return o.Value.Set(value)
}

// onceEach refuses repeated flags, except those that make lists.
func onceEach(f *pflag.FlagSet) {
	f.VisitAll(func(flag *pflag.Flag) {
		if kind := flag.Value.Type(); kind != "stringArray" && kind != "list" {
			flag.Value = &once{Value: flag.Value}
		}
	})
}
