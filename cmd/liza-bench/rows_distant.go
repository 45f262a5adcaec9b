package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// crowd is how many clones write at once, with how many writers each, and its bars (0 for none).
type crowd struct {
	clones, writers int
	times           float64 // the operations a second, in those of one writer: at least
	median          float64 // the median wait, in one writer's: at most
	longest         float64 // the longest wait, in medians: at most
}

// benchDistant lets clones write notes by a hub that is as far away as a hosted one: what serves a
// fetch sleeps for 0.3 s first, what takes a push for 0.8 s. It takes minutes, so --quick leaves it
// out.
func benchDistant(l *lab) error {
	return l.distant("a distant hub", plainHub, crowds(crowd{clones: 1, writers: 32}, crowd{clones: 8, writers: 4}))
}

// benchSequenced is benchDistant with a hub that sequences.
func benchSequenced(l *lab) error {
	return l.distant("a distant hub that sequences", sequencingHub, crowds(crowd{clones: 1, writers: 32, times: 16, median: 2.5}, crowd{clones: 8, writers: 4, times: 8, longest: 5}))
}

// crowds lists a single writer, the small crowds, and two large ones.
func crowds(oneClone, many crowd) []crowd {
	return []crowd{{clones: 1, writers: 1}, {clones: 1, writers: 8}, oneClone, {clones: 4, writers: 2}, {clones: 8, writers: 1}, many}
}

// distant measures crowds of clones by one distant hub.
func (l *lab) distant(name string, kind hubKind, crowds []crowd) error {
	if l.o.quick {
		return nil
	}
	first, err := l.site(strings.ReplaceAll(name, " ", "-"), boardSize{tasks: 10})
	if err != nil {
		return err
	}
	hub, err := l.share(first, kind)
	if err != nil {
		return err
	}
	clones, err := l.clones(first, hub, l.pick(2, 8, 8))
	if err != nil {
		return err
	}
	for _, c := range clones {
		if _, err := c.liza("", "sync"); err != nil {
			return err
		}
		if err := c.distance(); err != nil {
			return err
		}
	}
	var alone crowded
	for _, crowd := range crowds {
		n := min(crowd.clones, len(clones))
		all, err := l.crowded(hub, slices.Repeat(clones[:n], l.pick(1, crowd.writers, crowd.writers)), l.pick(1, 10, 10), max(1, l.o.rounds))
		if err != nil {
			return err
		}
		if alone.rates == nil {
			alone = all
		}
		many := fmt.Sprintf("%d × %d writers by %s", crowd.clones, crowd.writers, name)
		least := 0.0
		if crowd.times > 0 {
			least = 1 / crowd.times
		}
		l.row(many+": time an operation", all.rates, alone.rates, "one writer", least, 0)
		l.row(many+": the median wait", samples{all.waits.median()}, samples{alone.waits.median()}, "one writer", crowd.median, 0)
		l.row(many+": the longest wait", samples{all.waits.quantile(1)}, samples{all.waits.median()}, "the median", crowd.longest, 0)
		l.row(many+": processor time an operation", all.used, alone.used, "one writer", 0, 0)
		l.remark("%s: %s", many, all)
	}
	return nil
}

// distance puts the remote of a site far away.
func (s *site) distance() error {
	for service, seconds := range map[string]string{"upload-pack": "0.3", "receive-pack": "0.8"} {
		script := filepath.Join(s.l.dir, "distant-"+service)
		text := "#!/bin/sh\nsleep " + seconds + "\nexec git-" + service + " \"$@\"\n"
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			return err
		}
		key := map[string]string{"upload-pack": "uploadpack", "receive-pack": "receivepack"}[service]
		if _, err := s.git("config", "remote.origin."+key, script); err != nil {
			return err
		}
	}
	return nil
}
