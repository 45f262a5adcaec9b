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
