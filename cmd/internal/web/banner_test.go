package web_test

import (
	"strings"
	"testing"
)

// TestBanner: what is above and below a page follows the board like the page itself: the mode, how
// much waits for the human, and the title.
func TestBanner(t *testing.T) {
	s := newScene(t)
	s.task("pay")
	w := s.serve(options{}).enter()
	graph := w.follow("/graph", w.idOf("/graph"))
	graph.until(t, `"mode":"RUNNING"`)
	s.must("", "pause", "--reason", "lunch")
	if e := graph.until(t, `"mode":"PAUSED"`); !strings.Contains(e.data, `"waiting":2`) || !strings.Contains(e.data, `"title":"(2) Graph`) {
		t.Errorf("it is sent %s", e.data)
	}
	s.must("", "note", "--for", "pay", "hello")
	if e := graph.next(t); strings.Contains(e.data, `"mode"`) {
		t.Errorf("an unchanged part is sent again: %s", e.data)
	}
	s.must("", "resume")
	graph.until(t, `"mode":"RUNNING"`)
}

// TestTroubleEnds: a page that was told that the board can't be read is told when it can be again,
// even if nothing has changed.
func TestTroubleEnds(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{}).enter()
	had := w.idOf("/")
	now := w.follow("/", had)
	now.until(t, `"mode"`)
	tip := s.tip()
	s.git("-c", "core.hooksPath=/dev/null", "update-ref", "-d", "refs/heads/liza/state")
	if e := now.next(t); e.name != "trouble" {
		t.Fatalf("a deleted board: %s %s", e.name, e.data)
	}
	s.git("-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/liza/state", tip)
	e := now.next(t)
	for e.name == "trouble" { // said twice if it was looked at while it went
		e = now.next(t)
	}
	if e.name != "change" {
		t.Errorf("the board is back: %s %s", e.name, e.data)
	}
}
