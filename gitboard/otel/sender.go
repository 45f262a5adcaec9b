package otel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	mostQueued  = 64               // messages waiting for the collector
	mostSpans   = 256              // per message
	patience    = 10 * time.Second // for the collector to take one message
	partingTime = 2 * time.Second  // for sending what is left when the process ends
)

// sender posts messages one at a time. Its callers never wait.
type sender struct {
	endpoint string
	headers  http.Header
	client   http.Client
	queue    chan message
	warn     func(string) // called once
	cancel   context.CancelFunc
	done     chan struct{}

	mu      sync.Mutex
	failing bool // the last message did not arrive
}

type message struct {
	path string
	body any
}

// newSender starts a sender. headers is the value of OTEL_EXPORTER_OTLP_HEADERS.
func newSender(endpoint, headers string, warn func(string)) (*sender, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is not the address of a collector, like http://localhost:4318", endpointVar)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &sender{
		endpoint: strings.TrimRight(endpoint, "/"), headers: http.Header{}, queue: make(chan message, mostQueued),
		warn: onceOnly(func(text string) { warn("OpenTelemetry: " + text) }), cancel: cancel, done: make(chan struct{}),
		client: http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	for _, pair := range strings.Split(headers, ",") {
		key, v, is := strings.Cut(pair, "=")
		if v, err := url.PathUnescape(strings.TrimSpace(v)); is && err == nil {
			s.headers.Set(strings.TrimSpace(key), v)
		}
	}
	s.headers.Set("Content-Type", "application/json")
	go s.run(ctx)
	return s, nil
}

func onceOnly(f func(string)) func(string) {
	var once sync.Once
	return func(text string) { once.Do(func() { f(text) }) }
}

// send queues a message, or drops it if the queue is full.
func (s *sender) send(path string, body any) {
	select {
	case s.queue <- message{path, body}:
	default:
		s.warn("the collector is too slow: some of what happens is not sent")
	}
}

func (s *sender) run(ctx context.Context) {
	defer close(s.done)
	for m := range s.queue {
		err := s.post(ctx, m)
		s.mu.Lock()
		s.failing = err != nil
		s.mu.Unlock()
		if err != nil {
			s.warn(fmt.Sprintf("what happens is not sent: %v", err))
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (s *sender) post(ctx context.Context, m message) error {
	body, err := json.Marshal(m.body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint+m.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = s.headers
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be reused
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s", m.path, res.Status)
	}
	return nil
}

// close sends what is left, for a short time and as long as the collector accepts it.
func (s *sender) close() {
	close(s.queue)
	s.mu.Lock()
	failing := s.failing
	s.mu.Unlock()
	if !failing {
		select {
		case <-s.done:
		case <-time.After(partingTime):
			s.warn("the collector is too slow: the last of what happened is not sent")
		}
	}
	s.cancel()
	<-s.done
	s.client.CloseIdleConnections()
}
