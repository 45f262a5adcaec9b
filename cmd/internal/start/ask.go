package start

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Asking asks questions on a terminal. A nil one asks nothing, and has the empty answer to each.
type Asking struct {
	to    io.Writer
	Lines chan string // of the terminal while a question is open; closed at its end
	open  atomic.Bool // a question is open; lines typed before it answer nothing
}

// NewAsking reads answers until the input ends.
func NewAsking(in io.Reader, to io.Writer) *Asking {
	a := &Asking{to: to, Lines: make(chan string, 1)}
	go func() {
		defer close(a.Lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			if a.open.Load() {
				select {
				case a.Lines <- strings.TrimSpace(s.Text()):
				default: // the question has its answer
				}
			}
		}
	}()
	return a
}

// Open makes the next line the answer to a question, until done is called.
func (a *Asking) Open() (done func()) {
	select {
	case _, open := <-a.Lines: // it came too late for the question before
		if !open {
			return func() {}
		}
	default:
	}
	a.open.Store(true)
	return func() { a.open.Store(false) }
}

// Line asks for a line. It returns an error if ctx or the input ends.
func (a *Asking) Line(ctx context.Context, question string) (string, error) {
	if a == nil {
		return "", nil
	}
	defer a.Open()()
	fmt.Fprint(a.to, question)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, open := <-a.Lines:
		if !open {
			return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("the input ended before the answer to %q", strings.TrimSpace(question)), "answer on a terminal; git liza start --yes asks nothing")
		}
		return line, nil
	}
}

// Yes asks a question that Enter answers with yes. Without a terminal the answer is no.
func (a *Asking) Yes(ctx context.Context, question string) (bool, error) {
	if a == nil {
		return false, nil
	}
	line, err := a.Line(ctx, question)
	line = strings.ToLower(line)
	return err == nil && (line == "" || line == "y" || line == "yes"), err
}
