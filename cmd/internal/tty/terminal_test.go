//go:build linux

package tty

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestDrawIsOneWrite: a frame is a single write, and a frame already on the screen is not written
// again. The socket preserves the boundaries of writes.
func TestDrawIsOneWrite(t *testing.T) {
	ends := testrun.Must(syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET, 0))(t)
	out, in := os.NewFile(uintptr(ends[0]), "out"), os.NewFile(uintptr(ends[1]), "in")
	defer in.Close()
	term := &Terminal{out: out}
	frames := [][]string{{"one", strings.Repeat("x", 30_000)}, {"one", strings.Repeat("x", 30_000)}, {"two"}}
	for _, lines := range frames {
		testrun.Check(t, term.Draw(lines))
	}
	term.Forget()
	testrun.Check(t, term.Draw(frames[2]))
	out.Close()
	buffer := make([]byte, 1<<17)
	for _, want := range []string{"one\x1b[K\r\nxxx", "\x1b[Htwo\x1b[K", "\x1b[Htwo\x1b[K"} {
		n := testrun.Must(in.Read(buffer))(t)
		if got := string(buffer[:n]); !strings.Contains(got, want) || !strings.HasSuffix(got, "\x1b[?2026l") {
			t.Errorf("a write is %.40q ... %d bytes", got, n)
		}
	}
	if n, _ := in.Read(buffer); n > 0 {
		t.Errorf("one write too many: %q", buffer[:n])
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		sent []string // one per read
		want []Key
	}{
		{"letters", []string{"q?ä"}, []Key{'q', '?', 'ä'}},
		{"arrows of both kinds", []string{"\x1b[A\x1bOB\x1b[5~\x1b[6~"}, []Key{Up, Down, PageUp, PageDown}},
		{"escape alone", []string{"\x1b", "q"}, []Key{Escape, 'q'}},
		{"a sequence in two reads", []string{"\x1b[", "A"}, []Key{Up}},
		{"a letter in two reads", []string{"\xc3", "\xa4"}, []Key{'ä'}},
		{"an unknown sequence", []string{"\x1b[1;5Px"}, []Key{'x'}},
		{"controls", []string{"\r\x03\x02\x1a\x7f\x15"}, []Key{Enter, Interrupt, Stop, Backspace, EraseLine}},
		{"a paste of two lines", []string{"\x1b[200~a\rb\x1b[2", "01~"}, []Key{PasteBegin, 'a', Enter, 'b', PasteEnd}},
		{"no text", []string{"\xff\xfex"}, []Key{'x'}},
	} {
		var got []Key
		var left []byte
		for _, s := range c.sent {
			var keys []Key
			keys, left = parse(append(left, s...))
			got = append(got, keys...)
		}
		if !slices.Equal(got, c.want) || len(left) > 0 {
			t.Errorf("%s: got %v and %q left, want %v", c.name, got, left, c.want)
		}
	}
}
