package gitio

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Config returns the value of a setting as git sees it in the worktree where
// Open stood, the last one if there are several, and whether there is one.
func (r *Repo) Config(ctx context.Context, key string) (string, bool, error) {
	return r.config(ctx, key)
}

// ConfigPath is Config of a setting that holds a path: ~ is a home.
func (r *Repo) ConfigPath(ctx context.Context, key string) (string, bool, error) {
	return r.config(ctx, key, "--type=path")
}

func (r *Repo) config(ctx context.Context, key string, options ...string) (string, bool, error) {
	args := append([]string{"config", "--null"}, options...)
	out, err := r.here("config", append(args, "--get", key)...).output(ctx)
	if exitCode(err) == 1 {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("setting %s: %w", key, err)
	}
	return strings.TrimSuffix(string(out), "\x00"), true, nil
}

// SetConfig gives a setting of the repository that value, in the place of any
// it had there. ErrBusy when another process keeps the file's lock, a
// StorageError when the file cannot be written.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	return r.writeConfig(ctx, key, value, "--replace-all")
}

func (r *Repo) writeConfig(ctx context.Context, key, value, how string) error {
	path, err := r.configFile()
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := r.unlocked(ctx, path, func() error {
			return r.command("config", "config", "--local", how, key, value).run(ctx)
		})
		if exitCode(err) <= 0 {
			return err
		}
		if broken := r.probe(); broken != nil {
			return broken
		}
		if attempt == attempts {
			return fmt.Errorf("setting %s: %w", key, err)
		}
	}
}

// ConfigAll returns all values of a setting of the repository, none when there
// is no such setting.
func (r *Repo) ConfigAll(ctx context.Context, key string) ([]string, error) {
	out, err := r.command("config", "config", "--null", "--get-all", key).output(ctx)
	if exitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", key, err)
	}
	return splitNUL(out), nil
}

// AddConfig adds a value to a setting of the repository that may have several,
// unless it has it. Errors are SetConfig's.
func (r *Repo) AddConfig(ctx context.Context, key, value string) error {
	all, err := r.ConfigAll(ctx, key)
	if err != nil || slices.Contains(all, value) {
		return err
	}
	return r.writeConfig(ctx, key, value, "--add")
}

// Remotes returns the names of the remotes that the repository's own settings
// have; without any, no child is started.
func (r *Repo) Remotes(ctx context.Context) ([]string, error) {
	if !r.ownSettings().mayHaveRemotes() {
		return nil, nil
	}
	out, err := r.command("remote", "remote").output(ctx)
	return splitLines(out), err
}
