package call

import (
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Page describes the surface of a screen: its size in terminal cells, its colours and signs.
type Page struct {
	Width, Height int
	Whole         bool // not limited by a screen: lines are not cut
	Paint
	Signs
}

// The size of a page that is not on a terminal.
const (
	pageWidth  = 80
	PageHeight = 40
)

// Signs are the symbols used besides letters.
type Signs struct {
	more, Cursor, full, empty, Arrow string
}

var (
	UnicodeSigns = Signs{"…", "▸", "█", "░", "→"}
	ASCIISigns   = Signs{"...", ">", "#", "-", "->"}
)

// Page is as large as the terminal, or has the size in COLUMNS and LINES.
func (c *Call) Page() Page {
	p := Page{Width: pageWidth, Height: PageHeight, Whole: c.App.Getenv("COLUMNS") == "", Paint: c.Paint(), Signs: c.signs()}
	if c.App.ToTerminal() {
		p.Whole = false
		if w, h, err := term.GetSize(int(c.App.Stdout.(*os.File).Fd())); err == nil && w > 0 && h > 0 {
			p.Width, p.Height = w, h
		}
	}
	sized := func(name string, size *int, least int) {
		if n, err := strconv.Atoi(c.App.Getenv(name)); err == nil && n > 0 {
			*size = n
		}
		*size = min(max(*size, least), 1000)
	}
	sized("COLUMNS", &p.Width, 40)
	sized("LINES", &p.Height, 10)
	return p
}

func (c *Call) signs() Signs {
	if c.unicode() {
		return UnicodeSigns
	}
	return ASCIISigns
}

// unicode reports whether the locale's encoding is UTF-8.
func (c *Call) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(c.App.Getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// Legible is a text as this call's reader can see it: on a terminal without UTF-8, a question mark
// replaces every character that is not ASCII. Any other output gets the text unchanged.
func (c *Call) Legible(text string) string {
	if !c.App.ToTerminal() || c.unicode() {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, text)
}

// Breadth is the width of a text in terminal cells.
func Breadth(text string) int {
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

// Fit turns a text into one safe line no wider than most cells.
func (p Page) Fit(line string, most int) string {
	if p.Whole {
		return text.Line(line, len(line)+3)
	}
	return p.Cut(text.Line(line, 10*max(most, 3)+100), most)
}

// Cut shortens a safe line to no more than most cells.
func (p Page) Cut(line string, most int) string {
	if p.Whole || Breadth(line) <= most {
		return line
	}
	left := most - Breadth(p.more)
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
	return strings.TrimRight(b.String(), " .…") + p.more // without a second ellipsis
}

// Bar draws how much of a whole is done.
func (p Page) Bar(part, whole, width int) string {
	n := 0
	if whole > 0 {
		n = part * width / whole
	}
	return strings.Repeat(p.full, n) + strings.Repeat(p.empty, width-n)
}

// Onto appends a text to a line, cut to the page's width.
func (p Page) Onto(line, text string) string {
	return p.Cut(line+p.Fit(text, p.Width-Breadth(line)), p.Width)
}

// Wrap breaks a text into lines no wider than most cells; it splits longer words.
func Wrap(raw string, most int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text.Visible(raw), "\n") {
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
			if n := Breadth(word); !empty && taken+1+n > most {
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

// Labels are texts with names before them, wrapped to a page's width.
type Labels struct {
	Page
	Names int // the width of the names
	Lines []string
}

// Add appends a text with its name, unless it is empty. A name that is too long gets its own line.
func (l *Labels) Add(name, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if Breadth(name) >= l.Names {
		l.Lines = append(l.Lines, name)
		name = ""
	}
	for _, line := range Wrap(strings.TrimRight(text, "\n"), l.Width-l.Names) {
		l.Lines = append(l.Lines, strings.TrimRight(Pad(name, l.Names)+line, " "))
		name = ""
	}
}
