package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestHaltIsSummarized: the file .liza/CHECKPOINT has the sprint's summary written, once, by any
// supervisor and by a team without members, and the supervisor names its file.
func TestHaltIsSummarized(t *testing.T) {
	ctx, s, _, _ := supervised(t)
	root := testrun.Must(s.Board.Root(ctx))(t)
	file := filepath.Join(root, ".liza", "CHECKPOINT")
	halt := func(since string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(since+"\n"), 0o644))
	}
	summaries := func() int {
		t.Helper()
		found := testrun.Must(filepath.Glob(filepath.Join(s.Board.Dir(), "summaries", "*-sprint-1.md")))(t)
		return len(found)
	}
	halt("2026-01-02T03:00:00Z")
	for range 2 {
		l := testrun.Must(s.look(ctx))(t)
		if step := Next(l, s.memory); step.Do != Wait || !strings.HasSuffix(step.Reason, " .liza/CHECKPOINT; summary: "+l.Summary) {
			t.Errorf("%+v", step)
		}
		text := testrun.Must(os.ReadFile(l.Summary))(t)
		if !strings.Contains(string(text), "sprint-1") || summaries() != 1 {
			t.Errorf("%d summaries, of %s:\n%s", summaries(), l.Summary, text)
		}
	}
	halt("2026-01-02T03:01:00Z")
	testrun.Must((&team{Team: Team{Board: s.Board}}).hire(ctx, nil))(t)
	if summaries() != 2 {
		t.Errorf("%d summaries once the team has looked", summaries())
	}
}
