package log

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// cacheHead is the first line of the file. It changes whenever the form of a brief does.
const cacheHead = "git-liza briefs 7\n"

// cached is the cache entry of a task's file: its brief, and whether the file is in canonical
// form (plain).
type cached struct {
	board.Brief
	plain bool
}

// briefCache remembers briefs by the id of the blob that they came from, so an entry never becomes
// stale. Losing the file, or two processes writing it at once, only costs time.
type briefCache struct {
	file string

	mu    sync.Mutex
	known map[plumbing.OID]cached // nil until the file has been read
}

// load returns the known briefs. The map must not be modified.
func (c *briefCache) load() map[plumbing.OID]cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		data, _ := os.ReadFile(c.file) // without a file no brief is known
		c.known = parseBriefs(data)
	}
	return c.known
}

// save keeps the briefs of the current tasks, each of which is known or fresh: in memory, and in
// the file if enough of them are new to make writing worthwhile.
func (c *briefCache) save(entries []plumbing.TreeEntry, known, fresh map[plumbing.OID]cached) {
	if len(fresh) == 0 {
		return
	}
	kept := make(map[plumbing.OID]cached, len(entries))
	for _, e := range entries {
		b, ok := known[e.OID]
		if !ok {
			b = fresh[e.OID]
		}
		kept[e.OID] = b
	}
	c.mu.Lock()
	c.known = kept
	c.mu.Unlock()
	if c.file == "" || len(fresh) <= 8+len(entries)/50 {
		return
	}
	makeDir(filepath.Dir(c.file))
	tmp, err := os.CreateTemp(filepath.Dir(c.file), ".briefs-")
	if err != nil {
		return
	}
	_, err = tmp.Write(formatBriefs(kept))
	if closeErr := tmp.Close(); err != nil || closeErr != nil || os.Rename(tmp.Name(), c.file) != nil {
		os.Remove(tmp.Name())
	}
}

// makeDir creates dir, and its parent if necessary, but nothing above: if the repository was moved
// away, it must not be created again.
func makeDir(dir string) {
	_ = os.Mkdir(filepath.Dir(dir), 0o755) // a missing directory shows when a file is made
	_ = os.Mkdir(dir, 0o755)
}

// formatBriefs writes one brief per line, with tab-separated fields. JSON takes several times as
// long to read. A brief with a newline or a comma inside a field, which takes a hand edit, is left
// out, and one with a tab isn't read.
func formatBriefs(all map[plumbing.OID]cached) []byte {
	b := make([]byte, 0, len(cacheHead)+250*len(all))
	b = append(b, cacheHead...)
	for oid, c := range all {
		texts, numbers, truths := fieldsOf(&c)
		line := len(b)
		b = append(b, oid...)
		for _, t := range texts {
			b = append(append(b, '\t'), *t...)
		}
		b = append(append(b, '\t'), strings.Join(c.DependsOn, ",")...)
		b = append(append(b, '\t'), strings.Join(c.Touches, ",")...)
		for _, n := range numbers {
			b = strconv.AppendInt(append(b, '\t'), int64(*n), 10)
		}
		for _, t := range truths {
			b = strconv.AppendBool(append(b, '\t'), *t)
		}
		comma := func(id string) bool { return strings.Contains(id, ",") }
		if slices.ContainsFunc(c.DependsOn, comma) || slices.ContainsFunc(c.Touches, comma) || bytes.IndexByte(b[line:], '\n') >= 0 {
			b = b[:line]
			continue
		}
		b = append(b, '\n')
	}
	return b
}

// parseBriefs parses the output of formatBriefs. It returns nothing for any other text.
func parseBriefs(data []byte) map[plumbing.OID]cached {
	text, ours := strings.CutPrefix(string(data), cacheHead)
	all := make(map[plumbing.OID]cached, strings.Count(text, "\n"))
	if !ours {
		return all
	}
	for text != "" {
		line, rest, whole := strings.Cut(text, "\n")
		if text = rest; !whole {
			break
		}
		oid, line, _ := strings.Cut(line, "\t")
		if b, ok := parseBrief(line); ok {
			all[plumbing.OID(oid)] = b
		}
	}
	return all
}

func parseBrief(line string) (c cached, ok bool) {
	next := func() (field string) {
		field, line, _ = strings.Cut(line, "\t")
		return field
	}
	texts, numbers, truths := fieldsOf(&c)
	if strings.Count(line, "\t") != len(texts)+1+len(numbers)+len(truths) {
		return c, false
	}
	for _, t := range texts {
		*t = next()
	}
	if depends := next(); depends != "" {
		c.DependsOn = strings.Split(depends, ",")
	}
	if touches := next(); touches != "" {
		c.Touches = strings.Split(touches, ",")
	}
	var err error
	for _, n := range numbers {
		if *n, err = strconv.Atoi(next()); err != nil {
			return c, false
		}
	}
	for _, t := range truths {
		if *t, err = strconv.ParseBool(next()); err != nil {
			return c, false
		}
	}
	return c, true
}

// fieldsOf returns the fields of a line in order, except depends_on and touches, which come
// after the texts.
func fieldsOf(c *cached) (texts []*string, numbers []*int, truths []*bool) {
	b, t := &c.Brief, &c.Brief.Tally
	return []*string{
			&b.ID, &b.Goal, (*string)(&b.Status), (*string)(&b.StatusChangedAt), (*string)(&b.Moved), (*string)(&b.Created),
			&b.AssignedTo, &b.ReviewingBy, &b.ApprovedBy, &b.ReservedFor, &b.Stage, (*string)(&b.Plan), &b.Title,
		}, []*int{
			&b.Priority, &b.Iteration, &b.ReviewCycles, &b.Failures,
			&t.Iterations, &t.ReviewCycles, &t.Approvals, &t.Rejections, &t.Submissions, &t.Drift,
		}, []*bool{&b.HandoffPending, &b.Freed, &b.Paused, &c.plain}
}
