package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/pullrequest"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	var s pullrequest.Submission
	return &call.Command{
		Name: "pr submit", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "offer a goal's work to the main branch, as a pull request",
		Long: `What integration holds goes to the branch goal/GOAL of the remote (setting pr_branch_prefix), never by force, and the pull request is opened or
brought up to date. It is a draft until all tasks of the goal are finished. The part of its text between the markers is
written from the board; the rest is yours. With --no-forge only the branch is pushed, and the address is printed where
a person opens the pull request.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&s.Base, "base", "", "the `BRANCH` that takes the work (default the remote's default branch)")
			f.StringVar(&s.Remote, "remote", "", "the remote of the project, its `NAME` (default the board's, else origin)")
			f.StringVar(&s.PushRemote, "push-remote", "", "the remote of your fork, its `NAME`")
			f.BoolVar(&s.Draft, "draft", false, "a draft, even if the goal is finished")
			f.BoolVar(&s.Ready, "ready", false, "no draft; refused while a task of the goal is open")
			f.StringVar(&s.Scope, "scope", pullrequest.ScopeGoal, "goal: without the newest merges of other goals; integration: all that integration holds; a `SCOPE`")
			f.StringVar(&s.Title, "title", "", "its title, a `TEXT` (default the goal's)")
			call.ListFlag(f, &s.Labels, "label", "a `LABEL`; may be repeated")
			call.ListFlag(f, &s.Reviewers, "reviewer", "who is asked for a review, a `USER`; may be repeated")
			f.BoolVar(&s.NoForge, "no-forge", false, "push the branch alone, and print where to open the pull request")
			f.BoolVar(&s.DryRun, "dry-run", false, "push and open nothing: print what would be offered")
		},
		Example: `git liza pr submit billing --reviewer ann`,
		Run: func(ctx context.Context, c *call.Call) error {
			s.Goal = call.First(c.Args)
			if !slices.Contains(pullrequest.Scopes, s.Scope) {
				return call.Usage(c.Cmd, "--scope is %s, not %q", strings.Join(pullrequest.Scopes, " or "), text.Line(s.Scope, 40))
			}
			if s.Draft && s.Ready {
				return call.Usage(c.Cmd, "--draft and --ready exclude each other")
			}
			done, err := pullrequest.Submit(ctx, c, s)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(done)
			}
			switch offers := fmt.Sprintf("%.10s for %s", done.Head, done.Base); {
			case done.DryRun:
				return c.Say(fmt.Sprintf("%s would offer %s", done.Branch, offers), "", done.Body)
			case done.URL == "":
				return c.Say(fmt.Sprintf("%s offers %s", done.Branch, offers), "next: merge that branch there")
			case done.Number == 0:
				return c.Say(fmt.Sprintf("%s offers %s", done.Branch, offers), "open the pull request: "+done.URL)
			default:
				lines := []string{fmt.Sprintf("pull request %d, %s, offers %s", done.Number, done.State, offers), done.URL}
				if done.Left != "" {
					lines = append(lines, "warning: "+done.Left)
				}
				return c.Say(lines...)
			}
		},
	}
})

var _ = add(func() *call.Command {
	var watch bool
	return &call.Command{
		Name: "pr sync", Group: "human", Args: "[GOAL]", Max: 1, Writes: true, Lasts: true,
		Short: "bring to the board what happened to a pull request",
		Long: `Whether it was merged, git alone decides: by a merge, squashed or rebased. Reviews of people who may write to the
repository, and of bots in the setting pr_bots, and failing checks wake the goal's planner, for three rounds; after that
they are yours. With --watch it goes on for all open pull requests, every minute while something happens, else every five,
with at most 120 requests an hour for each, and 600 in all. One process of a board does that.`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&watch, "watch", false, "go on until it is stopped") },
		Example: `git liza pr sync --watch`,
		Run: func(ctx context.Context, c *call.Call) error {
			if !watch {
				done, err := pullrequest.Sync(ctx, c, call.First(c.Args))
				if err != nil {
					return err
				}
				return printSynced(c, done)
			}
			if c.Request != "" {
				return call.Usage(c.Cmd, "--request is for a single sync")
			}
			return pullrequest.Watch(ctx, c, call.First(c.Args), func(done *pullrequest.Synced, err error) error {
				if err != nil {
					c.App.PrintError(err, c.JSON)
					return nil
				}
				return printSynced(c, done)
			})
		},
	}
})

// tends syncs the board's pull requests next to a team.
func tends(c *call.Call) func(context.Context, *team.Console) {
	return func(ctx context.Context, console *team.Console) { pullrequest.Tend(ctx, c, console.Warn) }
}

func printSynced(c *call.Call, done *pullrequest.Synced) error {
	return call.Tell(c, done, append(done.Lines(), done.URL)...)
}

var _ = add(func() *call.Command {
	var fresh bool
	return &call.Command{
		Name: "pr status", Group: "human", Args: "[GOAL]", Max: 1, Reads: true,
		Short:   "show a goal's pull request as the board has it",
		Long:    "With --fresh the host is asked, too, and its checks are listed.",
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&fresh, "fresh", false, "ask the host, too") },
		Example: `git liza pr status billing --fresh`,
		Run: func(ctx context.Context, c *call.Call) error {
			r, now, checks, err := pullrequest.Status(ctx, c, call.First(c.Args), fresh)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"pull_request": r, "host": now, "checks": call.Every(checks)})
			}
			var lines call.Labelled
			lines.Add("pull request", fmt.Sprintf("%s at %s, %s", r.Name(), r.Host, r.State))
			lines.Add("offers", fmt.Sprintf("%.10s on %s, for %s", r.Head, r.Branch, r.Base))
			if r.Merged != nil {
				lines.Add("merged", fmt.Sprintf("%.10s, %s", r.Merged.Commit, r.Merged.Kind))
			}
			if r.Rounds > 0 {
				lines.Add("feedback", text.Plural(r.Rounds, "round"))
			}
			if now != nil {
				lines.Add("now", now.State+", "+now.URL)
			}
			for _, k := range checks {
				lines.Add("check", k.Name+" "+k.State)
			}
			return c.Print(lines)
		},
	}
})
