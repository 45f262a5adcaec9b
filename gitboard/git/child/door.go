package child

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// Door turns off the programs that a repository's own settings make git run. Agents can write these
// settings, even from a container, and our children run outside of it. The settings of the system,
// of the user and of the command line apply as usual.
type Door struct {
	Where []string // the options by which git finds the repository
	Env   []string
	// Harmless reports whether git need not be asked: the files of the settings name no program.
	Harmless func() bool
	// Modules lists the repositories inside a worktree, in which git starts children of its own. It
	// may be nil.
	Modules func(context.Context) ([]string, error)
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

// named are the longest parts of the keys of programs, and of what brings in settings from other
// files. A file without them names no program: the name of a setting can't be spelled in another
// way, but for case.
var named = sync.OnceValue(func() []string {
	parts := []string{"gitproxy", "include", "worktreeconfig"}
	for key := range programs {
		parts = append(parts, slices.MaxFunc(strings.Split(key, "."), func(a, b string) int { return len(a) - len(b) }))
	}
	return parts
})

// NamesProgram reports whether the text of a file of settings may name a program.
func NamesProgram(text string) bool {
	text = strings.ReplaceAll(strings.ToLower(text), "partialclonefilter", "\n") // of every partial clone
	return slices.ContainsFunc(named(), func(part string) bool { return strings.Contains(text, part) })
}

// setting is an entry of git's configuration. It is trusted unless it comes from the repository.
type setting struct {
	key, value string
	trusted    bool
}

// environ returns the environment entries that turn off what must not run, in addition to those of
// given.
func (d *Door) environ(ctx context.Context, given gitenv.List) ([]string, error) {
	if d == nil {
		return nil, nil
	}
	var modules []string
	var err error
	if d.Modules != nil {
		if modules, err = d.Modules(ctx); err != nil {
			return nil, err
		}
	}
	if d.Harmless() && len(modules) == 0 {
		return nil, nil
	}
	all, err := settingsAt(ctx, d.Where, d.Env)
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
	out, err := Command{Op: "config", Env: env, Args: slices.Concat(where, []string{"config", "--null", "--show-scope", "--list"})}.Output(ctx)
	if err != nil {
		return nil, fmt.Errorf("settings of the repository: %w", err)
	}
	var all []setting
	for words := Fields(out); len(words) > 1; words = words[2:] {
		key, value, _ := strings.Cut(words[1], "\n")
		all = append(all, setting{key, value, words[0] != "local" && words[0] != "worktree"})
	}
	return all, nil
}

// turnedOff returns the settings that restore the trusted values for programs that the repository
// names.
func turnedOff(all []setting) (off []gitenv.Setting) {
	done, trusted := map[string]bool{}, trustedIn(all)
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
		value, set := trusted[s.key]
		if !set {
			value = programs[pattern]
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

// trustedIn returns the effective values of the trusted settings.
func trustedIn(all []setting) map[string]string {
	values := map[string]string{}
	for _, s := range all {
		if s.trusted {
			values[s.key] = s.value
		}
	}
	return values
}

// Programs lists the settings by which a repository itself would make git run a program, and that
// are turned off.
func Programs(ctx context.Context, gitDir string) (keys []string, err error) {
	all, err := settingsAt(ctx, []string{"--git-dir=" + gitDir}, nil)
	trusted := trustedIn(all)
	for _, s := range all {
		harmless := s.value == programs[patternOf(s.key)] || s.value == trusted[s.key]
		if !s.trusted && patternOf(s.key) != "" && !harmless && !slices.Contains(keys, s.key) {
			keys = append(keys, s.key)
		}
	}
	return keys, err
}
