package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// edit is a record that a human is editing.
type edit struct {
	*call.Call
	path   string // of the record
	reason string
	name   string // name of the file for Keep
	file   string
	commit plumbing.OID // the board's commit that the text is based on
	base   any          // the record at that commit
}

func Run(ctx context.Context, c *call.Call, reason, from string) error {
	ctx = context.WithoutCancel(ctx) // an interrupt typed in the editor is for the editor
	op := "write"
	if c.Args[0] == "team" {
		op = "team"
	}
	actor, err := c.Actor(ctx, op)
	if err != nil {
		return err
	}
	if done, err := c.Board.Lookup(ctx, c.Asks(actor)); done != nil || err != nil {
		if err != nil {
			return err
		}
		return c.Report(done, nil)
	}
	e := &edit{Call: c, reason: reason}
	text, err := e.begin(ctx, from)
	if err != nil {
		return err
	}
	for {
		if err := e.open(ctx); err != nil {
			return e.kept(text, err)
		}
		done, err := e.commitText(ctx)
		if err == nil {
			return e.finish(done)
		}
		if !e.again(err) {
			return e.kept(text, err)
		}
	}
}

// open runs the editor on the file. The repository is not used meanwhile, since that may take long.
func (e *edit) open(ctx context.Context) error {
	program := e.editor()
	if program == "" {
		return board.Refuse(board.CodeInvalid, "no editor is named, and there is no terminal for vi",
			"with an editor that needs no terminal: EDITOR=COMMAND git liza edit "+text.Line(e.Args[0], 80))
	}
	e.Board.Close()
	out := e.App.Stdout
	if e.JSON {
		out = e.App.Stderr
	}
	fault := editor.Edit(program, e.file, e.App.Stdin, out, e.App.Stderr)
	if err := e.Open(ctx); err != nil {
		return err
	}
	if fault != nil {
		return &call.Outcome{Exit: 1, Code: call.CodeEditor, Message: fmt.Sprintf("the editor %q failed: %v; nothing was changed", text.Line(program, 60), fault), Hint: "set VISUAL or EDITOR to one that works"}
	}
	return nil
}

func (e *edit) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if program := e.App.Getenv(name); strings.TrimSpace(program) != "" {
			return program
		}
	}
	if e.asks() {
		return "vi"
	}
	return ""
}

// asks reports whether somebody can answer.
func (e *edit) asks() bool {
	in, ok := e.App.Stdin.(*os.File)
	return ok && call.IsTerminal(in) && !e.JSON
}

// commitText commits the file's present text; it returns nil if nothing changed.
func (e *edit) commitText(ctx context.Context) (*gitboard.Done, error) {
	data, err := os.ReadFile(e.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, board.Refuse(board.CodeInvalid, "the editor left no file: nothing was changed", "")
	}
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(withoutHead(string(data))) == "" {
		return nil, board.Refuse(board.CodeInvalid, "the text is empty: nothing was changed", "")
	}
	edited, err := codec.Decode(e.path, data)
	if err != nil {
		return nil, notRead(e.file, err, "")
	}
	fields, err := ChangedFields(e.base, edited)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	if e.path == board.TeamPath {
		return e.commitTeam(ctx, data, edited, fields)
	}
	return e.Do(ctx, "write", func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		free, _, err := e.unchanged(v, edited, fields)
		return &board.Write{Path: e.path, Reason: e.reason, Fields: free}, nil, err
	})
}

// commitTeam commits a text of the whole team, unless somebody else has changed it meanwhile.
func (e *edit) commitTeam(ctx context.Context, text []byte, edited any, fields []board.FieldEdit) (*gitboard.Done, error) {
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	free, moved, err := e.unchanged(v, edited, fields)
	if err != nil {
		return nil, err
	}
	merged := string(text)
	if moved != nil {
		if merged, err = LaidOver(moved, free); err != nil {
			return nil, err
		}
	}
	return SetTeam(ctx, e.Call, e.file, merged, "")
}

