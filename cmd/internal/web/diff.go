package web

import (
	"html/template"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Limits of a displayed diff; git shows the rest.
const (
	maxDiffLines = 4000
	maxLineRunes = 500
)

// diffFile is a file of a diff.
type diffFile struct {
	Path, Was      string // Was: its old name, if renamed
	State          string // new, deleted, renamed or binary; "" if modified
	Test           bool
	Added, Removed int
	Lines          []diffLine
	Left           int // lines that are not shown
}

// diffLine is a line of a diff. Old and New are its line numbers, 0 for none.
type diffLine struct {
	Kind     string // add, del, same, hunk or note
	Old, New int
	HTML     template.HTML
	text     string // as displayed, of source
}

// Anchor is the file's id within a page.
func (f diffFile) Anchor() string { return "f-" + hashOf(f.Path)[:10] }

// side is a row of two columns.
type side struct {
	Left, Right diffLine
	Hunk        bool
}

// Sides pairs removed lines with added ones.
func (f diffFile) Sides() []side {
	var sides []side
	for i := 0; i < len(f.Lines); {
		l := f.Lines[i]
		if l.Kind != "del" && l.Kind != "add" {
			sides = append(sides, side{l, l, l.Kind == "hunk" || l.Kind == "note"})
			i++
			continue
		}
		del := i
		for del < len(f.Lines) && f.Lines[del].Kind == "del" {
			del++
		}
		add := del
		for add < len(f.Lines) && f.Lines[add].Kind == "add" {
			add++
		}
		for k := range max(del-i, add-del) {
			var s side
			if i+k < del {
				s.Left = f.Lines[i+k]
			}
			if del+k < add {
				s.Right = f.Lines[del+k]
			}
			sides = append(sides, s)
		}
		i = add
	}
	return sides
}

// highlight renders the lines of source. In removed lines that added lines replace, and in those,
// it marks the changed words.
func (f *diffFile) highlight() {
	changed := map[*diffLine][]span{}
	for i := 0; i < len(f.Lines); i++ {
		del := i
		for i < len(f.Lines) && f.Lines[i].Kind == "del" {
			i++
		}
		for k, add := 0, i; del+k < add && i < len(f.Lines) && f.Lines[i].Kind == "add"; k, i = k+1, i+1 {
			old, new := &f.Lines[del+k], &f.Lines[i]
			changed[old], changed[new] = changedWords(old.text, new.text)
		}
	}
	for i := range f.Lines {
		if l := &f.Lines[i]; l.HTML == "" {
			l.HTML = coloured(f.Path, l.text, changed[l])
		}
	}
}

// parseDiff splits git's diff by file.
func parseDiff(raw string, c *board.Config) []diffFile {
	var files []diffFile
	var f *diffFile
	shown := 0
	for l := range plumbing.PatchLines(raw) {
		if l.Kind == plumbing.PatchFile {
			files = append(files, diffFile{})
			f = &files[len(files)-1]
		}
		f.Path = l.Path
		switch l.Kind {
		case plumbing.PatchHeader:
			f.header(l)
		case plumbing.PatchHunk:
			f.line(&shown, diffLine{Kind: "hunk", HTML: template.HTML(template.HTMLEscapeString(plainly(text.Shown(l.Text), maxLineRunes)))})
		case plumbing.PatchAdded:
			f.Added++
			f.line(&shown, diffLine{Kind: "add", New: l.New, text: displayed(l)})
		case plumbing.PatchGone:
			f.Removed++
			f.line(&shown, diffLine{Kind: "del", Old: l.Old, text: displayed(l)})
		case plumbing.PatchNote:
			f.line(&shown, diffLine{Kind: "note", HTML: template.HTML(template.HTMLEscapeString(text.Shown(l.Content())))})
		case plumbing.PatchSame:
			f.line(&shown, diffLine{Kind: "same", Old: l.Old, New: l.New, text: displayed(l)})
		}
	}
	for i := range files {
		files[i].highlight()
		files[i].Test = c != nil && board.Selects(c.TestGlobs, files[i].Path)
	}
	return files
}

// line adds a line if there is room.
func (f *diffFile) line(shown *int, l diffLine) {
	if *shown >= maxDiffLines {
		f.Left++
		return
	}
	*shown++
	f.Lines = append(f.Lines, l)
}

// header handles a line between a file's name and its first change.
func (f *diffFile) header(l plumbing.PatchLine) {
	switch {
	case strings.HasPrefix(l.Text, "new file"):
		f.State = "new"
	case strings.HasPrefix(l.Text, "deleted file"):
		f.State = "deleted"
	case strings.HasPrefix(l.Text, "rename "):
		f.State, f.Was = "renamed", l.Was
	case strings.HasPrefix(l.Text, "Binary files"), strings.HasPrefix(l.Text, "GIT binary patch"):
		f.State = strings.TrimSpace(f.State + " binary")
	}
}

func displayed(l plumbing.PatchLine) string { return plainly(text.Shown(l.Content()), maxLineRunes) }

// coloured highlights comments, strings, numbers and keywords in a line of source, and marks its
// changed spans. It sees one line at a time: a token of several lines is highlighted only where it
// begins.
func coloured(file, text string, changed []span) template.HTML {
	lang := languages()[strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))]
	var b strings.Builder
	for at := 0; at < len(text); {
		class, n := lang.token(text[at:])
		for end := at + n; at < end; {
			for len(changed) > 0 && changed[0].end <= at {
				changed = changed[1:]
			}
			stop, marked := end, false
			if len(changed) > 0 {
				if marked = changed[0].start <= at; marked {
					stop = min(end, changed[0].end)
				} else {
					stop = min(end, changed[0].start)
				}
			}
			switch part := template.HTMLEscapeString(text[at:stop]); {
			case marked:
				b.WriteString("<b>" + part + "</b>")
			case class != "":
				b.WriteString(`<i class="` + class + `">` + part + "</i>")
			default:
				b.WriteString(part)
			}
			at = stop
		}
	}
	return template.HTML(b.String())
}

