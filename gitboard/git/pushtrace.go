package git

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// pushTrace is git's own record of a push (trace2 events). It shows how far a failed push got.
type pushTrace struct {
	remote *Remote
	file   string // "" if there is none
}

// watched sets up a record of the remote's next push, unless the user has already set the trace
// variable.
func (m *Remote) watched() *pushTrace {
	t := &pushTrace{remote: m}
	if _, set := m.repo.environ.Lookup(gitenv.TraceKey); set {
		return t
	}
	dir := filepath.Join(m.repo.common, "liza")
	file, err := os.CreateTemp(dir, gitenv.PushTrace)
	if err != nil {
		return t
	}
	file.Close()
	t.file = file.Name()
	return t
}

// env makes git write the record.
func (t *pushTrace) env() []string {
	if t.file == "" {
		return nil
	}
	return []string{gitenv.TraceKey + "=" + t.file}
}

// unsent reports whether the record shows that git asked for the remote's refs and did not get
// them: then it has requested no change. Without a record it returns false.
func (t *pushTrace) unsent() bool {
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

func (t *pushTrace) drop() {
	if t.file != "" {
		os.Remove(t.file)
	}
}
