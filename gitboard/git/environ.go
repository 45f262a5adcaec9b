package git

import (
	"context"
	"os"
	"strings"
)

// environ is an environment: entries "KEY=value", of which the last one of a key counts.
type environ []string

type environKey struct{}

// InEnvironment returns a context for an environment other than that of this process. Repositories
// opened with it, and their children, see that environment.
func InEnvironment(ctx context.Context, entries []string) context.Context {
	return context.WithValue(ctx, environKey{}, environ(entries))
}

// Environ returns the environment of ctx: that of this process, unless InEnvironment gave another.
func Environ(ctx context.Context) []string {
	if given, is := ctx.Value(environKey{}).(environ); is {
		return given
	}
	return os.Environ()
}

func (e environ) lookup(key string) (value string, given bool) {
	for _, entry := range e {
		if v, is := strings.CutPrefix(entry, key+"="); is {
			value, given = v, true
		}
	}
	return value, given
}

func (e environ) get(key string) string {
	value, _ := e.lookup(key)
	return value
}
