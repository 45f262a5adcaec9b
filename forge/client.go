package forge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer of a host, in bytes.
const maxAnswer = 8 << 20

// requestTime is how long a host may take for one answer.
const requestTime = 30 * time.Second

// maxPages bounds the pages of a list that are read, a hundred entries each.
const maxPages = 20

// Of a log at most maxLog bytes are read. Its last lines are kept, each up to maxLine bytes.
const (
	maxLog    = 64 << 20
	maxLine   = 400
	lastLines = 100
)

// RefusedError is a host's refusal.
type RefusedError struct {
	Host   string
	Status int
	Said   string // the host's own sentence, one line
	What   string // what was asked for
}

// Error returns one sentence.
func (e *RefusedError) Error() string {
	said := e.Said
	if said == "" {
		said = http.StatusText(e.Status)
	}
	return fmt.Sprintf("%s refused to %s: %s (%d)", e.Host, e.What, said, e.Status)
}

// UnreachableError is a host that could not be asked, or gave no answer that can be read. Reset is the
// time from which it answers again, zero if that is not known.
type UnreachableError struct {
	Host, Said string
	Reset      time.Time
	Err        error
}

// Error returns one sentence.
func (e *UnreachableError) Error() string {
	line := e.Host + ": " + e.Said
	if !e.Reset.IsZero() {
		line += "; again from " + e.Reset.UTC().Format("2006-01-02T15:04:05Z")
	}
	return line
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// client sends requests to the interface of one host.
type client struct {
	host  string
	base  string // of the interface, without a slash at the end
	token string
	auth  func(h http.Header, token string)
	http  *http.Client
	meter *Meter // nil for none
	known map[string]answer
}

// answer is a host's answer that a later request may find unchanged.
type answer struct {
	tag    string
	header http.Header
	text   []byte
}

// maxKnown bounds the answers that are kept, and maxKept the size of each, in bytes.
const (
	maxKnown = 200
	maxKept  = 1 << 20
)

func newClient(at Place, token string, meter *Meter) *client {
	c := &client{host: at.Name, token: token, http: &http.Client{Timeout: requestTime}, meter: meter, known: map[string]answer{}}
	c.http.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		first := via[0]
		switch {
		case r.Method != first.Method, r.URL.Host != first.URL.Host, r.URL.Scheme != first.URL.Scheme:
			return &movedError{r.URL.Redacted()}
		case len(via) > 5:
			return errors.New("it sends requests in a circle")
		}
		return nil
	}
	return c
}

// movedError is an address to which a request with a token must not follow.
type movedError struct{ to string }

func (e *movedError) Error() string { return "the repository has moved to " + e.to }

// request makes a request with the token. An address may be given in place of the path.
func (c *client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	if !strings.HasPrefix(path, "http://") && !strings.HasPrefix(path, "https://") {
		path = c.base + path
	}
	r, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "git-liza")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		c.auth(r.Header, c.token)
	}
	return r, nil
}

