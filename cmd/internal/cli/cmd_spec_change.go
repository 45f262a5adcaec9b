package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(specChangeCommand)

func specChangeCommand() *edge.Command {
	p := board.RecordSpecChange{}
	return &edge.Command{
		Name: "spec-change", Group: "planner", Max: 0, Writes: true,
		Short: "record that a specification changed",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Spec, "spec", "", "the `FILE` with #anchor, if any")
			f.StringVar(&p.Change, "change", "", "what changed")
			f.StringVar(&p.TriggeredBy, "triggered-by", "", "the `TASK` that led to it")
			edge.AboutFlag(f, &p.Goal)
		},
		Example: `git liza spec-change --spec specs/vision.md#login --change "Passwords have 12 characters or more" --triggered-by login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			done, err := c.Do(ctx, "spec-change", gitboard.Just(&p))
			if err != nil {
				return err
			}
			missing, err := lacking(ctx, c, p.Spec)
			if err != nil {
				return err
			}
			return c.Report(done, map[string]any{"warnings": edge.Every(missing)}, edge.Prefixed("warning: ", missing)...)
		},
	}
}

// lacking describes the changes of a spec that integration lacks, committed here or not.
func lacking(ctx context.Context, c *edge.Call, spec string) ([]string, error) {
	file := definition.Files([]string{spec})[0]
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := c.Board.Integration(ctx, v)
	if err != nil {
		return nil, err
	}
	all, err := c.Board.Repo().Records().Worktrees(ctx)
	if err != nil || all[0].Bare { // then the project's root has no specs to edit
		return nil, err
	}
	root, err := c.Board.Root(ctx)
	if err != nil {
		return nil, err
	}
	here, err := c.Board.Repo().Worktree(root).Checkout(ctx)
	if err != nil {
		return nil, err
	}
	name, land := v.State.Config().IntegrationBranch, "git liza land --spec "+plain.Quote(file)
	if slices.ContainsFunc(here.Dirty, func(e gitio.StatusEntry) bool { return e.Path == file }) {
		return []string{fmt.Sprintf("%s has changes that are not committed, and %s lacks them: a human commits them, then %s", file, name, land)}, nil
	}
	committed, err := fileIn(ctx, c, here.Head, file)
	if err != nil {
		return nil, err
	}
	landed, err := fileIn(ctx, c, tip, file)
	switch {
	case err != nil || landed != "" && (committed == landed || committed == ""):
		return nil, err
	case committed == "":
		return []string{fmt.Sprintf("%s is not a file in HEAD, and not in %s", file, name)}, nil
	}
	return []string{fmt.Sprintf("%s lacks %s as it is in HEAD: a human brings it there with %s", name, file, land)}, nil
}

// fileIn is the object of a file in a commit, "" if there is none.
func fileIn(ctx context.Context, c *edge.Call, commit git.OID, file string) (git.OID, error) {
	oid, err := c.Board.Repo().History().FileOID(ctx, commit, file)
	if errors.Is(err, gitio.ErrNotFound) {
		return "", nil
	}
	return oid, err
}
