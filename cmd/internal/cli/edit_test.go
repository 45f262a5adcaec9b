//go:build unix

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/cmd/internal/edit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestEditAsksOnATerminal: on a terminal, a text that can't be committed is opened again if its
// author wants that; otherwise it is kept.
func TestEditAsksOnATerminal(t *testing.T) {
	for answer, opened := range map[string]int{"\n": 2, "y\n": 2, "n\n": 1, "\x04": 1} {
		l := newLife(t)
		host, tty, err := pty.Open()
		if err != nil {
			t.Skipf("no pty here: %v", err)
		}
		// breaks the text at first and repairs it at the second time
		l.write("editor.sh", `echo opened >> "$0.log"
if [ -e "$0.again" ]; then sed -e 's/^description:.*/description: mended/' "$1" > "$1.new"; else sed -e 's/^description:.*/description: [/' "$1" > "$1.new"; fi
mv "$1.new" "$1"
: > "$0.again"
`)
		script := filepath.Join(l.dir, "editor.sh")
		l.env["EDITOR"] = "sh '" + script + "'"
		var out, errs bytes.Buffer
		app := l.app("", &out, &errs)
		app.Stdin = tty
		testrun.Must(host.WriteString(answer))(t)
		code := Run(context.Background(), app, []string{"edit", "goal"})
		host.Close()
		tty.Close()
		log := testrun.Must(os.ReadFile(script + ".log"))(t)
		if n := strings.Count(string(log), "opened"); n != opened {
			t.Errorf("after %q the editor was opened %d times, not %d: %s", answer, n, opened, errs.String())
		}
		kept := testrun.Must(filepath.Glob(filepath.Join(l.dir, ".git/liza/edits/*.yaml")))(t)
		if opened == 2 && (code != 0 || len(kept) != 0 || !strings.Contains(out.String(), "~ goals/goal-1.description: A calculator -> mended")) {
			t.Errorf("after %q: exit code %d, kept %q\n%s%s", answer, code, kept, out.String(), errs.String())
		}
		if opened == 1 && (code != 1 || len(kept) != 1 || !strings.Contains(errs.String(), "your text is kept in "+kept[0])) {
			t.Errorf("after %q: exit code %d, kept %q\n%s%s", answer, code, kept, out.String(), errs.String())
		}
		if !strings.Contains(errs.String(), "line ") || !strings.Contains(errs.String(), "Open it again? [Y/n]") {
			t.Errorf("after %q it does not say where it is broken, or does not ask: %s", answer, errs.String())
		}
	}
}

// TestEditKeepsTexts: a human's text is the same on the board as in the editor, however YAML quotes
// it.
func TestEditKeepsTexts(t *testing.T) {
	s := newBoardScene(t, "A calculator").add("parse", "Parse sums", 2)
	path := board.RecordPath(board.TaskDir, "parse")
	for _, text := range []string{"null", "~", "yes", "0x10", "1", "2026-01-31", "\nfirst", "last\n\n", " a\n  b ", "a: b # c", "- x", "'q' \"q\"", "\ttab\nnext", "漢字 🦎", "|\n", "[", "a\nb\n"} {
		base := s.state().Task("parse")
		mine := *base
		mine.Scope = text
		mine.Extra = map[string]any{"text": text, "list": []any{text, 1, true, nil}}
		data := testrun.Must(codec.Encode(&mine))(t)
		edited := testrun.Must(codec.Decode(path, data))(t)
		fields := testrun.Must(edit.ChangedFields(base, edited))(t)
		s.do("human", &board.Write{Path: path, Fields: fields})
		now := s.state().Task("parse")
		if now.Scope != text || !reflect.DeepEqual(now.Extra, mine.Extra) {
			t.Errorf("%q became %q and %v", text, now.Scope, now.Extra)
		}
		// Only the history may have grown.
		if again, err := edit.ChangedFields(now, edited); err != nil || len(again) > 1 {
			t.Errorf("%q: %v is still to change, %v", text, again, err)
		}
		over := testrun.Must(edit.LaidOver(base, fields))(t)
		if same, err := codec.Decode(path, []byte(over)); err != nil || same.(*board.Task).Scope != text {
			t.Errorf("%q laid over the record reads %v, %v", text, same, err)
		}
	}
}
