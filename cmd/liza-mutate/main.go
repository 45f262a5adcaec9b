// Command liza-mutate shows which mistakes the tests of a package would not notice.
//
//	go run ./cmd/liza-mutate ./gitboard/oplog
//	go run ./cmd/liza-mutate --sample 40 --seed 7 ./worktrees/... ./hooks/...
//	go run ./cmd/liza-mutate --since main ./gitboard/share
//
// It builds the tests of each package once, with every mutant in them: a condition that always
// holds or never does, a statement that is left out. A variable chooses the one that is on. Each
// test runs once without a mutant, which shows how long it takes and which mutants it reaches; then
// each mutant meets only the tests that reach it, the quick ones first, until one fails. The source
// is not changed. Mutants that change nothing are listed in equivalent.txt.
//
// It may import gitboard/proc.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// options are the command line.
type options struct {
	sample  int
	seed    uint64
	patient time.Duration
	list    bool
	reach   bool
	tests   []string
	only    string
	since   string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "liza-mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o options
	f := pflag.NewFlagSet("liza-mutate", pflag.ContinueOnError)
	f.IntVar(&o.sample, "sample", 0, "try only so many mutants a package, drawn by the seed")
	f.Uint64Var(&o.seed, "seed", 1, "which mutants a sample has")
	f.DurationVar(&o.patient, "patience", 30*time.Second, "how much longer than without a mutant tests may take; then it is caught")
	f.StringSliceVar(&o.tests, "tests", nil, "the `PACKAGES` whose tests are run (each its own, and those of testedby.go)")
	f.StringVar(&o.only, "only", "", "try only mutants whose line has this `TEXT`")
	f.StringVar(&o.since, "since", "", "try only mutants in lines that this `COMMIT` did not have")
	f.BoolVar(&o.list, "list", false, "print the mutants and try none")
	f.BoolVar(&o.reach, "unreached", false, "print the mutants that no test reaches, and try none")
	if err := f.Parse(args); err != nil {
		if err == pflag.ErrHelp {
			return nil
		}
		return err
	}
	packages, err := listed(ctx, f.Args())
	if err != nil {
		return err
	}
	var tests []pkg
	if len(o.tests) > 0 {
		if tests, err = listed(ctx, o.tests); err != nil {
			return err
		}
	}
	known, err := equivalents(equivalentText)
	if err != nil {
		return err
	}
	var all score
	for _, p := range packages {
		by := tests
		if by == nil {
			if by, err = testsOf(ctx, p); err != nil {
				return err
			}
		}
		if len(by) == 0 {
			fmt.Printf("%s: it has no tests; --tests names those of other packages\n", p.ImportPath)
			continue
		}
		s, err := try(ctx, p, by, o, known)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		fmt.Printf("%s: %s\n", p.ImportPath, s)
		all.add(s)
	}
	fmt.Printf("all: %s\n", all)
	return nil
}

// score counts what became of mutants.
type score struct{ mutants, tried, caught, unreached, equivalent int }

func (s *score) add(t score) {
	s.mutants += t.mutants
	s.tried += t.tried
	s.caught += t.caught
	s.unreached += t.unreached
	s.equivalent += t.equivalent
}

func (s score) String() string {
	counted := s.tried - s.equivalent
	return fmt.Sprintf("%d mutants, %d tried, %d equivalent, %d caught (%.0f %%), %d of the others reached by no test",
		s.mutants, s.tried, s.equivalent, s.caught, 100*float64(s.caught)/float64(max(1, counted)), s.unreached)
}
