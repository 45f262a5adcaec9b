package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

const (
	runFile    = "run"
	configFile = "gitconfig" // the file that the include reads
	pushesFile = configFile + "-pushes"
)

// The lines around our section of the repository's config. If the config's last line had no
// newline, beginAdded follows the one that had to be added.
const (
	begin      = "# git liza: hooks where agents are; git liza hooks uninstall takes these lines away\n"
	beginAdded = "\n# git liza: hooks where agents are; git liza hooks uninstall takes these lines away, and the line end before them\n"
	end        = "# git liza: end\n"
)

// Dir is the directory of a repository's hooks.
func Dir(repo *git.Repo) string { return filepath.Join(repo.CommonDir(), "liza", "hooks") }

// Status describes how the hooks are installed.
type Status struct {
	Dir     string `json:"dir"`
	Files   bool   `json:"files"`   // the shims exist, and git would find them
	On      bool   `json:"on"`      // git's config enables them
	Server  bool   `json:"server"`  // as the lock of a shared repository
	Served  bool   `json:"served"`  // pushes from other clones may move the board and integration here
	Program string `json:"program"` // the program they ask, "" if it is missing
	// Overwritten are the hooks that another program has replaced: an installer that runs in an
	// agent's worktree takes our directory for the one of git's hooks.
	Overwritten []string `json:"overwritten,omitempty"`
}

