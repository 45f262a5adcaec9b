package gitio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// session is a running `git update-ref --stdin -z`.
type session struct {
	c      command
	ctx    context.Context
	cmd    *exec.Cmd
	stderr *tail
	in     io.WriteCloser
	out    io.Reader
}

// session starts the child.
func (c command) session(ctx context.Context) (*session, error) {
	if c.err != nil {
		return nil, c.err
	}
	s := &session{c: c, ctx: ctx}
	s.cmd, s.stderr = c.child(ctx)
	var err error
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

// commit makes a transaction in two steps. When git has taken all locks and has found every ref where it was to be,
// sound says whether that is so. The error is sound's, or how the child failed.
func (s *session) commit(input []byte, sound func() error) error {
	_ = s.say("start\x00" + string(input) + "prepare\x00") // a child that has ended says why
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
	if err := s.end(); err != nil {
		return err
	}
	return refused
}

func (s *session) say(words string) error {
	_, err := io.WriteString(s.in, words)
	return err
}

// end waits for the child, which gets nothing more to read.
func (s *session) end() error {
	_ = s.in.Close()
	return s.c.failure(s.ctx, s.cmd.Wait(), s.stderr.String())
}

// still compares refs whose locks are held with where they have to be. Git has done so, too, but of those that stand
// in packed-refs it may have read a file that has been replaced since: it reads it for the first ref of a transaction,
// before it has the locks of the others, and takes it for current as long as size, inode and second are the same.
// Beside a busy `git pack-refs` that lost acknowledged updates (TestRacers, git 2.39).
func (r *Repo) still(updates []git.RefUpdate) error {
	if _, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil {
		return nil // which is read whole, under its lock
	}
	loose := map[string]string{}
	var others []string
	for _, u := range updates {
		data, err := os.ReadFile(filepath.Join(r.common, filepath.FromSlash(u.Ref)))
		if err != nil {
			others = append(others, u.Ref)
			continue
		}
		loose[u.Ref] = strings.TrimSpace(string(data))
	}
	var packed map[string]git.OID
	if len(others) > 0 {
		var err error
		if packed, err = r.PackedRefs(others...); err != nil {
			return err
		}
	}
	for _, u := range updates {
		now, is := loose[u.Ref]
		if strings.HasPrefix(now, "ref:") {
			continue // the lock is that of the ref it leads to
		}
		if !is {
			now = string(packed[u.Ref].OrZero())
		}
		if git.OID(now) != u.Old.OrZero() {
			return fmt.Errorf("%w: %s is at %s, not at %s", ErrRefMoved, u.Ref, now, u.Old.OrZero())
		}
	}
	return r.keepsOthers(updates)
}

// keepsOthers holds what git is about to put in the place of packed-refs, which it has locked to delete refs, against the
// file: that lacks the deleted refs and nothing else. From an old copy it would bring back what others have moved.
func (r *Repo) keepsOthers(updates []git.RefUpdate) error {
	var deleted []string
	for _, u := range updates {
		if u.New.IsZero() {
			deleted = append(deleted, u.Ref)
		}
	}
	if len(deleted) == 0 {
		return nil
	}
	stands, err := r.packedRefs("packed-refs", nil)
	if err != nil {
		return err
	}
	without := maps.Clone(stands)
	for _, ref := range deleted {
		delete(without, ref)
	}
	if len(without) == len(stands) {
		return nil // git leaves the file as it is
	}
	next, err := r.packedRefs("packed-refs.new", nil)
	if err == nil && !maps.Equal(next, without) {
		err = fmt.Errorf("%w: git has read packed-refs before it was last written", ErrRefMoved)
	}
	return err
}
