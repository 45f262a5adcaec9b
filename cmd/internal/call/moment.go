package call

import (
	"context"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Moment parses a flag's time, absolute or relative to now in a direction (1 or -1). It is "" for
// an empty flag.
func Moment(c *Call, flag, line string, direction time.Duration) (board.Time, error) {
	if line == "" {
		return "", nil
	}
	if t, err := board.ParseTime(line); err == nil {
		return t, nil
	}
	d, err := time.ParseDuration(line)
	if err != nil {
		return "", Usage(c.Cmd, "--%s takes a time (2026-01-31T14:05:00Z) or a span (90m), not %q", flag, text.Line(line, 40))
	}
	return board.At(c.App.Now().Add(direction * d)), nil
}

func Commas(list string) []string {
	var out []string
	for _, part := range strings.Split(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Interrupted drops the error of an interrupted call, which has done its work.
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
