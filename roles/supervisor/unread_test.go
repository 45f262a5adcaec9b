package supervisor

import (
	"errors"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// failing is a source that returns errors after a number of reads.
type failing struct {
	board.Source
	left int
	met  bool
}

var errUnread = errors.New("the disk is gone")

func (f *failing) Record(path string) (any, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Record(path)
}

// TestUnread checks that nothing is decided and nothing panics if a record can't be read, for
// example because the supervisor is asked to end during a read.
func TestUnread(t *testing.T) {
	s := newScene(t).approved("login").ready("cart").blocked("search")
	for _, a := range []board.Actor{planner, coder1, coder2, reviewer1, reviewer2} {
		for left := 0; ; left++ {
			source := &failing{Source: s.mem, left: left}
			l := s.look(a)
			l.State = board.NewState(source, s.now).ForRules()
			err := read(l.State, func() {
				Next(l, &Memory{Claims: map[string]Failed{"cart": {Times: claimTries}}})
				Oversee(l, &Running{Task: "login"})
			})
			if source.met != errors.Is(err, errUnread) {
				t.Errorf("%s, after %d readings: %v", a.ID, left, err)
			}
			if !source.met {
				break
			}
		}
	}
}
