package web

import (
	"errors"
	"testing"
)

// TestFollowedOnce: a page is made once for all who follow it; one that could not be made is tried
// again.
func TestFollowedOnce(t *testing.T) {
	l, made := &look{}, map[string]int{}
	ask := func(url string, err error) {
		p, got := l.followed(url, func() (*page, error) { made[url]++; return &page{Title: url}, err })
		if !errors.Is(got, err) || p.Title != url {
			t.Errorf("%s: %v, %v", url, p, got)
		}
	}
	ask("/", errors.New("not now"))
	for range 3 {
		ask("/", nil)
		ask("/graph", nil)
	}
	if made["/"] != 2 || made["/graph"] != 1 {
		t.Errorf("made %v", made)
	}
	(&hub{newest: l}).forget()
	ask("/graph", nil)
	if made["/graph"] != 2 {
		t.Error("an old look is kept")
	}
}
