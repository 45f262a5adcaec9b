package child

import (
	"bufio"
	"context"
	"io"
	"os/exec"
)

// Session is a running `git update-ref --stdin -z`.
type Session struct {
	c      Command
	cmd    *exec.Cmd
	stderr *Tail
	in     io.WriteCloser
	out    io.Reader
}

// Session starts the child.
func (c Command) Session(ctx context.Context) (*Session, error) {
	s := &Session{c: c}
	var err error
	if s.cmd, s.stderr, err = c.child(ctx); err != nil {
		return nil, err
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, c.failure(ctx, err, "")
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, c.failure(ctx, err, "")
	}
	if err := s.cmd.Start(); err != nil {
		return nil, c.failure(ctx, err, "")
	}
	return s, nil
}

// Commit runs a transaction in two phases. Once git holds all locks and has found every ref at its
// expected value, sound double-checks that. It returns sound's error, or the failure of the child.
func (s *Session) Commit(ctx context.Context, input []byte, sound func() error) error {
	// If the child has exited, end returns the reason.
	_ = s.say("start\x00" + string(input) + "prepare\x00")
	var refused error
	for lines := bufio.NewScanner(s.out); lines.Scan(); {
		if lines.Text() != "prepare: ok" {
			continue
		}
		verdict := "commit\x00"
		if refused = sound(); refused != nil {
			verdict = "abort\x00"
		}
		_ = s.say(verdict)
		_ = s.in.Close()
	}
	if err := s.End(ctx); err != nil {
		return err
	}
	return refused
}

func (s *Session) say(words string) error {
	_, err := io.WriteString(s.in, words)
	return err
}

// End closes the child's input and waits for it.
func (s *Session) End(ctx context.Context) error {
	_ = s.in.Close()
	return s.c.failure(ctx, s.cmd.Wait(), s.stderr.String())
}
