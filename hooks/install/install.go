package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

const (
	runFile    = "run"
	configFile = "gitconfig" // what the include reads
	pushesFile = configFile + "-pushes"
)

// The lines around what we add to the repository's config. Where its last line had no end, the first form
// follows on one that had to be made.
const (
	begin      = "# git liza: hooks where agents are; git liza hooks uninstall takes these lines away\n"
	beginAdded = "\n# git liza: hooks where agents are; git liza hooks uninstall takes these lines away, and the line end before them\n"
	end        = "# git liza: end\n"
)

// Dir is where the hooks of a repository are.
func Dir(repo *gitio.Repo) string { return filepath.Join(repo.CommonDir(), "liza", "hooks") }

// Status says what is in place of the hooks.
type Status struct {
	Dir     string `json:"dir"`
	Files   bool   `json:"files"`   // the shims are there, and git would find them
	On      bool   `json:"on"`      // git is told to use them
	Server  bool   `json:"server"`  // as a shared repository's lock
	Served  bool   `json:"served"`  // pushes from other clones may move the board and integration here
	Program string `json:"program"` // that they ask, "" when it is not there
	// Overwritten are the hooks that another program has put in the place of ours: an installer that was run in an
	// agent's worktree finds our directory where git's hooks are.
	Overwritten []string `json:"overwritten,omitempty"`
}

// Read says what is in place of the hooks.
func Read(repo *gitio.Repo) (Status, error) {
	s := Status{Dir: Dir(repo)}
	text, err := os.ReadFile(filepath.Join(s.Dir, runFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	switches, _ := os.ReadFile(filepath.Join(s.Dir, configFile))
	s.Files = err == nil && string(switches) == settings(s.Dir) // else the repository was moved
	s.Server = strings.Contains(string(text), " hook --server ")
	for line := range strings.SplitSeq(string(text), "\n") {
		if word, is := strings.CutPrefix(line, "program='"); is {
			program := strings.ReplaceAll(strings.TrimSuffix(word, "'"), `'\''`, "'")
			if info, err := os.Stat(program); err == nil && !info.IsDir() {
				s.Program = program
			}
		}
	}
	if s.Files {
		s.Overwritten = overwritten(s.Dir, s.Server)
		s.Files = len(s.Overwritten) == 0
	}
	config, err := os.ReadFile(filepath.Join(repo.CommonDir(), "config"))
	if err != nil {
		return s, err
	}
	s.On = bytes.Contains(config, []byte(begin[1:len(begin)-1]))
	s.Served = s.On && bytes.Contains(config, []byte(served))
	if s.On && !s.Server && !s.Served {
		kept, err := os.ReadFile(filepath.Join(s.Dir, pushesFile))
		s.On = bytes.Contains(config, []byte(everywhere))
		s.Files = s.Files && err == nil && strings.HasPrefix(string(kept), pushes(""))
	}
	return s, nil
}

// names are the hooks that are put in place.
func names(server bool) []string {
	if server {
		return serverHooks
	}
	return clientHooks
}

func overwritten(dir string, server bool) []string {
	var found []string
	for _, name := range names(server) {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != hook {
			found = append(found, name)
		}
	}
	return found
}

// Restore puts the hooks of a clone back that another program has put its own in the place of, and names them. Nothing
// happens where hooks are not in place.
func Restore(repo *gitio.Repo) ([]string, error) {
	dir := Dir(repo)
	if _, err := os.Stat(filepath.Join(dir, runFile)); err != nil {
		return nil, nil
	}
	found := overwritten(dir, false)
	for _, name := range found {
		made := filepath.Join(dir, "."+name+"-"+strconv.Itoa(os.Getpid()))
		err := os.WriteFile(made, []byte(hook), 0o755)
		if err == nil {
			err = os.Rename(made, filepath.Join(dir, name)) // git never finds none
		}
		if err != nil {
			return nil, &gitio.StorageError{Dir: dir, Err: errors.Join(err, os.Remove(made))}
		}
	}
	return found, nil
}

// Setup says how hooks are put in place.
type Setup struct {
	Program string // the git-liza that they ask; "" for the one in PATH
	Server  bool   // as the lock of a shared repository
	// Served: other clones push to this clone on purpose. Without it no push moves the board, leases, submissions,
	// tasks' branches or integration here.
	Served      bool
	Integration string // the integration branch, "" while there is no board
}

// Install puts the hooks in place, or brings those that are there up to date. gitio.ErrBusy when another process
// writes the config, a gitio.StorageError when nothing can be written.
func Install(ctx context.Context, repo *gitio.Repo, setup Setup) error {
	server := setup.Server
	dir := Dir(repo)
	own := ""
	if err := repo.EditConfigFile(without); err != nil {
		return err
	}
	if server {
		var err error
		if own, _, err = repo.ConfigPath(ctx, "core.hooksPath"); err != nil {
			return err
		}
		if own != "" && !filepath.IsAbs(own) {
			own = filepath.Join(repo.CommonDir(), own) // as for any bare repository (git-config)
		}
	}
	if err := os.RemoveAll(dir); err != nil { // of the other kind, or of an earlier version
		return &gitio.StorageError{Dir: repo.CommonDir(), Err: err}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &gitio.StorageError{Dir: repo.CommonDir(), Err: err}
	}
	var err error
	if server {
		err = os.Mkdir(filepath.Join(dir, provenDir), 0o755)
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, runFile), []byte(run(repo.CommonDir(), setup.Program, server, own)), 0o644))
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, configFile), []byte(settings(dir)), 0o644))
	if !server && !setup.Served {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, pushesFile), []byte(pushes(setup.Integration)), 0o644))
	}
	for _, name := range names(server) {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(hook), 0o755))
	}
	if err != nil {
		return &gitio.StorageError{Dir: dir, Err: err}
	}
	return repo.EditConfigFile(func(text []byte) ([]byte, error) {
		text, err := without(text)
		if err != nil {
			return nil, err
		}
		first := begin
		if len(text) > 0 && text[len(text)-1] != '\n' {
			first = beginAdded
		}
		return append(text, first+section(setup)+end...), nil
	})
}

