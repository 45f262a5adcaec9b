package web

import (
	"bytes"
	"net/http"
	"strings"
)

// below serves a handler below a path, as a reverse proxy shows it, whether the proxy passes the path
// on or removes it. Everything within knows only the paths of this server; links get the base path
// on their way out.
func below(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, is := strings.CutPrefix(r.URL.Path, base); is && (rest == "" || rest[0] == '/') {
			inner, at := *r, *r.URL
			at.Path, at.RawPath = "/"+strings.TrimPrefix(rest, "/"), strings.TrimPrefix(at.RawPath, base)
			inner.URL, r = &at, &inner
		}
		b := &based{ResponseWriter: w, base: base}
		next.ServeHTTP(b, r)
		b.pass()
	})
}

// based adds the base path to the links of a response. It holds what is written until a flush or the
// end, so that no link is cut in two.
type based struct {
	http.ResponseWriter
	base  string
	held  bytes.Buffer
	began bool
}

// ownLink is a link to this server in a page, or in a page's change, which is JSON. Texts of the board
// are escaped, so they contain none.
var ownLink = pattern(`( (?:href|src|action|formaction|data-live|data-transcript)=\\?")/`)

func (b *based) WriteHeader(status int) {
	b.began = true
	h := b.Header()
	for name, before := range map[string]string{"Location": "", "Refresh": "0; url="} {
		if to, is := strings.CutPrefix(h.Get(name), before+"/"); is {
			h.Set(name, before+b.base+"/"+to)
		}
	}
	b.ResponseWriter.WriteHeader(status)
}

func (b *based) Write(p []byte) (int, error) { return b.held.Write(p) }

// pass writes what is held.
func (b *based) pass() {
	if !b.began {
		b.WriteHeader(http.StatusOK)
	}
	data := b.held.Bytes()
	if typ := b.Header().Get("Content-Type"); strings.HasPrefix(typ, "text/html") || strings.HasPrefix(typ, "text/event-stream") {
		data = ownLink().ReplaceAll(data, []byte("${1}"+b.base+"/"))
	}
	_, _ = b.ResponseWriter.Write(data) // the request's context ends when the browser leaves
	b.held.Reset()
}

func (b *based) Flush() {
	b.pass()
	if f, is := b.ResponseWriter.(http.Flusher); is {
		f.Flush()
	}
}
