// Package transcript owns what a supervisor writes about its agent in this clone: everything that
// the agent printed, interleaved with the supervisor's own lines, in `<common git
// dir>/liza/logs/<agent>.log`. Older parts are next to it as `<agent>-<time>.log`.
//
// It may import gitboard/roles.
package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/roles"
)

const (
	mark   = "[liza "
	layout = "2006-01-02T15:04:05Z"
	ending = ".log"
	stamp  = "-2006-01-02T15-04-05.000" // of a rotated part
)

// Path is the present file of a transcript. dir is the clone's own directory, `<common git
// dir>/liza`.
func Path(dir, agent string) string { return filepath.Join(dir, "logs", agent+ending) }

// Line formats a line of the supervisor's own, including its newline.
func Line(at time.Time, text string) string {
	return mark + at.UTC().Format(layout) + "] " + strings.ReplaceAll(text, "\n", " ") + "\n"
}

// Parse recognizes a line of the supervisor's own and its time; own is false for lines that the
// agent printed.
func Parse(line string) (at time.Time, text string, own bool) {
	rest, is := strings.CutPrefix(line, mark)
	written, text, closed := strings.Cut(rest, "] ")
	if !is || !closed {
		return time.Time{}, line, false
	}
	at, err := time.Parse(layout, written)
	if err != nil {
		return time.Time{}, line, false
	}
	return at, text, true
}

// Said returns what an agent has printed, as a transcript holds it: a line that reads like one of
// the supervisor's own gets a space before it. open means that the previous line has no end yet.
func Said(p []byte, open bool) []byte {
	if !bytes.Contains(p, []byte{mark[0]}) {
		return p
	}
	var said []byte
	for line := range bytes.Lines(p) {
		if !open && (bytes.HasPrefix(line, []byte(mark)) || strings.HasPrefix(mark, string(line))) {
			said = append(said, ' ')
		}
		said = append(said, line...)
		open = false
	}
	return said
}

// Agents are the agents with a transcript in this clone, sorted.
func Agents(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(Path(dir, "")))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var agents []string
	for _, e := range entries {
		agent, _ := owner(e.Name())
		if roles.IsID(agent) && !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
	}
	slices.Sort(agents)
	return agents, nil
}

// owner is the agent whose transcript a file belongs to, and whether the file is rotated; "" for
// any other file.
func owner(file string) (agent string, rotated bool) {
	name, is := strings.CutSuffix(file, ending)
	if !is {
		return "", false
	}
	if at := len(name) - len(stamp); at > 0 {
		if _, err := time.Parse(stamp, name[at:]); err == nil {
			return name[:at], true
		}
	}
	return name, false
}

// parts are the files of a transcript, oldest first.
func parts(dir, agent string) ([]string, error) {
	now := Path(dir, agent)
	entries, err := os.ReadDir(filepath.Dir(now)) // sorted by name, and therefore by time
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var files []string
	current := false
	for _, e := range entries {
		of, rotated := owner(e.Name())
		if of == agent && rotated {
			files = append(files, filepath.Join(filepath.Dir(now), e.Name()))
		}
		current = current || of == agent && !rotated
	}
	if current {
		files = append(files, now)
	}
	return files, nil
}
