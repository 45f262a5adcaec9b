package cli

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/pullrequest"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(prSubmitCommand)

func prSubmitCommand() *call.Command {
	var s pullrequest.Submission
	return &call.Command{
		Name: "pr submit", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "offer a goal's work to the main branch, as a pull request",
		Long: `What integration holds goes to the branch goal/GOAL of the remote, never by force, and the pull request is opened or
brought up to date. It is a draft until all tasks of the goal are finished. The part of its text between the markers is
written from the board; the rest is yours. With --no-forge only the branch is pushed, and the address is printed where
a person opens the pull request.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&s.Base, "base", "", "the `BRANCH` that takes the work (default the remote's default branch)")
			f.StringVar(&s.Remote, "remote", "", "the remote of the project, its `NAME` (default the board's, else origin)")
			f.StringVar(&s.PushRemote, "push-remote", "", "the remote of your fork, its `NAME`")
			f.BoolVar(&s.Draft, "draft", false, "a draft, even if the goal is finished")
			f.BoolVar(&s.Ready, "ready", false, "no draft; refused while a task of the goal is open")
			f.StringVar(&s.Title, "title", "", "its title, a `TEXT` (default the goal's)")
			call.ListFlag(f, &s.Labels, "label", "a `LABEL`; may be repeated")
			call.ListFlag(f, &s.Reviewers, "reviewer", "who is asked for a review, a `USER`; may be repeated")
			f.BoolVar(&s.NoForge, "no-forge", false, "push the branch alone, and print where to open the pull request")
			f.BoolVar(&s.DryRun, "dry-run", false, "push and open nothing: print what would be offered")
		},
		Example: `git liza pr submit billing --reviewer ann`,
		Run: func(ctx context.Context, c *call.Call) error {
			s.Goal = call.First(c.Args)
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
				return c.Say(fmt.Sprintf("pull request %d, %s, offers %s", done.Number, done.State, offers), done.URL)
			}
		},
	}
}

var _ = add(prSyncCommand)

func prSyncCommand() *call.Command {
	return &call.Command{
		Name: "pr sync", Group: "human", Args: "[GOAL]", Max: 1, Writes: true,
		Short: "bring to the board what happened to a pull request",
		Long: `Whether it was merged, git alone decides: by a merge, squashed or rebased. Reviews of people who may write to the
repository and failing checks wake the goal's planner, for three rounds; after that they are yours.`,
		Example: `git liza pr sync`,
		Run: func(ctx context.Context, c *call.Call) error {
			done, err := pullrequest.Sync(ctx, c, call.First(c.Args))
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(done)
			}
			line := fmt.Sprintf("%s: pull request %d is %s", done.Goal, done.Number, done.State)
			if done.Merged != "" {
				line += " (" + done.Merged + ")"
			}
			lines := append([]string{line}, call.Prefixed("new for the planner: ", done.Feedback)...)
			lines = append(lines, call.Prefixed("for you: ", done.Left)...)
			return c.Say(append(lines, done.URL)...)
		},
	}
}

var _ = add(prStatusCommand)

func prStatusCommand() *call.Command {
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
}
