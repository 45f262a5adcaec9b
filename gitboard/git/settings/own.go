package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Own is the repository's own config file, read without git. It only saves children when a
// setting is clearly absent; values are always read by git.
type Own struct {
	lines []setting
	read  bool // the file is readable, and has only what git writes there
	plain bool // it also includes no other files but our own
}

// setting is a line of a config file, its section and name in lower case. The line that begins a
// section has no name.
type setting struct{ section, subsection, name, value string }

// HooksIncludes is the directory of the files that package hooks/install includes. They define no
// remotes.
const HooksIncludes = "liza/hooks/"

// ReadOwn reads the settings of the repository with that common git directory.
func ReadOwn(common string) Own {
	text, err := os.ReadFile(filepath.Join(common, "config"))
	if err != nil {
		return Own{}
	}
	return parseOwn(string(text))
}

func parseOwn(text string) Own {
	lines, ok := parseConfig(text)
	if !ok {
		return Own{}
	}
	includes := func(l setting) bool {
		return (l.section == "include" || l.section == "includeif") && l.name == "path" && !strings.HasPrefix(l.value, HooksIncludes)
	}
	return Own{lines, true, !slices.ContainsFunc(lines, includes)}
}

// Read reports whether the file is readable, and has only settings as git writes them.
func (s Own) Read() bool { return s.read }

// Has reports whether there is a section, with any subsection.
func (s Own) Has(section string) bool {
	return s.has(section, func(setting) bool { return true })
}

// has reports whether some section, with any subsection, has a line.
func (s Own) has(section string, holds func(setting) bool) bool {
	return slices.ContainsFunc(s.lines, func(l setting) bool { return l.section == section && holds(l) })
}

// Values returns the values of a setting without a subsection.
func (s Own) Values(section, name string) (values []string) {
	for _, l := range s.lines {
		if l.section == section && l.subsection == "" && l.name == name {
			values = append(values, l.value)
		}
	}
	return values
}

// may reports whether some subsection of a section may hold a setting. It is true if one does, or
// if only git can know because of included files.
func (s Own) may(section string, holds func(setting) bool) bool {
	return !s.plain || s.has(section, holds)
}

// named returns whether a line has a name.
func named(name string) func(setting) bool { return func(l setting) bool { return l.name == name } }

// MayShare reports whether the settings may name the remote that shares the board.
func (s Own) MayShare() bool { return s.may("liza", named("remote")) }

// MayHaveRemotes reports whether there may be a remote.
func (s Own) MayHaveRemotes() bool {
	return s.may("remote", func(setting) bool { return true })
}

// MayMirror reports whether a plain fetch may overwrite every ref, as after `git clone --mirror`.
func (s Own) MayMirror() bool {
	return s.may("remote", func(l setting) bool { return l.name == "fetch" && l.value == "+refs/*:refs/*" })
}

// MayBePartial reports whether this may be a clone that lacks objects on purpose.
func (s Own) MayBePartial() bool { return s.may("extensions", named("partialclone")) }

// MayLack reports whether this may be a partial clone, which lacks objects.
func (s Own) MayLack() bool { return s.may("remote", named("promisor")) }

// parseConfig parses a config file (git-config, "Syntax"). It is false for a file that git rejects,
// and for what git no longer writes: a byte order mark, and subsections after a dot.
func parseConfig(text string) (lines []setting, ok bool) {
	p := configParser{rest: strings.ReplaceAll(text, "\r\n", "\n")}
	for !p.failed {
		p.rest = strings.TrimLeft(p.rest, " \t\n\r")
		switch {
		case p.rest == "":
			return p.lines, true
		case p.rest[0] == '#' || p.rest[0] == ';':
			p.comment()
		case p.rest[0] == '[':
			p.section()
		default:
			p.setting()
		}
	}
	return nil, false
}

type configParser struct {
	rest   string
	at     setting // the section
	lines  []setting
	failed bool
}

// comment skips the rest of the line.
func (p *configParser) comment() {
	_, p.rest, _ = strings.Cut(p.rest, "\n")
}

// word takes a word of letters, digits and hyphens, in lower case. It fails if there is none.
func (p *configParser) word() string {
	inWord := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
	}
	rest := strings.TrimLeftFunc(p.rest, inWord)
	word := strings.ToLower(p.rest[:len(p.rest)-len(rest)])
	p.rest, p.failed = rest, p.failed || word == ""
	return word
}

// section takes [NAME] or [NAME "SUBSECTION"].
func (p *configParser) section() {
	p.rest = p.rest[1:]
	p.at = setting{section: p.word()}
	if name, quoted := strings.CutPrefix(strings.TrimLeft(p.rest, " \t"), `"`); quoted {
		p.rest = name
		p.at.subsection = p.quoted()
	}
	rest, closed := strings.CutPrefix(p.rest, "]")
	p.rest, p.failed = rest, p.failed || !closed
	p.lines = append(p.lines, p.at)
}

// quoted takes a subsection's name up to the closing quote.
func (p *configParser) quoted() string {
	var name strings.Builder
	for i := 0; i < len(p.rest) && p.rest[i] != '\n'; i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return name.String()
		case c == '\\' && i+1 < len(p.rest) && p.rest[i+1] != '\n':
			i++
		}
		name.WriteByte(p.rest[i])
	}
	p.failed = true
	return ""
}

// setting takes NAME, or NAME = VALUE.
func (p *configParser) setting() {
	l := p.at
	first := p.rest[0] | 0x20
	l.name = p.word()
	p.failed = p.failed || l.section == "" || first < 'a' || first > 'z'
	p.rest = strings.TrimLeft(p.rest, " \t")
	rest, assigned := strings.CutPrefix(p.rest, "=")
	switch {
	case assigned:
		p.rest = rest
		l.value = p.value()
	case p.rest != "" && p.rest[0] != '\n':
		p.failed = true
	}
	p.lines = append(p.lines, l)
}

// value takes a value up to the end of its line, which a backslash continues.
func (p *configParser) value() string {
	var value strings.Builder
	kept := 0 // the length without trailing space
	quoted := false
	p.rest = strings.TrimLeft(p.rest, " \t\r")
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\n' && quoted || c == 0:
			p.failed = true
			return ""
		case c == '\n', !quoted && (c == '#' || c == ';'):
			p.rest = p.rest[i:]
			return value.String()[:kept]
		case c == '"':
			quoted = !quoted
			kept = value.Len()
			continue
		case c == '\\':
			i++
			if i == len(p.rest) {
				p.failed = true
				return ""
			}
			if p.rest[i] == '\n' {
				continue
			}
			at := strings.IndexByte(`ntb\"`, p.rest[i])
			if at < 0 {
				p.failed = true
				return ""
			}
			value.WriteByte("\n\t\b\\\""[at])
			kept = value.Len()
			continue
		}
		value.WriteByte(c)
		if quoted || strings.IndexByte(" \t\r", c) < 0 {
			kept = value.Len()
		}
	}
	p.rest, p.failed = "", p.failed || quoted
	return value.String()[:kept]
}
