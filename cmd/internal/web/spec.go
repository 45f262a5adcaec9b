package web

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// section is a heading of a specification and the text below it.
type section struct {
	Text string
	At   bool // the page was asked for it
}

// spec shows a specification on integration, with the section that ?ref= names.
func (s *Server) spec(ctx context.Context, l *look, q query) (*page, error) {
	file, anchor, _ := strings.Cut(q.get("ref"), "#")
	oid, err := l.SpecOID(ctx, file)
	if err != nil {
		return nil, err
	}
	if oid == "" {
		return nil, &notFound{"Integration has no file " + file + "."}
	}
	objects, err := s.Board.Repo().Objects(ctx, []string{oid})
	if err != nil {
		return nil, err
	}
	head := markup("spec", map[string]any{"File": file, "Sections": sections(string(objects[0].Data), anchor)})
	return &page{Title: file, Parts: []part{{ID: "spec", Head: head}}}, nil
}

// sections cuts a text before each of its headings. The first section with the anchor is marked, or
// the first of all without one.
func sections(whole, anchor string) []section {
	all := []section{{}}
	found := false
	for line := range strings.Lines(whole) {
		if strings.HasPrefix(line, "#") {
			all = append(all, section{})
		}
		here := &all[len(all)-1]
		if here.Text == "" && !found && anchor != "" && text.Anchor(line) == anchor {
			here.At, found = true, true
		}
		here.Text += line
	}
	if !found {
		all[0].At = true
	}
	return all
}
