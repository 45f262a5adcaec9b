package edit

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// begin writes the file to edit, and returns its text.
func (e *edit) begin(ctx context.Context, from string) (string, error) {
	v, err := e.View(ctx)
	if err != nil {
		return "", err
	}
	if e.path, err = editedRecord(v.State, e.Args[0]); err != nil {
		return "", err
	}
	if _, err := board.Editable(v.State, e.path); err != nil {
		return "", err
	}
	e.commit = v.Commit
	body := ""
	if from != "" {
		if body, err = e.Call.File("--from", from); err != nil {
			return "", err
		}
		if began := beganWith(body, e.path); began != "" {
			e.commit = plumbing.OID(began)
		}
		if v, err = e.Board.ViewAt(ctx, string(e.commit)); err != nil {
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
	token, err := e.Board.Token()
	if err != nil {
		return "", err
	}
	e.name = "edits/" + strings.ReplaceAll(e.path[:len(e.path)-len(".yaml")], "/", "-") + "-" + token[:8] + ".yaml"
	e.file = filepath.Join(e.Board.Dir(), filepath.FromSlash(e.name))
	text := strings.TrimRight(e.head()+body, "\n") + "\n" // as Keep ends it
	return text, e.Board.Clone().Keep(e.name, text)
}

// editedRecord is the path of the record that an argument names.
func editedRecord(s *board.State, name string) (string, error) {
	at := records.DocumentPath(records.Meant(s, name))
	if path := records.Called(s, at); path != "" {
		at = path
	}
	parts := strings.Split(strings.Trim(at, "."), ".")
	if file, ok := records.Singles[parts[0]]; ok && len(parts) == 1 {
		return file, nil
	}
	if len(parts) == 2 {
		for key, dir := range records.Families {
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
		return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("%q names no record", text.Line(name, 80)), "records like tasks.add-auth, goal, human_notes.note-1; one field: git liza write")
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

// headMark starts the line that names a file's base.
const headMark = "# git liza edit "

func (e *edit) head() string {
	fields := board.Writable(e.path)
	if e.path == board.TeamPath {
		fields = []string{"roles", "stages"}
	}
	return headMark + e.path + " @ " + string(e.commit) + "\n" +
		"# To change: " + strings.Join(fields, ", ") + ".\n# Saved as it is, nothing changes.\n"
}

// beganWith is the board's commit that a record's kept text is based on, "" if the text names none.
func beganWith(text, path string) string {
	line, _, _ := strings.Cut(text, "\n")
	commit, ok := strings.CutPrefix(strings.TrimSpace(line), headMark+path+" @ ")
	if !ok {
		return ""
	}
	return commit
}

// withoutHead is a text without its leading comments.
func withoutHead(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}
