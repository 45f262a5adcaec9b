// Package specs holds the protocol's documents for agents and humans, embedded in the program.
//
// It may import nothing of ours.
package specs

import (
	"embed"
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

// Document is one document: its name without .md, its title, and in a sentence whom it is for and
// what is in it.
type Document struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
}

// All lists the documents by name.
func All() []Document {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("the embedded documents can't be listed: " + err.Error())
	}
	var docs []Document
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".md")
		if !is {
			continue // the teams
		}
		text, _ := Text(name)
		title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		docs = append(docs, Document{name, title, about(rest)})
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.Name, b.Name) })
	return docs
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

// Text is a document's Markdown.
func Text(name string) (string, bool) {
	data, err := files.ReadFile(name + ".md")
	return string(data), err == nil
}

// Section is a part of a document: from the heading whose anchor is named, as web pages make
// anchors of headings, to the next one of its level or above. known are the anchors that the
// document has.
func Section(name, anchor string) (text string, known []string, ok bool) {
	whole, ok := Text(name)
	if !ok {
		return "", nil, false
	}
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
