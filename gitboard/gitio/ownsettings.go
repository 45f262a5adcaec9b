package gitio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ownSettings is the repository's own config file, read without git. It only saves children when a
// setting is clearly absent; values are always read by git.
type ownSettings struct {
	all      []fileSetting
	readable bool
	plain    bool // readable, and includes no other files but our own
}

// hooksIncludes is the directory of the files that package hooks/install includes. They define no
// remotes.
const hooksIncludes = "liza/hooks/"

func (r *Repo) ownSettings() ownSettings {
	text, err := os.ReadFile(filepath.Join(r.common, "config"))
	if err != nil {
		return ownSettings{}
	}
	return parseOwnSettings(string(text))
}

func parseOwnSettings(text string) ownSettings {
	all, readable := parseConfigFile(text)
	includesOthers := func(s fileSetting) bool {
		return (s.section == "include" || s.section == "includeif") && s.key == "path" && !strings.HasPrefix(s.value, hooksIncludes)
	}
	return ownSettings{all: all, readable: readable, plain: readable && !slices.ContainsFunc(all, includesOthers)}
}

// may reports whether some setting of a section may be one that is looked for. It is true if one
// is, or if only git can know because of included files.
func (s ownSettings) may(section string, is func(fileSetting) bool) bool {
	return !s.plain || slices.ContainsFunc(s.all, func(s fileSetting) bool { return s.section == section && is(s) })
}

// mayShare reports whether the settings may name the remote that shares the board.
func (s ownSettings) mayShare() bool {
	return s.may("liza", func(s fileSetting) bool { return s.key == "remote" })
}

// mayHaveRemotes reports whether there may be a remote.
func (s ownSettings) mayHaveRemotes() bool {
	return s.may("remote", func(fileSetting) bool { return true })
}

// mayMirror reports whether a plain fetch may overwrite every ref, as after `git clone --mirror`.
func (s ownSettings) mayMirror() bool {
	return s.may("remote", func(s fileSetting) bool { return s.key == "fetch" && s.value == "+refs/*:refs/*" })
}

// mayLack reports whether this may be a partial clone, which lacks objects.
func (s ownSettings) mayLack() bool {
	return s.may("remote", func(s fileSetting) bool { return s.key == "promisor" })
}
