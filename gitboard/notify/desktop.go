package notify

import (
	"context"
	"os/exec"
	"time"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/cmdline"
)

// desktopTime bounds the program that shows a notice.
const desktopTime = 10 * time.Second

// Desktop shows notices on the desktop by notify-send; it is nil if that is not installed.
func Desktop() *Carrier {
	program, err := exec.LookPath("notify-send")
	if err != nil {
		return nil
	}
	return carry("the desktop", func(ctx context.Context, n Notice) error {
		ctx, cancel := context.WithTimeout(ctx, desktopTime)
		defer cancel()
		urgency := "normal"
		if n.Level == alarm.Grave {
			urgency = "critical"
		}
		cmd := exec.CommandContext(ctx, program, "--app-name=git liza", "--urgency="+urgency, "--", n.Line, cmdline.Hint(n.Do))
		cmd.WaitDelay = time.Second
		return cmd.Run()
	})
}
