package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// printsItself is the variable that makes this test binary print its process identity and exit.
const printsItself = "PROC_PRINTS_ITSELF"

func TestPrintsItself(t *testing.T) {
	if os.Getenv(printsItself) == "" {
		t.Skip("for TestEnded alone")
	}
	fmt.Println("process:", This())
}

// TestEnded checks that a process counts as ended only if it belongs to this boot and this PID
// namespace.
func TestEnded(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPrintsItself$")
	cmd.Env = append(os.Environ(), printsItself+"=1")
	out := testrun.Must(cmd.Output())(t)
	_, dead, _ := bytes.Cut(out, []byte("process: "))
	dead, _, _ = bytes.Cut(dead, []byte("\n"))
	own := strings.Fields(string(This()))
	other := func(i int, as string) string {
		changed := append([]string(nil), own...)
		changed[i] = as
		return strings.Join(changed, " ")
	}
	gone := strings.Fields(string(dead))
	for name, c := range map[string]struct {
		process string
		ended   bool
	}{
		"this one":                    {string(This()), false},
		"a child that has ended":      {string(dead), true},
		"an earlier one of our pid":   {other(2, "1"), true},
		"none":                        {"", false},
		"no process's number":         {other(0, "0"), false},
		"a group's number":            {other(0, "-1"), false},
		"not a number":                {other(0, "x"), false},
		"an earlier boot":             {strings.Replace(string(dead), gone[1], "another", 1), false},
		"another set of processes":    {strings.Replace(string(dead), gone[3], "pid:[1]", 1), false},
		"what only looks like one":    {string(dead) + " more", false},
		"the first process, if later": {strings.Join([]string{"1", own[1], own[2], own[3]}, " "), true},
	} {
		testrun.Equal(t, ID(c.process).Ended(), c.ended, "%s (%q): ended is", name, c.process)
	}
	testrun.Equal(t, Of(1<<30), "", "no process has an identity")
	if endedBeside("", ID(dead)) {
		t.Error("where no process is known, one has ended")
	}
	for id, elsewhere := range map[ID]bool{This(): false, ID(other(3, "pid:[1]")): true, "": false, "7": false} {
		if id.Elsewhere() != elsewhere || id.Runs() != (id == This()) {
			t.Errorf("%q: elsewhere is %t, it runs: %t", id, id.Elsewhere(), id.Runs())
		}
	}
}