// unchanged returns the fields changed only by this edit, and the present record if somebody else
// changed other fields. A field that both have changed is a conflict.
func (e *edit) unchanged(v *gitboard.View, edited any, fields []board.FieldEdit) (free []board.FieldEdit, moved any, err error) {
	now, err := board.Editable(v.State, e.path)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := ChangedFields(e.base, now)
	if err != nil {
		return nil, nil, err
	}
	both := &conflict{commit: v.Commit, now: now, mine: edited, edits: fields}
	for _, f := range fields {
		switch other, changed := valueOf(theirs, f.Field); {
		case !changed:
			free = append(free, f)
		case other != f.Value:
			both.fields = append(both.fields, f.Field)
		}
	}
	switch {
	case len(both.fields) > 0:
		return nil, nil, both
	case len(free) == 0:
		return nil, nil, board.Refuse(board.CodeExists, "somebody else has made the same change meanwhile", "git liza read "+e.Args[0])
	}
	if len(theirs) > 0 {
		moved = now
	}
	return free, moved, nil
}

// finish reports a commit with its diff, and deletes the file.
func (e *edit) finish(done *gitboard.Done) error {
	if err := e.Board.Clone().Discard(e.name); err != nil {
		return err
	}
	if done == nil {
		return e.Answer(map[string]any{"changed": false}, "nothing changed in "+e.path)
	}
	now, err := done.After.Record(e.path)
	if err != nil {
		return err
	}
	all, err := e.compared(now, done.Op.Payload)
	if err != nil {
		return err
	}
	return e.Report(done, map[string]any{"changed": true, "changes": all}, e.drawn(all)...)
}

// compared has an edit's changes, without the history that records the edit.
func (e *edit) compared(now any, p board.Payload) ([]records.Change, error) {
	all, err := records.CompareRecords(e.path, e.base, now)
	w, is := p.(*board.Write)
	if !is {
		return all, err
	}
	var mine []records.Change
	for _, ch := range all {
		if _, ok := valueOf(w.Fields, ch.Field); ok {
			mine = append(mine, ch)
		}
	}
	return mine, err
}

func (e *edit) drawn(all []records.Change) []string {
	p := e.Page()
	lines := make([]string, len(all))
	for i, ch := range all {
		lines[i] = records.Coloured(p.Paint, p.Fit(ch.String(), p.Width), ch)
	}
	return lines
}

// again asks whether to open the editor again, if somebody can answer.
func (e *edit) again(fault error) bool {
	var r *board.Refusal
	if !e.asks() || !errors.As(fault, &r) {
		return false
	}
	e.App.PrintError(fault, false)
	fmt.Fprint(e.App.Stderr, "Open it again? [Y/n] ")
	var answer [1]byte
	line := ""
	for {
		n, err := e.App.Stdin.Read(answer[:])
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

// kept keeps the file unless its text is unchanged, and adds that to the error.
func (e *edit) kept(before string, fault error) error {
	data, err := os.ReadFile(e.file)
	if err != nil {
		return fault
	}
	if string(data) == before || strings.TrimSpace(withoutHead(string(data))) == "" {
		_ = e.Board.Clone().Discard(e.name) // it has no text of the human's
		return fault
	}
	where := "your text is kept in " + e.file + "; continue with: git liza edit " + strings.TrimSuffix(text.Line(e.Args[0], 80), "...") + " --from FILE"
	var both *conflict
	if errors.As(fault, &both) {
		return errors.Join(e.showBoth(both), &call.Outcome{Exit: 1, Code: board.CodeConflict, Message: both.Error() + ": " + e.path + " stays as they left it", Hint: where})
	}
	c := call.Classify(fault)
	if c.Hint != "" {
		where = c.Hint + "; " + where
	}
	return &call.Outcome{Exit: c.Exit, Code: c.Code, Message: fault.Error(), Hint: where}
}
