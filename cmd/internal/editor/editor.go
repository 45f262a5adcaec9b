// Package editor opens files in the user's editor and texts in their pager.
//
// It may import nothing of ours.
package editor

import (
	"io"
	"os"
	"os/exec"
	"strings"
)

// Edit opens a file in an editor and waits until it ends. As in git, the command is run by a shell
// and may have arguments; the file is appended as the last one. It returns an error if the editor
// can't be started or fails.
func Edit(command, file string, stdin io.Reader, stdout, stderr io.Writer) error {
	// No context, and a shell that survives an interrupt: one typed while the editor runs is for
	// the editor.
	cmd := exec.Command("sh", "-c", "trap : INT\n"+command+` "$@"`, command, file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	return cmd.Run()
}

// Page shows a text in a pager and waits until it ends. As in git, the command is run by a shell.
// It returns an error if the pager can't be started or fails.
func Page(command, text string, stdout, stderr io.Writer) error {
	cmd := exec.Command("sh", "-c", "trap : INT\n"+command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), stdout, stderr
	cmd.Env = append([]string{"LESS=FRX"}, os.Environ()...) // as git does; existing settings take precedence
	return cmd.Run()
}
