// Package cmdline renders the board's acts and hints as command lines.
//
// It owns their spelling: the command that requests an operation, which of its fields are flags, and
// which are arguments. A test of the commands checks it against their table.
//
// It promises to be pure. Rules and reports don't import it: they return values.
//
// It may import gitboard/board.
package cmdline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Of is an act as a command line to copy.
func Of(a board.Act) string {
	var words []string
	if a.Name != "" {
		words = append([]string{"git liza", commandOf(a.Name)}, a.On...)
	}
	for _, in := range a.Inputs {
		if !isArgument(a.Name, in.Field) {
			words = append(words, flagOf(in.Field))
		}
		if strings.ContainsAny(in.Value, " |") {
			in.Value = `"` + in.Value + `"`
		}
		if in.Value != "" {
			words = append(words, in.Value)
		}
	}
	return strings.Join(words, " ")
}

// Hint is a hint with command lines in it.
func Hint(h board.Hint) string {
	line := h.Text
	for _, a := range h.Acts {
		line = strings.Replace(line, board.ActMark, Of(a), 1)
	}
	return line
}

// JSON encodes a value. Its hints become texts.
func JSON(v any) ([]byte, error) {
	data, err := encode(v)
	begin := []byte(`{"$hint":`) // in no string: quotes are escaped there
	for at := bytes.Index(data, begin); err == nil && at >= 0; at = bytes.Index(data, begin) {
		var h board.Hint
		d := json.NewDecoder(bytes.NewReader(data[at:]))
		if err = d.Decode(&h); err == nil {
			var line []byte
			line, err = encode(Hint(h))
			data = slices.Concat(data[:at], line, data[at+int(d.InputOffset()):])
		}
	}
	return data, err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// commandOf is the command that an act is requested by.
func commandOf(act string) string {
	switch noun, verb, _ := strings.Cut(act, "-"); {
	case act == "config":
		return "config set"
	case act == "team":
		return "team edit"
	case strings.Contains(" config goal hooks issue keys pr sprint team worktree ", " "+noun+" "):
		return strings.TrimSpace(noun + " " + verb)
	}
	return act
}

// flagOf is the flag for a field.
func flagOf(field string) string {
	switch field {
	case "description":
		return "--desc"
	case "done_when":
		return "--done"
	case "help":
		return "-h"
	case "spec_ref":
		return "--spec"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// isArgument reports whether a command takes a field without a flag.
func isArgument(act, field string) bool {
	switch act + " " + field {
	case "anomaly details", "anomaly type", "answer text", "comment place", "comment text", "config value", "keys-add key", "note message", "verdict verdict":
		return true
	}
	return false
}
