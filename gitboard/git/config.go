package git

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/settings"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// Settings are the repository's own settings and remotes, and the files that git ignores in this
// clone.
type Settings struct{ repo *Repo }

// Settings returns the repository's settings.
func (r *Repo) Settings() Settings { return Settings{r} }

// Get returns the value of a setting as git sees it in the worktree in which Open was called,
// and whether it is set. If there are several values, the last one wins.
func (s Settings) Get(ctx context.Context, key string) (string, bool, error) {
	all, err := s.repo.configHere(ctx, key)
	if len(all) == 0 {
		return "", false, err
	}
	return all[len(all)-1], true, nil
}

// Section returns the settings of a section as Get does, all in one look: their last values, by whole key
// with a lower-case name. The section is one word, or two with a dot.
func (s Settings) Section(ctx context.Context, section string) (map[string]string, error) {
	out, err := s.repo.here("config", "config", "--null", "--get-regexp", `^`+regexp.QuoteMeta(section)+`\.[^.]+$`).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return nil, fmt.Errorf("settings of %s: %w", section, err)
	}
	values := map[string]string{}
	for _, entry := range child.Fields(out) {
		key, value, _ := strings.Cut(entry, "\n")
		values[key] = value
	}
	return values, nil
}

// Own returns the value that the repository's own config file has for a setting without a
// subsection, in lower case, "" for none. It reads the file as git writes it, without git, and no
// included files. Agents can write it.
func (s Settings) Own(key string) string {
	section, name, _ := strings.Cut(strings.ToLower(key), ".")
	return settings.ReadOwn(s.repo.common).Value(section, name)
}

// Paths returns all values of a setting that holds a path, as git sees them where Open was
// called. Git expands ~, and the last one wins.
func (s Settings) Paths(ctx context.Context, key string) ([]string, error) {
	return s.repo.configHere(ctx, key, "--type=path")
}

func (r *Repo) configHere(ctx context.Context, key string, options ...string) ([]string, error) {
	args := append([]string{"config", "--null"}, options...)
	out, err := r.here("config", append(args, "--get-all", key)...).Output(ctx)
	if child.ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", key, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil // a value may be empty
}

// Set sets a setting of the repository, replacing all its values there. It returns ErrBusy if
// another process keeps the file's lock, and a StorageError if the file can't be written.
func (s Settings) Set(ctx context.Context, key, value string) error {
	return s.repo.changeConfig(ctx, key, "--replace-all", key, value)
}

// changeConfig runs git config with arguments that change the setting.
func (r *Repo) changeConfig(ctx context.Context, key string, args ...string) error {
	path, err := r.configFile()
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := r.unlocked(ctx, path, func() error {
			return r.command("config", append([]string{"config", "--local"}, args...)...).Run(ctx)
		})
		if child.ExitCode(err) <= 0 {
			return err
		}
		if broken := r.probe(); broken != nil {
			return broken
		}
		if !retry.May(ctx, attempt, attempts) {
			return fmt.Errorf("setting %s: %w", key, err)
		}
	}
}

// All returns all values of a setting of the repository, or none if it is not set.
func (s Settings) All(ctx context.Context, key string) ([]string, error) {
	out, err := s.repo.command("config", "config", "--null", "--get-all", key).Output(ctx)
	if child.ExitCode(err) == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", key, err)
	}
	return child.Fields(out), nil
}

// Add adds a value to a multi-valued setting of the repository, unless it is already there.
// Errors are those of Settings.Set.
func (s Settings) Add(ctx context.Context, key, value string) error {
	all, err := s.All(ctx, key)
	if err != nil || slices.Contains(all, value) {
		return err
	}
	return s.repo.changeConfig(ctx, key, "--add", key, value)
}

// Remotes returns the names of the remotes in the repository's own settings. It starts no child if
// there are none.
func (s Settings) Remotes(ctx context.Context) ([]string, error) {
	if !settings.ReadOwn(s.repo.common).MayHaveRemotes() {
		return nil, nil
	}
	out, err := s.repo.command("remote", "remote").Output(ctx)
	return child.Lines(out), err
}

// PushRules returns the names of the settings that restrict what a push may do to refs here.
func (s Settings) PushRules(ctx context.Context) (rules []string, err error) {
	out, err := s.repo.command("config", "config", "--null", "--get-regexp", `^(receive\.(denydeletes|denynonfastforwards|hiderefs)|transfer\.hiderefs)$`).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return nil, fmt.Errorf("settings of pushes: %w", err)
	}
	for _, entry := range child.Fields(out) {
		if key, value, _ := strings.Cut(entry, "\n"); value != "false" {
			rules = append(rules, key)
		}
	}
	return rules, nil
}

// Remove removes one value of a setting of the repository. Errors are those of Settings.Set.
func (s Settings) Remove(ctx context.Context, key, value string) error {
	all, err := s.All(ctx, key)
	if err != nil || !slices.Contains(all, value) {
		return err
	}
	return s.repo.changeConfig(ctx, key, "--fixed-value", "--unset-all", key, value)
}

// RemoveSection removes all settings of the repository whose section has that name, and those of
// its subsections. Errors are those of Settings.Set.
func (s Settings) RemoveSection(ctx context.Context, name string) error {
	out, err := s.repo.command("config", "config", "--local", "--null", "--name-only", "--get-regexp", `^`+name+`\.`).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return fmt.Errorf("settings of %s: %w", name, err)
	}
	var sections []string
	for _, key := range child.Fields(out) {
		sections = append(sections, key[:strings.LastIndexByte(key, '.')])
	}
	slices.Sort(sections)
	for _, section := range slices.Compact(sections) {
		if err := s.repo.changeConfig(ctx, section, "--remove-section", section); err != nil {
			return err
		}
	}
	return nil
}

// Credential asks git's credential helpers for the password or token of an address. It returns "" if none
// has one; no person is asked.
func (s Settings) Credential(ctx context.Context, address string) (string, error) {
	c := s.repo.here("credential", "credential", "fill").With("GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=").Feed([]byte("url=" + address + "\n\n"))
	out, err := c.Output(ctx)
	if err != nil {
		if ctx.Err() == nil {
			err = nil // no helper has one
		}
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if password, is := strings.CutPrefix(line, "password="); is {
			return strings.TrimSpace(password), nil
		}
	}
	return "", nil
}
