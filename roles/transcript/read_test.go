package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/transcript"
)

var check = testrun.Check

// put appends to a part of a transcript. name has no extension.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := transcript.Path(dir, name)
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := testrun.Must(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644))(t)
	_, err := f.WriteString(text)
	check(t, errors.Join(err, f.Close()))
}

func last(t *testing.T, dir string, n int) []string {
	t.Helper()
	var lines []string
	check(t, transcript.Read(t.Context(), dir, "coder-2", n, false, func(l []byte) error {
		lines = append(lines, string(l))
		return nil
	}))
	return lines
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestAgents(t *testing.T) {
	dir := t.TempDir()
	none := testrun.Must(transcript.Agents(dir))(t)
	equal(t, "before anything", none, nil)
	for _, name := range []string{"coder-2", "coder-2-2026-01-31T09-00-00.000", "code-reviewer-12", "planner-1-2026-01-31T09-00-00.000", "merge-one", "merge-coder-2"} {
		put(t, dir, name, "x\n")
	}
	agents := testrun.Must(transcript.Agents(dir))(t)
	equal(t, "agents", agents, []string{"code-reviewer-12", "coder-2", "planner-1"})
}

func TestLastLines(t *testing.T) {
	dir := t.TempDir()
	equal(t, "nothing", last(t, dir, 5), nil)
	put(t, dir, "coder-2-2026-01-31T09-00-00.000", "a\nb\n")
	put(t, dir, "coder-2-2026-01-31T10-00-00.000", "c\n\nd\n")
	put(t, dir, "coder-21", "another's\n")
	equal(t, "only what was put aside", last(t, dir, 1), []string{"d"})
	put(t, dir, "coder-2", "e\nf")
	all := []string{"a", "b", "c", "", "d", "e", "f"}
	equal(t, "all", last(t, dir, 0), all)
	for n := 1; n <= len(all)+1; n++ {
		equal(t, fmt.Sprint(n), last(t, dir, n), all[max(0, len(all)-n):])
	}
	long := strings.Repeat("x", 70<<10)
	put(t, dir, "coder-2", long+"\ny\n")
	equal(t, "over blocks", last(t, dir, 2), []string{"f" + long, "y"})
	put(t, dir, "coder-2", strings.Repeat("z", 3<<20))
	pieces := last(t, dir, 1)
	if len(pieces) != 3 || len(strings.Join(pieces, "")) != 3<<20 {
		t.Errorf("a line without an end comes in %d pieces", len(pieces))
	}
}

// TestFollow checks that every line arrives once and in order, whenever rotations happen.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "coder-2", "old\n0\n")
	ctx, cancel := context.WithCancel(t.Context())
	got, ended := make(chan string, 10000), make(chan error, 1)
	go func() {
		ended <- transcript.Read(ctx, dir, "coder-2", 1, true, func(l []byte) error { got <- string(l); return nil })
	}()
	next := 0
	upTo := func(n int) {
		t.Helper()
		for ; next <= n; next++ {
			select {
			case line := <-got:
				if line != fmt.Sprint(next) {
					t.Fatalf("%q, want line %d", line, next)
				}
			case <-time.After(time.Minute):
				t.Fatalf("line %d never came", next)
			}
		}
	}
	upTo(0)
	rotate := func(n int) {
		check(t, os.Rename(transcript.Path(dir, "coder-2"), transcript.Path(dir, fmt.Sprintf("coder-2-2026-01-31T09-00-00.%03d", n))))
	}
	written := 0
	write := func(end string) {
		written++
		put(t, dir, "coder-2", fmt.Sprint(written)+end)
	}
	write("\n")
	upTo(1)
	write("") // the end of the line follows
	put(t, dir, "coder-2", "\n")
	upTo(2)
	for n := range 100 {
		write("\n")
		rotate(n)
		write("\n")
		if n%7 == 0 {
			upTo(written)
		}
	}
	rotate(900) // nothing is written for the moment
	upTo(written)
	write("\n")
	upTo(written)
	check(t, os.Remove(transcript.Path(dir, "coder-2"))) // as if a user had cleaned up
	for _, p := range []string{"900", "099"} {
		check(t, os.Remove(transcript.Path(dir, "coder-2-2026-01-31T09-00-00."+p)))
	}
	cancel()
	check(t, <-ended)
}

