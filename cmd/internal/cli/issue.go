package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/pullrequest"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	var in pullrequest.Import
	return &call.Command{
		Name: "issue import", Group: "human", Args: "URL|N", Min: 1, Max: 1, Writes: true,
		Short: "make a goal of an issue at the project's host",
		Long: `The issue's text becomes the goal's specification on the integration branch, specs/issues/HOST-REPO-N.md, marked as
untrusted; what a reader of the issue does not see is left out. The goal's pull request closes the issue. An issue by
somebody who may not write to the repository needs --yes.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&in.ID, "id", "", "the goal's `ID` (default issue-N)")
			call.ListFlag(f, &in.Labels, "label", "a `LABEL` that the issue gets; may be repeated")
			f.BoolVar(&in.NoComment, "no-comment", false, "write no comment on the issue")
			f.BoolVar(&in.DryRun, "dry-run", false, "print the specification, and change nothing")
			f.BoolVarP(&in.Yes, "yes", "y", false, "take it, whoever wrote it")
		},
		Example: `git liza issue import 12`,
		Run: func(ctx context.Context, c *call.Call) error {
			in.Issue = c.Args[0]
			done, err := pullrequest.ImportIssue(ctx, c, in)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(done)
			}
			if in.DryRun {
				return c.Say(done.Text)
			}
			lines := []string{fmt.Sprintf("%s: %s", done.Goal, done.Title), "specification: " + done.Spec + ", on the integration branch", "from: " + done.URL + ", by " + done.Author}
			if done.Removed > 0 {
				lines = append(lines, "left out: "+text.Plural(done.Removed, "hidden part"))
			}
			if done.Left != "" {
				lines = append(lines, "warning: "+done.Left)
			}
			return c.Say(lines...)
		},
	}
})
