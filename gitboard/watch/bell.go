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

// Bell sends the alarms of others where those of a watch go: to the alerts log and the webhook. It may
// be used from several goroutines.
type Bell struct {
	board   *gitboard.Board
	target  string // the webhook of the board's configuration as it was at the beginning, "" for none
	mu      sync.Mutex
	webhook *notify.Carrier // nil before the first alarm
}

// NewBell returns a bell of a board.
func NewBell(ctx context.Context, b *gitboard.Board) *Bell {
	bell := &Bell{board: b}
	if v, err := b.View(ctx); err == nil { // otherwise the supervisor says so at once
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
	_ = b.board.Note(alertsFile, string(board.At(at))+"  "+Line(a)) // its caller shows it in any case
	if b.webhook == nil {
		b.webhook = notify.DefaultWebhook.Carry(func() string { return b.target })
	}
	b.webhook.Send(notify.Notice{Time: board.At(at), Alarm: a})
}

// Close gives what is on its way a moment.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.webhook != nil {
		b.webhook.Close(watchGrace)
	}
}
