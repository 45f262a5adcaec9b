//go:build unix

package editor

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMain makes the test binary edit the file that it is given, as git liza does: an interrupt
// does not end it.
func TestMain(m *testing.M) {
	if file := os.Getenv("EDITOR_TEST_FILE"); file != "" {
		signal.Notify(make(chan os.Signal, 9), os.Interrupt)
		if err := Edit(os.Getenv("EDITOR"), file, os.Stdin, os.Stdout, os.Stderr); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestAnInterruptIsTheEditors: an interrupt typed in the editor reaches the editor and ends nothing
// else.
func TestAnInterruptIsTheEditors(t *testing.T) {
	dir := t.TempDir()
	script, file := filepath.Join(dir, "my editor.sh"), filepath.Join(dir, "a file")
	text := "trap 'echo interrupted > \"$1\"; exit 0' INT\necho ready\nwhile :; do sleep 0.05; done\n"
	testrun.Check(t, os.WriteFile(script, []byte(text), 0o644))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "EDITOR_TEST_FILE="+file, "EDITOR=sh '"+script+"'")
	host, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no pty here: %v", err)
	}
	defer host.Close()
	said := bufio.NewReader(host)
	for {
		line, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("the editor never began: %v", err)
		}
		if strings.TrimSpace(line) == "ready" {
			break
		}
	}
	testrun.Must(host.Write([]byte{3}))(t)
	testrun.ErrorIs(t, cmd.Wait(), nil, "editing ended with")
	if got, err := os.ReadFile(file); err != nil || string(got) != "interrupted\n" {
		t.Errorf("the editor wrote %q, %v", got, err)
	}
}

// TestEdit: a failing editor is an error; the file is its last argument, after those of the
// command.
func TestEdit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a 'file'")
	if err := Edit("test -f", file, nil, nil, nil); err == nil {
		t.Error("a command that fails is not an error")
	}
	testrun.ErrorIs(t, Edit("touch -m --", file, nil, nil, nil), nil, "it ends")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if err := Edit("no-such-editor --wait", file, nil, nil, nil); err == nil {
		t.Error("a missing editor is not an error")
	}
}
