package tty

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		sent []string // one per read
		want []Key
	}{
		{"letters", []string{"q?ä"}, []Key{'q', '?', 'ä'}},
		{"arrows of both kinds", []string{"\x1b[A\x1bOB\x1b[5~\x1b[6~"}, []Key{Up, Down, PageUp, PageDown}},
		{"escape alone", []string{"\x1b", "q"}, []Key{Escape, 'q'}},
		{"a sequence in two reads", []string{"\x1b[", "A"}, []Key{Up}},
		{"a letter in two reads", []string{"\xc3", "\xa4"}, []Key{'ä'}},
		{"an unknown sequence", []string{"\x1b[1;5Px"}, []Key{'x'}},
		{"controls", []string{"\r\x03\x02\x1a\x7f\x15"}, []Key{Enter, Interrupt, Stop, Backspace, EraseLine}},
		{"a paste of two lines", []string{"\x1b[200~a\rb\x1b[2", "01~"}, []Key{PasteBegin, 'a', Enter, 'b', PasteEnd}},
		{"no text", []string{"\xff\xfex"}, []Key{'x'}},
	} {
		var got []Key
		var left []byte
		for _, s := range c.sent {
			var keys []Key
			keys, left = parse(append(left, s...))
			got = append(got, keys...)
		}
		if !slices.Equal(got, c.want) || len(left) > 0 {
			t.Errorf("%s: got %v and %q left, want %v", c.name, got, left, c.want)
		}
	}
}
