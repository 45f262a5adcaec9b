package web

import (
	"context"
	"encoding/json"
	"net/http"
)

// jsonText is a text in one line.
func jsonText(text string) string {
	data, _ := json.Marshal(text) // a string always can be
	return string(data)
}

// untilEnd is the context of a request that the server's end ends, too.
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
