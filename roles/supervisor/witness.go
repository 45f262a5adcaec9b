package supervisor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
)

// witness follows an agent's output: it logs it in readable form and keeps what the supervisor
// needs for decisions.
type witness struct {
	cli  clis.CLI
	now  func() time.Time
	to   io.Writer // the agent's log and other outputs
	tail *tail     // the end of the log
	read *clis.Reader

	// began is called with the CLI's own id of the conversation; nil for nobody.
	began func(session string)

	// hopeless gets, once, a fault that no retry by the CLI can fix.
	hopeless chan *clis.Fault

	mu     sync.Mutex
	heard  time.Time   // when the agent last did something
	last   clis.Event  // of that moment
	said   string      // the last line with content that is no hint after an error
	words  string      // the last line that the CLI itself has printed since its model did something
	fault  *clis.Fault // the run's failure, or the CLI's last reason to retry
	waits  time.Time   // since when the CLI has only retried, zero if it works
	shell  *clis.Fault // its tools can't find git liza
	worked bool        // the model has answered at least once
	used   clis.Usage

	// spent gets a value when the agent has used more tokens, or retries.
	spent chan struct{}

	// A CLI that reports its usage only at the end is metered by an estimate: each request sends
	// the whole conversation so far.
	reported bool // the CLI has reported its usage
	context  int  // bytes of the conversation
	asking   bool // the next text or call answers a further request
	guess    clis.Usage
}

func newWitness(c clis.CLI, now func() time.Time, to ...io.Writer) *witness {
	w := &witness{cli: c, now: now, tail: &tail{max: tailBytes}, hopeless: make(chan *clis.Fault, 1), heard: now(), spent: make(chan struct{}, 1), asking: true}
	w.to = io.MultiWriter(append(to, w.tail)...)
	w.read = clis.NewReader(c, func() time.Time { return now().Local() }, w.event)
	return w
}

// Write takes the agent's output.
func (w *witness) Write(p []byte) (int, error) { return w.read.Write(p) }

// Close takes a last line without a newline.
func (w *witness) Close() error { return w.read.Close() }

func (w *witness) event(e clis.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case clis.Began:
		w.used.Add(e.Usage)
		if w.began != nil {
			w.began(e.Session)
		}
	case clis.Spent:
		w.worked, w.reported = true, true
		w.used.Add(e.Usage)
	case clis.Ended:
		w.end(e.Usage)
	case clis.Failed:
		if w.fault == nil || w.fault.Trouble != clis.Setup { // else it was ended for that
			w.fault = e.Fault
		}
	case clis.Waits:
		w.fault = e.Fault
		if w.waits.IsZero() {
			w.waits = w.now()
		}
		if e.Fault.Trouble == clis.Setup {
			w.giveUp(e.Fault)
		}
	case clis.Said, clis.Called, clis.Result:
		w.worked, w.fault, w.words, w.waits = true, nil, "", time.Time{} // earlier faults have passed
		if e.Fault != nil {
			w.shell = e.Fault
			w.giveUp(e.Fault)
		}
	}
	w.estimate(e)
	if e.Kind != clis.Waits && e.Kind != clis.Other {
		w.heard, w.last = w.now(), e
	}
	line := e.Line()
	raw := text.Line(strings.TrimSpace(lastLine(line)), 200)
	hint := e.Kind == clis.Plain && (isCause(w.words) && !isCause(raw) || w.words != "" && strings.HasPrefix(raw, "hint: ")) // it follows the cause
	if raw != "" && !hint {
		w.said = raw
		if e.Kind == clis.Plain {
			w.words = raw
		}
	}
	if e.Kind == clis.Called {
		line = w.stamped(line)
	}
	if line != "" || e.Kind == clis.Plain {
		_, _ = io.WriteString(w.to, line+"\n") // output may be lost
	}
}

// stamped is the line of a call with its time, and the tokens used so far if they are known.
func (w *witness) stamped(line string) string {
	used, about := w.used.Tokens(), ""
	if !w.reported {
		used, about = w.guess.Tokens(), "about "
	}
	first, rest, more := strings.Cut(w.now().Local().Format("15:04:05")+" "+line, "\n")
	if used > 0 {
		first += fmt.Sprintf("  (%s%s tokens)", about, report.Count(used))
	}
	if more {
		first += "\n" + rest
	}
	return first
}

// isCause reports whether a line of a CLI names an error.
func isCause(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc([]string{"error", "fatal", "panic", "exception", "git liza: "}, func(word string) bool { return strings.Contains(line, word) })
}

// giveUp passes on a fault that no retry can fix.
func (w *witness) giveUp(f *clis.Fault) {
	select {
	case w.hopeless <- f:
	default: // it is known already
	}
}

// end takes the usage of the whole run if the CLI reports it; otherwise the sum over its requests
// stays.
func (w *witness) end(u clis.Usage) {
	if u.Tokens() == 0 || u.Tokens() < w.used.Tokens() {
		return // an interrupted CLI may report less than before
	}
	w.reported = true
	if u.Requests == 0 {
		u.Requests = w.used.Requests
	}
	if u.Model == "" {
		u.Model = w.used.Model
	}
	w.used = u
}

// bytesPerToken is the average size of a token, for estimates.
const bytesPerToken = 4

// estimate counts the requests that an event implies, and signals that more tokens were used.
func (w *witness) estimate(e clis.Event) {
	switch e.Kind {
	case clis.Said, clis.Called:
		if w.asking {
			w.asking = false
			w.guess.Add(clis.Usage{Requests: 1, Input: (w.context + w.cli.Overhead) / bytesPerToken})
		}
		w.guess.Output += len(e.Text) / bytesPerToken
		w.context += len(e.Text)
	case clis.Result:
		w.asking = true
		w.context += len(e.Text)
	case clis.Spent, clis.Ended, clis.Waits:
	default:
		return
	}
	select {
	case w.spent <- struct{}{}:
	default: // it is known already
	}
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// testimony is a witness's observations so far.
type testimony struct {
	heard  time.Time
	last   clis.Event
	said   string
	words  string
	fault  *clis.Fault
	worked bool
	used   clis.Usage

	estimated bool // used is an estimate: the CLI has not reported it

	waits time.Time // since when the CLI has only retried, zero if it works
}

func (w *witness) seen() testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	used, estimated := w.used, !w.reported && w.guess.Requests > 0
	if estimated {
		used = w.guess
		used.Model = w.used.Model
	}
	return testimony{w.heard, w.last, w.said, w.words, cmp.Or(w.shell, w.fault), w.worked, used, estimated, w.waits}
}
