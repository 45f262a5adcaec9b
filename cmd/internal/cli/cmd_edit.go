package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

func editCommand() *command {
	var reason, from string
	return &command{
		name: "edit", group: "human", args: "RECORD", min: 1, max: 1, writes: true,
		short: "change a record in your editor: checked as write does, shown as a diff, one commit",
		long: `RECORD is a task's or another record's id, goal, sprint, config, or a path as git liza read has it: tasks.add-auth,
human_notes.note-1. The editor is that of VISUAL, else EDITOR, else vi; it may have arguments. What can't be committed
is kept in a file that is named: broken YAML, what the rules refuse, and a text that somebody else's change has
overtaken (both are shown). --from goes on with such a file.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&reason, "reason", "", "why")
			f.StringVar(&from, "from", "", "begin with the text in a `FILE`, as an earlier edit kept it")
		},
		run: func(c *call) error { return c.runEdit(reason, from) },
	}
}

// edit is a record in a human's hands.
type edit struct {
	*call
	path   string // of the record
	reason string
	name   string // of the file, as Keep names it
	file   string
	commit gitio.OID // of the board that the text began with
	base   any       // the record there
}

func (c *call) runEdit(reason, from string) error {
	c.ctx = context.WithoutCancel(c.ctx) // an interrupt that is typed in the editor is the editor's
	actor, err := c.actor("write")
	if err != nil {
		return err
	}
	if done, err := worktrees.Repeated(c.ctx, c.opened, actor, c.request); done != nil || err != nil {
		if err != nil {
			return err
		}
		return c.report(done, nil)
	}
	e := &edit{call: c, reason: reason}
	text, err := e.begin(from)
	if err != nil {
		return err
	}
	for {
		if err := e.open(); err != nil {
			return e.kept(text, err)
		}
		done, err := e.commitText(text)
		if err == nil {
			return e.finish(done)
		}
		if !e.again(err) {
			return e.kept(text, err)
		}
	}
}

// open hands the file to the editor. The repository is left alone meanwhile, for it may take long.
func (e *edit) open() error {
	program := e.editor()
	if program == "" {
		return board.Refuse("invalid", "no editor is named, and there is no terminal for vi", "EDITOR=vi git liza edit "+board.Line(e.args[0], 80))
	}
	e.opened.Close()
	e.opened = nil
	out := e.app.Stdout
	if e.json {
		out = e.app.Stderr
	}
	fault := editor.Edit(program, e.file, e.app.Stdin, out, e.app.Stderr)
	if _, err := e.board(); err != nil {
		return err
	}
	if fault != nil {
		return &outcome{1, "editor", fmt.Sprintf("the editor %q failed: %v; nothing was changed", board.Line(program, 60), fault), "set VISUAL or EDITOR to one that works"}
	}
	return nil
}

func (e *edit) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if program := e.app.Getenv(name); strings.TrimSpace(program) != "" {
			return program
		}
	}
	if e.asks() {
		return "vi"
	}
	return ""
}

// asks reports whether somebody is there to answer.
func (e *edit) asks() bool {
	in, ok := e.app.Stdin.(*os.File)
	return ok && isTerminal(in) && !e.json
}

// commitText commits what the file says now, nil when that is nothing new.
func (e *edit) commitText(before string) (*gitboard.Done, error) {
	data, err := os.ReadFile(e.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, board.Refuse("invalid", "the editor left no file: nothing was changed", "")
	}
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(withoutHead(string(data))) == "" {
		return nil, board.Refuse("invalid", "the text is empty: nothing was changed", "")
	}
	edited, err := codec.Decode(e.path, data)
	if err != nil {
		var broken *codec.Error
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return nil, board.Refuse("invalid", fmt.Sprintf("%s: %v", e.file, err), "")
	}
	fields, err := changedFields(e.base, edited)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	return e.do("write", func(_ context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		now, err := board.Editable(v.State, e.path)
		if err != nil {
			return nil, nil, err
		}
		theirs, err := changedFields(e.base, now)
		if err != nil {
			return nil, nil, err
		}
		p := &board.Write{Path: e.path, Reason: e.reason}
		both := &conflict{commit: v.Commit, now: now, mine: edited, edits: fields}
		for _, f := range fields {
			switch other, changed := valueOf(theirs, f.Field); {
			case !changed:
				p.Fields = append(p.Fields, f)
			case other != f.Value:
				both.fields = append(both.fields, f.Field)
			}
		}
		switch {
		case len(both.fields) > 0:
			return nil, nil, both
		case len(p.Fields) == 0:
			return nil, nil, board.Refuse("exists", "somebody else has made the same change meanwhile", "git liza read "+e.args[0])
		}
		return p, nil, nil
	})
}

// finish reports a commit with its diff, and takes the file away.
func (e *edit) finish(done *gitboard.Done) error {
	if err := e.opened.Discard(e.name); err != nil {
		return err
	}
	if done == nil {
		return e.answer(map[string]any{"changed": false}, "nothing changed in "+e.path)
	}
	now, err := done.After.Record(e.path)
	if err != nil {
		return err
	}
	all, err := e.compared(now, done.Op.Payload.(*board.Write))
	if err != nil {
		return err
	}
	return e.report(done, map[string]any{"changed": true, "changes": all}, e.drawn(all)...)
}

// compared is what an edit has changed, without what is recorded of it.
func (e *edit) compared(now any, w *board.Write) ([]change, error) {
	all, err := compareRecords(e.path, e.base, now)
	var mine []change
	for _, ch := range all {
		if _, ok := valueOf(w.Fields, ch.Field); ok {
			mine = append(mine, ch)
		}
	}
	return mine, err
}

func (e *edit) drawn(all []change) []string {
	p := e.page()
	lines := make([]string, len(all))
	for i, ch := range all {
		lines[i] = p.change(p.fitted(ch.String(), p.width), ch)
	}
	return lines
}

// again asks whether to open the editor once more, where somebody is there to answer.
func (e *edit) again(fault error) bool {
	var r *board.Refusal
	if !e.asks() || !errors.As(fault, &r) {
		return false
	}
	e.app.printError(fault, false)
	fmt.Fprint(e.app.Stderr, "Open it again? [Y/n] ")
	var answer [1]byte
	line := ""
	for {
		n, err := e.app.Stdin.Read(answer[:])
		if n == 1 && answer[0] != '\n' {
			line += string(answer[:])
			continue
		}
		if err != nil && line == "" {
			return false
		}
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "" || line == "y" || line == "yes"
	}
}

// kept leaves the text where it is, unless it is as it was before, and says so beside the fault.
func (e *edit) kept(before string, fault error) error {
	data, err := os.ReadFile(e.file)
	if err != nil {
		return fault
	}
	if string(data) == before || strings.TrimSpace(withoutHead(string(data))) == "" {
		_ = e.opened.Discard(e.name) // there is nothing of the human's in it
		return fault
	}
	where := "your text is kept in " + e.file + "; go on with: git liza edit " + strings.TrimSuffix(board.Line(e.args[0], 80), "...") + " --from FILE"
	var both *conflict
	if errors.As(fault, &both) {
		return errors.Join(e.showBoth(both), &outcome{1, "conflict", both.Error() + ": " + e.path + " stays as they left it", where})
	}
	c := classify(fault)
	if c.hint != "" {
		where = c.hint + "; " + where
	}
	return &outcome{c.exit, c.code, fault.Error(), where}
}
