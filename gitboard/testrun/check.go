package testrun

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// T is a part of testing.TB that rapid's tests have, too.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Check ends a test on an error.
func Check(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns a function that ends a test on an error, and returns the value without one:
// testrun.Must(os.ReadFile(name))(t).
func Must[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Reporter is the part of testing.TB that a failed comparison needs.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal fails a test unless two values are equal. The message is about the first: "%s is".
func Equal[V comparable](t Reporter, got, want V, about string, args ...any) {
	t.Helper()
	if got != want {
		differ(t, got, want, about, args)
	}
}

// EqualSlices is Equal for slices.
func EqualSlices[V comparable](t Reporter, got, want []V, about string, args ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		differ(t, got, want, about, args)
	}
}

// ErrorIs fails a test unless an error is a given one, or wraps it.
func ErrorIs(t Reporter, err, want error, about string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		differ(t, err, want, about, args)
	}
}

// Contains fails a test unless a text has a part.
func Contains(t Reporter, text, part, about string, args ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s: %q is not in:\n%s", fmt.Sprintf(about, args...), part, text)
	}
}

func differ(t Reporter, got, want any, about string, args []any) {
	t.Helper()
	verb := "%v"
	if _, text := got.(string); text {
		verb = "%q"
	}
	t.Errorf("%s: "+verb+", not "+verb, fmt.Sprintf(about, args...), got, want)
}
