package gitio

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// ownSettings is the repository's own config file, read without git. It only
// saves children where a setting is plainly not there: what a setting says is
// always asked of git.
type ownSettings struct {
	file  *config.Config
	plain bool // the file could be read, and takes in no other file
}

// hooksIncludes is where the files lie that package hooks/install includes.
// They name no remote.
const hooksIncludes = "liza/hooks/"

func (r *Repo) ownSettings() ownSettings {
	text, err := os.ReadFile(filepath.Join(r.common, "config"))
	if err != nil {
		return ownSettings{}
	}
	return parseOwnSettings(text)
}

func parseOwnSettings(text []byte) ownSettings {
	s := ownSettings{file: config.New()}
	if config.NewDecoder(bytes.NewReader(text)).Decode(s.file) != nil {
		return ownSettings{}
	}
	s.plain = true
	for _, name := range []string{"include", "includeif"} {
		s.each(name, func(_ string, options config.Options) {
			for _, path := range options.GetAll("path") {
				s.plain = s.plain && strings.HasPrefix(path, hooksIncludes)
			}
		})
	}
	return s
}

// each visits a section and its subsections ("" for none).
func (s ownSettings) each(section string, visit func(subsection string, options config.Options)) {
	for _, found := range s.file.Sections {
		if !found.IsName(section) {
			continue
		}
		visit("", found.Options)
		for _, sub := range found.Subsections {
			visit(sub.Name, sub.Options)
		}
	}
}

// may reports whether some subsection of a section may hold a setting: it does,
// or only git can tell.
func (s ownSettings) may(section string, holds func(config.Options) bool) bool {
	if !s.plain {
		return true
	}
	found := false
	s.each(section, func(_ string, options config.Options) { found = found || holds(options) })
	return found
}

// mayShare reports whether the settings may name a remote that the board is
// shared by.
func (s ownSettings) mayShare() bool {
	return s.may("liza", func(o config.Options) bool { return o.Has("remote") })
}

// mayHaveRemotes reports whether there may be a remote.
func (s ownSettings) mayHaveRemotes() bool {
	return s.may("remote", func(config.Options) bool { return true })
}

// mayMirror reports whether a plain fetch may overwrite every ref, as after
// `git clone --mirror`.
func (s ownSettings) mayMirror() bool {
	return s.may("remote", func(o config.Options) bool { return slices.Contains(o.GetAll("fetch"), "+refs/*:refs/*") })
}

// mayLack reports whether objects may have been left out by a partial clone.
func (s ownSettings) mayLack() bool {
	return s.may("remote", func(o config.Options) bool { return o.Has("promisor") })
}
