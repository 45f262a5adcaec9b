package clis

import "encoding/json"

// bridged is the type of the lines that git liza acp prints.
const bridged = "acp.event"

// Bridged is an event as a line that a Reader reads.
func Bridged(e Event) []byte {
	line, _ := json.Marshal(struct {
		Type  string `json:"type"`
		Event Event  `json:"event"`
	}{bridged, e})
	return append(line, '\n')
}

func (r *Reader) bridged(m *message) {
	if m.Event == nil {
		r.nothing(m)
		return
	}
	e := *m.Event
	if e.Fault = nil; e.Kind == Failed {
		e.Fault = r.fault(0, e.Text)
	}
	r.emit(e)
}
