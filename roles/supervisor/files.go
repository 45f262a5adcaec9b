package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/roles/transcript"
)

// Limits of the files kept in a clone.
const (
	logMegabytes = 10
	logFiles     = 5
	promptFiles  = 200 // per agent
)

// files are a supervisor's files about its agent in this clone.
type files struct {
	board *gitboard.Board
	agent string
}

// KeyFile is the name of an agent's private session key among its files.
const KeyFile = "signing-key"

// KeepKey stores the private key of an agent's session, readable only by this user, and returns the
// path of its file.
func KeepKey(b *gitboard.Board, agent string, data []byte) (string, error) {
	f := files{b, agent}
	return f.at(KeyFile), f.keep(KeyFile, string(data))
}

// name is the path of one of the agent's files relative to the clone's directory; at is its
// absolute path.
func (f files) name(name string) string { return path.Join("agents", f.agent, name) }

func (f files) at(name string) string {
	return filepath.Join(f.board.Dir(), filepath.FromSlash(f.name(name)))
}

func (f files) keep(name, text string) error { return f.board.Clone().Keep(f.name(name), text) }

func (f files) kept(name string) (string, error) { return f.board.Clone().Kept(f.name(name)) }

func (f files) drop(name string) error { return f.board.Clone().Discard(f.name(name)) }

// journal writes the transcript of an agent: what the agent prints, interleaved with the
// supervisor's own lines.
type journal struct {
	mu   sync.Mutex
	to   io.WriteCloser
	open bool // the agent's last line has no newline yet
}

// journal opens the transcript.
func (f files) journal() (*journal, error) {
	file := transcript.Path(f.board.Dir(), f.agent)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	return &journal{to: &lumberjack.Logger{Filename: file, MaxSize: logMegabytes, MaxBackups: logFiles}}, nil
}

// Write takes the agent's output. It never fails, since a full disk must not end the agent: output
// may be lost.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(p) > 0 {
		said := transcript.Said(p, j.open)
		j.open = p[len(p)-1] != '\n'
		_, _ = j.to.Write(said)
	}
	return len(p), nil
}

// note writes a line of the supervisor's own.
func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open {
		line, j.open = "\n"+line, false
	}
	_, _ = io.WriteString(j.to, line)
}

func (j *journal) Close() error { return j.to.Close() }

// savePrompt stores a prompt and returns the path of its file.
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
	entries, err := os.ReadDir(dir) // sorted by name, oldest first
	if err != nil || len(entries) <= promptFiles {
		return err
	}
	for _, e := range entries[:len(entries)-promptFiles] {
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}

// binary makes a directory for an agent's PATH in which git-liza is this very program.
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

// authorFile is the git configuration that sets the author of the agent's commits.
const authorFile = "author.gitconfig"

// author returns the settings that make the agent the author of its commits in this repository
// only, since its tests may create other repositories. The committer is unchanged.
func (f files) author(a board.Actor) ([]gitenv.Setting, error) {
	name, email := log.Author(a)
	if err := f.keep(authorFile, fmt.Sprintf("[author]\n\tname = %s\n\temail = %s\n", name, email)); err != nil {
		return nil, err
	}
	return gitenv.IncludeWithin(f.board.Repo().CommonDir(), f.at(authorFile)), nil
}

// keptMemory reads the part of a planner's memory that outlives its supervisor.
func (f files) keptMemory() (*Memory, error) {
	text, err := f.kept(gitboard.MemoryFile)
	var m Memory
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &m)
	}
	if err != nil {
		return &Memory{}, fmt.Errorf("the agent's memory is lost: %w", err)
	}
	return &Memory{Seen: m.Seen, Unfinished: m.Unfinished, Assessed: m.Assessed}, nil
}

func (f files) keepMemory(m *Memory) error {
	data, err := json.Marshal(Memory{Seen: m.Seen, Unfinished: m.Unfinished, Assessed: m.Assessed})
	if err != nil {
		return err
	}
	return f.keep(gitboard.MemoryFile, string(data))
}

const usageFile = "usage.jsonl"

// appendUsage appends a run and its usage to the agent's usageFile in this clone.
func (f files) appendUsage(at time.Time, agent string, p *board.Usage) error {
	line, err := json.Marshal(map[string]any{"time": at.UTC().Truncate(time.Second), "agent": agent, "run": p})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.at(usageFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// keepProcess records a process.
func (f files) keepProcess(name string, pid int) error { return f.keep(name, recordOf(pid, "")) }

// dropProcess drops the record of an ended process, unless it is about another process by now. A
// record that stays means the same.
func (f files) dropProcess(name string, pid int) {
	if r, err := f.record(name); err == nil && r.PID() == pid {
		_ = f.drop(name)
	}
}

func (f files) record(name string) (record, error) {
	text, err := f.kept(name)
	return readRecord(text), err
}

// liveProcess is the number of the recorded process if that very process still runs, and 0
// otherwise. A supervisor runs while it holds its record, also where its process can't be seen. known is
// false if there is no record, or the system can't answer.
func (f files) liveProcess(name string) (pid int, known bool) {
	r, err := f.record(name)
	if err != nil || !strings.Contains(string(r.ID), " ") || r.PID() <= 0 {
		return 0, false
	}
	if queue.Held(f.at(name)) || r.Runs() {
		return r.PID(), true
	}
	return 0, true
}

// processID is the recorded process's ID, "" if it is in another process namespace.
func (f files) processID(name string) proc.ID {
	r, err := f.record(name)
	if err != nil || r.Elsewhere() {
		return ""
	}
	return r.ID
}

// tail keeps the last max bytes written to it.
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
