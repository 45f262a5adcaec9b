package web_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestSlowRequest: who sends half of a form, and never the rest, holds no connection; a page that is
// followed stays connected.
func TestSlowRequest(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{patience: 2 * time.Second}).enter()
	followed := w.follow("/", w.idOf("/"))
	followed.until(t, "RUNNING")
	home := strings.TrimPrefix(w.url, "http://")
	c := testrun.Must(net.Dial("tcp", home))(t)
	defer c.Close()
	if _, err := io.WriteString(c, "POST /act/note HTTP/1.1\r\nHost: "+home+"\r\nOrigin: "+w.url+"\r\nContent-Length: 1000\r\n\r\ntext="); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil { // until the server closes it
		t.Error(err)
	}
	s.must("", "note", "still here")
	followed.until(t, "still here")
}
