// Package transcript owns what an agent's supervisor writes down of it in this clone: everything that the agent
// printed, and the supervisor's own lines between, in `<common git dir>/liza/logs/<agent>.log`. Older parts lie
// beside it as `<agent>-<time>.log`.
//
// It may import gitboard/roles.
package transcript

import (
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
	stamp  = "-2006-01-02T15-04-05.000" // of a part that was put aside
)

// Path is the file that is written now. dir is what a clone keeps for itself: `<common git dir>/liza`.
func Path(dir, agent string) string { return filepath.Join(dir, "logs", agent+ending) }

// Line is a line of the supervisor's own, with its end.
func Line(at time.Time, text string) string {
	return mark + at.UTC().Format(layout) + "] " + strings.ReplaceAll(text, "\n", " ") + "\n"
}

// Parse tells a line of the supervisor's own, and its time, from what the agent printed.
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

// Agents are the agents that have a transcript here, sorted.
func Agents(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(Path(dir, "")))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var agents []string
	for _, e := range entries {
		agent, _ := owner(e.Name())
		if _, err := roles.Of(agent); err == nil && !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
	}
	slices.Sort(agents)
	return agents, nil
}

// owner is the agent of whose transcript a file is a part, and whether that has been put aside; "" for any
// other file.
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

// parts are the files of a transcript, the oldest first.
func parts(dir, agent string) ([]string, error) {
	now := Path(dir, agent)
	entries, err := os.ReadDir(filepath.Dir(now)) // sorted by name, and so by time
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
