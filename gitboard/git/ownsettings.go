package git

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// ownSettings is the repository's own config file, read without git. It only saves children when a
// setting is clearly absent; values are always read by git.
type ownSettings struct {
	file  *config.Config
	plain bool // the file is readable and includes no other files but our own
}

// hooksIncludes is the directory of the files that package hooks/install includes. They define no
// remotes.
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

// may reports whether some subsection of a section may hold a setting. It is true if one does, or
// if only git can know because of included files.
func (s ownSettings) may(section string, holds func(config.Options) bool) bool {
	if !s.plain {
		return true
	}
	found := false
	s.each(section, func(_ string, options config.Options) { found = found || holds(options) })
	return found
}

// mayShare reports whether the settings may name the remote that shares the board.
func (s ownSettings) mayShare() bool {
	return s.may("liza", func(o config.Options) bool { return o.Has("remote") })
}

// mayHaveRemotes reports whether there may be a remote.
func (s ownSettings) mayHaveRemotes() bool {
	return s.may("remote", func(config.Options) bool { return true })
}

// mayMirror reports whether a plain fetch may overwrite every ref, as after `git clone --mirror`.
func (s ownSettings) mayMirror() bool {
	return s.may("remote", func(o config.Options) bool { return slices.Contains(o.GetAll("fetch"), "+refs/*:refs/*") })
}

// mayBePartial reports whether this may be a clone that lacks objects on purpose.
func (s ownSettings) mayBePartial() bool {
	return s.may("extensions", func(o config.Options) bool { return o.Has("partialclone") })
}

// mayLack reports whether this may be a partial clone, which lacks objects.
func (s ownSettings) mayLack() bool {
	return s.may("remote", func(o config.Options) bool { return o.Has("promisor") })
}