// Read returns how the hooks are installed.
func Read(repo *git.Repo) (Status, error) {
	s := Status{Dir: Dir(repo)}
	text, err := os.ReadFile(filepath.Join(s.Dir, runFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	config, err := os.ReadFile(filepath.Join(repo.CommonDir(), "config"))
	if err != nil {
		return s, err
	}
	_, ours, _, _ := divided(config) // without their end they count as well
	section := string(ours)
	s.On = section != ""
	s.Server = strings.Contains(section, "[include]\n") || !s.On && strings.Contains(string(text), " hook --server ")
	switches, _ := os.ReadFile(filepath.Join(s.Dir, configFile)) // what can't be read is none
	// Otherwise the repository was moved, a disk was full, or another version has installed them.
	s.Files = isRun(string(text), repo.CommonDir(), s.Server) && string(switches) == settings(s.Dir, s.Server)
	if word, is := quoted(string(text), "program="); is {
		if info, err := os.Stat(word); err == nil && !info.IsDir() {
			s.Program = word
		}
	}
	if s.Files {
		s.Overwritten = overwritten(s.Dir, s.Server)
		s.Files = len(s.Overwritten) == 0
	}
	s.Served = strings.Contains(section, served)
	if s.On && !s.Server && !s.Served {
		kept, err := os.ReadFile(filepath.Join(s.Dir, pushesFile))
		s.On = strings.Contains(section, everywhere)
		s.Files = s.Files && err == nil && strings.HasPrefix(string(kept), pushes(nil))
	}
	return s, nil
}

// names lists the hooks to install.
func names(server bool) []string {
	if server {
		return serverHooks
	}
	return clientHooks
}

func overwritten(dir string, server bool) []string {
	var found []string
	for _, name := range names(server) {
		if !isHook(dir, name, server) {
			found = append(found, name)
		}
	}
	return found
}

// Restore restores the hooks of a clone that another program has replaced, and returns their names.
// If the hooks are not installed, it does nothing.
func Restore(repo *git.Repo) ([]string, error) {
	dir := Dir(repo)
	if _, err := os.Stat(filepath.Join(dir, runFile)); err != nil {
		return nil, nil
	}
	found := overwritten(dir, false)
	for _, name := range found {
		if err := installHook(dir, name, ""); err != nil {
			return nil, &git.StorageError{Dir: dir, Err: err}
		}
	}
	return found, nil
}

// Setup has the options for installing the hooks.
type Setup struct {
	Program string // the git-liza that they ask; "" for the one in PATH
	Server  bool   // as the lock of a shared repository
	// Served: other clones may push to this clone. Otherwise no push moves the board, leases,
	// submissions, tasks' branches or integration of this clone.
	Served bool
	Hidden []string // integration, and the prefix of the branches of tasks; empty before there is a board
}

// Install installs the hooks, or updates them. The error is git.ErrBusy if another process is
// writing the config, and a git.StorageError if nothing can be written.
func Install(ctx context.Context, repo *git.Repo, setup Setup) error {
	server := setup.Server
	dir := Dir(repo)
	own, project := "", ""
	config, err := os.ReadFile(filepath.Join(repo.CommonDir(), "config"))
	if err == nil {
		_, err = without(config) // what can't be switched on is not written
	}
	if err != nil {
		return err
	}
	if server {
		paths, err := repo.Settings().Paths(ctx, "core.hooksPath")
		if err != nil {
			return err
		}
		ours := hooksPathOf(filepath.Join(dir, configFile)) // in a copy of another repository that is not dir
		for _, path := range paths {
			if path != dir && path != ours {
				own = path
			}
		}
		if own != "" && !filepath.IsAbs(own) {
			own = filepath.Join(repo.CommonDir(), own) // as in any bare repository (git-config)
		}
		project = cmp.Or(own, filepath.Join(repo.CommonDir(), "hooks"))
	}
	// Existing files are replaced one by one: a server that is updated stays locked.
	files := map[string]string{runFile: run(repo.CommonDir(), setup.Program, server, own), configFile: settings(dir, server)}
	if !server && !setup.Served {
		files[pushesFile] = pushes(setup.Hidden)
	}
	err = os.MkdirAll(dir, 0o755)
	if server {
		err = cmp.Or(err, os.MkdirAll(filepath.Join(dir, provenDir), 0o755))
	}
	for name, text := range files {
		err = cmp.Or(err, disk.Replace(filepath.Join(dir, name), []byte(text)))
	}
	for _, name := range names(server) {
		err = cmp.Or(err, installHook(dir, name, project))
	}
	if err = cmp.Or(err, tidy(dir, server, files)); err != nil {
		return &git.StorageError{Dir: dir, Err: err}
	}
	err = repo.Settings().Edit(func(text []byte) ([]byte, error) {
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
	if err == nil && server {
		err = advertise(ctx, repo, project)
	}
	return err
}

// tidy removes what the other kind of hooks, or an earlier version, has left.
func tidy(dir string, server bool, files map[string]string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		_, is := files[e.Name()]
		if is || slices.Contains(names(server), e.Name()) || server && e.Name() == provenDir || strings.HasPrefix(e.Name(), ".") {
			continue // one that begins with a dot is being written, or left for the upkeep
		}
		err = cmp.Or(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// settings is the content of the included file. The path must be absolute, because git would take a
// relative one as relative to the worktree. A server looks at no replacements, which anybody may
// push: with them git takes a history for complete that is not, and then nobody can fetch it. It
// refuses malformed objects.
func settings(dir string, server bool) string {
	text := "[core]\n\thooksPath = " + configQuote(dir) + "\n"
	if server {
		text += "\tuseReplaceRefs = false\n[receive]\n\tadvertisePushOptions = true\n\tfsckObjects = true\n"
		for _, ref := range []string{plumbing.InboxPrefix, plumbing.SequencerPrefix} {
			text += "\tprocReceiveRefs = " + strings.TrimSuffix(ref, "/") + "\n"
		}
	}
	return text
}

// hooksPathOf reads core.hooksPath from a file that settings has made, "" if there is none.
func hooksPathOf(file string) string {
	text, _ := os.ReadFile(file) // what can't be read sets nothing
	_, rest, _ := strings.Cut(string(text), "hooksPath = \"")
	path, _, _ := strings.Cut(rest, "\"\n")
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(path)
}

// served marks a clone that accepts pushes to all its refs.
const served = "# served: other clones push to this one\n"

// pushes is the setting that hides the board's refs from pushes (git-config, receive.hideRefs), and
// those by which git shows another history than there is. It is in a file of its own, because git
// would put the user's settings of [receive] among our lines. Fetches, clones and work in this
// repository are not affected.
//
// A push into the clone is received outside the main worktree, where none of our hooks runs, and
// the environment of an agent that pushes by a path does not reach that process: only the
// repository's own settings do.
func pushes(branches []string) string {
	text := "[receive]\n"
	for _, ref := range []string{plumbing.OwnPrefix, plumbing.BoardPrefix, plumbing.ReplacePrefix} {
		text += "\thideRefs = " + configQuote(strings.TrimSuffix(ref, "/")) + "\n"
	}
	for _, branch := range branches {
		text += "\thideRefs = " + configQuote(plumbing.BranchRef(branch)) + "\n"
	}
	return text
}

// Hide updates the branches that the installed hooks protect from pushes, if they do.
func Hide(repo *git.Repo, branches []string) error {
	file := filepath.Join(Dir(repo), pushesFile)
	now, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(now) == pushes(branches) {
		return nil
	}
	if err := disk.Replace(file, []byte(pushes(branches))); err != nil {
		return &git.StorageError{Dir: Dir(repo), Err: err}
	}
	return nil
}

// section returns the settings that enable the hooks. Paths are relative to the config file, so
// that a repository that was moved works, but runs no hooks until they are installed again. Tasks'
// worktrees are all created as .worktrees/.claim-<request>, after which git names its records of
// them for ever (git-worktree); a human's own worktrees have other names. In .integration and
// .integration-1 (merge.TestDir), code written by agents is tested; git may add another number.
func section(setup Setup) string {
	on := "path = liza/hooks/" + configFile + "\n"
	agents := "[includeIf \"gitdir:./worktrees/?claim-*\"]\n\t" + on + "[includeIf \"gitdir:./worktrees/?integration*\"]\n\t" + on
	switch {
	case setup.Server:
		return "[include]\n\t" + on
	case setup.Served:
		return agents + served
	default:
		return agents + everywhere
	}
}

// everywhere includes the settings of pushes.
const everywhere = "[includeIf \"gitdir:**\"]\n\tpath = liza/hooks/" + pushesFile + "\n"

// Uninstall removes the hooks. The config then has the same bytes as if they had never been
// installed.
func Uninstall(ctx context.Context, repo *git.Repo) error {
	if err := conceal(ctx, repo); err != nil {
		return err
	}
	if err := repo.Settings().Edit(without); err != nil {
		return err
	}
	dir := Dir(repo)
	if err := os.RemoveAll(dir); err != nil {
		return &git.StorageError{Dir: dir, Err: err}
	}
	if repo.Bare() {
		for _, name := range []string{"cache", "kept", "proven"} { // only the hooks use them
			_ = os.RemoveAll(filepath.Join(filepath.Dir(dir), name))
		}
	}
	_ = os.Remove(filepath.Dir(dir)) // empty, on a server
	return nil
}

// without returns a config without our lines.
func without(text []byte) ([]byte, error) {
	before, _, after, err := divided(text)
	return append(bytes.Clone(before), after...), err
}

// divided returns the part of a config before our lines, our lines, and the part after them. If
// their end is missing, that is an error, and they reach to the end of the file.
func divided(text []byte) (before, ours, after []byte, err error) {
	for _, first := range []string{beginAdded, begin} {
		from := bytes.Index(text, []byte(first))
		if from < 0 {
			continue
		}
		ours = text[from+len(first):]
		length := bytes.Index(ours, []byte(end))
		if length < 0 {
			return text[:from], ours, nil, fmt.Errorf("the config holds %q and not %q: put that line behind the settings of git liza's hooks", strings.TrimSpace(first), strings.TrimSpace(end))
		}
		if after = ours[length+len(end):]; first == beginAdded && len(after) > 0 {
			from++ // by now other lines need that newline
		}
		return text[:from], ours[:length], after, nil
	}
	return text, nil, nil, nil
}

// configQuote quotes a value for a config file (git-config, "Values").
func configQuote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
