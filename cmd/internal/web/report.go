package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// maxReport is the largest size of a report in bytes. To stay below it, diffs are omitted first,
// and then stories.
const maxReport = 5 << 20

// reportBegin is how each report begins.
const reportBegin = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="git liza report">
`

// IsReport reports whether the content of a file is that of a report.
func IsReport(text []byte) bool { return bytes.HasPrefix(text, []byte(reportBegin)) }

// maxReported is how many operations a report lists.
const maxReported = 2000

// Report is a single file with the pages of a board at one time. It needs no other files and no
// scripts.
type Report struct {
	Goal    string
	At      board.Time
	Commit  string
	Style   template.CSS
	Policy  string
	Entries []navEntry
	Pages   []reported
	Left    int // tasks without their diff or their page
}

// reported is a page of a report.
type reported struct {
	ID, Title string
	HTML      template.HTML
}

// WriteReport writes the pages of the board as one file: as it is now, or with at as it was then.
func WriteReport(ctx context.Context, c Config, at string, w io.Writer) error {
	c.Do = nil
	s := &Server{Config: c, hub: newHub(c)}
	return s.look(ctx, at, func(l *look, _ string) error {
		r, err := s.report(ctx, l)
		if err != nil {
			return err
		}
		return pages.ExecuteTemplate(w, "report", r)
	})
}

// report builds the pages: first those of the run, then one for each task.
func (s *Server) report(ctx context.Context, l *look) (*Report, error) {
	style, err := assetFiles.ReadFile("assets/style.css")
	if err != nil {
		return nil, err
	}
	style = append(style, reportStyle...)
	sum := sha256.Sum256(style)
	r := &Report{
		Goal: l.o.Goal, At: l.o.Time, Commit: string(l.Commit), Style: template.CSS(style),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
	}
	room := maxReport - len(style) - 64<<10
	none := query{url.Values{}}
	all := func(name string) query { return query{url.Values{"over": {"1"}, "all": {name}}} }
	for _, p := range []struct {
		id   string
		make maker
		q    query
	}{
		{"now", s.now, all("over")}, {"sprint", s.sprint, none}, {"graph", s.graph, all("")}, {"timeline", s.timeline, none},
		{"history", func(ctx context.Context, l *look, q query) (*page, error) {
			return s.operations(ctx, l, q, maxReported)
		}, none}, {"agents", s.agents, none},
	} {
		page, err := p.make(ctx, l, p.q)
		if err != nil {
			return nil, err
		}
		r.add(p.id, page, &room)
		r.Entries = append(r.Entries, navEntry{page.Title, "#" + p.id})
	}
	for _, t := range l.o.Tasks {
		page, err := s.task(ctx, l, t.ID, none)
		if err != nil {
			return nil, err
		}
		if !r.add("task-"+t.ID, page, &room) {
			r.Left++
			page.Parts = page.Parts[:min(2, len(page.Parts))] // only what it is, without story and diff
			r.add("task-"+t.ID, page, &room)
		}
	}
	return r, l.State.Err()
}

// add adds a page if there is room for it.
func (r *Report) add(id string, p *page, room *int) bool {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "columns", p); err != nil {
		b.WriteString(template.HTMLEscapeString(err.Error()))
	}
	html := within(b.String())
	if len(html) > *room {
		return false
	}
	*room -= len(html) + 200
	r.Pages = append(r.Pages, reported{id, p.Title, template.HTML(html)})
	return true
}

var (
	anyForm = pattern(`(?s)<form\b.*?</form>`)
	anyID   = pattern(` (id|aria-labelledby)="[^"]*"`)
	aLink   = pattern(` href="/([a-z]*)(?:/([^"?#]*))?[^"]*"`)
	others  = pattern(` href="[?#][^"]*"`)
	aspect  = pattern(` marker-end="[^"]*"`)
)

// pattern returns a function that compiles a regular expression when it is first called.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// within turns links to the server's pages into anchors in the file, and removes what only a server
// can answer. Texts are escaped, so they can't contain tags.
func within(html string) string {
	html = anyForm().ReplaceAllString(html, "")
	html = others().ReplaceAllString(html, "")
	html = anyID().ReplaceAllString(html, "")
	html = aspect().ReplaceAllString(html, "")
	return aLink().ReplaceAllStringFunc(html, func(link string) string {
		m := aLink().FindStringSubmatch(link)
		switch {
		case m[1] == "task" && m[2] != "":
			return ` href="#task-` + m[2] + `"`
		case m[1] == "agent":
			return ` href="#agents"`
		case m[1] == "spec", m[1] == "" && strings.Contains(link, "at="):
			return ""
		case m[1] == "":
			return ` href="#now"`
		}
		return ` href="#` + m[1] + `"`
	})
}

// reportStyle shows one page of the file at a time: the one in the URL's fragment, or else the
// first.
const reportStyle = `
.bar nav a { white-space: nowrap; }
.page { display: none; } .page:target, .pages:not(:has(.page:target)) .page:first-child { display: block; }
@media print { .page { display: block; break-before: page; } }
`

// Subject is the report's title in one line.
func (r *Report) Subject() string {
	return fmt.Sprintf("%s as of %s", text.Line(r.Goal, 120), r.At)
}
