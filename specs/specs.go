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

// Document is one document: its name without .md, and its title.
type Document struct {
	Name  string `json:"name"`
	Title string `json:"title"`
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
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		docs = append(docs, Document{name, title})
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.Name, b.Name) })
	return docs
}

// Text is a document's Markdown.
func Text(name string) (string, bool) {
	data, err := files.ReadFile(name + ".md")
	return string(data), err == nil
}
