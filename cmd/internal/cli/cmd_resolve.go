package cli

import (
	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

func resolveCommand() *command {
	p := board.Resolve{}
	return &command{
		name: "resolve", group: "human", max: 0, writes: true,
		short: "say what became of the circuit breaker's trigger, and reset it",
		long:  "The board stays at CHECKPOINT until git liza resume.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Text, "text", "", "what was found and decided")
		},
		run: func(c *call) error {
			done, err := c.do(p.Op(), gitboard.Just(&p))
			if err != nil {
				return err
			}
			return c.report(done, nil, "the board is "+string(done.After.Control().Mode)+"; go on with: git liza resume --decision CONTINUE")
		},
	}
}
