package network

import (
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
)

// Listener collects the output of a child and calls a function when the child stays silent.
type Listener struct {
	mu       sync.Mutex
	said     child.Tail
	patience time.Duration
	timer    *time.Timer
}

// Listen calls silent once a child has written nothing for as long as patience.
func Listen(patience time.Duration, silent func()) *Listener {
	return &Listener{patience: patience, timer: time.AfterFunc(patience, silent)}
}

// Write never fails.
func (l *Listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Reset(l.patience)
	return l.said.Write(p)
}

// Said returns the end of the output.
func (l *Listener) Said() string { return l.said.String() }

// Stop ends the watch.
func (l *Listener) Stop() { l.timer.Stop() }
