package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// lazyPages parses the templates on first use, so that other commands don't pay for it.
type lazyPages struct{ get func() *template.Template }

var pages = lazyPages{sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html"))
})}

func (p lazyPages) ExecuteTemplate(w interface{ Write([]byte) (int, error) }, name string, data any) error {
	return p.get().ExecuteTemplate(w, name, data)
}

var functions = template.FuncMap{
	"visible": visible,
	"spec":    func(ref string) string { return "/spec?ref=" + url.QueryEscape(ref) + "#at" },
	"value":   value,
	"oneline": func(line string) string { return text.Line(line, 200) },
	"short":   func(oid plumbing.OID) string { return oid.Short() },
	"shortly": func(oid string) string { return oid[:min(len(oid), 10)] },
	"sign":    signOf,
	"class":   func(s board.Status) string { return strings.ToLower(string(s)) },
	"span":    board.Span,
	"words":   func(s any) string { return strings.ToLower(strings.ReplaceAll(fmt.Sprint(s), "_", " ")) },
	"count":   report.Count,
	"spaced":  func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), "_", " ") },
	"over":    func(s board.Status) bool { return s.Terminal() },
	"brief":   func(line string, most int) string { return text.Line(line, most) },
	"lower":   func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"plural":  text.Plural,
	"join":    func(all []string, by string) string { return text.Visible(strings.Join(all, by)) },
	"field":   func(name, label, value string, rows int) field { return field{name, label, value, rows} },
	"list":    func(all ...any) []any { return all },
	"pair":    func(a, b any) [2]any { return [2]any{a, b} },
	"minutes": func(t board.Time) string { return strings.TrimSuffix(strings.Replace(string(t), "T", " ", 1), ":00Z") },
}

// visible is a text, or a hint as a command line, without characters that hide or reorder others.
func visible(of any) string {
	if hint, is := of.(board.Hint); is {
		of = cmdline.Hint(hint)
	}
	return text.Visible(fmt.Sprint(of))
}

// value is the attribute value of an input, with characters that hide or reorder others as
// references: the form posts the text unchanged, and the page's source shows all of it.
func value(of any) template.HTMLAttr {
	var b strings.Builder
	for _, r := range fmt.Sprint(of) {
		if c := string(r); text.Shown(c) != c {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteString(template.HTMLEscapeString(c))
		}
	}
	return template.HTMLAttr(`value="` + b.String() + `"`)
}

// field is an input of a form.
type field struct {
	Name, Label, Value string
	Rows               int // of a text area; 0 for a single line
}

// signs distinguish statuses without colour.
var signs = map[board.Status]string{
	board.Draft: "✎", board.Unclaimed: "○", board.Claimed: "●", board.ReadyForReview: "◐", board.Rejected: "↺", board.Approved: "✓",
	board.IntegrationFailed: "✗", board.Blocked: "■", board.Merged: "✔", board.Superseded: "⇢", board.Abandoned: "–",
}

func signOf(s board.Status) string { return signs[s] }

// Columns returns the parts of both columns.
func (p *page) Columns() [2][]part {
	var c [2][]part
	for _, q := range p.Parts {
		i := 0
		if q.Aside {
			i = 1
		}
		c[i] = append(c[i], q)
	}
	return c
}

// page is a browser's page: parts in order.
type page struct {
	Title string
	Nav   string // the current entry of the navigation
	Parts []part
}

// part is a section of a page.
type part struct {
	ID    string
	Title string // "" if Head contains it
	Class string
	Aside bool          // shown next to the others if there is room
	Head  template.HTML // precedes the rows
	Rows  []row
	Empty string // shown if there are no rows
	// OffBoard marks a dependence on state outside the board: leases, files that stop the clone,
	// transcripts.
	OffBoard bool
}

// row is an entry of a part's list.
type row struct {
	Key  string
	HTML template.HTML
}

// markup renders a template. Templates are part of the program, so an error is a bug, and is shown.
func markup(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return template.HTML("<p>" + template.HTMLEscapeString(err.Error()) + "</p>")
	}
	return template.HTML(b.String())
}

// change turns one page of a browser into another.
type change struct {
	Parts  []partChange `json:"parts"`
	Banner *banner      `json:"banner,omitempty"` // nil if the browser has it
}

type partChange struct {
	ID    string            `json:"id"`
	Gone  bool              `json:"gone,omitempty"`
	Whole string            `json:"whole,omitempty"` // the whole part, if it is new
	After string            `json:"after,omitempty"` // the part before a new one in its column, "" if first
	Aside bool              `json:"aside,omitempty"` // column of a new part
	Head  *string           `json:"head,omitempty"`
	Rows  map[string]string `json:"rows,omitempty"`  // new or changed rows
	Order []string          `json:"order,omitempty"` // all keys, if they or their order changed
	Empty bool              `json:"empty,omitempty"` // no rows are left
}

// differences returns how to turn the page old into new.
func differences(old, new []part) change {
	var c change
	was := map[string]part{}
	for _, p := range old {
		was[p.ID] = p
	}
	after := map[bool]string{} // the previous part in each column
	for _, p := range new {
		before, known := was[p.ID]
		delete(was, p.ID)
		if !known {
			c.Parts = append(c.Parts, partChange{ID: p.ID, Whole: string(markup("part", p)), After: after[p.Aside], Aside: p.Aside})
		} else if d, differs := partDifference(before, p); differs {
			c.Parts = append(c.Parts, d)
		}
		after[p.Aside] = p.ID
	}
	for _, p := range old {
		if _, gone := was[p.ID]; gone {
			c.Parts = append(c.Parts, partChange{ID: p.ID, Gone: true})
		}
	}
	return c
}

func partDifference(old, new part) (partChange, bool) {
	d, differs := partChange{ID: new.ID}, false
	if old.Head != new.Head {
		head := string(new.Head)
		d.Head, differs = &head, true
	}
	had := make(map[string]template.HTML, len(old.Rows))
	for _, r := range old.Rows {
		had[r.Key] = r.HTML
	}
	for _, r := range new.Rows {
		if html, known := had[r.Key]; !known || html != r.HTML {
			if d.Rows == nil {
				d.Rows = map[string]string{}
			}
			d.Rows[r.Key], differs = string(r.HTML), true
		}
	}
	before, order := keys(old.Rows), keys(new.Rows)
	if !slices.Equal(before, order) {
		d.Order, d.Empty, differs = order, len(order) == 0, true
	}
	return d, differs
}

func keys(rows []row) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Key
	}
	return all
}

// query is the query of a page's URL.
type query struct {
	values url.Values
}

func (q query) get(name string) string { return strings.TrimSpace(q.values.Get(name)) }

// with is the query with other values, as a link.
func (q query) with(pairs ...string) string {
	v := url.Values{}
	for name, values := range q.values {
		v[name] = slices.Clone(values)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			v.Del(pairs[i])
			continue
		}
		v.Set(pairs[i], pairs[i+1])
	}
	return "?" + v.Encode()
}
