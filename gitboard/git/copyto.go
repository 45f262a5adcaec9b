package git

import (
	"context"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// CopyTo makes a repository in dir, which must be empty, with one commit and its history checked
// out. It shares no objects, settings, hooks and refs with r. Submodules stay empty.
func (r *Repo) CopyTo(ctx context.Context, dir string, commit plumbing.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	const branch = plumbing.HeadsPrefix + "copied"
	in := func(op string, args ...string) command {
		return command{Op: op, Dir: dir, Args: slices.Concat(noMonitor, noHooks, noUpkeep, []string{"-C", dir}, args)}
	}
	for _, c := range []command{
		in("init", "init", "--quiet", "--template=", "."),
		r.command("push", slices.Concat(noUpkeep, []string{"push", "--quiet", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", dir, string(commit) + ":" + branch})...),
		in("checkout", "checkout", "--quiet", "--detach", string(commit)),
	} {
		if err := c.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}
