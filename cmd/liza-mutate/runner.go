package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// A runner runs tests that were built with all mutants of a package.
type runner struct {
	dir      string
	patience time.Duration
	mutants  int
	tests    []*test
}

// A test is one function of a suite.
type test struct {
	suite   suite
	name    string
	takes   time.Duration
	reaches map[int]bool
}

// A suite is the tests of a package.
type suite struct{ program, dir string }

// build builds the tests of a package, and lists them.
func (r *runner) build(ctx context.Context, overlay string, p pkg) error {
	s := suite{filepath.Join(r.dir, strings.ReplaceAll(p.path(), "/", "-")+".test"), p.Dir}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.program, p.ImportPath)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	if _, err := os.Stat(s.program); err != nil {
		return fmt.Errorf("%s has no tests: name the packages whose tests are meant, --tests", p.path())
	}
	list := exec.CommandContext(ctx, s.program, "-test.list", "^(Test|Example|Fuzz)")
	list.Dir = s.dir
	names, err := list.Output()
	for _, name := range strings.Fields(string(names)) {
		r.tests = append(r.tests, &test{suite: s, name: name})
	}
	return err
}

// measure runs each test without a mutant. The quick ones are the first then.
func (r *runner) measure(ctx context.Context) error {
	for _, t := range r.tests {
		began := time.Now()
		reached := filepath.Join(r.dir, "reached")
		if err := os.WriteFile(reached, make([]byte, r.mutants+1), 0o644); err != nil {
			return err
		}
		if out, err := r.run(ctx, t.suite, []string{t.name}, 10*time.Minute, "MUTANTS_REACHED="+reached); err != nil {
			return fmt.Errorf("%s fails without a mutant: %w\n%s", t.name, err, out)
		}
		t.takes, t.reaches = time.Since(began), map[int]bool{}
		text, err := os.ReadFile(reached)
		if err != nil {
			return err
		}
		for n, is := range text {
			if is != 0 {
				t.reaches[n] = true
			}
		}
	}
	slices.SortStableFunc(r.tests, func(a, b *test) int { return cmp.Compare(a.takes, b.takes) })
	return nil
}

// reaching are the tests that come to a mutant.
func (r *runner) reaching(mutant int) (tests []*test) {
	for _, t := range r.tests {
		if t.reaches[mutant] {
			tests = append(tests, t)
		}
	}
	return tests
}

// caught reports whether one of the tests fails, or takes much longer, while a mutant is on.
func (r *runner) caught(ctx context.Context, mutant int, tests []*test) bool {
	for size := time.Second / 2; len(tests) > 0 && ctx.Err() == nil; size *= 2 {
		s, limit := tests[0].suite, r.patience
		var names []string
		var took time.Duration
		for len(tests) > 0 && tests[0].suite == s && (took == 0 || took+tests[0].takes <= size) {
			took += tests[0].takes
			names = append(names, tests[0].name)
			tests = tests[1:]
		}
		if _, err := r.run(ctx, s, names, limit+2*took, fmt.Sprintf("MUTANT=%d", mutant)); err != nil {
			return ctx.Err() == nil
		}
	}
	return false
}

// run runs tests of a suite until one fails.
func (r *runner) run(ctx context.Context, s suite, names []string, limit time.Duration, env ...string) ([]byte, error) {
	temp := filepath.Join(r.dir, "temp")
	defer os.RemoveAll(temp)
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	// A mistake may take all memory, or kill what started it: that is a shell then, with a limit.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 16000000; "$@"; exit $?`, "sh", s.program,
		"-test.failfast", "-test.short", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.WaitDelay = s.dir, time.Second
	proc.OwnGroup(cmd)
	defer proc.EndGroup(cmd) // a mutant that never ends is a child of the shell
	// Every case counts.
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp, "LIZA_TEST_ALL=1"), env...)
	return cmd.CombinedOutput()
}
