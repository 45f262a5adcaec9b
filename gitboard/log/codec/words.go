package codec

import (
	"bytes"
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"
)

// lists are long lists of words that are left out of the library's output, and put in
// afterwards. The library takes a microsecond for each word, which adds up where each of thousands
// of operations makes a list longer, as a sprint's list of tasks.
type lists struct{ left [][]string }

// fewWords is the length up to which the library writes a list.
const fewWords = 64

// leaveOut returns what the library writes in a list's place: a text with a unique tag. It returns
// nil for anything but a long list of words.
func (l *lists) leaveOut(v reflect.Value) *yaml.Node {
	if l == nil || v.Len() <= fewWords {
		return nil
	}
	words, is := v.Interface().([]string)
	if !is {
		return nil
	}
	for _, w := range words {
		if !isWord(w) {
			return nil
		}
	}
	l.left = append(l.left, words)
	return scalar("!list", fmt.Sprint(len(l.left)))
}

// Classes of a word's characters.
const (
	letter = 1 << iota
	other
)

var characters = func() (of [256]byte) {
	for c := 'a'; c <= 'z'; c++ {
		of[c] = letter
	}
	for _, c := range "-0123456789" {
		of[c] = other
	}
	return of
}()

// isWord reports whether YAML writes a text as it is: it can't be taken for another type.
func isWord(s string) bool {
	if s == "" || len(s) > 64 || characters[s[0]] != letter {
		return false
	}
	var seen byte
	for i := range len(s) {
		is := characters[s[i]]
		if is == 0 {
			return false
		}
		seen |= is
	}
	return seen != letter || len(s) > len("false") // the longest that is another type
}

// putIn puts the lists where they were left out. It reports false if their places are ambiguous: a
// text may look like a mark.
func (l *lists) putIn(data []byte) ([]byte, bool) {
	for i, words := range l.left {
		mark := fmt.Appendf(nil, "!list %d\n", i+1)
		at := bytes.Index(data, mark)
		if bytes.Count(data, mark) != 1 || !bytes.HasSuffix(data[:at], []byte(": ")) {
			return nil, false
		}
		line := data[bytes.LastIndexByte(data[:at], '\n')+1 : at]
		key := bytes.TrimLeft(line, " ")
		if key[0] == '-' { // a mapping in a list is indented otherwise
			return nil, false
		}
		item := fmt.Sprintf("\n%*s- ", len(line)-len(key)+2, "")
		size := 0
		for _, w := range words {
			size += len(item) + len(w)
		}
		whole := make([]byte, 0, len(data)+size)
		whole = append(whole, data[:at-1]...)
		for _, w := range words {
			whole = append(append(whole, item...), w...)
		}
		data = append(whole, data[at+len(mark)-1:]...)
	}
	return data, true
}