// span is a part of a line, in bytes.
type span struct{ start, end int }

// changedWords returns the words in which two lines differ. It returns none if the lines share less
// than half of the longer line's words, because then everything would be marked.
func changedWords(old, new string) (inOld, inNew []span) {
	ids := map[string]rune{}
	asRunes := func(line string) (words []string, runes []rune) {
		for line != "" {
			n := 1
			for isWord(line[0]) && n < len(line) && isWord(line[n]) {
				n++
			}
			word := line[:n]
			line = line[n:]
			if _, known := ids[word]; !known {
				ids[word] = rune(len(ids) + 1)
			}
			words, runes = append(words, word), append(runes, ids[word])
		}
		return words, runes
	}
	before, beforeRunes := asRunes(old)
	after, afterRunes := asRunes(new)
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // a line is short, and its page must not depend on a clock
	same, o, n, atOld, atNew := 0, 0, 0, 0, 0
	mark := func(spans []span, words []string, at int) ([]span, int) {
		length := len(strings.Join(words, ""))
		return append(spans, span{at, at + length}), at + length
	}
	for _, part := range d.DiffMainRunes(beforeRunes, afterRunes, false) {
		k := utf8.RuneCountInString(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffEqual:
			length := len(strings.Join(before[o:o+k], ""))
			o, n, same, atOld, atNew = o+k, n+k, same+k, atOld+length, atNew+length
		case diffmatchpatch.DiffDelete:
			inOld, atOld = mark(inOld, before[o:o+k], atOld)
			o += k
		case diffmatchpatch.DiffInsert:
			inNew, atNew = mark(inNew, after[n:n+k], atNew)
			n += k
		}
	}
	if 2*same < max(len(before), len(after)) {
		return nil, nil
	}
	return inOld, inNew
}

// language is what highlighting a language requires.
type language struct {
	comment  []string // starts of comments that extend to the end of the line
	quotes   string
	keywords map[string]bool
}

// token returns the length and the class of a text's first token: c for comment, s string, n
// number, k keyword.
func (l *language) token(text string) (class string, n int) {
	if l == nil {
		return "", len(text)
	}
	for _, mark := range l.comment {
		if strings.HasPrefix(text, mark) {
			return "c", len(text)
		}
	}
	first := text[0]
	switch {
	case strings.IndexByte(l.quotes, first) >= 0:
		for i := 1; i < len(text); i++ {
			if text[i] == '\\' && first != '`' {
				i++
			} else if text[i] == first {
				return "s", i + 1
			}
		}
		return "s", len(text)
	case isWord(first):
		i := 1
		for i < len(text) && (isWord(text[i]) || first >= '0' && first <= '9' && text[i] == '.') {
			i++
		}
		switch {
		case first >= '0' && first <= '9':
			return "n", i
		case l.keywords[text[:i]]:
			return "k", i
		}
		return "", i
	}
	i := 1
	for i < len(text) && !isWord(text[i]) && strings.IndexByte(l.quotes, text[i]) < 0 && !startsComment(l, text[i:]) {
		i++
	}
	return "", i
}

func startsComment(l *language, text string) bool {
	for _, mark := range l.comment {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func words(text string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		all[w] = true
	}
	return all
}

// languages are the highlighted languages by file extension.
var languages = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for lang, ends := range map[*language]string{
		{[]string{"//", "/*"}, "\"'`", words(`break case catch class const continue default defer do else enum export extends extern false final finally fn for func function
			go goto if impl implements import in interface let loop map match mod move mut namespace new nil null package private protected pub public range return select self static struct super
			switch template this throw trait true try type typedef typeof undefined union unsafe use using var virtual void while async await bool byte char double error float int long short signed
			string unsigned yield chan fallthrough instanceof`)}: "go c h cc cpp hpp cs java kt js jsx mjs ts tsx rs swift php scala dart css scss zig proto",
		{[]string{"#"}, `"'`, words(`and as assert async await break class continue def del do done elif else end esac except exec export false False fi finally for from function
			global if import in is lambda local module next nil None nonlocal not or pass raise require rescue return self set then true True try unless until when while with
			yield`)}: "py rb sh bash zsh yaml yml toml ini cfg conf pl r ex exs nix tf mk",
		{[]string{"--"}, `"'`, words(`SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE INDEX DROP ALTER AND OR NOT NULL PRIMARY KEY select from where insert into update
			delete create table index drop alter and or not null primary key local function end then if else elseif for while do return nil true false in repeat until`)}: "sql lua hs elm",
	} {
		for end := range strings.FieldsSeq(ends) {
			all[end] = lang
		}
	}
	return all
})
