package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/golden"
)

// naming are the flags whose value names a goal, a stage, a role or an agent.
var naming = map[string]string{"goal": "biling", "after": "biling", "stage": "cde", "role": "codr", "to": "codr-1"}

// unknownNames are the commands with such a flag, as they are called with a name that is unknown,
// and commands that take a name as an argument.
var unknownNames = []string{
	"add-task --id x --desc d --spec specs/vision.md --goal biling", "add-task --id x --desc d --spec specs/vision.md --stage cde --goal billing",
	"amend-task plan --stage cde", "alignment planned --goal biling", "anomaly external_blocker blocker_service=mail --goal biling",
	"discover --desc gap --severity low --goal biling", "export --goal biling", "graph --goal biling", "inbox --goal biling", "metrics --goal biling", "note hello --goal biling",
	"prime --goal biling", "prompt planner --goal biling", "release held --role codr", "resume --goal biling", "spec-change --spec specs/vision.md --change all --goal biling",
	"status --goal biling", "sweep --role codr", "unblock stuck --to codr-1",
	"goal abort biling", "goal complete biling", "goal priority biling 2", "goal reopen biling", "goal show biling", "goal start Next --after biling",
	"agent codr", "env codr-1", "prompt codr", "register codr-1",
}

// TestUnknownNames checks that each command which takes the name of a goal, a stage, a role or an
// agent refuses one that is unknown, and says which names are known.
func TestUnknownNames(t *testing.T) {
	l := wrongScene(t)
	l.liza("", "goal", "start", "Bill customers", "--id", "billing")
	var said strings.Builder
	for _, line := range unknownNames {
		code, message, hint := l.try("", strings.Fields(line)...)
		fmt.Fprintf(&said, "$ git liza %s\n%s\nhint: %s\n\n", line, message, hint)
		known := hint + message
		if code != 1 || !strings.Contains(known, "billing") && !strings.Contains(known, "code") {
			t.Errorf("git liza %s: exit %d, %s\nhint: %s", line, code, message, hint)
		}
	}
	golden.Check(t, filepath.Join("testdata", "golden", "unknown-names.txt"), said.String())
	for _, c := range dispatch.Commands() {
		flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
		if c.Flags != nil {
			c.Flags(flags)
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if value, names := naming[f.Name]; names && !tried(c.Name, "--"+f.Name+" "+value) {
				t.Errorf("git liza %s --%s %s is not in the list of this test", c.Name, f.Name, value)
			}
		})
	}
}

// tried reports whether the list has a command with a flag.
func tried(command, flag string) bool {
	for _, line := range unknownNames {
		if strings.HasPrefix(line+" ", command+" ") && strings.Contains(line+" ", flag+" ") {
			return true
		}
	}
	return false
}
