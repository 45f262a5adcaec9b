package gitio

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// StatusEntry is a path of a worktree that differs from HEAD.
type StatusEntry struct {
	Code string // two letters, index and file, as in git-status: " M", "??", "UU"
	Path string // an untracked directory that is a repository ends in a slash
}

// Untracked reports whether git does not know the path.
func (e StatusEntry) Untracked() bool { return e.Code == "??" }

// Checkout is what a worktree stands on and holds, at one moment.
type Checkout struct {
	Head   git.OID // the commit; ZeroOID before the first one, or when the branch is missing
	Branch string  // full ref that HEAD is attached to, "" when it is detached
	Dirty  []StatusEntry
}

// Checkout looks at the worktree whose top is given: where its HEAD is, and
// what differs from that. Untracked files come one by one, without those that
// are ignored; a submodule counts when its commit or anything in it differs; a
// file that was moved is there twice. It takes no lock and so disturbs nobody
// who works there.
func (r *Repo) Checkout(ctx context.Context, worktree string) (Checkout, error) {
	out, err := r.in(worktree, "status", "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
		"--untracked-files=all", "--ignore-submodules=none", "--no-renames").
		with("GIT_OPTIONAL_LOCKS=0").output(ctx)
	if err != nil {
		return Checkout{}, err
	}
	return parseStatus(splitNUL(out)), nil
}

// Status returns what differs from HEAD in the worktree whose top is given, as
// Checkout does.
func (r *Repo) Status(ctx context.Context, worktree string) ([]StatusEntry, error) {
	c, err := r.Checkout(ctx, worktree)
	return c.Dirty, err
}

// parseStatus reads git-status's "Porcelain Format Version 2".
func parseStatus(lines []string) Checkout {
	c := Checkout{Head: git.ZeroOID}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			key, value, _ := strings.Cut(rest, " ")
			switch {
			case key == "branch.oid" && git.OID(value).Valid():
				c.Head = git.OID(value)
			case key == "branch.head" && value != "(detached)":
				c.Branch = git.HeadsPrefix + value
			}
		case "1", "u":
			fields := 8 // code, submodule, modes and ids, then the path
			if kind == "u" {
				fields = 10
			}
			if parts := strings.SplitN(rest, " ", fields); len(parts) == fields {
				c.Dirty = append(c.Dirty, StatusEntry{Code: strings.ReplaceAll(parts[0], ".", " "), Path: parts[fields-1]})
			}
		case "?":
			c.Dirty = append(c.Dirty, StatusEntry{Code: "??", Path: rest})
		}
	}
	return c
}
