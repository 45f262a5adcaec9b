package share

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// earlier is a record of the last push, for the next push of this clone.
type earlier struct {
	Took  time.Duration `json:"took"`  // by one that won
	Ended time.Time     `json:"ended"` // won or not
	Lost  time.Time     `json:"lost"`  // when the last race against another clone was lost
	Again int           `json:"again"` // transactions that travelled then, or waited
}

const (
	lastFile = "last"
	// maxTook bounds the duration of a push that counts: one that took longer was held up.
	maxTook = 10 * time.Second
	// maxNotice bounds how long processes of this clone have to notice an operation and to begin with
	// their own.
	maxNotice = 50 * time.Millisecond
)

func (s *Store) lastPush() (l earlier) {
	if data, err := os.ReadFile(s.file(lastFile)); err == nil && json.Unmarshal(data, &l) != nil {
		l = earlier{}
	}
	return l
}

// gather waits for operations that would otherwise wait for the next push: for as many as travelled
// or waited at the end of the last push, if that was just now, and for one that is being decided.
// Callers that were answered may have more to do, and those that lost the race are decided again.
func (s *Store) gather(ctx context.Context) {
	defer trace.Step("wait for operations that can travel together")()
	p := s.lastPush()
	if p.Took = min(p.Took, maxTook); p.Took <= 0 { // one that took longer was held up
		return // the first push, or the clock was set back
	}
	if p.Again > 1 && s.now().Sub(p.Ended) <= p.Took {
		s.regather(ctx, p)
	}
	select { // the writer that this operation wakes may decide another
	case <-time.After(min(p.Took/8, maxNotice)):
	case <-ctx.Done():
	}
	s.take(ctx, TurnFile, queue.Wait{Release: true, Most: min(p.Took/4, time.Second)})() // until no process is deciding
}

// regather waits until as many operations are pending as there were at the end of the last push,
// but for one more only while that takes less than the push took for each of those that are here. It
// waits less the fewer they were, since two of a team's agents seldom act at once again. It also waits
// less after a lost race: the losers decide again at once, and the next winner makes them lose again.
func (s *Store) regather(ctx context.Context, p earlier) {
	appended, stop := disk.Watch(s.file(ChainFile))
	defer stop()
	longest := p.Took * time.Duration(min(p.Again-1, 4)) / 8
	if p.Lost.Equal(p.Ended) {
		longest = p.Took / 8
	}
	most, next := time.NewTimer(p.Took), time.NewTimer(longest)
	defer most.Stop()
	defer next.Stop()
	for transactions, late := 1, false; ; {
		c, err := s.chain(ctx)
		if err != nil || len(c.Transactions) >= p.Again || late && len(c.Transactions) <= transactions {
			return
		}
		if len(c.Transactions) > transactions {
			transactions, late = len(c.Transactions), false
			next.Reset(min(longest, p.Took/time.Duration(transactions)))
		}
		select {
		case <-appended:
		case <-next.C:
			late = true
		case <-most.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// TurnFile is the name of the file in the clone's own directory whose lock makes its processes
// decide one at a time.
const TurnFile = "turn"

// pushEnded records a push of a chain, which has won or lost its race, and the transactions appended
// since.
func (s *Store) pushEnded(ctx context.Context, pushed *chain, began time.Time, lost bool) {
	n := len(pushed.Transactions)
	if c, err := s.chain(ctx); err == nil {
		n = max(n, len(c.Transactions))
	}
	last := s.lastPush()
	l := earlier{Took: s.now().Sub(began), Ended: s.now(), Lost: last.Lost, Again: n}
	if lost { // that includes a fetch
		l.Took, l.Lost = cmp.Or(last.Took, l.Took), l.Ended
	}
	text, _ := json.Marshal(l)
	_ = s.write(lastFile, text) // without it the next push waits for no others
}
