package recovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// oddSettings finds settings of the repository with which git works in no worktree, or not in the
// main worktree.
func oddSettings(repo *git.Repo) (found []doctor.Problem) {
	own := repo.Settings().Own
	path := filepath.Join(repo.CommonDir(), "config")
	main := filepath.Dir(repo.CommonDir())
	at := own("core.worktree")
	if at != "" && filepath.Base(repo.CommonDir()) == ".git" && at != main && filepath.Join(repo.CommonDir(), at) != main {
		found = append(found, doctor.Problem{
			Kind: doctor.OddSettings, Path: path, Hint: "git config --unset core.worktree",
			Text: fmt.Sprintf("core.worktree is %s in the repository's own settings, so git takes the files there for those of %s", text.Line(at, 200), main),
		})
	}
	if own("core.bare") != "true" {
		return found
	}
	if _, err := os.Stat(filepath.Join(repo.CommonDir(), "index")); err == nil { // of a checkout
		found = append(found, doctor.Problem{
			Kind: doctor.OddSettings, Path: path, Hint: "git config --unset core.bare",
			Text: "core.bare is true in the repository's own settings, so git refuses to work in the main worktree",
		})
	}
	if own("extensions.worktreeConfig") == "true" {
		found = append(found, doctor.Problem{
			Kind: doctor.OddSettings, Path: path, Hint: "git config --unset extensions.worktreeConfig",
			Text: "extensions.worktreeConfig and core.bare are true in the repository's own settings, so git works in no worktree",
		})
	}
	return found
}

// ownSettings lists the settings by which an agent can change who a person is for git, or what
// git runs for them.
func ownSettings(repo *git.Repo) (keys []string) {
	for _, key := range []string{"user.name", "user.email", "author.name", "author.email", "core.hooksPath", "commit.gpgsign", "gpg.program",
		"core.fsmonitor", "diff.external", "core.editor", "sequence.editor", "core.pager"} {
		if value := repo.Settings().Own(key); value != "" && (key != "core.fsmonitor" || value != "true" && value != "false") {
			keys = append(keys, key)
		}
	}
	return keys
}

// signs reports whether git signs commits, of agents, too.
func signs(ctx context.Context, repo *git.Repo) (bool, error) {
	value, set, err := repo.Settings().Get(ctx, "commit.gpgsign")
	return set && value != "false", err
}
