package cli

import (
	"context"
	"embed"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/demo"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/specs"
)

var _ = add(func() *call.Command {
	var man string
	return &call.Command{
		Name: "docs", Group: "setting up", Args: "[NAME[#SECTION]]", Max: 1, Anywhere: true,
		Short: "list the protocol's documents, or print one, or a section of it",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&man, "man", "", "write manual pages into `DIR`, for man git-liza")
		},
		Example: `git liza docs roles#permissions`,
		Run: func(ctx context.Context, c *call.Call) error {
			if man != "" {
				n, err := dispatch.WriteManual(c, man)
				if err != nil {
					return err
				}
				return c.Answer(map[string]any{"pages": n, "dir": man}, text.Plural(n, "manual page")+" written to "+text.Line(man, 200))
			}
			docs := specs.All()
			if len(c.Args) == 0 {
				var lines []string
				for _, d := range docs {
					about := d.About
					if d.In != "" {
						about = "(" + d.In + ") " + about
					}
					lines = append(lines, call.Pad(d.Name, 24)+about)
				}
				return call.Tell(c, map[string]any{"documents": docs}, append(lines, "", "git liza docs NAME prints one")...)
			}
			name, anchor, part := strings.Cut(c.Args[0], "#")
			name = strings.TrimSuffix(name, ".md")
			line, ok := specs.Text(name)
			if !ok {
				return board.Refuse(board.CodeUnknownDocument, "no document is called "+text.Line(c.Args[0], 60), call.Suggest(name, specs.Near(name)))
			}
			if part {
				section, known, found := specs.Section(name, anchor)
				if !found {
					return board.Refuse(board.CodeUnknownDocument, name+" has no section "+text.Line(anchor, 60), call.Suggest(anchor, known))
				}
				line = section
			}
			return call.Copy(c, map[string]string{"name": c.Args[0], "text": line}, line)
		},
	}
})

//go:embed completion
var completions embed.FS

var _ = add(func() *call.Command {
	var complete bool
	return &call.Command{
		Name: "completion", Group: "setting up", Args: "SHELL", Max: -1, Anywhere: true,
		Short: "print the completion of git liza for a shell: bash, zsh or fish",
		Long: `For bash: source <(git liza completion bash), in ~/.bashrc after git's own completion. Task ids are offered
with their states, agents with what they do.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&complete, "for", false, "for the shells: print the completions of the last of the WORDS after git liza")
		},
		Example: `git liza completion fish > ~/.config/fish/completions/git-liza.fish`,
		Run: func(ctx context.Context, c *call.Call) error {
			if complete {
				return printCandidates(ctx, c)
			}
			if len(c.Args) != 1 {
				return call.Usage(c.Cmd, "completion needs a SHELL: %s", strings.Join(dispatch.Shells, ", "))
			}
			if !slices.Contains(dispatch.Shells, c.Args[0]) {
				return board.Refuse(board.CodeInvalid, "there is no completion for "+text.Line(c.Args[0], 40), call.Suggest(c.Args[0], dispatch.Shells))
			}
			line, err := completions.ReadFile("completion/" + c.Args[0])
			if err != nil {
				return err
			}
			return call.Copy(c, map[string]string{"shell": c.Args[0], "script": string(line)}, string(line))
		},
	}
})

// printCandidates prints one word per line, followed by a tab and its description.
func printCandidates(ctx context.Context, c *call.Call) error {
	words := c.Args
	if len(words) == 0 {
		words = []string{""}
	}
	var b strings.Builder
	for _, w := range dispatch.Complete(ctx, c, words) {
		b.WriteString(w.Word + "\t" + text.Line(w.About, 60) + "\n")
	}
	_, err := io.WriteString(c.App.Stdout, b.String())
	return err
}

var _ = add(func() *call.Command {
	var keep string
	return &call.Command{
		Name: "demo", Group: "setting up", Max: 0, Anywhere: true,
		Short: "play a whole run in a repository of its own, and explain each step",
		Long: `Two coders and a reviewer, each a process, carry a goal through real git, worktrees and tests: a
rejection, a conflict, a dependency, a hand-off and a crash. The repository is kept. It needs Go and git, no network.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&keep, "keep", "", "the `DIR` that becomes the repository; it must be empty or not exist")
		},
		Example: `git liza demo --keep /tmp/shop`,
		Run: func(ctx context.Context, c *call.Call) error {
			return runDemo(ctx, c, keep)
		},
	}
})

func runDemo(ctx context.Context, c *call.Call, keep string) error {
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	o := demo.Options{Dir: keep, Out: c.App.Stdout, Colour: bool(c.Paint()), Now: c.App.Now}
	if keep != "" && !filepath.IsAbs(keep) {
		o.Dir = filepath.Join(c.Directory(), keep)
	}
	if c.JSON {
		o.Out = io.Discard
	}
	result, err := demo.Run(ctx, o)
	var (
		dir     *demo.DirError
		missing *demo.MissingError
		step    *demo.StepError
	)
	switch {
	case errors.As(err, &dir):
		return board.Refuse(board.CodeDirectory, err.Error(), "git liza demo --keep DIR, with one that is empty or does not exist")
	case errors.As(err, &missing):
		return &call.Outcome{Exit: 5, Code: call.CodeMissingProgram, Message: err.Error(), Hint: "install " + missing.Program}
	case errors.As(err, &step):
		return &call.Outcome{Exit: 3, Code: call.CodeFailed, Message: err.Error(), Hint: "the repository is kept: " + step.Dir}
	case err != nil:
		return err
	case c.JSON:
		return c.PrintJSON(result)
	}
	return nil
}
