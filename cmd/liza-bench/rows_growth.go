package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// growthLine is what commands cost on a board of one size, in milliseconds.
type growthLine struct {
	Tasks   int                `json:"tasks"`
	Commits int                `json:"commits"`
	MS      map[string]float64 `json:"ms"`
}

// grown are the commands of the growth table, in its order.
var grown = []string{"F", "note", "add-task", "block", "claim", "status", "read", "show", "log"}

// benchGrowth measures commands on boards of 10 to 10 000 tasks and of 1 000 to 100 000 commits.
func benchGrowth(l *lab) error {
	sizes := []boardSize{{tasks: 10}, {tasks: 100}, {tasks: 1000}, {tasks: 10_000}, {tasks: 10, commits: 1000}, {tasks: 10, commits: 100_000}}
	switch {
	case l.o.tiny:
		sizes = []boardSize{{tasks: 10}, {tasks: 10, commits: 100}}
	case l.o.quick:
		sizes = []boardSize{{tasks: 10}, {tasks: 100}, {tasks: 1000}, {tasks: 10, commits: 1000}}
	}
	var sites []*site
	var arms []arm
	var at []int // of each site's first arm
	for _, size := range sizes {
		s, err := l.site(fmt.Sprintf("growth-%d-%d", size.tasks, size.commits), size)
		if err != nil {
			return err
		}
		if l.o.tiny || size.commits == 1000 {
			if err := s.checked(); err != nil {
				return err
			}
		}
		at = append(at, len(arms))
		sites = append(sites, s)
		own, err := s.growing()
		if err != nil {
			return err
		}
		arms = append(arms, own...)
	}
	got, err := l.measure(max(1, l.rounds()/2), arms...)
	if err != nil {
		return err
	}
	for i, s := range sites {
		line := growthLine{Tasks: sizes[i].tasks, Commits: s.made, MS: map[string]float64{}}
		own := got[at[i]:]
		for j, name := range grown {
			line.MS[name] = round(own[j].median())
		}
		checkout := own[len(grown)]
		line.MS["claim"] = round(own[4].less(checkout).median())
		l.growth = append(l.growth, line)
		l.say("  %6d tasks %7d commits  %v", line.Tasks, line.Commits, line.MS)
	}
	return nil
}

// growing are the commands of the growth table on one site, and the checkout that is in a claim.
func (s *site) growing() ([]arm, error) {
	note := s.noting("note")
	f, err := s.floorOf(note)
	if err != nil {
		return nil, err
	}
	claim, checkout := s.claiming()
	task := s.tasks[len(s.tasks)/2]
	add := arm{"add-task", func() (time.Duration, error) {
		return s.liza("", "add-task", "--id", fmt.Sprintf("new-%d", s.l.next()), "--desc", "Something that was forgotten", "--spec", "specs/vision.md", "--done", "go test passes", "--scope", "IN: all of it", "--ready")
	}, s.restore}
	block := arm{"block", func() (time.Duration, error) {
		return s.liza("", "block", task, "--reason", fmt.Sprintf("for the %d. reason", s.l.next()))
	}, s.restore}
	return []arm{f.arm(), note, add, block, claim, s.reading("status"), s.reading("read"), s.reading("show", task), s.reading("log", task), checkout}, nil
}

func (l *lab) growthTable() [][]string {
	lines := [][]string{{"Board"}}
	for _, name := range grown {
		if name == "claim" {
			name = "claim less the checkout"
		}
		lines[0] = append(lines[0], name)
	}
	for _, g := range l.growth {
		cells := []string{fmt.Sprintf("%s tasks, %s commits", thousands(g.Tasks), thousands(g.Commits))}
		for _, name := range grown {
			cells = append(cells, figure(g.MS[name]))
		}
		lines = append(lines, cells)
	}
	return lines
}

// benchNotes writes 10 000 notes in a row, each as any program that embeds gitboard would, and
// looks every 1 000 what a whole process costs by then, in turn with the same on a board without
// notes.
func benchNotes(l *lab) error {
	const all, stretch = 10_000, 1000
	few, err := l.site("notes-none", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	s, err := l.site("notes", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	size, err := s.diskUse()
	if err != nil {
		return err
	}
	for done := 0; ; done += stretch {
		if err := s.remember(); err != nil {
			return err
		}
		f, err := s.floorOf(s.noting("note"))
		if err != nil {
			return err
		}
		now, err := s.diskUse()
		if err != nil {
			return err
		}
		got, err := l.measure(max(3, l.rounds()/2), f.arm(), s.noting("note"), few.noting("the first note"))
		if err != nil {
			return err
		}
		floor, note, first := got[0], got[1], got[2]
		l.remark("after %s notes: a note takes %s ms, %s times the first (F with the same objects %s ms); %.0f MB of loose and packed objects",
			thousands(done), figure(note.median()), figure(note.against(first)), figure(floor.median()), float64(now-size)/1e6)
		if done == all {
			l.row("note, after 10 000 notes", note, first, "the first note", 1.2, 0)
			break
		}
		if err := s.notes(stretch); err != nil {
			return err
		}
	}
	was, err := s.diskUse()
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := s.git("gc", "-q", "--prune=now"); err != nil {
		return err
	}
	took := time.Since(start)
	is, err := s.diskUse()
	if err != nil {
		return err
	}
	l.remark("10 000 notes: %.0f MB before git gc, %.1f MB after (git gc took %.0f s)", float64(was-size)/1e6, float64(is-size)/1e6, took.Seconds())
	return nil
}

// notes writes notes in this process.
func (s *site) notes(n int) error {
	ctx := context.WithoutCancel(s.l.ctx)
	b, err := gitboard.Open(ctx, s.dir, gitboard.Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	for range n {
		p := &board.AddNote{Message: fmt.Sprintf("The %d. thing that somebody should know", s.l.next())}
		if _, err := b.Do(ctx, gitboard.Request{Actor: human}, gitboard.Just(p)); err != nil {
			return err
		}
	}
	return nil
}

// diskUse is how much the repository's objects fill on the disk, in bytes.
func (s *site) diskUse() (int64, error) {
	var total int64
	err := filepath.Walk(filepath.Join(s.dir, ".git", "objects"), func(_ string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		total += diskBytes(info)
		return nil
	})
	return total, err
}
