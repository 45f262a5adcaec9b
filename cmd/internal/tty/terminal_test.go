//go:build linux

package tty

import (
	"os"
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
