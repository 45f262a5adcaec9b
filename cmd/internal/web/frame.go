package web

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// frame is what surrounds the parts of every page.
type frame struct {
	*page
	Path, Query string
	ID          string // of the look
	ReadOnly    bool
	At          string // the requested time; "" for now
	Only        string // the goal that is shown; "" for all
	Flash       []string
	Filter      string // for tasks
	Banner      banner
	Seek        *seeking // nil on pages of the present, except History
	o           *report.Overview
}

// Goal is the purpose of the run.
func (f *frame) Goal() string { return f.o.Goal }

// banner is what changes above and below the parts of a page.
type banner struct {
	Title   string        `json:"title"`   // of the browser's tab
	Waiting int           `json:"waiting"` // number of things that wait for the human
	Mode    string        `json:"mode"`    // of the board, or the end of the goal
	Fetched template.HTML `json:"fetched"` // how fresh a shared board is
}

func bannerOf(l *look, p *page, fetched template.HTML) banner {
	b := banner{Title: p.Title + " · " + text.Line(l.o.Goal, 200), Waiting: waiting(l.inbox), Mode: modeOf(l.o), Fetched: fetched}
	if b.Waiting > 0 {
		b.Title = fmt.Sprintf("(%d) %s", b.Waiting, b.Title)
	}
	return b
}

// modeOf is the board's mode, or how the goal has ended.
func modeOf(o *report.Overview) string {
	if o.GoalStatus != board.InProgress && o.Mode == board.Running {
		return string(o.GoalStatus)
	}
	return string(o.Mode)
}

// fetched describes how fresh a shared board is, "" if it is not shared.
func (s *Server) fetched() template.HTML {
	if s.Fetched == nil {
		return ""
	}
	seen := s.Fetched()
	if seen == nil {
		return ""
	}
	return markup("fetched", seen)
}

// navigation are the entries of the navigation with their paths.
var navigation = []navEntry{
	{"Now", "/"}, {"Graph", "/graph"}, {"Timeline", "/timeline"}, {"History", "/history"}, {"Agents", "/agents"}, {"Sprint", "/sprint"},
}

type navEntry struct{ Name, Path string }

// Navigation links to the other pages, at the same time and of the same goal.
func (f *frame) Navigation() []navEntry {
	all := slices.Clone(navigation)
	for i := range all {
		all[i].Path += linkTo(f.At, f.Only)
	}
	return all
}

// goalEntry is a goal in the menu of goals.
type goalEntry struct {
	ID, Title, Path string
	Finished, Tasks int
}

// Goals links to this page of each goal and of all, if there are several.
func (f *frame) Goals() []goalEntry {
	if len(f.o.Goals) == 0 {
		return nil
	}
	all := []goalEntry{{Title: "All goals", Path: f.Path + linkTo(f.At, "")}}
	for _, g := range f.o.Goals {
		all = append(all, goalEntry{g.ID, text.Line(g.Text, 60), f.Path + linkTo(f.At, g.ID), g.Finished(), g.Tasks})
	}
	return all
}

// Shown is the title of the goal that is shown.
func (f *frame) Shown() string {
	for _, g := range f.Goals() {
		if g.ID == f.Only {
			return g.Title
		}
	}
	return f.Only
}

// linkTo is the query of a page at a time and of a goal, "" for now and all goals.
func linkTo(at, goal string) string {
	values := url.Values{}
	if at != "" {
		values.Set("at", at)
	}
	if goal != "" {
		values.Set("goal", goal)
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// Live is the URL of this page's events, "" for the past.
func (f *frame) Live() string {
	if f.At != "" {
		return ""
	}
	return "/events?" + url.Values{"page": {f.Path + f.Query}, "since": {f.ID}}.Encode()
}

// seeking is the position of the slider: operation N of Of.
type seeking struct {
	N, Of          int
	Line           history.Line
	Earlier, Later string // commits; "" for none
	Path, Query    string
}

// when finds the place of a past look in the history.
func (s *Server) when(ctx context.Context, l *look, f *frame) error {
	if f.At == "" && f.Nav != "History" {
		return nil
	}
	if l.past { // the hub owns the list
		return s.hub.with(ctx, func(tip *look, _ string) error { return s.place(ctx, tip, l, f) })
	}
	return s.place(ctx, l, l, f)
}

// place fills in the slider. The caller holds the hub's lock.
func (s *Server) place(ctx context.Context, tip, l *look, f *frame) error {
	lines, err := s.hub.operations(ctx, tip.Commit)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(lines, func(o history.Line) bool { return o.Commit == l.Commit })
	if i < 0 {
		return nil
	}
	f.Seek = &seeking{N: len(lines) - i, Of: len(lines), Line: lines[i], Path: f.Path}
	if i+1 < len(lines) {
		f.Seek.Earlier = string(lines[i+1].Commit)
	}
	if i > 0 {
		f.Seek.Later = string(lines[i-1].Commit)
	}
	return nil
}

// seek redirects to a page as of the nth operation.
func (s *Server) seek(w http.ResponseWriter, r *http.Request) {
	target := local(r.URL.Query().Get("to"))
	n, err := strconv.Atoi(r.URL.Query().Get("n"))
	var commit plumbing.OID
	if err == nil {
		err = s.hub.with(r.Context(), func(l *look, _ string) error {
			lines, err := s.hub.operations(r.Context(), l.Commit)
			if err == nil && n >= 1 && n < len(lines) {
				commit = lines[len(lines)-n].Commit
			}
			return err
		})
	}
	if err != nil {
		refuse(w, http.StatusNotFound, "There is no operation of that number.", "")
		return
	}
	values := target.Query()
	values.Del("at")
	if commit != "" {
		values.Set("at", string(commit))
	}
	target.RawQuery = values.Encode()
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
}

// local parses a URL of this server from a request; any other becomes the first page.
func local(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		return &url.URL{Path: "/"}
	}
	return &url.URL{Path: u.Path, RawQuery: u.RawQuery, Fragment: u.Fragment}
}

// isMoment reports whether a text is valid for ?at=: the beginning of a commit id, or a time.
func isMoment(text string) bool {
	if _, err := board.ParseTime(text); err == nil {
		return true
	}
	return len(text) >= 7 && len(text) <= 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// flashes are the results of recent actions, for the next page to show.
type flashes struct {
	mu   sync.Mutex
	said map[string][]string
}

func (f *flashes) put(key string, d []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said == nil || len(f.said) > 100 {
		f.said = map[string][]string{}
	}
	f.said[key] = d
}

func (f *flashes) take(key string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.said[key]
	delete(f.said, key)
	return d
}
