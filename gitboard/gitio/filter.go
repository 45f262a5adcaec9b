package gitio

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// filtered returns a FilterError in place of the error of a child that reads a worktree's files, if
// a filter that git's settings require is the reason (gitattributes, filter): the same child
// succeeds if none is required. What that one writes is thrown away.
func (r *Repo) filtered(ctx context.Context, worktree string, c command, err error) error {
	if exitCode(err) != died {
		return err
	}
	out, _ := r.in(worktree, "config", "config", "--null", "--type=bool", "--get-regexp", `^filter\..*\.required$`).output(ctx)
	var without []string
	for _, entry := range splitNUL(out) {
		if key, value, _ := strings.Cut(entry, "\n"); value == "true" {
			without = append(without, "-c", key+"=false")
		}
	}
	if len(without) == 0 {
		return err
	}
	scrap, unmade := os.MkdirTemp("", "liza-objects-")
	if unmade != nil {
		return err
	}
	defer os.RemoveAll(scrap)
	c.args = flags(without, c.args)
	if c.with("GIT_OBJECT_DIRECTORY="+scrap, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(r.common, "objects")).run(ctx) != nil {
		return err
	}
	return &FilterError{Err: err}
}
