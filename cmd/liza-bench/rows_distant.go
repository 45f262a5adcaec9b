package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// crowd is how many clones write at once, and with how many writers each.
type crowd struct{ clones, writers int }

// benchDistant lets clones write notes by a hub that is as far away as a hosted one: what serves a
// fetch sleeps for 0.3 s first, what takes a push for 0.8 s. It takes minutes, so --quick leaves it
// out.
func benchDistant(l *lab) error {
	return l.distant("a distant hub", plainHub, []crowd{{1, 1}, {1, 8}, {1, 32}, {4, 2}, {8, 1}, {8, 4}})
}

// benchSequenced is benchDistant with a hub that sequences.
func benchSequenced(l *lab) error {
	return l.distant("a distant hub that sequences", sequencingHub, []crowd{{1, 1}, {1, 32}, {8, 1}, {8, 4}})
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
		l.row(many+": time an operation", all.rates, alone.rates, "one writer", 0, 0)
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
