package supervisor

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/roles/clis"
)

// witness follows what an agent prints: it writes it down as people read it, and keeps what its supervisor decides by.
type witness struct {
	cli  clis.CLI
	now  func() time.Time
	to   io.Writer // the agent's log, and whoever watches
	tail *tail     // the end of what was written there
	read *clis.Reader

	// hopeless gets a fault that no further try of the CLI's will change, once.
	hopeless chan *clis.Fault

	mu      sync.Mutex
	heard   time.Time   // when the agent last did something
	last    clis.Event  // that
	said    string      // the last line that says something
	session string      // by which the CLI finds the conversation again
	fault   *clis.Fault // why the run came to nothing, as far as an event says; or for what the CLI tried again last
	shell   *clis.Fault // that its tools do not find git liza
	worked  bool        // the model has answered at all
	used    clis.Usage
	total   bool // used is the whole run's

	// spent gets a word when the agent has used more tokens.
	spent chan struct{}

	// A CLI that reports its usage only at its end is metered by an estimate: with each request it sends what has been
	// said so far.
	reported bool // the CLI has said itself what it used
	context  int  // bytes of the conversation
	asking   bool // the next text or call is an answer to a further request
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

// Close takes a last line without an end.
func (w *witness) Close() error { return w.read.Close() }

func (w *witness) event(e clis.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case clis.Began:
		w.session = e.Session
		w.used.Add(e.Usage)
	case clis.Spent:
		w.worked, w.reported = true, true
		w.used.Add(e.Usage)
	case clis.Ended:
		w.end(e.Usage)
	case clis.Failed:
		w.fault = e.Fault
	case clis.Waits:
		w.fault = e.Fault
		if e.Fault.Trouble == clis.Setup {
			w.giveUp(e.Fault)
		}
	case clis.Said, clis.Called, clis.Result:
		w.worked, w.fault = true, nil // what went wrong before has passed
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
	if text := plain.Line(strings.TrimSpace(lastLine(line)), 200); text != "" {
		w.said = text
	}
	if line != "" || e.Kind == clis.Plain {
		_, _ = io.WriteString(w.to, line+"\n") // what can't be kept is lost
	}
}

// giveUp passes on a fault that no further try will change.
func (w *witness) giveUp(f *clis.Fault) {
	select {
	case w.hopeless <- f:
	default: // it is known
	}
}

// end takes the usage of the whole run, where the CLI reports it; else what its requests have added up to stays.
func (w *witness) end(u clis.Usage) {
	if u.Tokens() == 0 || u.Tokens() < w.used.Tokens() {
		return // an interrupted CLI may count less than it has reported before
	}
	w.reported = true
	if u.Requests == 0 {
		u.Requests = w.used.Requests
	}
	if u.Model == "" {
		u.Model = w.used.Model
	}
	w.used, w.total = u, true
}

// bytesPerToken is what a token has in the mean, for an estimate.
const bytesPerToken = 4

// estimate counts what an event says of requests, and passes on that more tokens were used.
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
	case clis.Spent, clis.Ended:
	default:
		return
	}
	select {
	case w.spent <- struct{}{}:
	default: // it is known
	}
}

func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// testimony is what a witness has seen so far.
type testimony struct {
	heard   time.Time
	last    clis.Event
	said    string
	session string
	fault   *clis.Fault
	worked  bool
	used    clis.Usage

	estimated bool // used is an estimate: the CLI has not said
}

func (w *witness) seen() testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	used, estimated := w.used, !w.reported && w.guess.Requests > 0
	if estimated {
		used = w.guess
		used.Model = w.used.Model
	}
	return testimony{w.heard, w.last, w.said, w.session, cmp.Or(w.shell, w.fault), w.worked, used, estimated}
}
