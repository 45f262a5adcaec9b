package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/process"
)

// TestSandbox checks that a CLI works in its sandbox if that starts. Otherwise it works without,
// with a warning, unless the user requires the sandbox. If the user wants none, or in a container,
// it is not tried.
func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "codex")
	for _, test := range []struct {
		name      string
		sandbox   string // the program's answer
		use       clis.Use
		container *process.Container
		boxed     bool
		tried     bool
		said      string
	}{
		{name: "starts", sandbox: "exit 0", boxed: true, tried: true},
		{name: "does not", sandbox: "echo note; echo bwrap: No permissions >&2; exit 1", tried: true, said: "does not start here (bwrap: No permissions)"},
		{name: "must", sandbox: "echo bwrap: No permissions; exit 1", use: clis.Always, tried: true, said: "does not start here: bwrap: No permissions"},
		{name: "must and starts", sandbox: "exit 0", use: clis.Always, boxed: true, tried: true},
		{name: "unwanted", sandbox: "exit 0", use: clis.Never},
		{name: "in a container", sandbox: "exit 0", container: &process.Container{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tried := filepath.Join(t.TempDir(), "tried")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\n: >'"+tried+"'\n"+test.sandbox+"\n"), 0o755))
			c := testrun.Must(clis.Find("codex", nil))(t)
			box := *c.Sandbox
			box.Use = test.use
			c.Sandbox = &box
			s := &supervisor{Config: Config{CLI: c, Container: test.container, Environ: os.Environ()}, program: program}
			err := s.trySandbox(t.Context())
			said := s.unboxed
			if stop := (*StopError)(nil); errors.As(err, &stop) && stop.Exit == 5 {
				said = stop.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(tried); (err == nil) != test.tried {
				t.Errorf("tried: %v", err)
			}
			if s.sandboxed != test.boxed || test.said == "" && said != "" || !strings.Contains(said, test.said) || (err != nil) != (test.use == clis.Always && !test.boxed) {
				t.Errorf("sandboxed %t, %q, %v", s.sandboxed, said, err)
			}
		})
	}
}
