package cli

import (
	"context"
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

//go:embed completion
var completions embed.FS

var _ = add(completionCommand)

func completionCommand() *edge.Command {
	var complete bool
	return &edge.Command{
		Name: "completion", Group: "setting up", Args: "SHELL", Max: -1, Anywhere: true,
		Short: "print the completion of git liza for a shell: bash, zsh or fish",
		Long: `For bash: source <(git liza completion bash), in ~/.bashrc after git's own completion. Task ids are offered
with their states, agents with what they do.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&complete, "for", false, "for the shells: print the completions of the last of the WORDS after git liza")
		},
		Example: `git liza completion fish > ~/.config/fish/completions/git-liza.fish`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if complete {
				return printCandidates(ctx, c)
			}
			if len(c.Args) != 1 {
				return edge.Usage(c.Cmd, "completion needs a SHELL: %s", strings.Join(dispatch.Shells, ", "))
			}
			if !slices.Contains(dispatch.Shells, c.Args[0]) {
				return board.Refuse(board.CodeInvalid, "there is no completion for "+plain.Line(c.Args[0], 40), edge.Suggest(c.Args[0], dispatch.Shells))
			}
			text, err := completions.ReadFile("completion/" + c.Args[0])
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]string{"shell": c.Args[0], "script": string(text)})
			}
			_, err = c.App.Stdout.Write(text)
			return err
		},
	}
}

// printCandidates prints one word per line, followed by a tab and its description.
func printCandidates(ctx context.Context, c *edge.Call) error {
	words := c.Args
	if len(words) == 0 {
		words = []string{""}
	}
	var b strings.Builder
	for _, w := range dispatch.Complete(ctx, c, words) {
		b.WriteString(w.Word + "\t" + plain.Line(w.About, 60) + "\n")
	}
	_, err := io.WriteString(c.App.Stdout, b.String())
	return err
}
