package trace

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestStep checks that a trace is printed only if it is asked for.
func TestStep(t *testing.T) {
	was, out := tracing, os.Stderr
	t.Cleanup(func() { tracing, os.Stderr = was, out })
	for on, want := range map[bool]string{true: "ms  step 1\n", false: ""} {
		read, write, err := os.Pipe()
		testrun.Check(t, err)
		tracing, os.Stderr = on, write
		Step("step %d", 1)()
		write.Close()
		said, _ := io.ReadAll(read)
		if !strings.HasSuffix(string(said), want) || want == "" && len(said) > 0 {
			t.Errorf("%v: %q", on, said)
		}
	}
}
