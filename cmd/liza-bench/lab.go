package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// throughput is how many operations a second so many writers make together.
type throughput struct {
	Writers int     `json:"writers"`
	Rate    float64 `json:"operations_per_second"`
}

// lab is a place for measurements: a directory, the programs, and the results so far.
type lab struct {
	ctx     context.Context
	o       options
	dir     string
	liza    string // the program that is measured
	noop    string // a Go program that does nothing
	env     []string
	rows    []Row
	growth  []growthLine
	writers []throughput // operations a second by number of writers
	notes   []string
	serial  int
	peak    int64 // bytes of memory that a team has taken at most
	began   time.Time
}

func newLab(ctx context.Context, o options) (*lab, error) {
	dir, err := os.MkdirTemp(o.dir, "liza-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	l := &lab{ctx: ctx, o: o, dir: dir, liza: filepath.Join(dir, "git-liza"), noop: filepath.Join(dir, "noop"), began: time.Now()}
	for _, entry := range os.Environ() {
		key, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(key, "GIT_") && !strings.HasPrefix(key, "LIZA_") {
			l.env = append(l.env, entry)
		}
	}
	config := filepath.Join(dir, "gitconfig")
	l.env = append(l.env, "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1", "SKIP_SPEC_FILE_CHECK=true")
	text := "[user]\n\tname = Bench\n\temail = bench@example.org\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	l.say("build")
	if err := l.build(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// build makes the program as the README does, and one that shows what starting a Go program costs.
func (l *lab) build() error {
	program := l.command(l.o.source, "go", "build", "-o", l.liza, "github.com/git-liza/git-liza/cmd/git-liza")
	program.Env = append(slices.Clip(l.env), "CGO_ENABLED=0")
	if out, err := program.CombinedOutput(); err != nil {
		return fmt.Errorf("build git-liza: %w\n%s", err, out)
	}
	src := filepath.Join(l.dir, "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module noop\n\ngo 1.22\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if out, err := l.command(src, "go", "build", "-o", l.noop, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("build a program that does nothing: %w\n%s", err, out)
	}
	return nil
}

func (l *lab) close() {
	if l.o.keep {
		l.say("kept: %s", l.dir)
		return
	}
	os.RemoveAll(l.dir)
}

func (l *lab) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(l.began).Seconds(), fmt.Sprintf(format, args...))
}

// remark is a line that goes below the table.
func (l *lab) remark(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
	l.say(format, args...)
}

func (l *lab) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, l.env
	return cmd
}

// next is a number that was not given out before.
func (l *lab) next() int {
	l.serial++
	return l.serial
}

// pick chooses a size: for the test of the machinery, for --quick, for all.
func (l *lab) pick(tiny, quick, full int) int {
	switch {
	case l.o.tiny:
		return tiny
	case l.o.quick:
		return quick
	}
	return full
}

func (l *lab) rounds() int {
	if l.o.rounds > 0 {
		return l.o.rounds
	}
	return l.pick(1, 7, 40)
}

// timed runs a child and returns how long it took from fork to exit; its output is thrown away.
func (l *lab) timed(dir string, env []string, name string, args ...string) (time.Duration, error) {
	cmd := l.command(dir, name, args...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return took, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return took, nil
}

// machine describes the machine of the figures.
func (l *lab) machine() string {
	model := runtime.GOARCH
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(data), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	version, _ := l.command(l.dir, "git", "version").Output()
	load, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(load))
	text := fmt.Sprintf("%s, %s, %d × %s, %s, %s", time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.NumCPU(), model, strings.TrimSpace(string(version)), runtime.Version())
	if len(fields) > 2 {
		text += ", load at the end " + strings.Join(fields[:3], " ")
	}
	return text
}
