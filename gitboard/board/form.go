package board

import (
	"regexp"
	"sync"
)

// form is a regular expression that is compiled on first use: a process needs only a few of them.
type form struct {
	expr string
	most int // the length of the longest text that may match, 0 for any
	once sync.Once
	re   *regexp.Regexp
}

func formOf(expr string) *form { return &form{expr: expr} }

// shortForm is a form of texts that are at most so long. Were the length part of the expression,
// compiling it would take many times as long.
func shortForm(most int, expr string) *form { return &form{expr: expr, most: most} }

func (f *form) get() *regexp.Regexp {
	f.once.Do(func() { f.re = regexp.MustCompile(f.expr) })
	return f.re
}

func (f *form) MatchString(s string) bool {
	return (f.most == 0 || len(s) <= f.most) && f.get().MatchString(s)
}

func (f *form) FindString(s string) string           { return f.get().FindString(s) }
func (f *form) FindStringSubmatch(s string) []string { return f.get().FindStringSubmatch(s) }
