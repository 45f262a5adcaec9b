package git

import (
	"context"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
)

// filtered returns a FilterError in place of the error of a child that reads or makes a worktree's
// files, if a filter that git's settings require is the reason (gitattributes, filter): the same
// child succeeds if none is required. The objects that that one writes are thrown away. worktree is
// "" for one that is not there yet.
func (r *Repo) filtered(ctx context.Context, worktree string, c command, err error) error {
	if child.ExitCode(err) != child.Died {
		return err
	}
	required := []string{"config", "--null", "--type=bool", "--get-regexp", `^filter\..*\.required$`}
	settings := r.command("config", required...)
	if worktree != "" {
		settings = r.Worktree(worktree).in("config", required...)
	}
	out, _ := settings.Output(ctx)
	var without []string
	for _, entry := range child.Fields(out) {
		if key, value, _ := strings.Cut(entry, "\n"); value == "true" {
			without = append(without, "-c", key+"=false")
		}
	}
	if len(without) == 0 {
		return err
	}
	c.Args = slices.Concat(without, c.Args)
	child, discard, unmade := r.discarding(c)
	if unmade != nil {
		return err
	}
	defer discard()
	if child.Run(ctx) != nil {
		return err
	}
	return &FilterError{Err: err}
}
