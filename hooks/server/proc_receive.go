package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks/install"
)

// ProcReceive answers git's proc-receive hook (githooks): it reads what was pushed to the inbox, or
// as an option, sequences each parcel, and writes what became of it. project is the directory of
// the server's own hooks.
func ProcReceive(ctx context.Context, b *gitboard.Board, project string, now time.Time, in io.Reader, out io.Writer) error {
	packets := &packets{in: bufio.NewReader(in), out: bufio.NewWriter(out)}
	commands, options, err := packets.commands()
	if err != nil {
		return err
	}
	for _, command := range commands {
		fields := strings.SplitN(command, " ", 3) // old value, new value, ref
		if len(fields) != 3 {
			return fmt.Errorf("git sent %q to proc-receive", command)
		}
		pushed := Pushed{Commit: plumbing.OID(fields[1])}
		if pushed.Commit.IsZero() {
			pushed.Text = strings.Join(options, "")
		}
		done, err := sequenced(ctx, b, project, pushed, now)
		if err != nil {
			done = Sequenced{Answer: parcel.Declined, Why: err.Error()}
		}
		packets.answer(fields[2], done)
	}
	return packets.flush()
}

func sequenced(ctx context.Context, b *gitboard.Board, project string, pushed Pushed, now time.Time) (Sequenced, error) {
	if why, err := install.Sequences(ctx, b.Repo(), project); why != "" || err != nil {
		return Sequenced{Answer: parcel.Declined, Why: why}, err
	}
	return Sequence(ctx, b, pushed, now)
}

// commands reads what git wants to know, and the options of the push.
func (p *packets) commands() (commands, options []string, err error) {
	first, err := p.list() // the version and, after a NUL, git's capabilities
	if err != nil {
		return nil, nil, err
	}
	version := "version=1"
	_, able, _ := strings.Cut(strings.Join(first, " "), "\x00")
	hasOptions := slices.Contains(strings.Fields(able), "push-options")
	if hasOptions {
		version += "\x00push-options"
	}
	p.write(version)
	if err := p.flush(); err != nil {
		return nil, nil, err
	}
	if commands, err = p.list(); err == nil && hasOptions {
		options, err = p.list()
	}
	return commands, options, err
}

// answer writes the fate of a parcel: the answer as the ref that was moved, and then each moved
// ref, for the server's post-receive hook.
func (p *packets) answer(inbox string, done Sequenced) {
	switch done.Answer {
	case parcel.AsPushed, parcel.Rewritten:
		p.write("ok " + inbox)
		p.write("option refname " + parcel.AnswerRef(inbox, done.Answer, done.News))
		for _, u := range done.Moves {
			p.write("ok " + inbox)
			p.write("option refname " + u.Ref)
			p.write("option old-oid " + string(u.Old))
			p.write("option new-oid " + string(u.New))
		}
	default:
		p.write(text.Line(fmt.Sprintf("ng %s %s: %s", inbox, done.Answer, done.Why), 900))
	}
}

// packets are the lines of git's protocol (gitprotocol-common): each begins with its length in four
// hexadecimal digits, and "0000" ends a list.
type packets struct {
	in  *bufio.Reader
	out *bufio.Writer
}

// list reads lines up to the end of a list.
func (p *packets) list() (lines []string, err error) {
	for {
		var head [4]byte
		if _, err := io.ReadFull(p.in, head[:]); err != nil {
			return nil, err
		}
		length, err := strconv.ParseUint(string(head[:]), 16, 16)
		switch {
		case err != nil:
			return nil, err
		case length == 0:
			return lines, nil
		case length < 4:
			return nil, errors.New("git's line has no length")
		}
		line := make([]byte, length-4)
		if _, err := io.ReadFull(p.in, line); err != nil {
			return nil, err
		}
		lines = append(lines, strings.TrimSuffix(string(line), "\n"))
	}
}

// write writes a line. Its error is that of the next flush.
func (p *packets) write(line string) { fmt.Fprintf(p.out, "%04x%s", len(line)+4, line) }

// flush ends a list.
func (p *packets) flush() error {
	_, err := p.out.WriteString("0000")
	return errors.Join(err, p.out.Flush())
}
