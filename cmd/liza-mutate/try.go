package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pkg is go list's description of a package.
type pkg struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	TestGoFiles           []string
	XTestGoFiles          []string
	Module                struct{ Path string }
}

// path is where the package is in its module.
func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/") }

// nameOf is how equivalent.txt has a mutant of the package.
func (p pkg) nameOf(m mutant) string { return p.path() + "/" + m.name() }

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

// chooser is a file of the package under test: it knows which mutant is on, and reports the reached
// mutants, by a byte for each.
const chooser = `package %s

import ("os"; "strconv"; "syscall")

var (
	theMutant, _   = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached = mutantsMap(%d)
)

// Memory is written even by a test that lets no file be opened, or grow.
func mutantsMap(size int) []byte {
	f, err := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	reached, _ := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return reached
}

func mutantIsOn(n int) bool {
	if mutantsReached != nil {
		mutantsReached[n] = 1
	}
	return n == theMutant
}
`

// try has tests meet the mutants of a package.
func try(ctx context.Context, p pkg, tests []pkg, o options, known map[string]bool) (s score, err error) {
	dir, err := os.MkdirTemp("", "liza-mutate-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	files, all, err := mutate(p.Dir, p.GoFiles)
	if err != nil {
		return s, err
	}
	if names := gone(known, p, all); len(names) > 0 {
		return s, fmt.Errorf("equivalent.txt names mutants that do not exist: %s", strings.Join(names, "; "))
	}
	s.mutants = len(all)
	chosen, err := drawn(ctx, p, all, o)
	if err != nil || len(chosen) == 0 {
		return s, err
	}
	if o.list {
		for _, i := range chosen {
			fmt.Println(all[i])
		}
		return s, nil
	}
	files["mutants_chosen.go"] = fmt.Appendf(nil, chooser, p.Name, len(all)+1)
	overlay, err := overlaid(dir, p, files)
	if err != nil {
		return s, err
	}
	r := &runner{dir: dir, patience: o.patient, mutants: len(all)}
	for _, t := range tests {
		if err := r.build(ctx, overlay, t); err != nil {
			return s, err
		}
	}
	began := time.Now()
	if err := r.measure(ctx); err != nil {
		return s, err
	}
	fmt.Fprintf(os.Stderr, "%s: %d tests measured in %s\n", p.path(), len(r.tests), time.Since(began).Round(time.Second))
	for _, i := range chosen {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		s.tried++
		if known[p.nameOf(all[i])] {
			s.equivalent++
			continue
		}
		switch tests := r.reaching(i + 1); {
		case len(tests) == 0:
			s.unreached++
			fmt.Printf("%s/%s\t(no test comes here)\n", p.path(), all[i])
		case o.reach:
		case r.caught(ctx, i+1, tests):
			s.caught++
		default:
			fmt.Printf("%s/%s\t(%d tests come here: %s)\n", p.path(), all[i], len(tests), tests[0].name)
		}
	}
	return s, nil
}

// drawn are the indexes of the mutants to try, in their order.
func drawn(ctx context.Context, p pkg, all []mutant, o options) ([]int, error) {
	order := rand.New(rand.NewPCG(o.seed, 0)).Perm(len(all))
	order = slices.DeleteFunc(order, func(i int) bool { return !strings.Contains(all[i].String(), o.only) })
	if o.since != "" {
		changed, err := changedSince(ctx, p, o.since)
		if err != nil {
			return nil, err
		}
		order = slices.DeleteFunc(order, func(i int) bool { return !all[i].isIn(changed) })
	}
	if o.sample > 0 {
		order = order[:min(o.sample, len(order))]
	}
	slices.Sort(order)
	return order, nil
}

// overlaid writes changed files of a package, and an overlay for the go command that has them in
// place of its own.
func overlaid(dir string, p pkg, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(p.Dir, name)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, overlay, 0o644)
}