// settings is what the include brings. Git takes a relative path here for one below a worktree.
func settings(dir string) string { return "[core]\n\thooksPath = " + configQuote(dir) + "\n" }

// served is the line of a clone that takes pushes to all its refs.
const served = "# served: other clones push to this one\n"

// pushes is the setting that keeps pushes from what is the board's (git-config, receive.hideRefs), in a file of its own:
// git would put what the user sets of [receive] among our lines. Fetches and clones see these refs as before, and whoever
// works here moves them as before.
//
// A push into the clone is received beside the main worktree, where no hook of ours runs, and the environment of an agent
// that pushes by a path does not reach there: only the repository's own settings do.
func pushes(integration string) string {
	refs := []string{git.OwnPrefix, git.BoardPrefix, git.TaskPrefix}
	if integration != "" {
		refs = append(refs, git.BranchRef(integration))
	}
	text := "[receive]\n"
	for _, ref := range refs {
		text += "\thideRefs = " + configQuote(strings.TrimSuffix(ref, "/")) + "\n"
	}
	return text
}

// section is the settings that switch the hooks on. Paths are relative to the config file: a repository that
// is moved runs no hooks until they are installed again, and works. Worktrees of tasks are all made as .worktrees/.claim-<request>,
// and git names what it keeps of them after that for ever (git-worktree): a human's own worktrees are others. In
// .worktrees/.integration what agents have written is tested.
func section(setup Setup) string {
	on := "path = liza/hooks/" + configFile + "\n"
	agents := "[includeIf \"gitdir:./worktrees/?claim-*\"]\n\t" + on + "[includeIf \"gitdir:./worktrees/?integration\"]\n\t" + on
	switch {
	case setup.Server:
		return "[include]\n\t" + on
	case setup.Served:
		return agents + served
	default:
		return agents + everywhere
	}
}

// everywhere is the include of what keeps pushes out.
const everywhere = "[includeIf \"gitdir:**\"]\n\tpath = liza/hooks/" + pushesFile + "\n"

// Uninstall takes the hooks away: the config has the bytes that it would have without them.
func Uninstall(repo *gitio.Repo) error {
	if err := repo.EditConfigFile(without); err != nil {
		return err
	}
	dir := Dir(repo)
	if err := os.RemoveAll(dir); err != nil {
		return &gitio.StorageError{Dir: dir, Err: err}
	}
	if repo.Bare() {
		_ = os.RemoveAll(filepath.Join(filepath.Dir(dir), "cache")) // it serves the hooks alone
	}
	_ = os.Remove(filepath.Dir(dir)) // empty, on a server
	return nil
}

// without is a config without our lines.
func without(text []byte) ([]byte, error) {
	for _, first := range []string{beginAdded, begin} {
		from := bytes.Index(text, []byte(first))
		if from < 0 {
			continue
		}
		length := bytes.Index(text[from:], []byte(end))
		if length < 0 {
			return nil, fmt.Errorf("the config holds %q and not %q: put that line behind the settings of git liza's hooks", strings.TrimSpace(first), strings.TrimSpace(end))
		}
		after := text[from+length+len(end):]
		if first == beginAdded && len(after) > 0 {
			from++ // something else needs that line end by now
		}
		return append(bytes.Clone(text[:from]), after...), nil
	}
	return text, nil
}

// configQuote writes a value of a config file (git-config, "Values").
func configQuote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
