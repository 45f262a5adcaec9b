package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Within carries out command lines for a program that stays: as they would be typed in the directory in which its call
// runs, with nothing on standard input.
func Within(c *edge.Call) edge.Runs {
	return func(ctx context.Context, args []string) (edge.Done, error) {
		var out, said bytes.Buffer
		app := *c.App
		app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), &out, &said
		if code := Run(ctx, &app, slices.Concat([]string{"-C", c.Directory(), "--json"}, args)); code != 0 {
			return edge.Done{}, refusal(code, said.Bytes())
		}
		var done struct {
			Subject    string
			Warnings   []string
			Operations []struct{ Subject string }
		}
		_ = json.Unmarshal(out.Bytes(), &done) // it was done; how it is called is all that would be missing
		for _, op := range done.Operations {
			done.Warnings = append(done.Warnings, op.Subject)
		}
		return edge.Done{Subject: done.Subject, Lines: done.Warnings}, nil
	}
}

// refusal reads what a command printed as it ended with an error.
func refusal(code int, said []byte) error {
	var e struct {
		Error struct {
			Code          board.ErrorCode
			Message, Hint string
		}
	}
	if json.Unmarshal(said, &e) != nil {
		e.Error.Message = strings.TrimSpace(string(said))
	}
	return &edge.Outcome{Exit: code, Code: e.Error.Code, Message: e.Error.Message, Hint: e.Error.Hint}
}
