package web

import (
	"context"
	"encoding/json"
	"net/http"
)

// jsonText encodes a text in one line.
func jsonText(text string) string {
	data, _ := json.Marshal(text) // can't fail for a string
	return string(data)
}

// untilEnd is a request's context that also ends with the server.
func (s *Server) untilEnd(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// toTheEnd is the context of an act: what was begun is finished, also if the browser goes away, but
// it ends with the server, which waits a little for it.
func (s *Server) toTheEnd(r *http.Request) (context.Context, context.CancelFunc) {
	s.acts.Add(1)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	go func() {
		select {
		case <-s.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); s.acts.Done() }
}
