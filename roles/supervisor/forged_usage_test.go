package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
)

// TestForgedUsage: figures that no run can have cost, which an agent has put into its output, take
// nothing off what it has used, and leave a cost that the board records.
func TestForgedUsage(t *testing.T) {
	const real = `{"type":"assistant","message":{"id":"a","model":"m","usage":{"input_tokens":700,"output_tokens":300}}}`
	for name, forged := range map[string]string{
		"less than nothing":    `{"type":"assistant","message":{"id":"b","usage":{"input_tokens":-900,"output_tokens":-90}}}`,
		"a sum that overflows": `{"type":"assistant","message":{"id":"b","usage":{"input_tokens":9000000000000000000,"cache_read_input_tokens":9000000000000000000}}}`,
		"a negative cache":     `{"type":"result","num_turns":-3,"total_cost_usd":-7,"usage":{"input_tokens":2000,"cache_read_input_tokens":-500}}`,
		"the name of a model":  `{"type":"assistant","message":{"id":"b","model":"` + strings.Repeat("é", 150) + `","usage":{"input_tokens":2000}}}`,
		"endless money":        `{"type":"result","num_turns":9000000000000000000,"total_cost_usd":1e300,"usage":{"input_tokens":2000}}`,
	} {
		w := newWitness(clis.CLI{}, func() time.Time { return time.Unix(0, 0) })
		fmt.Fprintln(w, real)
		fmt.Fprintln(w, forged)
		used := w.seen().used
		if used.Tokens() < 1000 {
			t.Errorf("%s: a run that has used 1000 tokens counts with %d", name, used.Tokens())
		}
		cost := board.Usage{Model: modelOf(used), CLI: "custom", Cost: costOf(used, time.Minute)}
		cost.Bound(&board.State{}, "", start0)
		if err := cost.Check(&board.State{}, board.Operation{Actor: planner, Time: start0}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSaidACredential: an agent whose last line looks like a credential, which no record takes, is
// ended like any other: its task is blocked, and its hand-off and its cost are recorded.
func TestSaidACredential(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789AB"
	ctx, s, _, _ := supervised(t)
	look := func() Look {
		v := testrun.Must(s.Board.View(ctx))(t)
		return Look{State: v.State, Agent: s.actor.ID}
	}
	s.memory.Said = "the token is " + token
	s.witness = newWitness(clis.CLI{}, func() time.Time { return time.Unix(0, 0) })
	fmt.Fprintln(s.witness, `{"type":"assistant","message":{"id":"a","model":"`+token+`","usage":{"input_tokens":700,"output_tokens":300}}}`)
	s.CLI.Name = "custom"
	s.account(ctx, Step{Task: "login"}, look().State, ending{}, true)
	if used := look().State.Sprint().Tokens; used != 1000 {
		t.Errorf("the sprint has used %d tokens", used)
	}
	must(t, s.giveUpOn(ctx, look(), "login"))
	if task := look().State.Task("login"); task.Status != board.Blocked || strings.Contains(task.BlockedReason, token) {
		t.Errorf("the task is %s: %s", task.Status, task.BlockedReason)
	}
	said := s.memory.Said
	ctx, s, _, _ = supervised(t)
	if s.handOff(ctx, look().State, "login", ending{cut: board.KeyBudgetTask}, said); look().State.Handoff("login") == nil {
		t.Error("there is no hand-off")
	}
}
