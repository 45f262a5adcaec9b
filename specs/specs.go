// Package specs holds the protocol's documents for agents and humans, embedded in the program.
//
// It may import nothing of ours.
package specs

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"unicode"
)

//go:embed *.md teams/*.yaml
var files embed.FS

// TeamNames lists the team files to start from.
func TeamNames() []string {
	entries, err := files.ReadDir("teams")
	if err != nil {
		panic("the embedded teams can't be listed: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Team is the text of a team file to start from.
func Team(name string) (string, bool) {
	data, err := files.ReadFile("teams/" + name + ".yaml")
	return string(data), err == nil
}

// Document is a document, or a part of a document that has a name of its own: the name without .md,
// the title, and a sentence on its readers and contents. In is the document of a part.
type Document struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	In    string `json:"in,omitempty"`
}

// parts are the sections of a document that have names of their own.
var parts = map[string]struct{ document, anchor string }{
	"agent-runtime":        {"agents-guide", "at-work"},
	"roles":                {"agents-guide", "roles"},
	"session-start":        {"agents-guide", "session-start"},
	"core-contract":        {"agents-guide", "core-contract"},
	"multi-agent-contract": {"agents-guide", "multi-agent-contract"},
	"team":                 {"operators-guide", "the-team"},
	"sprint-governance":    {"operators-guide", "sprints"},
	"circuit-breaker":      {"operators-guide", "circuit-breaker"},
	"web-board":            {"operators-guide", "the-web-board"},
	"troubleshooting":      {"operators-guide", "troubleshooting"},
}

// All lists the documents and their parts by name.
func All() []Document {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("the embedded documents can't be listed: " + err.Error())
	}
	names := slices.Collect(maps.Keys(parts))
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".md"); is { // the others are the teams
			names = append(names, name)
		}
	}
	slices.Sort(names)
	docs := make([]Document, len(names))
	for i, name := range names {
		docs[i] = describe(name, parts[name].document)
	}
	return docs
}

func describe(name, in string) Document {
	text, _ := Text(name)
	title, rest, _ := strings.Cut(strings.TrimLeft(text, "# "), "\n")
	return Document{name, title, about(rest), in}
}

// about is the first sentence below a document's title; a template has it in a comment.
func about(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	first = strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimPrefix(first, "<!--"), "-->")), " ")
	if end := strings.Index(first, ". "); end >= 0 {
		first = first[:end]
	}
	return strings.TrimSuffix(first, ".")
}

// Text is the Markdown of a document, or of a part that has a name of its own.
func Text(name string) (string, bool) {
	if part, ok := parts[name]; ok {
		text, _, ok := section(whole(part.document), part.anchor)
		return text, ok
	}
	text := whole(name)
	return text, text != ""
}

func whole(name string) string {
	data, _ := files.ReadFile(name + ".md")
	return string(data)
}

// Near are the sections, as NAME#SECTION, that have a word in their headings, or else the names of all
// documents.
func Near(word string) (names []string) {
	docs := All()
	for _, d := range docs {
		if d.In != "" {
			continue
		}
		_, anchors, _ := section(whole(d.Name), "")
		for _, anchor := range anchors {
			if word != "" && strings.Contains("-"+anchor+"-", "-"+anchorOf(word)+"-") {
				names = append(names, d.Name+"#"+anchor)
			}
		}
	}
	if len(names) == 0 {
		for _, d := range docs {
			names = append(names, d.Name)
		}
	}
	return names
}

// Section is a section of a document: from the heading whose anchor is named, as web pages make
// anchors of headings, to the next heading of its level or above. A section that a part lacks is
// looked up in the whole document of the part. known are the anchors of the part or document.
func Section(name, anchor string) (text string, known []string, ok bool) {
	within, ok := Text(name)
	if !ok {
		return "", nil, false
	}
	text, known, ok = section(within, anchor)
	if part, is := parts[name]; is && !ok {
		text, _, ok = section(whole(part.document), anchor)
	}
	return text, known, ok
}

func section(whole, anchor string) (text string, known []string, ok bool) {
	level, fenced := 0, false
	for line := range strings.Lines(whole) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes > 0 && !fenced {
			at := anchorOf(line[hashes:])
			known = append(known, at)
			if level > 0 && hashes <= level {
				level = -1
			} else if level == 0 && at == anchor {
				level = hashes
			}
		}
		if level > 0 {
			text += line
		}
	}
	return text, known, text != ""
}

// anchorOf makes an anchor of a heading.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}
