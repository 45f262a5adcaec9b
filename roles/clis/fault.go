package clis

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// statusOf is the HTTP status in a message, 0 if there is none.
func statusOf(message string) int {
	if m := httpStatus().FindStringSubmatch(message); m != nil {
		status, _ := strconv.Atoi(m[1])
		return status
	}
	return 0
}

var (
	httpStatus = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:\bstatus:? |"code\\*": ?|\bAPI Error: |\brejected \()(\d{3})\b`)
	})
	tooLong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)prompt (?:is|as) too long|context (?:window|length)|maximum (?:context|number of tokens)|token count .* exceeds|ran out of room`)
	})
	noCredit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)credit balance|out of (?:usage |extra )?(?:credits?|usage)|usage limit|quota|rate limit|temporarily limiting|high demand|overloaded|at capacity|too many requests|spend cap`)
	})
	setup = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)invalid (?:x-)?(?:api|bearer)[ -]?(?:key|token)|incorrect api key|api key not (?:valid|found)|unauthori[sz]ed|authentication|not logged in|please run /login|missing (?:environment variable|api key)|must specify|please set an auth method|model\b[^\n]{0,60}\b(?:not found|does not exist|may not exist|not supported)|issue with the selected model|cannot be used with root`)
	})
	network = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b|getaddrinfo|could not resolve host|no such host|name resolution|unable to connect to (?:the )?api|connection error|fetch failed|error sending request for url|stream disconnected|network is unreachable|no route to host|connection (?:refused|reset|timed out)`)
	})
	resetsAt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bresets? (?:at )?` + at) })
	later    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:try again|retry|resets?|reset after|retryDelay\\*": \\*")(?: in| after)? ?` + in)
	})
)

// FaultOf classifies a failure by the HTTP status (0 if unknown) and the CLI's message. now must be
// in the time zone in which the CLI ran.
func (c CLI) FaultOf(status int, message string, now time.Time) *Fault {
	if status == 0 {
		status = statusOf(message)
	}
	f := &Fault{Trouble: Unknown, Text: message}
	switch {
	case tooLong().MatchString(message):
		f.Trouble = Overflow
	case status == 401 || status == 403 && !noCredit().MatchString(message) || status == 404:
		f.Trouble = Setup
	case status == 429 || status >= 500 && status < 600 || noCredit().MatchString(message):
		f.Trouble = Limit
	case setup().MatchString(message):
		f.Trouble = Setup
	case network().MatchString(message):
		f.Trouble = Outage
	}
	if until, limited := c.Limited(message, now); limited {
		f.Trouble, f.Until = Limit, until
	}
	if f.Trouble == Limit && f.Until.IsZero() {
		if m := later().FindStringSubmatch(message); m != nil {
			if d := duration(m[1]); d > 0 && d < longest {
				f.Until = now.Add(d).UTC()
			}
		} else if m := resetsAt().FindStringSubmatchIndex(message); m != nil {
			f.Until = reset(func(group string) string { return submatch(resetsAt(), message, m, group) }, now)
		}
	}
	if f.Trouble == Limit && !f.Until.IsZero() {
		f.Until = f.Until.Add(margin(f.Until.Sub(now)))
	}
	return f
}

// unreachable matches a shell's answer if it can't find `git liza`: a line of its own, after at
// most a heading.
var unreachable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Output: )?(?:[\w/.-]*sh: (?:line )?(?:\d+: )?)?(git: 'liza' is not a git command|git(?:-liza)?: (?:command )?not found)\b`)
})

// callsLiza reports whether a command calls git liza.
func callsLiza(call string) bool {
	return strings.Contains(call, "git liza") || strings.Contains(call, "git-liza")
}

// noLiza returns the fault of a CLI whose shell did not find `git liza`; nil for any other answer.
func (c CLI) noLiza(answer string) *Fault {
	head := strings.SplitAfterN(strings.TrimSpace(answer), "\n", 3)
	m := unreachable().FindStringSubmatch(strings.Join(head[:min(2, len(head))], ""))
	if m == nil {
		return nil
	}
	return &Fault{Trouble: Shell, Text: fmt.Sprintf("git liza is not found in the shell of %s (%q)", c.Name, m[1])}
}

// margin is added to the end of a limit before a retry: services' clocks differ from ours, and
// limits that end "at 3pm" have been seen to last some seconds longer.
func margin(left time.Duration) time.Duration {
	return min(max(left/10, 2*time.Second), time.Minute)
}
