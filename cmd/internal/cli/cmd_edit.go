package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

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

// begin writes the file to edit, and returns what is in it.
func (e *edit) begin(from string) (string, error) {
	v, err := e.view()
	if err != nil {
		return "", err
	}
	if e.path, err = editedRecord(v.State, e.args[0]); err != nil {
		return "", err
	}
	if _, err := board.Editable(v.State, e.path); err != nil {
		return "", err
	}
	e.commit = v.Commit
	body := ""
	if from != "" {
		if body, err = e.call.file("from", from); err != nil {
			return "", err
		}
		if began := beganWith(body, e.path); began != "" {
			e.commit = gitio.OID(began)
		}
		if v, err = e.opened.ViewAt(e.ctx, string(e.commit)); err != nil {
			return "", err
		}
		body = withoutHead(body)
	}
	if e.base, err = board.Editable(v.State, e.path); err != nil {
		return "", err
	}
	if from == "" {
		data, err := codec.Encode(e.base)
		if err != nil {
			return "", err
		}
		body = string(data)
	}
	token, err := e.opened.Token()
	if err != nil {
		return "", err
	}
	e.name = "edits/" + strings.ReplaceAll(e.path[:len(e.path)-len(".yaml")], "/", "-") + "-" + token[:8] + ".yaml"
	e.file = filepath.Join(e.opened.Dir(), filepath.FromSlash(e.name))
	text := strings.TrimRight(e.head()+body, "\n") + "\n" // as Keep ends it
	return text, e.opened.Keep(e.name, text)
}

// editedRecord is the path of the record that an argument names.
func editedRecord(s *board.State, name string) (string, error) {
	at := documentPath(name)
	if path := recordCalled(s, at); path != "" {
		at = path
	}
	parts := strings.Split(strings.Trim(at, "."), ".")
	if file, ok := recordSingles[parts[0]]; ok && len(parts) == 1 {
		return file, nil
	}
	if len(parts) == 2 {
		for key, dir := range recordFamilies {
			if parts[0] != key && parts[0] != dir {
				continue
			}
			if dir == board.TaskDir {
				return taskRecord(s, parts[1])
			}
			return board.RecordPath(dir, parts[1]), nil
		}
	}
	if len(parts) > 1 {
		return "", board.Refuse("invalid", fmt.Sprintf("%q names no record", board.Line(name, 80)), "records like tasks.add-auth, goal, human_notes.note-1; one field: git liza write")
	}
	return taskRecord(s, name)
}

// taskRecord is the path of a task's record, archived or not.
func taskRecord(s *board.State, id string) (string, error) {
	t, err := s.FindTask(id)
	if err != nil {
		return "", err
	}
	if path, _, err := s.Archived(id); path != "" || err != nil {
		return path, err
	}
	return board.RecordPath(board.TaskDir, t.ID), nil
}

// headMark begins the line that says what a file began with.
const headMark = "# git liza edit "

func (e *edit) head() string {
	return headMark + e.path + " @ " + string(e.commit) + "\n" +
		"# To change: " + strings.Join(board.Writable(e.path), ", ") + ".\n# Saved as it is, nothing changes.\n"
}

// beganWith is the board's commit that a kept text of a record began with, "" when it does not say.
func beganWith(text, path string) string {
	line, _, _ := strings.Cut(text, "\n")
	commit, ok := strings.CutPrefix(strings.TrimSpace(line), headMark+path+" @ ")
	if !ok {
		return ""
	}
	return commit
}

// withoutHead is a text without the comments that it begins with.
func withoutHead(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
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

// conflict is that somebody else has changed the same fields meanwhile.
type conflict struct {
	commit    gitio.OID
	now, mine any
	edits     []board.FieldEdit // all that the human changed
	fields    []string          // and where both did
}

func (k *conflict) Error() string {
	return "somebody else has changed " + strings.Join(k.fields, ", ") + " meanwhile"
}

// changedFields are the top-level fields in which two records differ, with the second one's values.
func changedFields(a, b any) ([]board.FieldEdit, error) {
	old, err := yamlFields(a)
	if err != nil {
		return nil, err
	}
	new, err := yamlFields(b)
	if err != nil {
		return nil, err
	}
	var changed []board.FieldEdit
	for _, f := range new {
		if was, ok := valueOf(old, f.Field); !ok || was != f.Value {
			changed = append(changed, f)
		}
	}
	for _, f := range old {
		if _, stays := valueOf(new, f.Field); !stays {
			changed = append(changed, board.FieldEdit{Field: f.Field, Value: "null\n"})
		}
	}
	return changed, nil
}

func valueOf(fields []board.FieldEdit, name string) (string, bool) {
	for _, f := range fields {
		if f.Field == name {
			return f.Value, true
		}
	}
	return "", false
}

// yamlFields are a record's fields, each as YAML.
func yamlFields(record any) ([]board.FieldEdit, error) {
	data, err := codec.Encode(record)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	var fields []board.FieldEdit
	top := doc.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		value, err := yaml.Marshal(top[i+1])
		if err != nil {
			return nil, err
		}
		fields = append(fields, board.FieldEdit{Field: top[i].Value, Value: string(value)})
	}
	return fields, nil
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
	if err == nil && (string(data) == before || strings.TrimSpace(withoutHead(string(data))) == "") {
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

// laidOver is a record as YAML with the fields of an edit in the place of its own.
func laidOver(record any, edits []board.FieldEdit) (string, error) {
	fields, err := yamlFields(record)
	if err != nil {
		return "", err
	}
	for _, f := range edits {
		if i := slices.IndexFunc(fields, func(own board.FieldEdit) bool { return own.Field == f.Field }); i >= 0 {
			fields[i] = f
		} else {
			fields = append(fields, f)
		}
	}
	top := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		var value yaml.Node
		if err := yaml.Unmarshal([]byte(f.Value), &value); err != nil {
			return "", err
		}
		top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Field}, value.Content[0])
	}
	return codec.Render(top)
}

// showBoth shows what they changed and what the human did, and puts theirs above the text. That begins, from there
// on, with the board as they left it: who saves it has seen both.
func (e *edit) showBoth(k *conflict) error {
	theirs, err := compareRecords(e.path, e.base, k.now)
	if err != nil {
		return err
	}
	mine, err := compareRecords(e.path, e.base, k.mine)
	if err != nil {
		return err
	}
	only := func(all []change) (of []change) {
		for _, ch := range all {
			for _, name := range k.fields {
				if ch.Field == name {
					of = append(of, ch)
				}
			}
		}
		return of
	}
	e.commit = k.commit
	var above strings.Builder
	above.WriteString(e.head() + "# Somebody else's change of the same fields; yours is below:\n")
	for _, ch := range only(theirs) {
		for line := range strings.Lines(ch.Field + ": " + ch.New + "\n") {
			above.WriteString("#   " + line)
		}
	}
	text, err := laidOver(k.now, k.edits)
	if err != nil {
		return err
	}
	if err := e.opened.Keep(e.name, above.String()+text); err != nil {
		return err
	}
	if e.json {
		return nil
	}
	_, err = io.WriteString(e.app.Stdout, e.legible(board.Visible(strings.Join(append(append([]string{"theirs"}, e.drawn(only(theirs))...),
		append([]string{"yours"}, e.drawn(only(mine))...)...), "\n")+"\n")))
	return err
}
