package rig

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Conversation is a CLI's request, in the terms that the three APIs share.
type Conversation struct {
	Wire    string   // anthropic, responses or gemini
	Prompts []string // the user's texts, oldest first
	Results []string // tool outputs since the last prompt
	Shell   string   // the tool that runs commands, "" if none is offered
	Body    string   // as it was sent
}

// Prompt is the user's last text.
func (c Conversation) Prompt() string {
	if len(c.Prompts) == 0 {
		return ""
	}
	return c.Prompts[len(c.Prompts)-1]
}

// Reply is the fake model's answer: a shell command, a text that ends the turn, or a failure.
type Reply struct {
	Text   string
	Run    string // a command; the turn continues with its output
	Read   string // a file to read by another tool than the shell; Anthropic's API alone
	Status int    // HTTP status of a failure, 0 for none
	Header http.Header
	Error  string // the failure's message
	Hang   bool   // do not answer until the client disconnects
}

// Request is a request that the model has received.
type Request struct {
	Wire  string
	Path  string
	Bytes int  // of the body
	Main  bool // part of the agent's own conversation: it offered a shell
	Run   string
}

// Model is a fake model server on 127.0.0.1.
type Model struct {
	URL  string
	Play func(Conversation) Reply

	server   *http.Server
	closing  chan struct{}
	mu       sync.Mutex
	requests []Request
	leaks    []string
	calls    int
}

// Serve starts a fake model that answers with the replies of play.
func Serve(play func(Conversation) Reply) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{URL: "http://" + listener.Addr().String(), Play: play, closing: make(chan struct{})}
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = m.server.Serve(listener) }()
	return m, nil
}

// Close ends the server and its hanging requests.
func (m *Model) Close() error {
	close(m.closing)
	return m.server.Close()
}

// Requests are the requests received so far, oldest first.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Leaks are the refused requests to other hosts.
func (m *Model) Leaks() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.leaks)
}

// ServeHTTP answers a CLI. As the CLIs' proxy, it also refuses requests to other hosts.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect || r.URL.IsAbs() {
		m.mu.Lock()
		m.leaks = append(m.leaks, r.Method+" "+r.Host)
		m.mu.Unlock()
		http.Error(w, "this rig answers for 127.0.0.1 only", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	wire := wireOf(r.URL.Path)
	if wire == nil {
		http.Error(w, `{"error":{"message":"no such path"}}`, http.StatusNotFound)
		return
	}
	c, err := wire.read(body)
	if err != nil {
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, err), http.StatusBadRequest)
		return
	}
	c.Body = string(body)
	reply := Reply{Text: "ok"}
	if c.Shell != "" {
		reply = m.Play(c)
	}
	call := m.record(r, c, reply, len(body))
	m.answer(w, r, wire, c, reply, call, len(body))
}

func (m *Model) record(r *http.Request, c Conversation, reply Reply, size int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.requests = append(m.requests, Request{
		Wire: c.Wire, Path: r.URL.Path, Bytes: size, Main: c.Shell != "", Run: reply.Run,
	})
	return m.calls
}

func (m *Model) answer(w http.ResponseWriter, r *http.Request, wire wire, c Conversation, reply Reply, call, size int) {
	switch {
	case reply.Hang:
		select {
		case <-r.Context().Done():
		case <-m.closing:
		}
	case reply.Status != 0:
		for key, values := range reply.Header {
			w.Header()[key] = values
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = w.Write(wire.failure(reply))
	default:
		u := usage{input: size / 4, cached: size / 8, output: max(1, len(reply.Text+reply.Run)/4)}
		wire.write(w, answered{c: c, reply: reply, id: fmt.Sprintf("call_%d", call), usage: u, whole: whole(r)})
	}
}

// whole reports whether a request asks for an answer without streaming.
func whole(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ":generateContent") }

// usage is the fake model's report of an answer's cost, in tokens.
type usage struct{ input, cached, output int }

// answered is an answer to be written in one of the APIs.
type answered struct {
	c     Conversation
	reply Reply
	id    string
	usage usage
	whole bool
}

// wire is one of the APIs.
type wire interface {
	read(body []byte) (Conversation, error)
	write(w http.ResponseWriter, a answered)
	failure(r Reply) []byte
}

func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropic{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.Contains(path, ":streamGenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return gemini{}
	}
	return nil
}

// stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return stream{w}
}

// send writes an event; name may be "".
func (s stream) send(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // can't happen: maps of strings and numbers
	}
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", text)
	if f, can := s.w.(http.Flusher); can {
		f.Flush()
	}
}

// object is a JSON object to write.
type object = map[string]any

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // can't happen: maps of strings and numbers
	}
	return text
}
