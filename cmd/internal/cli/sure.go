package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

// justSure is Call.Just for an operation that its human has to confirm; see sure.
func justSure(ctx context.Context, c *call.Call, p board.Payload, what, reason string, yes bool) error {
	actor, err := c.Actor(ctx, p.Op())
	if err != nil {
		return err
	}
	done, err := c.Board.Lookup(ctx, c.Asks(actor))
	if err == nil && done == nil {
		err = sure(ctx, c, actor, p, what, reason, yes)
	}
	if err != nil {
		return err
	}
	return c.Just(ctx, p)
}

// sure makes a human confirm an operation with large consequences: on a terminal by an answer,
// otherwise by --reason and --yes. What the rules refuse is refused before the question.
func sure(ctx context.Context, c *call.Call, actor board.Actor, p board.Payload, what, reason string, yes bool) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	op := board.Operation{Actor: actor, Time: max(board.At(c.App.Now()), v.State.Time()), Request: "dry", AllowSecret: c.AllowSecret, Payload: p}
	if err := board.Check(v.State, op); err != nil {
		return err
	}
	if yes && strings.TrimSpace(reason) != "" {
		return nil
	}
	if yes { // without a reason
		return unasked(c, what, "--reason TEXT", "--yes")
	}
	return confirmed(c, what, "--reason TEXT", "--yes")
}

// unasked refuses what a human has to confirm, and names the flags that do it.
func unasked(c *call.Call, what string, flags ...string) error {
	return &call.UsageError{Message: what + "; without a terminal to ask on, it takes " + strings.Join(flags, " and "), Hint: strings.Join(slices.Concat([]string{"git liza", c.Cmd.Name}, c.Args, flags), " ")}
}

// confirmed asks on a terminal whether to go on. flags go on without a terminal.
func confirmed(c *call.Call, what string, flags ...string) error {
	in, isFile := c.App.Stdin.(*os.File)
	if !isFile || !call.IsTerminal(in) || c.JSON {
		return unasked(c, what, flags...)
	}
	fmt.Fprintf(c.App.Stderr, "%s. Continue? [y/N] ", what)
	line, _ := bufio.NewReader(in).ReadString('\n') // no answer means no
	if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
		return nil
	}
	return board.Refuse(board.CodeInvalid, "nothing was changed", "git liza status")
}
