package gitio

import (
	"bytes"
	"os"
	"path/filepath"
	"time"
)

// pushTrace is git's own record of a push (trace2's events), by which it can be told how far one came that failed.
type pushTrace struct {
	remote *Remote
	file   string // "" where there is none
}

const (
	traceKey  = "GIT_TRACE2_EVENT"
	traceFile = "push-trace-"
	// traceKept is longer than any push takes that says nothing.
	traceKept = time.Hour
)

// watched has the remote's next push recorded, unless somebody else wants the record.
func (m *Remote) watched() *pushTrace {
	t := &pushTrace{remote: m}
	if _, set := os.LookupEnv(traceKey); set {
		return t
	}
	dir := filepath.Join(m.repo.common, "liza")
	m.repo.dropTraces(dir)
	file, err := os.CreateTemp(dir, traceFile)
	if err != nil {
		return t
	}
	file.Close()
	t.file = file.Name()
	return t
}

// dropTraces takes away what killed processes have left.
func (r *Repo) dropTraces(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, traceFile+"*"))
	for _, file := range left {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > traceKept {
			os.Remove(file)
		}
	}
}

// env is what tells git to keep the record.
func (t *pushTrace) env() []string {
	if t.file == "" {
		return nil
	}
	return []string{traceKey + "=" + t.file}
}

// unsent reports whether the record shows that git has begun to ask for the remote's refs, and has not got them: it
// has asked for no change then. Without a record it may have.
func (t *pushTrace) unsent() bool {
	if t.file == "" {
		return false
	}
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
