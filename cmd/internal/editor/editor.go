// Package editor opens files in the user's editor, texts in their pager and pages in their browser.
//
// It may import nothing of ours.
package editor

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/cli/browser"
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

// Browse opens a page where this machine has a screen for a browser. Elsewhere it does nothing: a
// browser for terminals would take this one.
func Browse(url string, getenv func(string) string, stderr io.Writer) {
	graphical := runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	for _, variable := range []string{"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"} {
		graphical = graphical || getenv(variable) != ""
	}
	if graphical && getenv("SSH_CONNECTION") == "" {
		browser.Stdout, browser.Stderr = stderr, stderr
		_ = browser.OpenURL(url) // the address was printed
	}
}
