package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

var _ = add(graphCommand)

func graphCommand() *edge.Command {
	var dot, mermaid, open bool
	var goal string
	return &edge.Command{
		Name: "graph", Group: "human", Max: 0, Reads: true,
		Short: "show which task waits for which, with the critical path marked",
		Long: `As text, tasks of one number can be worked on at the same time: those of 0 now, those of 1 once what they wait
for of 0 is merged, and so on. The critical path is the longest chain of unfinished tasks; "*" marks it.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&dot, "dot", false, "for Graphviz: git liza graph --dot | dot -Tsvg")
			f.BoolVar(&mermaid, "mermaid", false, "for Mermaid, as in Markdown")
			edge.NarrowFlag(f, &goal)
			f.BoolVar(&open, "open", false, "without the tasks that are over")
		},
		Example: `git liza graph --dot | dot -Tsvg > graph.svg`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if dot && mermaid || c.JSON && (dot || mermaid) {
				return edge.Usage(c.Cmd, "--dot, --mermaid and --json are three forms: choose one")
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if err := edge.Narrowed(v.State, goal); err != nil {
				return err
			}
			var tasks []board.Brief
			for _, b := range edge.TasksOf(v.State, goal) {
				if !open || !b.Status.Terminal() {
					tasks = append(tasks, b)
				}
			}
			if err := v.State.Err(); err != nil {
				return err
			}
			g := report.GraphOn(v.State, tasks)
			switch {
			case c.JSON:
				return c.PrintJSON(g)
			case dot:
				return c.Print(screen.DotGraph(g))
			case mermaid:
				return c.Print(screen.MermaidGraph(g))
			}
			return c.Print(screen.TextGraph(c.Page(), g))
		},
	}
}
