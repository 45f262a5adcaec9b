package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/git-liza/git-liza/roles/transcript"
)

// How much is kept in a clone.
const (
	logMegabytes = 10
	logFiles     = 5
	promptFiles  = 200 // of each agent
)

// files are where a supervisor keeps what is its agent's in this clone: all below <common git dir>/liza.
type files struct {
	dir string // agents/<id>
	log string // its transcript
}

func filesOf(dir, agent string) files {
	return files{dir: filepath.Join(dir, "agents", agent), log: transcript.Path(dir, agent)}
}

// KeyFile is the private key of an agent's session, beside what else a supervisor keeps of the agent.
const KeyFile = "signing-key"

// KeepKey keeps the private key of an agent's session, for its user alone, and returns its file.
func KeepKey(dir, agent string, data []byte) (string, error) {
	file := filesOf(dir, agent).at(KeyFile)
	return file, replaceFile(file, data)
}

func (f files) at(name string) string { return filepath.Join(f.dir, name) }

// journal is the transcript of an agent as it is written: what the agent prints, and its supervisor's own
// lines between.
type journal struct {
	mu   sync.Mutex
	to   io.WriteCloser
	open bool // the agent has begun a line and not ended it
}

// journal opens the transcript.
func (f files) journal() (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(f.log), 0o755); err != nil {
		return nil, fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	return &journal{to: &lumberjack.Logger{Filename: f.log, MaxSize: logMegabytes, MaxBackups: logFiles}}, nil
}

// Write takes what the agent prints. A full disk must not end the agent: what can't be kept is lost.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(p) > 0 {
		j.open = p[len(p)-1] != '\n'
	}
	_, _ = j.to.Write(p)
	return len(p), nil
}

// note takes a line of the supervisor's own.
func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open {
		line, j.open = "\n"+line, false
	}
	_, _ = io.WriteString(j.to, line)
}

func (j *journal) Close() error { return j.to.Close() }

// savePrompt keeps a prompt and returns the path of its file.
func (f files) savePrompt(now time.Time, subject, text string) (string, error) {
	dir := f.at("prompts")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("the prompt can't be kept: %w", err)
	}
	file := filepath.Join(dir, now.UTC().Format("20060102T150405.000")+"-"+subject+".md")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("the prompt can't be kept: %w", err)
	}
	return file, f.dropOldPrompts(dir)
}

func (f files) dropOldPrompts(dir string) error {
	entries, err := os.ReadDir(dir) // sorted: the oldest first
	if err != nil || len(entries) <= promptFiles {
		return err
	}
	for _, e := range entries[:len(entries)-promptFiles] {
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}

// binary makes a directory in which git-liza is this very program, for an agent's PATH.
func (f files) binary(program string) (string, error) {
	dir := f.at("bin")
	link := filepath.Join(dir, "git-liza")
	if at, err := os.Readlink(link); err == nil && at == program {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fresh := link + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Symlink(program, fresh); err != nil {
		return "", err
	}
	return dir, os.Rename(fresh, link)
}

// keptMemory is what of a planner's memory outlives its supervisor.
func (f files) keptMemory() (*Memory, error) {
	data, err := os.ReadFile(f.at("memory.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return &Memory{}, nil
	}
	var m Memory
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return &Memory{}, fmt.Errorf("what the agent has seen before is lost: %w", err)
	}
	return &Memory{Seen: m.Seen, Unfinished: m.Unfinished, Assessed: m.Assessed}, nil
}

func (f files) keepMemory(m *Memory) error {
	data, err := json.Marshal(Memory{Seen: m.Seen, Unfinished: m.Unfinished, Assessed: m.Assessed})
	if err != nil {
		return err
	}
	return replaceFile(f.at("memory.json"), data)
}

// A record of a process is its number and its birth, by which it is known again.
func (f files) keepProcess(name string, pid int) error {
	return replaceFile(f.at(name), fmt.Appendf(nil, "%d %s\n", pid, birth(pid)))
}

// liveProcess is the number of the process that a record names, if that very process still runs; 0 when not.
// known is false when there is no record, or that can't be told here.
func (f files) liveProcess(name string) (pid int, known bool) {
	data, err := os.ReadFile(f.at(name))
	if err != nil {
		return 0, false
	}
	number, born, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if _, err := fmt.Sscan(number, &pid); err != nil || born == "" || pid <= 0 {
		return 0, false
	}
	if birth(pid) != born {
		return 0, true
	}
	return pid, true
}

func (f files) drop(name string) error {
	if err := os.Remove(f.at(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile writes a file in one step.
func replaceFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// tail keeps the end of what is written to it.
type tail struct {
	data []byte
	max  int
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.max; over > t.max {
		t.data = slices.Delete(t.data, 0, over)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data[max(0, len(t.data)-t.max):]) }
