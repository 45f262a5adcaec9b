package child

import "sync"

// tailSize is how many bytes of a child's stderr are kept; the relevant part is at its end.
const tailSize = 16 << 10

// Tail is a writer that keeps the last bytes written to it. It may be written
// and read concurrently.
type Tail struct {
	mu   sync.Mutex
	data []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// String returns the bytes kept so far.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
