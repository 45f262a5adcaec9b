package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// benchRace lets 16 coders claim one task at once.
func benchRace(l *lab) error {
	n := l.pick(3, 16, 16)
	coders := numbered("coder", n)
	s, err := l.team("race", 10, coders...)
	if err != nil {
		return err
	}
	task := s.tasks[0]
	var alone, slowest samples
	for range max(1, l.rounds()/4) {
		took, err := s.liza("coder-1", "claim", task)
		if err != nil {
			return err
		}
		if err := s.unclaim(); err != nil {
			return err
		}
		alone = append(alone, ms(took))
		last, err := s.storm(coders, task)
		if err != nil {
			return err
		}
		if err := s.unclaim(); err != nil {
			return err
		}
		slowest = append(slowest, ms(last))
	}
	l.row(fmt.Sprintf("%d processes claim one task: until the last has its answer", n), slowest, alone, "one claim alone", 0, 1000)
	l.remark("%d processes claim one task: one winner each of %d times; the slowest answer of all after %.0f ms", n, len(slowest), slowest.quantile(1))
	return nil
}

// storm lets all coders claim a task at once; the answer is how long it took until the last had its
// answer.
func (s *site) storm(coders []string, task string) (time.Duration, error) {
	commands := make([]*exec.Cmd, len(coders))
	for i, c := range coders {
		commands[i] = s.l.command(s.dir, s.l.liza, "claim", task)
		commands[i].Env = append(commands[i].Env[:len(commands[i].Env):len(commands[i].Env)], "LIZA_AGENT_ID="+c, "LIZA_SESSION="+session)
	}
	var all sync.WaitGroup
	took := make([]time.Duration, len(coders))
	said := make([]string, len(coders))
	for i, cmd := range commands {
		all.Go(func() {
			start := time.Now()
			out, _ := cmd.CombinedOutput()
			took[i], said[i] = time.Since(start), string(out)
		})
	}
	all.Wait()
	winners := 0
	var last time.Duration
	for i, cmd := range commands {
		switch code := cmd.ProcessState.ExitCode(); code {
		case 0:
			winners++
		case 1:
		default:
			return 0, fmt.Errorf("claim by %s: exit %d: %s", coders[i], code, strings.TrimSpace(said[i]))
		}
		last = max(last, took[i])
	}
	if winners != 1 {
		return 0, fmt.Errorf("%d processes have claimed %s: %s", winners, task, strings.Join(said, "; "))
	}
	return last, nil
}

// benchWriters lets many processes write at once.
func benchWriters(l *lab) error {
	s, err := l.site("writers", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	each, most := l.pick(2, 3, 10), l.pick(2, 32, 32)
	counts := []int{1, 2, 4, 8, 16, 32}
	if l.o.quick {
		counts = []int{1, 8, 32}
	}
	repeat := l.pick(1, 2, 5)
	rates := map[int]samples{}
	var latency, slowest, alone samples
	for range repeat {
		for _, n := range counts {
			if n > most {
				continue
			}
			per := each
			if n == 1 {
				per = each * 4
			}
			took, times, err := s.crowd(slices.Repeat([]*site{s}, n), per)
			if err != nil {
				return err
			}
			if err := s.restore(); err != nil {
				return err
			}
			rates[n] = append(rates[n], ms(took)/float64(n*per))
			if n == 1 {
				alone = append(alone, times...)
			}
			if n == most {
				latency = append(latency, times...)
				slowest = append(slowest, times.quantile(1))
			}
		}
	}
	for _, n := range counts {
		if n <= most {
			l.writers = append(l.writers, throughput{n, 1000 / rates[n].median()})
		}
	}
	l.row(fmt.Sprintf("%d processes appending: time an operation", most), rates[most], rates[1], "one writer", 1/0.6, 0)
	fair := make(samples, len(slowest)) // what each would wait if all were served in turn
	for i, took := range rates[most] {
		fair[i] = took * float64(most)
	}
	l.row(fmt.Sprintf("%d processes appending: the slowest operation", most), slowest, fair, "all in turn", 0, 0)
	l.remark("%d processes appending, %d notes each: throughput %.0f %% of one writer's (%.0f of %.0f a second); of %d acknowledged operations 0 lost, 0 given up; one took %.0f ms at the median, %.0f at most (alone: %.0f)",
		most, each, 100*rates[1].median()/rates[most].median(), 1000/rates[most].median(), 1000/rates[1].median(), len(latency), latency.median(), latency.quantile(1), alone.median())
	return nil
}

// crowd lets writers, each a process at a time, write so many notes one after the other, and counts
// them on this site's board. A site that writes with several processes counts as that many writers.
func (s *site) crowd(writers []*site, each int) (time.Duration, samples, error) {
	before, err := s.operations()
	if err != nil {
		return 0, nil, err
	}
	var mu sync.Mutex
	var times samples
	var failed error
	first, total := s.l.serial, len(writers)*each
	s.l.serial += total
	start := time.Now()
	var all sync.WaitGroup
	for w, writer := range writers {
		all.Go(func() {
			for i := range each {
				took, err := writer.liza("", "note", fmt.Sprintf("The %d. thing", first+w*each+i+1))
				mu.Lock()
				times = append(times, ms(took))
				if err != nil && failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	if failed != nil {
		return 0, nil, failed
	}
	after, err := s.operations()
	if err == nil && after-before != total {
		err = fmt.Errorf("%d notes were acknowledged, and %d are on the board", total, after-before)
	}
	return took, times, err
}

// crowded is the result of a crowd: the time and the processor time of an operation, each time it
// wrote, and how long each operation took.
type crowded struct{ rates, used, waits samples }

// crowded lets a crowd write so many times.
func (l *lab) crowded(hub *site, writers []*site, each, times int) (all crowded, err error) {
	for range times {
		before := processorTime()
		took, waits, err := hub.crowd(writers, each)
		if err != nil {
			return all, err
		}
		total := float64(len(writers) * each)
		all.rates, all.used = append(all.rates, ms(took)/total), append(all.used, ms(processorTime()-before)/total)
		all.waits = append(all.waits, waits...)
	}
	return all, nil
}

// String describes the crowd's result.
func (c crowded) String() string {
	return fmt.Sprintf("%.2f operations a second, %.0f ms of processor time each; one waits %.1f s at the median, %.1f s at most (%.1f ×)",
		1000/c.rates.median(), c.used.median(), c.waits.median()/1000, c.waits.quantile(1)/1000, c.waits.quantile(1)/c.waits.median())
}

// operations counts the operations on the board.
func (s *site) operations() (n int, err error) {
	out, err := s.git("rev-list", "--count", plumbing.BoardRef)
	if err == nil {
		_, err = fmt.Sscan(out, &n)
	}
	return n, err
}
