//go:build unix

package testrun

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestWriteProgram checks that a program can be run at once, whatever is started beside.
func TestWriteProgram(t *testing.T) {
	dir, done := t.TempDir(), make(chan struct{})
	var beside sync.WaitGroup
	defer beside.Wait()
	defer close(done)
	for range 4 {
		beside.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command("true").Run()
				}
			}
		})
	}
	for n := range 50 {
		program := filepath.Join(dir, fmt.Sprint(n))
		if err := WriteProgram(program, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(program).Run(); err != nil {
			t.Fatal(err)
		}
	}
}
