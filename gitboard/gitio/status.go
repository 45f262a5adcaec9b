package gitio

import "context"

// StatusEntry is a path of a worktree that differs from HEAD.
type StatusEntry struct {
	Code string // two letters, index and file, as in git-status: " M", "??", "UU"
	Path string // an untracked directory that is a repository ends in a slash
}

// Untracked reports whether git does not know the path.
func (e StatusEntry) Untracked() bool { return e.Code == "??" }

// Status returns what differs from HEAD in the worktree whose top is given:
// untracked files one by one, without those that are ignored; a submodule
// counts when its commit or anything in it differs; a file that was moved is
// there twice. It takes no lock and so disturbs nobody who works there.
func (r *Repo) Status(ctx context.Context, worktree string) ([]StatusEntry, error) {
	out, err := r.in(worktree, "status", "status", "--porcelain=v1", "-z",
		"--untracked-files=all", "--ignore-submodules=none", "--no-renames").
		with("GIT_OPTIONAL_LOCKS=0").output(ctx)
	if err != nil {
		return nil, err
	}
	var entries []StatusEntry
	for _, line := range splitNUL(out) {
		const codeAndSpace = 3
		if len(line) > codeAndSpace {
			entries = append(entries, StatusEntry{Code: line[:2], Path: line[codeAndSpace:]})
		}
	}
	return entries, nil
}
