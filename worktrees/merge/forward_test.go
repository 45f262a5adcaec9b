package merge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// TestRecordsOfMoves checks which records of moves are of a checkout that has not followed, which go
// because their move did not happen, and which stay because it still may.
func TestRecordsOfMoves(t *testing.T) {
	ctx, b, v, base := boarded(t)
	top := b.Repo().TopLevel()
	run(t, top, "checkout", "-q", "integration")
	tip := run(t, top, "commit-tree", "-p", string(base), "-m", "landed", string(base)+"^{tree}")
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", string(tip))
	later := run(t, top, "commit-tree", "-p", string(tip), "-m", "not landed", string(base)+"^{tree}")
	gone := filepath.Join(t.TempDir(), "gone")
	const another = "another process"
	missing := git.OID("1234567890123456789012345678901234567890")
	text := func(new git.OID, process string, at time.Time, top string) string {
		return fmt.Sprintf("%s %s\n%s\n%s\n%s", base, new, process, board.At(at), top)
	}
	now, long := b.Now(), b.Now().Add(-forwardOver-time.Minute)
	dir := filepath.Join(b.Dir(), forwardDir)
	for name, c := range map[string]struct {
		text         string
		found, stays bool
	}{
		"the move happened": {text(tip, another, now, top), true, true},
		"long ago":          {text(tip, another, long, top), true, true},
		"it is no checkout of integration any more": {text(tip, another, now, gone), false, false},
		"the move may still happen":                 {text(later, another, now, top), false, true},
		"it has not happened in an hour":            {text(later, another, long, top), false, false},
		"this process has not made it":              {text(later, gitio.ThisProcess(), now, top), false, false},
		"its commit is missing, and it may be made": {text(missing, another, now, top), false, true},
		"its commit is missing, and it is too late": {text(missing, another, long, top), false, false},
		"it is cut short":                           {"abc\n", false, false},
		"it names no commit":                        {text("x", another, long, top), false, false},
		"it has no time":                            {fmt.Sprintf("%s %s\n%s\n\n%s", base, later, another, top), false, false},
		"it is being written":                       {"", false, true},
	} {
		must(t, os.MkdirAll(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "one"), []byte(c.text), 0o644))
		found, err := left(ctx, b, v)
		must(t, err)
		if is := len(found) == 1; is != c.found || is && (found[0].top != top || found[0].old != base || found[0].new != tip || found[0].tip != tip) {
			t.Errorf("%s: found %+v", name, found)
		}
		if _, err := os.Stat(filepath.Join(dir, "one")); (err == nil) != c.stays {
			t.Errorf("%s: %v", name, err)
		}
		must(t, os.RemoveAll(dir))
	}
	// A process lets only those checkouts follow that it has announced itself.
	must(t, os.MkdirAll(dir, 0o755))
	for name, process := range map[string]string{"own": gitio.ThisProcess(), "other": another} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text(tip, process, now, top)), 0o644))
	}
	if done, warnings := follow(ctx, b, v); !slices.Equal(done, []string{top}) || len(warnings) > 0 {
		t.Errorf("%q follow, %q", done, warnings)
	}
	if all, err := records(b); err != nil || len(all) != 1 || all[0].process != another {
		t.Errorf("left are %+v, %v", all, err)
	}
}
