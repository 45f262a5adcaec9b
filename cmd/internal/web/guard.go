package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// sessionLength is how long a session stays valid without being used.
const sessionLength = 7 * 24 * time.Hour

// maxSessions bounds the remembered sessions; the oldest is dropped first.
const maxSessions = 32

// maxBody is the largest size of a form in bytes.
const maxBody = 256 << 10

// policy lets a page load only from this server, and run only scripts that are its files.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard controls access. The token of an address is valid once; the browser that brings it gets a
// cookie. Only a hash of the cookie is kept.
type guard struct {
	mu      sync.Mutex
	token   string            // of the next address
	acts    bool              // browsers act here as the human
	own     []Session         // what this server has admitted and renewed: it may be unable to store them
	hosts   []string          // permitted names of this server, without port; loopback always is
	cookie  string            // the cookie's name
	path    string            // the cookie's path
	random  func() string     // returns a new secret
	now     func() time.Time  //
	stored  func() []Session  // those of all servers of this clone
	store   func([]Session)   //
	renewed func(next string) // called with the next token after one was used
}

// Session is a browser that was admitted.
type Session struct {
	Hash    string    `json:"hash"` // of its cookie
	Expires time.Time `json:"expires"`
	Acts    bool      `json:"acts,omitempty"` // by a server that is not read-only
}

// wrap returns a handler that calls next only for requests that pass all checks.
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
		case g.known(w, r):
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next.ServeHTTP(w, r)
		case r.Header.Get("Sec-Fetch-Site") == "cross-site": // sameOrigin has left only links
			landing(w, (&url.URL{Path: r.URL.Path, RawQuery: r.URL.RawQuery}).RequestURI())
		default:
			refuse(w, http.StatusUnauthorized, "This browser has not been let in.", "Open the address that git liza web printed. Each is good for one browser; it prints the next one when one was used.")
		}
	})
}

// harden sets the security headers of every response.
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

// isLoopback reports whether a name always means this machine, without asking DNS.
func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// knowsHost rejects names that somebody else's DNS may point here (DNS rebinding).
func (g *guard) knowsHost(host string) bool {
	name := hostOf(host)
	return isLoopback(name) || slices.Contains(g.hosts, name)
}

// sameOrigin rejects requests from other sites' pages. Browsers send the origin of requests that
// act; reads from another site are rejected if the browser marks them as such.
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
		if _, _, is := g.session(r); is { // the address was opened again in the same browser
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		refuse(w, http.StatusUnauthorized, "This address has been used, or is not one of this run.", "git liza web printed the next one when the last was used.")
		return
	}
	secret := g.random()
	g.add(Session{hashOf(secret), g.now().Add(sessionLength), g.acts})
	g.token = g.random()
	g.setCookie(w, secret)
	g.renewed(g.token)
	landing(w, "/")
}

// landing forwards the browser by a page of this server: a SameSite=Strict cookie is not sent along
// a link, or a redirect, that began on another site, such as a chat or a browser-based terminal.
func landing(w http.ResponseWriter, to string) {
	if strings.HasPrefix(to, "//") {
		to = "/"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Refresh", "0; url="+to)
	_ = pages.ExecuteTemplate(w, "landing", to)
}

// known reports whether a request has the cookie of an admitted browser. Once a day it renews the
// session, and the cookie with it.
func (g *guard) known(w http.ResponseWriter, r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	secret, s, is := g.session(r)
	if !is {
		return false
	}
	until := g.now().Add(sessionLength)
	if until.Sub(s.Expires) < 24*time.Hour {
		return true
	}
	s.Expires = until
	g.add(s)
	g.setCookie(w, secret)
	return true
}

// add adds a session, or renews it.
func (g *guard) add(s Session) {
	g.own = latest(append(without(g.own, s), s))
	g.store(latest(g.alive()))
}

// latest leaves out the sessions that expire first, if there are too many.
func latest(all []Session) []Session { return all[max(0, len(all)-maxSessions):] }

// without returns sessions without those of one browser.
func without(all []Session, one Session) []Session {
	return slices.DeleteFunc(slices.Clone(all), func(s Session) bool { return s.Hash == one.Hash })
}

func (g *guard) setCookie(w http.ResponseWriter, secret string) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: secret, Path: g.path, MaxAge: int(sessionLength.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// session returns the cookie's value, and its session, if it is that of an admitted browser. A
// browser that may only look on another address can't act on this one.
func (g *guard) session(r *http.Request) (secret string, s Session, is bool) {
	for _, c := range r.CookiesNamed(g.cookie) {
		hash := hashOf(c.Value)
		for _, s := range g.alive() {
			if subtle.ConstantTimeCompare([]byte(hash), []byte(s.Hash)) == 1 && (s.Acts || !g.acts) {
				return c.Value, s, true
			}
		}
	}
	return "", s, false
}

// alive returns the sessions that have not expired. The one that expires first is first. Of one
// browser the latest counts: another server may have renewed it.
func (g *guard) alive() (alive []Session) {
	all, now := slices.Concat(g.stored(), g.own), g.now()
	sort.SliceStable(all, func(i, j int) bool { return all[i].Expires.Before(all[j].Expires) })
	for _, s := range all {
		if now.Before(s.Expires) {
			alive = append(without(alive, s), s)
		}
	}
	return alive
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// refuse answers with a message and a hint.
func refuse(w http.ResponseWriter, status int, message, hint string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = pages.ExecuteTemplate(w, "refusal", map[string]string{"Message": message, "Hint": hint})
}
