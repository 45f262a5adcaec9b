// Package editor lets a human change a file in the editor of their choice, and read a text in their pager.
//
// It may import nothing of ours.
package editor

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// Edit opens a file in an editor and waits for its end. The command may have arguments and is read by a shell, as
// git reads it; the file becomes its last argument. An error is an editor that couldn't be started or failed.
func Edit(command, file string, stdin io.Reader, stdout, stderr io.Writer) error {
	// No context, and a shell that outlives an interrupt: one that is typed while the editor runs is the editor's.
	cmd := exec.Command("sh", "-c", "trap : INT\n"+command+` "$@"`, command, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	return cmd.Run()
}

// Page shows a text in a pager and waits for its end. The command is read by a shell, as git reads it. An error is a
// pager that couldn't be started or failed.
func Page(command, text string, stdout, stderr io.Writer) error {
	cmd := exec.Command("sh", "-c", "trap : INT\n"+command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), stdout, stderr
	cmd.Env = append([]string{"LESS=FRX"}, os.Environ()...) // as git does: what is set already counts
	return cmd.Run()
}
