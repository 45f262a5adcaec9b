package cli

import (
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/notify"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// bell tells the alarms of supervisors where those of watch go: to the alerts log and the webhook.
type bell struct {
	c       *edge.Call
	target  string // the webhook of the board's configuration as it was at the beginning, "" for none
	mu      sync.Mutex
	webhook *notify.Carrier // nil before the first alarm
}

func newBell(c *edge.Call) *bell {
	b := &bell{c: c}
	if v, err := c.Opened.View(c.Ctx); err == nil { // otherwise the supervisor says so at once
		if config := v.State.Config(); config != nil {
			b.target = string(config.EscalationWebhook)
		}
	}
	return b
}

// ring tells an alarm; other events are none.
func (b *bell) ring(e supervisor.Event) {
	if e.Event != supervisor.Alarm {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := alarm.Alarm{Rule: "supervisor", Level: alarm.Grave, Line: "SUPERVISOR: " + e.Text, Task: e.Task, Agent: e.Agent, Do: "git liza logs " + e.Agent}
	_ = b.c.Opened.Note(alertsFile, string(board.At(e.Time))+"  "+alarmLine(a)) // it is told here all the same
	if b.webhook == nil {
		b.webhook = notify.DefaultWebhook.Carry(func() string { return b.target })
	}
	b.webhook.Send(notify.Notice{Time: board.At(e.Time), Alarm: a})
}

// close gives what is on its way a moment.
func (b *bell) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.webhook != nil {
		b.webhook.Close(watchGrace)
	}
}
