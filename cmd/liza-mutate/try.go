package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir, Name string
	GoFiles               []string
}

func listed(ctx context.Context, patterns []string) (all []pkg, err error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// equivalents reads the mutants that change nothing.
func equivalents(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			known[line] = true
		}
	}
	return known, err
}

// chooser is a file of the package under test: it knows which mutant is on, and says which ones are reached.
const chooser = `package %s

import ("os"; "strconv"; "sync/atomic")

var (
	theMutant, _    = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached  [%d]atomic.Bool
	reachedFile     = os.Getenv("MUTANTS_REACHED")
)

func mutantIsOn(n int) bool {
	if reachedFile != "" && !mutantsReached[n].Swap(true) {
		if f, err := os.OpenFile(reachedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			f.WriteString(strconv.Itoa(n)+"\n")
			f.Close()
		}
	}
	return n == theMutant
}
`

// try has tests, as a rule a package's own, meet its mutants.
func try(ctx context.Context, p, tests pkg, o options, known map[string]bool) (s score, err error) {
	dir, err := os.MkdirTemp("", "liza-mutate-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	all, err := build(ctx, p, tests, dir)
	if err != nil {
		return s, err
	}
	s.mutants = len(all)
	if o.list {
		for _, m := range all {
			fmt.Println(m)
		}
		return s, nil
	}
	t := &trial{ctx: ctx, pkg: tests, dir: dir}
	began := time.Now()
	if caught := t.caught(0, 10*time.Minute); caught {
		return s, errors.New("the tests fail without a mutant")
	}
	limit := time.Since(began) + o.patient
	reached := t.reached()
	order := rand.New(rand.NewPCG(o.seed, 0)).Perm(len(all))
	if o.sample > 0 {
		order = order[:min(o.sample, len(order))]
	}
	slices.Sort(order)
	for _, i := range order {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		m := all[i]
		s.tried++
		switch {
		case known[p.ImportPath+"/"+m.file+": "+m.what]:
			s.equivalent++
		case !reached[i+1]:
			s.unreached++
			fmt.Printf("%s/%s (no test comes here)\n", p.ImportPath, m)
		case t.caught(i+1, limit):
			s.caught++
		default:
			fmt.Printf("%s/%s\n", p.ImportPath, m)
		}
	}
	return s, nil
}

// build builds the tests with all mutants.
func build(ctx context.Context, p, tests pkg, dir string) ([]mutant, error) {
	files, all, err := mutate(p.Dir, p.GoFiles)
	if err != nil {
		return nil, err
	}
	files["mutants_chosen.go"] = fmt.Appendf(nil, chooser, p.Name, len(all)+1)
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return nil, err
		}
		replace[filepath.Join(p.Dir, name)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, overlay, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", at, "-o", filepath.Join(dir, "mutants.test"), tests.ImportPath)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return all, nil
}

// trial runs a package's tests.
type trial struct {
	ctx context.Context
	pkg pkg
	dir string
}

// caught reports whether the tests fail, or take longer than the limit, while a mutant is on; 0 is none, and has what
// is reached written down.
func (t *trial) caught(n int, limit time.Duration) bool {
	temp := filepath.Join(t.dir, "temp")
	defer os.RemoveAll(temp)
	_ = os.MkdirAll(temp, 0o755) // without it all fail
	ctx, stop := context.WithTimeout(t.ctx, limit)
	defer stop()
	// A mistake may take all memory, or kill what started it: that is a shell then, with a limit.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 16000000; "$@"; exit $?`, "sh", filepath.Join(t.dir, "mutants.test"), "-test.failfast", "-test.short")
	cmd.Dir, cmd.WaitDelay = t.pkg.Dir, time.Second
	gitio.OwnGroup(cmd)
	defer gitio.EndGroup(cmd) // a mutant that never ends is a child of the shell
	cmd.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", n), "TMPDIR="+temp)
	if n == 0 {
		cmd.Env = append(cmd.Env, "MUTANTS_REACHED="+filepath.Join(t.dir, "reached"))
	}
	return cmd.Run() != nil
}

// reached are the mutants whose place a test comes to.
func (t *trial) reached() map[int]bool {
	reached := map[int]bool{}
	text, _ := os.ReadFile(filepath.Join(t.dir, "reached")) // none without the file
	for _, line := range strings.Fields(string(text)) {
		var n int
		if _, err := fmt.Sscan(line, &n); err == nil {
			reached[n] = true
		}
	}
	return reached
}
