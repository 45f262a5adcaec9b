package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// TestPruned lets processes write beside `git prune`, `git gc --prune=now` and `git repack -ad`, which run again whenever
// something was written. Git takes away
// every object that it could not reach when it began, whatever was acknowledged since: all of that is there all the same.
func TestPruned(t *testing.T) {
	t.Parallel()
	writers, each := 4, 12
	if *long {
		writers, each = 12, 80
	}
	p := newProject(t)
	var wg sync.WaitGroup
	keeping := p.keepers(
		[][]string{{"prune", "--expire=now"}}, [][]string{{"gc", "-q", "--prune=now"}},
		[][]string{{"repack", "-adq"}}, [][]string{{"pack-refs", "--all"}},
	)
	acks := make([][]string, writers)
	for n := range writers {
		wg.Go(func() {
			for i := range each {
				out, errs, code := p.liza("", "note", fmt.Sprintf("note %d of %d", i, n), "--json")
				keeping.all()
				if code != 0 {
					t.Errorf("writer %d, note %d: exit %d\n%s%s", n, i, code, out, errs)
					continue
				}
				var said struct{ Commit string }
				if err := json.Unmarshal([]byte(out), &said); err != nil {
					t.Error(err)
				}
				acks[n] = append(acks[n], said.Commit)
			}
		})
	}
	wg.Wait()
	keeping.end()
	p.must("", "status")
	history := p.history()
	for _, commit := range slices.Concat(acks...) {
		if !slices.Contains(history, commit) {
			t.Errorf("%s was acknowledged and is not in the history", commit)
		}
	}
	t.Logf("%d operations acknowledged", len(slices.Concat(acks...)))
	for _, fault := range p.whole("afterwards", nil) {
		t.Error(fault)
	}
}
