package board

import (
	"regexp"
	"sync"
)

// form is a regular expression that is compiled on first use: a process needs only a few of them.
type form struct{ get func() *regexp.Regexp }

func formOf(expr string) form {
	return form{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (f form) MatchString(s string) bool            { return f.get().MatchString(s) }
func (f form) FindString(s string) string           { return f.get().FindString(s) }
func (f form) FindStringSubmatch(s string) []string { return f.get().FindStringSubmatch(s) }
