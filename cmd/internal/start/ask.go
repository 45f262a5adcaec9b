package start

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Asking asks questions on a terminal. A nil one asks nothing, and has the empty answer to each.
type Asking struct {
	to    io.Writer
	Lines <-chan string // of the terminal; closed at its end
}

// NewAsking reads answers until the input ends.
func NewAsking(in io.Reader, to io.Writer) *Asking {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- strings.TrimSpace(s.Text())
		}
	}()
	return &Asking{to, lines}
}

// Line asks for a line. It returns an error if ctx or the input ends.
func (a *Asking) Line(ctx context.Context, question string) (string, error) {
	if a == nil {
		return "", nil
	}
	fmt.Fprint(a.to, question)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, open := <-a.Lines:
		if !open {
			return "", fmt.Errorf("no answer to %q: %w", strings.TrimSpace(question), io.ErrUnexpectedEOF)
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
