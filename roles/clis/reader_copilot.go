package clis

// copilotData is what an event of GitHub Copilot CLI is about.
type copilotData struct {
	Content, ToolName, Message, ErrorMessage string

	StatusCode int
	Arguments  map[string]any
	Result     struct{ Content string }
	Error      struct{ Message string }
}

// data is what an event is about; nothing for an event without it.
func (m *message) data() copilotData {
	if m.Data == nil {
		return copilotData{}
	}
	return *m.Data
}

func (r *Reader) copilotSaid(m *message) {
	if m.data().Content == "" {
		r.nothing(m)
		return
	}
	r.emit(Event{Kind: Said, Text: m.data().Content})
}

func (r *Reader) copilotCalled(m *message) {
	r.emit(Event{Kind: Called, Text: called(m.data().ToolName, m.data().Arguments)})
}

func (r *Reader) copilotResult(m *message) {
	r.emit(Event{Kind: Result, Text: m.data().Result.Content + m.data().Error.Message})
}

// copilotRetries handles a request that failed: another one may follow.
func (r *Reader) copilotRetries(m *message) {
	d := m.data()
	r.emit(Event{Kind: Waits, Text: d.ErrorMessage, Fault: r.fault(d.StatusCode, d.ErrorMessage)})
}

func (r *Reader) copilotFailed(m *message) {
	d := m.data()
	r.emit(Event{Kind: Failed, Text: d.Message, Fault: r.fault(d.StatusCode, d.Message)})
}

// copilotEnd handles the last event, which names the session.
func (r *Reader) copilotEnd(m *message) {
	r.emit(Event{Kind: Began, Session: m.Session})
	r.emit(Event{Kind: Ended})
}
