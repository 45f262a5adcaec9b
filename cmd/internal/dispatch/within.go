package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Within executes command lines for a long-running program, as if typed in the directory of its
// call, with empty standard input.
func Within(c *call.Call) call.Runs {
	return func(ctx context.Context, args []string) (call.Done, error) {
		var out, said bytes.Buffer
		app := *c.App
		app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), &out, &said
		if code := Run(ctx, &app, slices.Concat([]string{"-C", c.Directory(), "--json"}, args)); code != 0 {
			return call.Done{}, refusal(code, said.Bytes())
		}
		var done struct {
			Subject    string
			Warnings   []string
			Operations []struct{ Subject string }
		}
		_ = json.Unmarshal(out.Bytes(), &done) // it succeeded; only its description would be missing
		for _, op := range done.Operations {
			done.Warnings = append(done.Warnings, op.Subject)
		}
		return call.Done{Subject: done.Subject, Lines: done.Warnings}, nil
	}
}

// refusal parses what a command printed when it ended with an error.
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
	return &call.Outcome{Exit: code, Code: e.Error.Code, Message: e.Error.Message, Hint: e.Error.Hint}
}
