// Package specs holds the protocol's documents for agents and humans, embedded in the program.
//
// It imports nothing of ours.
package specs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// Document is one document: its name without .md, its title, and in a sentence whom it is for and what is
// in it.
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
		name := strings.TrimSuffix(e.Name(), ".md")
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