func TestEmitEndsIt(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "coder-2", "a\nb\n")
	stop := errors.New("stop")
	testrun.ErrorIs(t, transcript.Read(t.Context(), dir, "coder-2", 0, true, func([]byte) error { return stop }), stop, "the value")
}

func TestLines(t *testing.T) {
	at := time.Date(2026, 1, 31, 10, 0, 0, 5, time.FixedZone("", 3600))
	line := transcript.Line(at, "started\nclaude")
	testrun.Equal(t, line, "[liza 2026-01-31T09:00:00Z] started claude\n", "the value")
	read, text, own := transcript.Parse(strings.TrimSuffix(line, "\n"))
	if !own || text != "started claude" || !read.Equal(at.Truncate(time.Second)) {
		t.Errorf("%s %q %t", read, text, own)
	}
	for _, other := range []string{"", "[liza] x", "[liza yesterday] x", "[liza 2026-01-31T09:00:00Z", " [liza 2026-01-31T09:00:00Z] x"} {
		if _, text, own := transcript.Parse(other); own || text != other {
			t.Errorf("%q is taken for the supervisor's", other)
		}
	}
}

// TestSearch checks that lines are found across agents, runs and rotated parts, ordered by time,
// each with the task of its run.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, "logs", name)
		check(t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(t, os.WriteFile(file, []byte(text), 0o644))
	}
	write("coder-1-2026-01-31T08-00-00.000.log", "[liza 2026-01-31T07:00:00Z] started login: claude\nthe tests FAIL at line 3\n")
	write("coder-1.log", "[liza 2026-01-31T07:30:00Z] ended login: exit 0\nno tests fail between runs\n[liza 2026-01-31T09:00:00Z] started cart: claude\nthe tests fail again\n")
	write("coder-2.log", "[liza 2026-01-31T08:00:00Z] started login: codex\nthe tests of another fail\n[liza 2026-01-31T08:10:00Z] trouble login: the tests fail to start\n")
	find := func(last int, q transcript.Query) []string {
		t.Helper()
		found := testrun.Must(transcript.Search(context.Background(), dir, []string{"coder-1", "coder-2"}, q, last, func(line []byte) []string { return []string{string(line)} }))(t)
		var lines []string
		for _, f := range found {
			lines = append(lines, f.Agent+" "+f.Task+" "+f.Line)
		}
		return lines
	}
	for _, c := range []struct {
		q    transcript.Query
		last int
		want string
	}{
		{transcript.Query{Words: []string{"tests", "fail"}}, 0, "coder-1 login the tests FAIL at line 3|coder-1  no tests fail between runs|coder-2 login the tests of another fail|" +
			"coder-2 login trouble login: the tests fail to start|coder-1 cart the tests fail again"},
		{transcript.Query{Words: []string{"fail"}, Task: "cart"}, 0, "coder-1 cart the tests fail again"},
		{transcript.Query{Words: []string{"fail"}}, 1, "coder-1 cart the tests fail again"},
		{transcript.Query{Task: "login"}, 0, "coder-1 login started login: claude|coder-1 login the tests FAIL at line 3|coder-1 login ended login: exit 0|" +
			"coder-2 login started login: codex|coder-2 login the tests of another fail|coder-2 login trouble login: the tests fail to start"},
		{transcript.Query{Words: []string{"nothing of this"}}, 0, ""},
	} {
		if got := find(c.last, c.q); !slices.Equal(got, strings.Split(c.want, "|")) && !(c.want == "" && len(got) == 0) {
			t.Errorf("%+v finds\n%s\nnot\n%s", c.q, strings.Join(got, "|"), c.want)
		}
	}
}
