package setup

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
)

// agentsSection is our text for a coding agent's CLI, which reads it in AGENTS.md or CLAUDE.md when
// it starts in the project.
const agentsSection = sectionBegin + `
## git liza

A team of agents works on this repository. It shares a board, the branch ` + "`liza/state`" + `.

- If ` + "`LIZA_AGENT_ID`" + ` is set, run ` + "`git liza prime`" + ` first: it prints who you are, what is yours and what comes next.
- Work only in the worktree that it names. Change the board only with ` + "`git liza`" + ` commands.
- Never commit to, move or push ` + "`liza/state`" + `, the integration branch or the branch of another task.
- A refusal says what to do instead. Do that, or block the task with a question; do not work around it.
- If ` + "`LIZA_AGENT_ID`" + ` is not set, you are not part of the team: ask before you run a ` + "`git liza`" + ` command that writes.
` + sectionEnd + "\n"

// The first and the last line of the section.
const (
	sectionBegin = "<!-- git liza -->"
	sectionEnd   = "<!-- end of git liza -->"
)

// include is the line by which other files include AGENTS.md.
const include = "@AGENTS.md"

// readByCLIs are the files that CLIs read: many read the first one, two their own, and include it.
var readByCLIs = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// WriteAgentsFiles writes the section to AGENTS.md, and to CLAUDE.md and GEMINI.md if the project
// has them and they don't include AGENTS.md; a new one includes it. It replaces an existing section
// and keeps all other text. It returns the changed files, and a refusal if one of the files could
// not be written to and lacks the section.
func WriteAgentsFiles(root string) ([]string, error) {
	changed := []string{}
	var links []string
	for _, name := range readByCLIs {
		path := filepath.Join(root, name)
		info, err := os.Lstat(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return changed, err
		case err == nil && !info.Mode().IsRegular():
			links = append(links, name) // usually a link to the other file
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changed, err
		}
		if bytes.IndexByte(old, 0) >= 0 {
			return changed, board.Refuse(board.CodeInTheWay, name+" is not text in UTF-8, and stays as it is", "save it as UTF-8, then: git liza init --agents")
		}
		fresh := withAgentsSection(string(old))
		switch absent := err != nil; {
		case absent && slices.Contains(links, readByCLIs[0]) || slices.Contains(strings.Fields(string(old)), include):
			continue
		case absent && name != readByCLIs[0]:
			fresh = sectionBegin + "\n" + include + "\n" + sectionEnd + "\n"
		}
		if fresh == string(old) {
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, name)
	}
	for _, name := range links {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || withAgentsSection(string(text)) != string(text) {
			return changed, board.Refuse(board.CodeInTheWay, name+" is a link or a directory, and stays as it is: the section about git liza is not in it",
				"put a file in its place, then: git liza init --agents")
		}
	}
	return changed, nil
}

// DropAgentsFiles takes the section out of the files again, and removes files without other content.
func DropAgentsFiles(root string) (err error) {
	for _, name := range readByCLIs {
		path := filepath.Join(root, name)
		info, missing := os.Lstat(path)
		if missing != nil || !info.Mode().IsRegular() {
			continue
		}
		data, failed := os.ReadFile(path)
		begin, end, found := findAgentsSection(string(data))
		switch rest := strings.TrimRight(string(data[:begin]), "\r\n"); {
		case failed != nil || !found:
			err = cmp.Or(err, failed)
		case rest == "" && end == len(data):
			err = cmp.Or(err, os.Remove(path))
		default:
			eol := string(data[begin+len(sectionBegin) : begin+len(sectionBegin)+1])
			if eol == "\r" {
				eol = "\r\n"
			}
			err = cmp.Or(err, os.WriteFile(path, []byte(rest+eol+string(data[end:])), info.Mode().Perm()))
		}
	}
	return err
}

// withAgentsSection is a text with the section in it, once, with the line ends of the text.
func withAgentsSection(text string) string {
	section, eol := agentsSection, "\n"
	if strings.Contains(text, "\r\n") {
		eol = "\r\n"
		section = strings.ReplaceAll(section, "\n", eol)
	}
	if begin, end, found := findAgentsSection(text); found {
		return text[:begin] + section + text[end:]
	}
	for text != "" && !strings.HasSuffix(text, eol+eol) {
		text += eol
	}
	return text + section
}

// findAgentsSection finds the first section that is whole. A beginning without an end is other
// text: what comes after it may be the user's.
func findAgentsSection(text string) (begin, end int, found bool) {
	begin = -1
	for line := range strings.Lines(text) {
		start := end
		end += len(line)
		switch strings.TrimRight(line, "\r\n") {
		case sectionBegin:
			begin = start
		case sectionEnd:
			if begin >= 0 {
				return begin, end, true
			}
		}
	}
	return 0, 0, false
}
