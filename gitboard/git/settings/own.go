package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Own is the text of the repository's own config file, in lower case. It saves children where a
// setting is clearly absent, because a setting's name can't be spelled in another way but for case.
type Own struct {
	text   string
	unread bool
}

// HooksIncludes is the directory of the files that package hooks/install includes. They define no
// remotes.
const HooksIncludes = "liza/hooks/"

// ownInclude matches what package hooks/install writes into the settings.
var ownInclude = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[include(?:If "[^"\n]*")?\]\n\tpath = ` + HooksIncludes + `[a-z-]+\n`)
})

// WithoutHooks returns the text of a config file without the includes of package hooks/install.
func WithoutHooks(text string) string { return ownInclude().ReplaceAllString(text, "\n") }

// ReadOwn reads the settings of the repository with that common git directory.
func ReadOwn(common string) Own {
	text, err := os.ReadFile(filepath.Join(common, "config"))
	return Own{text: strings.ToLower(WithoutHooks(string(text))), unread: err != nil}
}

// Value returns the value of a setting without a subsection, in lower case, "" for none.
func (s Own) Value(section, name string) (value string) {
	in := ""
	for line := range strings.Lines(s.text) {
		line = strings.TrimSpace(line)
		if head, rest, is := strings.Cut(line, "]"); is && strings.HasPrefix(head, "[") {
			in, line = head[1:], rest
		}
		key, text, _ := strings.Cut(line, "=")
		if in == section && strings.TrimSpace(key) == name {
			value = strings.Trim(strings.TrimSpace(text), `"`)
		}
	}
	return value
}

// may reports whether the settings may contain a word, which is in lower case. It is true if the file
// has it, and if only git can know because of included files.
func (s Own) may(word string) bool {
	return s.unread || strings.Contains(s.text, word) || strings.Contains(s.text, "[include")
}

// MayShare reports whether the settings may name the remote that shares the board.
func (s Own) MayShare() bool { return s.Value("liza", "remote") != "" || s.may("[include") }

// MayHaveRemotes reports whether there may be a remote.
func (s Own) MayHaveRemotes() bool { return s.may("[remote") }

// MayMirror reports whether a plain fetch may overwrite every ref, as after `git clone --mirror`.
func (s Own) MayMirror() bool { return s.may("+refs/*:refs/*") }

// MayLack reports whether this may be a partial clone, which lacks objects.
func (s Own) MayLack() bool { return s.may("promisor") }
