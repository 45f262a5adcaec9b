package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// WriteProgram writes a program that a test runs, or has run. While the file is open no child is
// forked: it would have it open for writing until it runs a program of its own, and nobody can run
// a file that is.
func WriteProgram(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}

// RunNamed runs a process in a directory, until the test ends, that the system lists under this name and
// with these arguments.
func RunNamed(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	// Another process makes the copy. If this one did, a child forked meanwhile could inherit the
	// file open for writing, and the program could not be run.
	Check(t, exec.Command("cp", Must(exec.LookPath("sh"))(t), program).Run())
	cmd := exec.Command(program, append([]string{"-c", "echo; read line; exit 0"}, args...)...)
	cmd.Dir = dir
	in, out := Must(cmd.StdinPipe())(t), Must(cmd.StdoutPipe())(t)
	Check(t, cmd.Start())
	Must(out.Read(make([]byte, 1)))(t) // wait until it runs
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // it ends at the end of its input
	})
}
