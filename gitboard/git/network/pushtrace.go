package network

import (
	"bytes"
	"os"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// PushTrace is git's own record of a push (trace2 events). It shows how far a failed push got.
type PushTrace struct{ file string } // "" if there is none

// TracePush sets up a record of the next push in a directory, unless the user has already set the trace
// variable in the environment.
func TracePush(dir string, environ gitenv.List) *PushTrace {
	t := &PushTrace{}
	if _, set := environ.Lookup(gitenv.TraceKey); set {
		return t
	}
	file, err := os.CreateTemp(dir, gitenv.PushTrace)
	if err != nil {
		return t
	}
	file.Close()
	t.file = file.Name()
	return t
}

// Env makes git write the record.
func (t *PushTrace) Env() []string {
	if t.file == "" {
		return nil
	}
	return []string{gitenv.TraceKey + "=" + t.file}
}

// Unsent reports whether the record shows that git asked for the remote's refs and did not get
// them: then it has requested no change. Without a record it returns false.
func (t *PushTrace) Unsent() bool {
	text, err := os.ReadFile(t.file)
	asked, answered := false, false
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"category":"transport_push","label":"get_refs_list"`)) {
			asked = asked || bytes.Contains(line, []byte(`"event":"region_enter"`))
			answered = answered || bytes.Contains(line, []byte(`"event":"region_leave"`))
		}
	}
	return err == nil && asked && !answered
}

// Drop removes the record.
func (t *PushTrace) Drop() {
	if t.file != "" {
		os.Remove(t.file)
	}
}
