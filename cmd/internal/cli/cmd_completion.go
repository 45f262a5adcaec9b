package cli

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
)

//go:embed completion
var completions embed.FS

// shells are those that have a completion.
var shells = []string{"bash", "zsh", "fish"}

func completionCommand() *command {
	var complete bool
	return &command{
		name: "completion", group: "setting up", args: "SHELL", max: -1,
		short: "print the completion of git liza for a shell: bash, zsh or fish",
		long: `For bash: source <(git liza completion bash), in ~/.bashrc after git's own completion. Task ids are offered
with their states, agents with what they do.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&complete, "for", false, "what the shells ask: print what the last of the WORDS after git liza may become")
		},
		run: func(c *call) error {
			if complete {
				return c.printCandidates()
			}
			if len(c.args) != 1 {
				return usage(c.cmd, "completion needs a SHELL: %s", strings.Join(shells, ", "))
			}
			if !slices.Contains(shells, c.args[0]) {
				return board.Refuse("invalid", "there is no completion for "+board.Line(c.args[0], 40), suggest(c.args[0], shells))
			}
			text, err := completions.ReadFile("completion/" + c.args[0])
			if err != nil {
				return err
			}
			_, err = c.app.Stdout.Write(text)
			return err
		},
	}
}

// printCandidates prints a word a line, with what it is behind a tab.
func (c *call) printCandidates() error {
	words := c.args
	if len(words) == 0 {
		words = []string{""}
	}
	var b strings.Builder
	for _, w := range c.complete(words) {
		b.WriteString(w.word + "\t" + board.Line(w.about, 60) + "\n")
	}
	_, err := io.WriteString(c.app.Stdout, b.String())
	return err
}
