package git

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// pushTrace is git's own record of a push (trace2 events). It shows how far a failed push got.
type pushTrace struct {
	remote *Remote
	file   string // "" if there is none
}

const (
	traceKey  = "GIT_TRACE2_EVENT"
	traceFile = ".push-trace-"
)

// watched sets up a record of the remote's next push, unless the user has already set the trace
// variable.
func (m *Remote) watched() *pushTrace {
	t := &pushTrace{remote: m}
	if _, set := m.repo.environ.lookup(traceKey); set {
		return t
	}
	dir := filepath.Join(m.repo.common, "liza")
	file, err := os.CreateTemp(dir, traceFile)
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
	return []string{traceKey + "=" + t.file}
}

// isPushTrace reports whether an entry of the environment names the record of a push. The hooks of
// a remote on this machine inherit it, and nothing that their children do belongs there.
func isPushTrace(entry string) bool {
	file, is := strings.CutPrefix(entry, traceKey+"=")
	return is && strings.HasPrefix(filepath.Base(file), traceFile)
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
