package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// sessionLength is how long a browser stays known that does not come back.
const sessionLength = 7 * 24 * time.Hour

// mostSessions is how many browsers are remembered; the one that came first is forgotten first.
const mostSessions = 32

// mostBody is how many bytes a form may have.
const mostBody = 256 << 10

// policy lets a page take from this server alone, and run no script that is not a file of it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// A guard decides who is let in. The token of an address is good once; the browser that brings it gets a
// cookie. Only what proves a cookie is kept, not the cookie itself.
type guard struct {
	mu       sync.Mutex
	token    string            // of the next address
	sessions []Session         // the oldest first
	hosts    []string          // names that a browser may call this server by, without port; loopback is always one
	cookie   string            // its name
	random   func() string     // a new secret
	now      func() time.Time  //
	keep     func([]Session)   // remembers the sessions for the next run
	renewed  func(next string) // a token was used; this is the next one
}

// Session is a browser that was let in.
type Session struct {
	Hash    string    `json:"hash"` // of its cookie
	Expires time.Time `json:"expires"`
}

// ServeHTTP of what it wraps is reached only by requests that every check lets through.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		switch {
		case !g.knowsHost(r.Host):
			refuse(w, http.StatusMisdirectedRequest, "This server is not called "+hostOf(r.Host)+".", "Open the address that git liza web printed; another name is allowed by --host NAME.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, HEAD, POST")
			refuse(w, http.StatusMethodNotAllowed, "This server knows no "+r.Method+".", "")
		case !sameOrigin(r):
			refuse(w, http.StatusForbidden, "This request comes from another site.", "Open the board itself, and do it there.")
		case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("token"):
			g.admit(w, r)
		case !g.known(r):
			refuse(w, http.StatusUnauthorized, "This browser has not been let in.", "Open the address that git liza web printed. Each is good for one browser; it prints the next one when one was used.")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, mostBody)
			next.ServeHTTP(w, r)
		}
	})
}

// harden sets what every answer carries.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// hostOf is the name in a Host header, without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// isLoopback reports whether a name always leads to this machine: no name server is asked for it.
func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// knowsHost refuses names that somebody else's name server may have led here (DNS rebinding).
func (g *guard) knowsHost(host string) bool {
	name := hostOf(host)
	return isLoopback(name) || slices.Contains(g.hosts, name)
}

// sameOrigin refuses what another site's page asks for. A browser says where a request that acts comes from; another
// site's reads are refused where it says that it is one.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method != http.MethodPost
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == r.Host && u.Host != ""
}

// admit exchanges the token of an address for a cookie.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	given := r.URL.Query().Get("token")
	if subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) != 1 {
		if g.isSession(r) { // the address was opened again in the same browser
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		refuse(w, http.StatusUnauthorized, "This address has been used, or is not one of this run.", "git liza web printed the next one when the last was used.")
		return
	}
	secret := g.random()
	g.sessions = append(g.alive(), Session{hashOf(secret), g.now().Add(sessionLength)})
	g.sessions = g.sessions[max(0, len(g.sessions)-mostSessions):]
	g.keep(g.sessions)
	g.token = g.random()
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: secret, Path: "/", MaxAge: int(sessionLength.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	g.renewed(g.token)
	landing(w)
}

// landing takes the browser on by a page of this server: a cookie that is SameSite=Strict is not sent along
// a redirect that began on another site, as in a chat or a terminal that is a browser itself.
func landing(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Refresh", "0; url=/")
	_, _ = w.Write([]byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>git liza</title><p>You are in: <a href="/">the board</a></p></html>`))
}

// known reports whether a request brings the cookie of a browser that was let in.
func (g *guard) known(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.isSession(r)
}

func (g *guard) isSession(r *http.Request) bool {
	for _, c := range r.CookiesNamed(g.cookie) {
		hash := hashOf(c.Value)
		for _, s := range g.alive() {
			if subtle.ConstantTimeCompare([]byte(hash), []byte(s.Hash)) == 1 {
				return true
			}
		}
	}
	return false
}

// alive are the sessions that have not expired.
func (g *guard) alive() []Session {
	now := g.now()
	return slices.DeleteFunc(slices.Clone(g.sessions), func(s Session) bool { return !now.Before(s.Expires) })
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// refuse answers with a sentence, and with the way out.
func refuse(w http.ResponseWriter, status int, message, hint string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = pages.ExecuteTemplate(w, "refusal", map[string]string{"Message": message, "Hint": hint})
}
