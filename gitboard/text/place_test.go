package text

import (
	"testing"
)

func TestPlace(t *testing.T) {
	for text, want := range map[string]struct {
		file string
		line int
		ok   bool
	}{
		"api/login.go:17": {"api/login.go", 17, true}, "a:b:3": {"a:b", 3, true},
		":3": {}, "x": {}, "": {}, "x:": {"x", 0, false}, "x:y": {"x", 0, false},
	} {
		file, line, ok := ParsePlace(text)
		if file != want.file || line != want.line || ok != want.ok {
			t.Errorf("%q is %q, %d, %v", text, file, line, ok)
		}
		if ok && Place(file, line) != text {
			t.Errorf("%q is written as %q", text, Place(file, line))
		}
	}
}
