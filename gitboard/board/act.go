package board

import (
	"fmt"
	"slices"
)

// Act is something that a caller can do: an operation, or a command that only reads. The package
// cmdline renders it as a command line.
type Act struct {
	Name   string   // "submit"; words are joined by hyphens: "goal-reopen"; "" for inputs alone
	On     []string // the ids of its tasks, goals or other records
	Inputs []Input
}

// Input is a field of an act. One without a value is a choice: "force".
type Input struct{ Field, Value string }

// ActOn returns an act on some records.
//
//go:noinline
func ActOn(name string, on ...string) Act { return Act{Name: name, On: on} }

// With returns the act with further inputs: pairs of a field and a value. Texts in capital letters
// are for the caller to fill in. An iterator, or its code in each of its callers, would make the program larger.
//
//go:noinline
func (a Act) With(pairs ...string) Act {
	a.Inputs = slices.Clip(a.Inputs)
	for i := 0; i < len(pairs); i += 2 {
		a.Inputs = append(a.Inputs, Input{pairs[i], pairs[i+1]})
	}
	return a
}

// Equal reports whether two acts are the same.
func (a Act) Equal(b Act) bool {
	return a.Name == b.Name && slices.Equal(a.On, b.On) && slices.Equal(a.Inputs, b.Inputs)
}

// Hint returns the act as a hint.
//
//go:noinline
func (a Act) Hint() Hint { return Advice("%s", a) }

// Hint is advice in a sentence, with acts in it.
type Hint struct {
	Text string `json:"$hint"` // with ActMark in the place of each act
	Acts []Act  `json:"$acts"`
}

// ActMark stands for an act in the text of a hint.
const ActMark = "\x00"

// Advice returns a hint. Its arguments may be acts and other hints, too, in their order in the
// format.
func Advice(format string, args ...any) Hint {
	var acts []Act
	args = slices.Clone(args)
	for i, arg := range args {
		switch a := arg.(type) {
		case Act:
			acts, args[i] = append(acts, a), ActMark
		case Hint:
			acts, args[i] = append(acts, a.Acts...), a.Text
		}
	}
	return Hint{fmt.Sprintf(format, args...), acts}
}
