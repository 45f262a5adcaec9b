package dispatch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
)

// WriteManual writes man pages for git-liza and for each command into a directory, and returns
// their number. They come from the table of commands, like help.
func WriteManual(c *call.Call, dir string) (int, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Directory(), dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	all := Commands()
	pages := map[string]string{"git-liza": overviewPage(all)}
	for _, cmd := range all {
		pages["git-liza-"+strings.ReplaceAll(cmd.Name, " ", "-")] = manualPage(cmd, (&call.Call{App: c.App, Cmd: cmd}).FlagSet())
	}
	ours := func(old []byte) bool { return bytes.HasPrefix(old, []byte(`.TH GIT\-LIZA`)) }
	for name, text := range pages {
		if err := call.WriteFile(filepath.Join(dir, name+".1"), []byte(text), ours); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

// InstallManual writes the man pages where man looks for those of this program, so that git liza
// --help shows them, and returns the directory: next to the directory bin of PATH that has the
// program. It returns "" if they are there already, or can't be.
func InstallManual(c *call.Call) (dir string, err error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	running, err := os.Stat(own)
	if err != nil {
		return "", err
	}
	all := filepath.SplitList(c.App.Getenv("PATH"))
	i := slices.IndexFunc(all, func(dir string) bool {
		is, err := os.Stat(filepath.Join(dir, "git-liza"))
		return err == nil && os.SameFile(is, running) && filepath.Base(dir) == "bin" && filepath.IsAbs(dir)
	})
	if i < 0 {
		return "", nil
	}
	bin := all[i]
	dir = filepath.Join(filepath.Dir(bin), "share", "man", "man1")
	page := filepath.Join(dir, "git-liza.1")
	if _, err := os.Lstat(page + ".gz"); err == nil { // a package has brought it
		return "", nil
	}
	if old, err := os.ReadFile(page); err == nil && string(old) == overviewPage(Commands()) {
		return "", nil
	}
	if _, err := WriteManual(c, dir); errors.Is(err, fs.ErrPermission) {
		return "", nil // the place of packages
	} else if err != nil {
		return "", err
	}
	return dir, nil
}

// roff escapes a text for a man page.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func manual(name, about, synopsis string, sections ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"git liza\" \"git liza manual\"\n", roff(strings.ToUpper(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(name), roff(about), roff(synopsis))
	for i := 0; i < len(sections); i += 2 {
		if sections[i+1] != "" {
			fmt.Fprintf(&b, ".SH %s\n%s\n", sections[i], sections[i+1])
		}
	}
	return b.String()
}

// asIs is a text whose lines are not filled.
func asIs(text string) string { return ".nf\n" + roff(strings.TrimRight(text, "\n")) + "\n.fi" }

func manualPage(cmd *call.Command, f *pflag.FlagSet) string {
	about := roff(capital(cmd.Short) + ".")
	if cmd.Long != "" {
		for _, paragraph := range strings.Split(strings.TrimSpace(cmd.Long), "\n\n") {
			if text := roff(paragraph); strings.Contains("\n"+paragraph, "\n ") {
				about += "\n.PP\n" + asIs(paragraph) // a table or an example
			} else {
				about += "\n.PP\n" + text
			}
		}
	}
	return manual("git-liza-"+strings.ReplaceAll(cmd.Name, " ", "-"), cmd.Short, strings.TrimSpace("git liza "+cmd.Name+" [OPTIONS] "+cmd.Args),
		"DESCRIPTION", about, "OPTIONS", asIs(options(f)), "EXAMPLES", asIs(cmd.Example),
		"EXIT STATUS", "0 done, 1 refused, 2 lost the race, 3 a git operation failed, 4 the board is inconsistent, 5 git, the CLI of an agent or another program is missing or too old.",
		"SEE ALSO", `\fBgit\-liza\fR(1), git liza docs`)
}

func overviewPage(all []*call.Command) string {
	var rows strings.Builder
	for _, g := range Groups {
		fmt.Fprintf(&rows, ".SS %s\n", roff(capital(g)))
		for _, cmd := range all {
			if cmd.Group == g {
				fmt.Fprintf(&rows, ".TP\n\\fB%s\\fR\n%s\n", roff("git liza "+cmd.Name), roff(cmd.Short))
			}
		}
	}
	return manual("git-liza", "a blackboard for teams of coding agents that is a git branch", "git liza COMMAND [OPTIONS] [ARGUMENTS]",
		"DESCRIPTION", roff("Every claim, verdict and merge is one commit on the branch liza/state. git liza COMMAND -h explains a command, git liza docs lists the protocol's documents."),
		"COMMANDS", strings.TrimSpace(rows.String()))
}