// send sends a request, and decodes the answer into out unless that is nil. what completes "refused to".
func (c *client) send(ctx context.Context, what, method, path string, in, out any) (http.Header, error) {
	r, err := c.request(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	address := r.URL.String()
	before, conditional := c.known[address]
	if conditional = conditional && method == http.MethodGet; conditional {
		r.Header.Set("If-None-Match", before.tag)
	}
	a, err := c.http.Do(r)
	c.meter.saw(a)
	if err != nil {
		return nil, c.unreachable(ctx, what, err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unreachable(ctx, what, err)
	case len(text) > maxAnswer:
		return nil, &UnreachableError{Host: c.host, Said: "its answer is larger than " + strconv.Itoa(maxAnswer>>20) + " MiB"}
	case a.StatusCode == http.StatusNotModified && conditional:
		a.Header, text = before.header, before.text
	case a.StatusCode >= 300:
		return nil, c.refused(a, text, what)
	case out == nil || len(text) == 0:
		return a.Header, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, &UnreachableError{Host: c.host, Said: "it answers with something else than the interface of a host for pull requests; is the address right?", Err: err}
	}
	if tag := a.Header.Get("ETag"); tag != "" && method == http.MethodGet && len(text) <= maxKept {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		c.known[address] = answer{tag, a.Header, text}
	}
	return a.Header, nil
}

// log returns the last lines of a log, "" if there is none that the token may see. Hosts keep logs in a store
// elsewhere: one redirect is followed, without the token.
func (c *client) log(ctx context.Context, path string) (string, error) {
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	store := *c.http
	store.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 1 || r.URL.Scheme != via[0].URL.Scheme {
			return errors.New("its log is sent on too far")
		}
		r.Header = http.Header{}
		return nil
	}
	const what = "show a log"
	a, err := store.Do(r)
	c.meter.saw(a)
	if err != nil {
		return "", c.unreachable(ctx, what, err)
	}
	defer a.Body.Close()
	if a.StatusCode >= 300 {
		if err := c.refused(a, nil, what); !is(err, a.StatusCode) {
			return "", err
		}
		return "", nil
	}
	text, err := last(io.LimitReader(a.Body, maxLog))
	if err != nil {
		return "", c.unreachable(ctx, what, err)
	}
	return text, nil
}

// last returns the last lines of a log, without colours, times, and what a terminal would overwrite.
func last(log io.Reader) (string, error) {
	in, more := bufio.NewReader(log), false
	var kept []string
	for {
		line, rest, err := in.ReadLine()
		if err != nil && err != io.EOF {
			return "", err
		}
		if err == io.EOF {
			break
		}
		if !more {
			kept = append(kept, string(line))
		}
		if more = rest; len(kept) > 2*lastLines {
			kept = append(kept[:0], kept[lastLines:]...)
		}
	}
	kept = kept[max(0, len(kept)-lastLines):]
	marks := regexp.MustCompile(`^\x{FEFF}?\d{4}-\d\d-\d\dT[\d:.]+Z |\x1b\[[\d;?]*[A-Za-z]`)
	for i, line := range kept {
		line = strings.TrimRight(marks.ReplaceAllString(line, ""), "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		if len(line) > maxLine {
			line = line[:maxLine] + "…"
		}
		kept[i] = strings.ToValidUTF8(line, "")
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), nil
}

func (c *client) unreachable(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var moved *movedError
	if errors.As(err, &moved) {
		return &RefusedError{Host: c.host, Status: http.StatusMovedPermanently, What: what, Said: c.without(line(moved.Error()))}
	}
	var of *url.Error
	said := err.Error()
	if errors.As(err, &of) {
		said = of.Err.Error()
		if of.Timeout() {
			said = "no answer in " + requestTime.String()
		}
	}
	return &UnreachableError{Host: c.host, Said: c.without(line(said)), Err: err}
}

// refused reads an answer that is no success.
func (c *client) refused(a *http.Response, text []byte, what string) error {
	said := c.without(said(text))
	reset := resetOf(a.Header)
	limited := a.StatusCode == http.StatusTooManyRequests ||
		a.StatusCode == http.StatusForbidden && (a.Header.Get("X-RateLimit-Remaining") == "0" || a.Header.Get("Retry-After") != "" || strings.Contains(said, "rate limit"))
	switch {
	case limited:
		return &UnreachableError{Host: c.host, Said: "it takes no more requests for now", Reset: reset}
	case a.StatusCode >= 500:
		return &UnreachableError{Host: c.host, Said: fmt.Sprintf("it failed (%d)", a.StatusCode), Reset: reset}
	}
	return &RefusedError{Host: c.host, Status: a.StatusCode, Said: said, What: what}
}

// resetOf reads when a host takes requests again.
func resetOf(h http.Header) time.Time {
	now, err := http.ParseTime(h.Get("Date"))
	if seconds, bad := strconv.Atoi(h.Get("Retry-After")); bad == nil && err == nil {
		return now.Add(time.Duration(seconds) * time.Second)
	}
	for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} {
		if at, err := strconv.ParseInt(h.Get(name), 10, 64); err == nil {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
}

// said is the sentence of the host in an answer.
func said(text []byte) string {
	var answer struct {
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return "" // a page for browsers
	}
	var parts []string
	for _, raw := range []json.RawMessage{answer.Message, answer.Error, answer.Errors} {
		if s := sentence(raw); s != "" {
			parts = append(parts, s)
		}
	}
	return line(strings.Join(parts, ": "))
}

// sentence reads a text, or the texts in a list or a map.
func sentence(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var parts []string
		for _, e := range list {
			var entry struct{ Message string }
			if s := sentence(e); s != "" {
				parts = append(parts, s)
			} else if json.Unmarshal(e, &entry) == nil && entry.Message != "" {
				parts = append(parts, entry.Message)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// line makes one line of at most 300 bytes of a text.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// without removes the token from a text.
func (c *client) without(text string) string {
	if c.token == "" {
		return text
	}
	return strings.ReplaceAll(text, c.token, "(token)")
}

// list reads all pages of a list, up to maxPages, and calls each with every page's raw text.
func list[T any](ctx context.Context, c *client, what, path string) ([]T, error) {
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	var all []T
	for page := 1; page <= maxPages; page++ {
		var some []T
		h, err := c.send(ctx, what, http.MethodGet, fmt.Sprintf("%s%sper_page=100&limit=50&page=%d", path, join, page), nil, &some)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if !more(h, len(some)) {
			break
		}
	}
	return all, nil
}

// more reports whether a list has a further page.
func more(h http.Header, got int) bool {
	if got == 0 {
		return false
	}
	if next := h.Get("X-Next-Page"); next != "" { // GitLab
		return true
	}
	return strings.Contains(h.Get("Link"), `rel="next"`)
}

// is reports whether an error is a host's refusal with one of the codes.
func is(err error, codes ...int) bool {
	var r *RefusedError
	if !errors.As(err, &r) {
		return false
	}
	for _, c := range codes {
		if r.Status == c {
			return true
		}
	}
	return false
}
