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

// fieldFlags are the flags of fields that have another name on the board. The field's name is
// accepted, too: it is what a caller reads there.
var fieldFlags = map[string]string{
	"blocked-questions": "question", "blocked-reason": "reason", "depends-on": "depends", "description": "desc", "done-when": "done",
	"files-modified": "file", "next-action": "next", "next-steps": "step", "recommendation": "recommend", "spec-ref": "spec",
}

// byField lets flags be given by the names of their fields.
func byField(f *pflag.FlagSet) {
	has := map[string]bool{}
	f.VisitAll(func(flag *pflag.Flag) { has[flag.Name] = true })
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		field := strings.ReplaceAll(name, "_", "-")
		if flag := fieldFlags[field]; has[flag] && !has[field] {
			return pflag.NormalizedName(flag)
		}
		if has[field] {
			return pflag.NormalizedName(field)
		}
		return pflag.NormalizedName(name)
	})
}

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
