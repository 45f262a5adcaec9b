package clis

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Parts of patterns. A message counts only at the start of a line, after nothing but the symbols
// that CLIs print before it, since an agent that writes about limits may quote one.
const (
	start      = `(?im)^[ \t⎿■✕✖●│⚡]*`
	clock      = `\d{1,2}(?::\d{2}(?: ?[ap]m)?| ?[ap]m)`
	at         = `(?P<at>(?:[a-z]{3,9} \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?,?(?: at)? )?` + clock + `)(?: \((?P<zone>[\w/+-]+)\))?`
	in         = `(?P<in>(?:\d+(?:\.\d+)? ?(?:days?|hours?|minutes?|seconds?|ms|[dhms])\b?[ ,]*)+)`
	resets     = `(?:[^\n]*?\bresets? (?:at )?` + at + `)?`
	codexError = `(?:\[\S+\] )?(?:ERROR: )?`
)

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`) })

// Limited reports whether a CLI stopped because of its quota, a rate limit or an overloaded
// service, and until when. until is zero if the message names no time, or one that has passed or is
// implausible. tail is the end of the output, some KB, of a process that failed. A time of day
// without a zone is read in now's zone, which must therefore be the zone in which the CLI ran.
func (c CLI) Limited(tail string, now time.Time) (until time.Time, limited bool) {
	tail = text.Visible(text.Unstyled(tail))
	last := -1
	for _, pattern := range c.Quota {
		re, err := regexp.Compile(pattern)
		if err != nil {
			continue // FromConfig refuses such patterns
		}
		for _, m := range re.FindAllStringSubmatchIndex(tail, -1) {
			if m[0] < last || retried(tail, m[1]) {
				continue
			}
			last, limited = m[0], true
			until = reset(func(group string) string { return submatch(re, tail, m, group) }, now)
		}
	}
	return until, limited
}

// retried reports whether the rest of the line after a match announces a retry by the CLI itself.
func retried(tail string, end int) bool {
	line, _, _ := strings.Cut(tail[end:], "\n")
	return strings.Contains(strings.ToLower(line), "retrying")
}

func submatch(re *regexp.Regexp, text string, m []int, group string) string {
	for i, name := range re.SubexpNames() {
		if name == group && m[2*i] >= 0 {
			return text[m[2*i]:m[2*i+1]]
		}
	}
	return ""
}

// longest is how far in the future a time may be to be plausible: quotas last up to a month.
const longest = 40 * 24 * time.Hour

// reset is the time that a message names; zero if there is none, it has passed or it is
// implausible.
func reset(group func(string) string, now time.Time) time.Time {
	var t time.Time
	if s := group("epoch"); s != "" {
		seconds, _ := strconv.ParseInt(s, 10, 64)
		t = time.Unix(seconds, 0)
	} else if s := group("in"); s != "" {
		t = now.Add(duration(s))
	} else if s := group("at"); s != "" {
		zone := now.Location()
		if name := group("zone"); name != "" {
			named, err := time.LoadLocation(name)
			if err != nil {
				return time.Time{}
			}
			zone = named
		}
		t = moment(s, now.In(zone))
	}
	if !t.After(now) || t.Sub(now) > longest {
		return time.Time{}
	}
	return t.UTC()
}

var part = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+(?:\.\d+)?) ?(ms|[dhms])`) })

// duration parses durations such as "5 days 22 hours 11 minutes", "8h44m7s" and "34.07s".
func duration(s string) time.Duration {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond}
	var d time.Duration
	for _, m := range part().FindAllStringSubmatch(strings.ToLower(s), -1) {
		n, _ := strconv.ParseFloat(m[1], 64)
		d += time.Duration(n * float64(units[m[2]]))
	}
	return d
}

var (
	ordinal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(\d)(?:st|nd|rd|th)\b`) })
	spaces  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ ,]+`) })
)

// moment parses times such as "3pm", "12:50am", "3:42 PM", "Jul 31, 2am", "Jun 9 at 1am" and "Jul
// 5th, 2026 8:19 PM" in the zone of now; zero if it can't. Without a year it is the next such day.
// Without a day it is today or tomorrow; an hour that has just passed is still today's, since the
// message may be older than its limit.
func moment(s string, now time.Time) time.Time {
	s = spaces().ReplaceAllString(ordinal().ReplaceAllString(strings.ReplaceAll(strings.ToLower(s), " at ", " "), "$1"), " ")
	s = strings.NewReplacer(" am", "am", " pm", "pm").Replace(s)
	read := func(layouts ...string) (time.Time, bool) {
		for _, day := range layouts {
			for _, hour := range []string{"3:04pm", "3pm", "15:04"} {
				if t, err := time.ParseInLocation(strings.TrimSpace(day+" "+hour), s, now.Location()); err == nil {
					return t, true
				}
			}
		}
		return time.Time{}, false
	}
	if t, ok := read("Jan 2 2006", "January 2 2006"); ok {
		return t
	}
	if t, ok := read("Jan 2", "January 2"); ok {
		t = time.Date(now.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if t.Before(now.AddDate(0, 0, -1)) {
			t = t.AddDate(1, 0, 0)
		}
		return t
	}
	if t, ok := read(""); ok {
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if t.Before(now.Add(-time.Hour)) {
			t = t.AddDate(0, 0, 1)
		}
		return t
	}
	return time.Time{}
}
