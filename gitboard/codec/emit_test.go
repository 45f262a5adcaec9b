package codec

import (
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// texts are parts of texts that mean something in YAML, or are near to it.
var texts = []string{
	"", "a", "word", "two words", "a: b", "a:b", "a:", "x #y", "x#y", "#", "true", "TRUE", "tRue", "yes", "Null", "nullable", "off", "falsely", "12", "a12", "1e3", "é", "x\ty", "x\ny", "x\ny\n", "x ", " x",
	"- x", "[x]", "it's", "say \"x\"", "{x", "a, b", "a]", "~", "!x", "&x", "*x", "%x", "@x", "`x", "|", ">", "?", "? x", "---", "...", "=", "<<", "2026-01-31T09:00:00Z", "\x7f", strings.Repeat("k", 128), strings.Repeat("k", 129),
}

// anyNode draws a node as nodeOf makes them.
func anyNode(t *rapid.T, depth int) *yaml.Node {
	text := func(what string) *yaml.Node {
		if rapid.IntRange(0, 3).Draw(t, "free") == 0 {
			return textNode(rapid.StringMatching(`[ -~é\n]{0,12}`).Draw(t, what))
		}
		return textNode(rapid.SampledFrom(texts).Draw(t, what))
	}
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	switch {
	case kind < 2 && depth > 0:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for range rapid.IntRange(0, 4).Draw(t, "size") {
			n.Content = append(n.Content, text("key"), anyNode(t, depth-1))
		}
		return n
	case kind < 4 && depth > 0:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for range rapid.IntRange(0, 4).Draw(t, "size") {
			n.Content = append(n.Content, anyNode(t, depth-1))
		}
		return n
	case kind == 4:
		return rapid.SampledFrom([]*yaml.Node{
			scalar("!!int", "0"), scalar("!!int", "-7"), scalar("!!int", "123456789012345678"), scalar("!!int", "01"), scalar("!!int", "x"), scalar("!!bool", "true"), scalar("!!bool", "yes"),
			scalar("!!null", "null"), scalar("!!timestamp", "2026-01-31T09:00:00Z"), scalar("!!timestamp", "soon"), scalar("!!float", "1.5"),
		}).Draw(t, "scalar")
	}
	return text("text")
}

// TestEmit compares what is written with what the library writes.
func TestEmit(t *testing.T) {
	compare := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, n *yaml.Node) {
		t.Helper()
		want, wrong := library(n)
		got, err := emit(n)
		if string(got) != string(want) && wrong == nil || (err == nil) != (wrong == nil) {
			t.Fatalf("%v\n%s\nwant %v\n%s", err, got, wrong, want)
		}
	}
	var pairs []*yaml.Node
	for _, a := range texts {
		for _, b := range texts {
			pairs = append(pairs, textNode(a), textNode(b))
		}
		compare(t, &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: pairs[len(pairs)-2*len(texts):]})
		compare(t, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: pairs[len(pairs)-2*len(texts):]})
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, anyNode(t, 4)) })
}

// TestPlainTexts checks that usual texts take the fast way.
func TestPlainTexts(t *testing.T) {
	for _, text := range []string{"chain-4711", "coder-1", "Build the login, with its tests", "go test ./x:y passes (50 %)", "specs/vision.md", "UNCLAIMED"} {
		if n, err := nodeOf(reflect.ValueOf(text)); err != nil || !plainText(text) || n.Style != 0 {
			t.Errorf("%q takes the slow way", text)
		}
	}
}
