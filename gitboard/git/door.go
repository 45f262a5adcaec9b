package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// door turns off the programs that a repository's own settings make git run. Agents can write these
// settings, even from a container, and our children run outside of it. The settings of the system,
// of the user and of the command line apply as usual.
type door struct {
	where []string // the options by which git finds the repository
	env   []string
	// harmless reports whether git need not be asked: the files of the settings name no program.
	harmless func() bool
	// modules lists the repositories inside a worktree, in which git starts children of its own. It
	// may be nil.
	modules func(context.Context) ([]string, error)
}

// programs are the settings by which git, or git-lfs, runs a program that one of our children would
// run, with the values that they have by default, or that run none. A star is any subsection.
//
// Our children never use hooks, file system monitors, external diffs and text conversions
// (diff.*.command, diff.*.textconv), signatures (gpg.*), aliases, pagers and editors, no matter who
// has set them: options and the environment turn these off. The address of a remote and its
// programs (remote.*.uploadpack) are followed.
var programs = map[string]string{
	"filter.*.clean": "", "filter.*.smudge": "", "filter.*.process": "", "filter.*.required": "false",
	"merge.*.driver": "false", // a conflict
	"core.askpass":   "", "core.alternaterefscommand": "true",
	"core.sshcommand":   "ssh",
	"credential.helper": "", "credential.*.helper": "",
	extAllow:                    "never",
	"lfs.customtransfer.*.path": "false", "lfs.standalonetransferagent": "", "lfs.*.standalonetransferagent": "",
}

// lists are the settings of which git uses all values, in their order. An empty listKey drops all
// that come before it.
var lists = []string{listKey, "credential.*.helper"}

const (
	listKey  = "credential.helper"
	extAllow = "protocol.ext.allow" // for addresses that are commands
)

// hints are parts of the names of programs, and of what brings in settings from other files. A file
// without them is harmless: the name of a setting can't be spelled in another way, but for case.
var hints = []string{"filter", "driver", "askpass", "alternaterefs", "sshcommand",
	"helper", "protocol", "customtransfer", "standalonetransfer", "gitproxy", "include", "worktreeconfig"}

// ownInclude matches what package hooks/install writes into the settings.
var ownInclude = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[include(?:If "[^"\n]*")?\]\n\tpath = liza/hooks/[a-z-]+\n`)
})

// namesNoProgram reports whether the repository's own settings name no program, as far as that can
// be seen without git.
func (r *Repo) namesNoProgram() bool {
	text, err := os.ReadFile(filepath.Join(r.common, "config"))
	if _, elsewhere := os.Lstat(filepath.Join(r.common, "commondir")); err != nil || elsewhere == nil {
		return false
	}
	whole := ownInclude().ReplaceAllString(string(text), "\n")
	for _, name := range []string{"gitconfig", "gitconfig-pushes"} {
		if strings.Contains(string(text), "liza/hooks/"+name+"\n") {
			text, _ := os.ReadFile(filepath.Join(r.common, hooksIncludes, name)) // git ignores a missing one
			whole += string(text)
		}
	}
	whole = strings.ReplaceAll(strings.ToLower(whole), "partialclonefilter", "\n") // of every partial clone
	return !slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(whole, hint) })
}

// door returns the door of a child that works with a git directory of this repository, or of
// another one.
func (r *Repo) door(gitDir string) *door {
	return &door{where: []string{"--git-dir=" + gitDir}, harmless: func() bool { return r.shares(gitDir) && r.namesNoProgram() }}
}

// shares reports whether a git directory has the settings of this repository.
func (r *Repo) shares(gitDir string) bool {
	if gitDir == r.common {
		return true
	}
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	return err == nil && pathIn(gitDir, string(text)) == r.common
}

// doorOf is door for a child that runs in a worktree, or in another repository there.
func (r *Repo) doorOf(worktree, op string, where, env []string) *door {
	gitDir := LinkedDir(worktree)
	if gitDir == "" {
		gitDir = filepath.Join(worktree, ".git")
	}
	d := r.door(gitDir)
	d.where, d.env = where, env
	if slices.Contains(descending, op) {
		d.modules = func(ctx context.Context) ([]string, error) { return r.allModules(ctx, worktree) }
	}
	return d
}

// descending are the operations for which git starts children in submodules.
var descending = []string{"status", "add", "checkout", "diff", "diff-files", "diff-index", "merge", "read-tree", "reset", "submodule update", "submodule foreach"}

