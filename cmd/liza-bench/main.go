// Command liza-bench measures git liza against floors that it measures in the same run.
//
//	go run ./cmd/liza-bench --quick
//	go run ./cmd/liza-bench --json bench.json --markdown bench.md --benchstat bench.txt
//
// It builds git-liza, makes repositories and large boards of its own with git fast-import, and
// times whole processes: every round runs each of the things to be compared once, in turn, so that
// a slower minute of the machine slows all of them. It prints medians. See specs/performance.md for
// the meaning of the rows.
//
// It may import everything of ours.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// options are the command line.
type options struct {
	quick    bool
	tiny     bool // sizes for the test of the machinery
	rounds   int
	only     string
	json     string
	markdown string
	samples  string
	dir      string
	source   string
	keep     bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "liza-bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o options
	f := pflag.NewFlagSet("liza-bench", pflag.ContinueOnError)
	f.BoolVar(&o.quick, "quick", false, "small boards and few rounds: a minute at most")
	f.BoolVar(&o.tiny, "tiny", false, "sizes that only show that the machinery works")
	f.IntVar(&o.rounds, "rounds", 0, "how often each thing is measured (40, or 7 with --quick)")
	f.StringVar(&o.only, "only", "", "run the groups whose name matches this `REGEXP`")
	f.StringVar(&o.json, "json", "", "write the rows to a `FILE` as JSON, - for standard output instead of the table")
	f.StringVar(&o.markdown, "markdown", "", "write the tables to a `FILE` as Markdown")
	f.StringVar(&o.samples, "benchstat", "", "write every sample to a `FILE` that benchstat reads and compares")
	f.StringVar(&o.dir, "dir", "", "where the repositories are made (the system's temporary directory); what is flushed goes to that disk")
	f.StringVar(&o.source, "source", ".", "where in the module's source git-liza is built from")
	f.BoolVar(&o.keep, "keep", false, "keep the repositories")
	if err := f.Parse(args); err != nil {
		if err == pflag.ErrHelp {
			return nil
		}
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, o)
	if err != nil {
		return err
	}
	defer l.close()
	for _, g := range groups {
		if !only.MatchString(g.name) || g.full && (o.quick || o.tiny) {
			continue
		}
		l.say("%s", g.name)
		if err := g.run(l); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", g.name, err), l.publish()) // the results until then
		}
	}
	return l.publish()
}

// group is a part of the benchmark that can be run by itself.
type group struct {
	name string
	full bool // too long for --quick
	run  func(*lab) error
}

var groups = []group{
	{"write", false, benchWrites},
	{"train", false, benchTrains},
	{"read", false, benchReads},
	{"claim", false, benchClaims},
	{"goals", false, benchGoals},
	{"race", false, benchRace},
	{"writers", false, benchWriters},
	{"verify", false, benchVerify},
	{"check", false, benchCheck},
	{"web", false, benchWeb},
	{"many", false, benchMany},
	{"signed", false, benchSigned},
	{"hooks", false, benchHooks},
	{"shared", false, benchShared},
	{"distant", false, benchDistant},
	{"distant-sequenced", false, benchSequenced},
	{"distant-team", false, benchTeam},
	{"growth", false, benchGrowth},
	{"makespan-local", true, makespanOf(0, 4)},
	{"makespan-faults", true, makespanOf(4, 5)},
	{"makespan-clones", true, makespanOf(5, 8)},
	{"makespan-pairs", true, makespanOf(8, 9)},
	{"makespan-human", true, benchHuman},
	{"million", true, benchMillion},
	{"notes", true, benchNotes},
}

func (l *lab) publish() error {
	table := l.table()
	if l.o.json != "-" {
		fmt.Println(strings.TrimSpace(table))
	}
	if l.o.markdown != "" {
		if err := os.WriteFile(l.o.markdown, []byte(table), 0o644); err != nil {
			return err
		}
	}
	if l.o.samples != "" {
		if err := os.WriteFile(l.o.samples, []byte(l.benchstat()), 0o644); err != nil {
			return err
		}
	}
	return l.writeJSON()
}
