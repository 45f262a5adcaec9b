package watch

import (
	"context"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/notify"
)

// Bell sends other programs' alarms to the alerts log and the webhook, like those of a watch. It is
// safe for concurrent use.
type Bell struct {
	board   *gitboard.Board
	target  string // the webhook configured on the board at the start, "" for none
	mu      sync.Mutex
	webhook *notify.Carrier // nil before the first alarm
}

// NewBell returns a bell for a board.
func NewBell(ctx context.Context, b *gitboard.Board) *Bell {
	bell := &Bell{board: b}
	if v, err := b.View(ctx); err == nil { // otherwise the supervisor reports it at once
		if config := v.State.Config(); config != nil {
			bell.target = string(config.EscalationWebhook)
		}
	}
	return bell
}

// Ring sends an alarm.
func (b *Bell) Ring(at time.Time, a alarm.Alarm) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.board.Clone().Note(alertsFile, string(board.At(at))+"  "+Line(a)) // the caller shows the alarm in any case
	if b.webhook == nil {
		b.webhook = notify.DefaultWebhook.Carry(func() string { return b.target })
	}
	b.webhook.Send(notify.Notice{Time: board.At(at), Alarm: a})
}

// Close gives pending alarms a moment to be sent.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.webhook != nil {
		b.webhook.Close(watchGrace)
	}
}
