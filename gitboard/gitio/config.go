package gitio

import (
	"context"
	"fmt"
	"strings"
)

// Config returns the value of a setting as git sees it in the worktree where
// Open stood, the last one if there are several, and whether there is one.
func (r *Repo) Config(ctx context.Context, key string) (string, bool, error) {
	out, err := r.here("config", "config", "--null", "--get", key).output(ctx)
	if exitCode(err) == 1 {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("setting %s: %w", key, err)
	}
	return strings.TrimSuffix(string(out), "\x00"), true, nil
}

// SetConfig gives a setting of the repository that value, in the place of any
// it had there. ErrBusy when another process holds the file's lock, a
// StorageError when the file cannot be written.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	for attempt := 1; ; attempt++ {
		err := r.command("config", "config", "--local", "--replace-all", key, value).run(ctx)
		if exitCode(err) <= 0 {
			return err
		}
		if busy := r.locked("config.lock"); busy != nil {
			return busy
		}
		if broken := r.probe(); broken != nil {
			return broken
		}
		if attempt == attempts {
			return fmt.Errorf("setting %s: %w", key, err)
		}
	}
}