// allModules lists the repositories at the gitlinks of a worktree's index, with those inside them.
func (r *Repo) allModules(ctx context.Context, worktree string) (all []string, err error) {
	paths, err := r.Worktree(worktree).modulesAt(ctx)
	for _, path := range paths {
		module := filepath.Join(worktree, filepath.FromSlash(path))
		if disk.IsLink(module) {
			continue
		}
		inside, failed := r.allModules(ctx, module)
		all, err = append(append(all, module), inside...), cmp.Or(err, failed)
	}
	return all, err
}

// setting is an entry of git's configuration. It is trusted unless it comes from the repository.
type setting struct {
	key, value string
	trusted    bool
}

// environ returns the environment entries that turn off what must not run, in addition to those of
// given.
func (d *door) environ(ctx context.Context, given gitenv.List) ([]string, error) {
	if d == nil {
		return nil, nil
	}
	var modules []string
	var err error
	if d.modules != nil {
		if modules, err = d.modules(ctx); err != nil {
			return nil, err
		}
	}
	if d.harmless() && len(modules) == 0 {
		return nil, nil
	}
	all, err := settingsAt(ctx, d.where, d.env)
	if err != nil {
		return nil, err
	}
	for _, dir := range modules {
		inside, err := settingsAt(ctx, []string{"-C", dir}, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)})
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(inside, func(s setting) bool { return s.trusted })...)
	}
	var env []string
	count, _ := strconv.Atoi(given.Get("GIT_CONFIG_COUNT"))
	for _, s := range turnedOff(all) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, s.Value))
		count++
	}
	if slices.ContainsFunc(all, func(s setting) bool { return !s.trusted && s.key == "core.gitproxy" }) {
		env = append(env, "GIT_PROXY_COMMAND=") // git uses the first value of that setting
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(count)), nil
}

// settingsAt lists all settings as git sees them in a repository.
func settingsAt(ctx context.Context, where, env []string) ([]setting, error) {
	out, err := command{op: "config", env: env, args: flags(where, []string{"config", "--null", "--show-scope", "--list"})}.output(ctx)
	if err != nil {
		return nil, fmt.Errorf("settings of the repository: %w", err)
	}
	var all []setting
	for words := splitNUL(out); len(words) > 1; words = words[2:] {
		key, value, _ := strings.Cut(words[1], "\n")
		all = append(all, setting{key, value, words[0] != "local" && words[0] != "worktree"})
	}
	return all, nil
}

// turnedOff returns the settings that restore the trusted values for programs that the repository
// names.
func turnedOff(all []setting) (off []gitenv.Setting) {
	done := map[string]bool{}
	for _, s := range all {
		if s.key == "protocol.allow" {
			s.key = extAllow
		}
		pattern := patternOf(s.key)
		list := slices.Contains(lists, pattern)
		if list {
			s.key = listKey
		}
		if s.trusted || pattern == "" || done[s.key] {
			continue
		}
		done[s.key] = true
		value := programs[pattern]
		for _, t := range all {
			if t.trusted && t.key == s.key {
				value = t.value
			}
		}
		if !list {
			off = append(off, gitenv.Setting{Key: s.key, Value: value})
			continue
		}
		off = append(off, gitenv.Setting{Key: listKey, Value: ""})
		for _, t := range all {
			if t.trusted && slices.Contains(lists, patternOf(t.key)) {
				off = append(off, gitenv.Setting{Key: t.key, Value: t.value})
			}
		}
	}
	return off
}

// patternOf returns the entry of programs that a setting belongs to, "" if there is none.
func patternOf(key string) string {
	if _, known := programs[key]; known {
		return key
	}
	section, rest, _ := strings.Cut(key, ".")
	last := strings.LastIndexByte(rest, '.')
	if last < 0 {
		return ""
	}
	for _, pattern := range []string{section + ".*." + rest[last+1:], section + ".customtransfer.*." + rest[last+1:]} {
		if _, known := programs[pattern]; known {
			return pattern
		}
	}
	return ""
}

// Programs lists the settings by which the repository itself would make git run a program, and that
// git liza does not follow: agents can write them.
func (of Settings) Programs(ctx context.Context) (keys []string, err error) {
	if of.repo.namesNoProgram() {
		return nil, nil
	}
	all, err := settingsAt(ctx, []string{"--git-dir=" + of.repo.common}, nil)
	trusted := map[string]string{}
	for _, s := range all {
		if s.trusted {
			trusted[s.key] = s.value
		}
	}
	for _, s := range all {
		harmless := s.value == programs[patternOf(s.key)] || s.value == trusted[s.key]
		if !s.trusted && patternOf(s.key) != "" && !harmless && !slices.Contains(keys, s.key) {
			keys = append(keys, s.key)
		}
	}
	return keys, err
}
