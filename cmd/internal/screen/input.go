package screen

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
)

// input is a line that is being typed.
type input struct {
	label string
	text  []rune
	at    int // where the next character goes
}

func newInput(label, text string) *input {
	return &input{label, []rune(text), len([]rune(text))}
}

// press handles a key. Pasted keys are always text; a newline in them becomes a space.
func (i *input) press(k tty.Key, pasted bool) {
	switch k {
	case tty.Enter:
		if pasted {
			i.insert(' ')
		}
	case tty.Left:
		i.at = max(i.at-1, 0)
	case tty.Right:
		i.at = min(i.at+1, len(i.text))
	case tty.Home:
		i.at = 0
	case tty.End:
		i.at = len(i.text)
	case tty.Backspace:
		i.erase(i.at - 1)
	case tty.Delete:
		i.text = slices.Delete(i.text, i.at, min(i.at+1, len(i.text)))
	case tty.EraseWord:
		i.erase(i.wordBefore())
	case tty.EraseLine:
		i.erase(0)
	default:
		if k >= ' ' {
			i.insert(rune(k))
		}
	}
}

func (i *input) insert(r rune) {
	i.text = slices.Insert(i.text, i.at, r)
	i.at++
}

// erase deletes the text between a position and the cursor.
func (i *input) erase(from int) {
	from = max(from, 0)
	i.text, i.at = slices.Delete(i.text, from, i.at), from
}

func (i *input) wordBefore() int {
	from := i.at
	for from > 0 && unicode.IsSpace(i.text[from-1]) {
		from--
	}
	for from > 0 && !unicode.IsSpace(i.text[from-1]) {
		from--
	}
	return from
}

func (i *input) String() string { return strings.TrimSpace(string(i.text)) }

// maxTyped is how many lines of a text being typed are shown, at its end.
const maxTyped = 4

// lines draw the question, followed by the text with its cursor.
func (i *input) lines(p call.Page) []string {
	label := call.Wrap(i.label, p.Width-1)
	line, cursor := label[len(label)-1]+" ", "_"
	typed := line + string(i.text[:i.at]) + cursor + string(i.text[i.at:])
	rows := hardWrap(typed, p.Width-1)
	if len(rows) > maxTyped {
		at := len(hardWrap(line+string(i.text[:i.at])+cursor, p.Width-1))
		from := min(max(at-maxTyped, 0), len(rows)-maxTyped)
		rows = rows[from : from+maxTyped]
	}
	return append(label[:len(label)-1:len(label)-1], rows...)
}

// hardWrap breaks a line into pieces no wider than most cells, keeping every character.
func hardWrap(line string, most int) []string {
	var rows []string
	var row strings.Builder
	taken := 0
	for _, r := range line {
		n := call.Breadth(string(r))
		if taken+n > most {
			rows = append(rows, row.String())
			row.Reset()
			taken = 0
		}
		row.WriteRune(r)
		taken += n
	}
	return append(rows, row.String())
}
