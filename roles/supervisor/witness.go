package supervisor

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/roles/clis"
)

// witness follows what an agent prints: it writes it down as people read it, and keeps what its supervisor decides by.
type witness struct {
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
	worked  bool        // the model has answered at all
	used    clis.Usage
	total   bool // used is the whole run's
}

func newWitness(c clis.CLI, now func() time.Time, to ...io.Writer) *witness {
	w := &witness{now: now, tail: &tail{max: tailBytes}, hopeless: make(chan *clis.Fault, 1), heard: now()}
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
		w.worked = true
		w.used.Add(e.Usage)
	case clis.Ended:
		w.end(e.Usage)
	case clis.Failed:
		w.fault = e.Fault
	case clis.Waits:
		w.fault = e.Fault
		if e.Fault.Trouble == clis.Setup {
			select {
			case w.hopeless <- e.Fault:
			default: // it is known
			}
		}
	case clis.Said, clis.Called, clis.Result:
		w.worked, w.fault = true, nil // what went wrong before has passed
	}
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

// end takes the usage of the whole run, where the CLI reports it; else what its requests have added up to stays.
func (w *witness) end(u clis.Usage) {
	if u.Tokens() == 0 {
		return
	}
	if u.Requests == 0 {
		u.Requests = w.used.Requests
	}
	if u.Model == "" {
		u.Model = w.used.Model
	}
	w.used, w.total = u, true
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
}

func (w *witness) seen() testimony {
	w.mu.Lock()
	defer w.mu.Unlock()
	return testimony{w.heard, w.last, w.said, w.session, w.fault, w.worked, w.used}
}
