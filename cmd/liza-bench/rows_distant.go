package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// crowds are how many clones write at once, and with how many writers each.
var crowds = []struct{ clones, writers int }{{1, 1}, {1, 8}, {1, 32}, {4, 2}, {8, 1}, {8, 4}}

// benchDistant lets clones write notes by a hub that is as far away as a hosted one: what serves a fetch sleeps for
// 0.3 s first, what takes a push for 0.8 s. It takes minutes, so --quick leaves it out.
func benchDistant(l *lab) error {
	if l.o.quick {
		return nil
	}
	first, err := l.site("distant", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	hub, err := l.share(first, false)
	if err != nil {
		return err
	}
	clones, err := l.clones(first, hub, l.pick(2, 8, 8))
	if err != nil {
		return err
	}
	for _, c := range clones {
		if err := c.distance(); err != nil {
			return err
		}
	}
	var alone samples
	for _, crowd := range crowds {
		n := min(crowd.clones, len(clones))
		rates, err := l.distantCrowd(hub, slices.Repeat(clones[:n], l.pick(1, crowd.writers, crowd.writers)))
		if err != nil {
			return err
		}
		if alone == nil {
			alone = rates
		}
		l.row(fmt.Sprintf("%d × %d writers by a distant hub: time an operation", crowd.clones, crowd.writers), rates, alone, "one writer", 0, 0)
	}
	return nil
}

// distantCrowd lets a crowd write, and says how long an operation took on average, each time it did.
func (l *lab) distantCrowd(hub *site, writers []*site) (rates samples, err error) {
	each := l.pick(1, 4, 4)
	var waits samples
	for range max(1, l.o.rounds) {
		took, times, err := hub.crowd(writers, each)
		if err != nil {
			return nil, err
		}
		rates, waits = append(rates, ms(took)/float64(len(writers)*each)), append(waits, times...)
	}
	l.remark("%d writers by a distant hub: %.2f operations a second, one waits %.1f s at the median, %.1f s at most (%.1f ×)", len(writers),
		1000/rates.median(), waits.median()/1000, waits.quantile(1)/1000, waits.quantile(1)/waits.median())
	return rates, nil
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
