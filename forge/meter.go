package forge

import (
	"net/http"
	"strconv"
	"time"
)

// Meter counts the requests that hosts get, and follows their limits. A nil Meter counts nothing.
type Meter struct {
	Now func() time.Time

	sent  []time.Time // in the last hour, oldest first
	until time.Time   // the host wants no request before
}

// saw counts a request, and reads from its answer, which is nil if there was none, how many more the host
// takes. Below a tenth of its limit, it is left alone until it counts anew.
func (m *Meter) saw(a *http.Response) {
	if m == nil {
		return
	}
	m.sent = append(m.sent, m.Now())
	if a == nil {
		return
	}
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-"} {
		left, bad := strconv.Atoi(a.Header.Get(prefix + "Remaining"))
		limit, worse := strconv.Atoi(a.Header.Get(prefix + "Limit"))
		if bad == nil && worse == nil && left*10 < limit {
			m.until = resetOf(a.Header)
		}
	}
	if a.Header.Get("Retry-After") != "" {
		m.until = resetOf(a.Header)
	}
}

// Sent is how many requests were sent in the last hour.
func (m *Meter) Sent() int {
	for len(m.sent) > 0 && m.Now().Sub(m.sent[0]) >= time.Hour {
		m.sent = m.sent[1:]
	}
	return len(m.sent)
}

// Free is from when n further requests are within a limit of requests an hour, and the host takes them.
func (m *Meter) Free(n, limit int) time.Time {
	at := m.until
	if over := min(m.Sent()+n-limit, len(m.sent)); over > 0 {
		if free := m.sent[over-1].Add(time.Hour); free.After(at) {
			at = free
		}
	}
	return at
}
