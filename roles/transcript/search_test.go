package transcript_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/transcript"
)

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
