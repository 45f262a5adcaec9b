package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// beat is how often an open stream sends a sign of life, since proxies may close a silent one.
const beat = 25 * time.Second

// maxStreams is how many pages are kept up to date at once.
const maxStreams = 200

// events keeps a browser's page up to date: it sends what changed since the browser's last look,
// and then each change as it happens. The event's id is the look: the board's commit, and a stamp
// of state outside the board. With once= it ends after the first changes, for a page that polls.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	flusher, _ := w.(http.Flusher)
	target, err := url.Parse(r.URL.Query().Get("page"))
	make := s.pageOf(target)
	if flusher == nil || err != nil || make == nil || target.Query().Has("at") {
		refuse(w, http.StatusNotFound, "There is no page to follow.", "")
		return
	}
	leave, ok := s.stream(w)
	if !ok {
		return
	}
	defer leave()
	had := r.Header.Get("Last-Event-ID")
	if had == "" {
		had = r.URL.Query().Get("since")
	}
	w.Header().Set("X-Accel-Buffering", "no")
	fmt.Fprint(w, "retry: 1000\n\n")
	flusher.Flush()
	changed, unsubscribe := s.hub.subscribe()
	defer unsubscribe()
	f := &follower{s: s, url: target.String(), make: make, q: query{target.Query()}, had: had}
	pulse := time.NewTicker(beat)
	defer pulse.Stop()
	for {
		if err := f.send(r, w); err != nil {
			return // the browser has disconnected
		}
		flusher.Flush()
		if r.URL.Query().Has("once") {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ended:
			return
		case <-changed:
		case <-pulse.C:
			fmt.Fprint(w, ": here\n\n")
		}
	}
}

// stream starts a stream of events, which counts until leave is called. ok is false if too many are
// open.
func (s *Server) stream(w http.ResponseWriter) (leave func(), ok bool) {
	leave = func() { s.open.Add(-1) }
	if s.open.Add(1) > maxStreams {
		leave()
		refuse(w, http.StatusServiceUnavailable, "Too many pages are open.", "Close some.")
		return nil, false
	}
	w.Header().Set("Content-Type", "text/event-stream")
	return leave, true
}

// follower is one page in one browser.
type follower struct {
	s        *Server
	url      string
	make     maker
	q        query
	had      string // id of the browser's look
	page     *page  // the browser's page; nil at first
	banner   banner // the last one sent
	troubled bool   // it was last sent that the board can't be read
}

// send sends what changed since the browser's last look.
func (f *follower) send(r *http.Request, w http.ResponseWriter) error {
	var message []byte
	fetched := f.s.fetched()
	err := f.s.hub.with(r.Context(), func(l *look, id string) error {
		var c change
		news := f.troubled
		if id != f.had || f.page == nil {
			p, err := l.followed(f.url, func() (*page, error) { return f.make(r.Context(), l, f.q) })
			if err != nil {
				return err
			}
			before := f.before(r, id, p)
			c = differences(before, p.Parts)
			news = news || len(c.Parts) > 0 || id != f.had
			f.page, f.had = p, id
		}
		if b := bannerOf(l, f.page, fetched); b != f.banner {
			f.banner, c.Banner, news = b, &b, true
		}
		if !news {
			return nil
		}
		var err error
		message, err = json.Marshal(c)
		return err
	})
	if r.Context().Err() != nil {
		return r.Context().Err()
	}
	f.troubled = err != nil
	if err != nil { // the next change retries it
		data, _ := json.Marshal(err.Error())
		_, err = fmt.Fprintf(w, "event: trouble\ndata: %s\n\n", data)
		return err
	}
	if message != nil {
		_, err = fmt.Fprintf(w, "id: %s\nevent: change\ndata: %s\n\n", f.had, message)
	}
	return err
}

// before is the page as the browser has it: exactly, if its look is cached; otherwise as of that
// commit, without what is not on the board, which is then sent in full.
func (f *follower) before(r *http.Request, id string, now *page) []part {
	ctx := r.Context()
	if f.page != nil {
		return f.page.Parts
	}
	if f.had == id {
		return now.Parts
	}
	if l := f.s.hub.remembered(f.had); l != nil {
		if p, err := f.make(ctx, l, f.q); err == nil {
			return p.Parts
		}
	}
	commit, _, _ := strings.Cut(f.had, ".")
	if !plumbing.OID(commit).Valid() {
		return []part{}
	}
	l, err := f.s.hub.at(ctx, commit)
	if err != nil {
		return []part{}
	}
	l.past = false
	p, err := f.make(ctx, l, f.q)
	if err != nil {
		return []part{}
	}
	for i := range p.Parts {
		if p.Parts[i].OffBoard { // its old content is unknown: mark all of it as changed
			p.Parts[i].Head = "?"
			for j := range p.Parts[i].Rows {
				p.Parts[i].Rows[j].HTML = "?"
			}
		}
	}
	return p.Parts
}
