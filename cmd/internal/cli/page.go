package cli

import (
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/git-liza/git-liza/gitboard/board"
)

// page is what a screen is drawn on: its size in cells of a terminal, its colours, its signs.
type page struct {
	width, height int
	whole         bool // nobody's eyes bound it: what is one line stays so
	paint
	signs
}

// The size of a page that is on no terminal.
const (
	pageWidth  = 80
	pageHeight = 40
)

// signs are what is drawn beside letters.
type signs struct {
	more, cursor, full, empty, arrow string
}

var (
	unicodeSigns = signs{"…", "▸", "█", "░", "→"}
	asciiSigns   = signs{"...", ">", "#", "-", "->"}
)

// page is as large as the terminal, or as COLUMNS and LINES say.
func (c *call) page() page {
	p := page{width: pageWidth, height: pageHeight, whole: c.app.Getenv("COLUMNS") == "", paint: c.paint(), signs: c.signs()}
	if c.toTerminal() {
		p.whole = false
		if w, h, err := term.GetSize(int(c.app.Stdout.(*os.File).Fd())); err == nil && w > 0 && h > 0 {
			p.width, p.height = w, h
		}
	}
	sized := func(name string, size *int, least int) {
		if n, err := strconv.Atoi(c.app.Getenv(name)); err == nil && n > 0 {
			*size = n
		}
		*size = min(max(*size, least), 1000)
	}
	sized("COLUMNS", &p.width, 40)
	sized("LINES", &p.height, 10)
	return p
}

func (c *call) signs() signs {
	if c.unicode() {
		return unicodeSigns
	}
	return asciiSigns
}

// unicode reports whether the locale's encoding is UTF-8.
func (c *call) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(c.app.Getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// legible is a text as this call's reader can see it: a terminal that has no UTF-8 gets a question mark for what
// is not ASCII. Anything but a terminal gets the text as it is.
func (c *call) legible(text string) string {
	if !c.toTerminal() || c.unicode() {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, text)
}

// breadth is how many cells of a terminal a text takes.
func breadth(text string) int {
	n := 0
	for _, r := range text {
		n += breadthOf(r)
	}
	return n
}

func breadthOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0xFE00 && r <= 0xFE0F:
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// fit makes one safe line of a text that takes at most so many cells.
func (p page) fit(text string, most int) string {
	return p.cut(board.Line(text, 10*max(most, 3)+100), most)
}

// cut shortens a safe line to at most so many cells.
func (p page) cut(line string, most int) string {
	if breadth(line) <= most {
		return line
	}
	left := most - breadth(p.more)
	if left < 1 {
		return strings.Repeat(".", max(0, most))
	}
	var b strings.Builder
	for _, r := range line {
		if left -= breadthOf(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + p.more
}

// fitted is fit where somebody looks at the page, else the whole text as one safe line.
func (p page) fitted(text string, most int) string {
	if p.whole {
		return board.Line(text, len(text)+3)
	}
	return p.fit(text, most)
}

// bar draws how much of a whole is done.
func (p page) bar(part, whole, width int) string {
	n := 0
	if whole > 0 {
		n = part * width / whole
	}
	return strings.Repeat(p.full, n) + strings.Repeat(p.empty, width-n)
}

// wrap breaks a text into lines of at most so many cells; a word that is longer is cut.
func wrap(text string, most int) []string {
	var lines []string
	for _, paragraph := range strings.Split(board.Visible(text), "\n") {
		indent := paragraph[:len(paragraph)-len(strings.TrimLeft(paragraph, " "))]
		if len(indent) > most/2 {
			indent = ""
		}
		line, taken := indent, len(indent)
		empty := true
		flush := func() {
			lines = append(lines, strings.TrimRight(line, " "))
			line, taken, empty = indent, len(indent), true
		}
		for _, word := range strings.Fields(paragraph) {
			if n := breadth(word); !empty && taken+1+n > most {
				flush()
			}
			if !empty {
				line, taken = line+" ", taken+1
			}
			for _, r := range word {
				if n := breadthOf(r); taken+n > most {
					flush()
				}
				line, taken, empty = line+string(r), taken+breadthOf(r), false
			}
		}
		flush()
	}
	return lines
}
