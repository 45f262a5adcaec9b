package edit

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/text"
)

// SetTeam replaces the team by that of a file's text, as YAML. What is wrong with it is reported
// with the file's line. again is the command that reads the corrected file, "" for none.
func SetTeam(ctx context.Context, c *call.Call, file, text, again string) (*gitboard.Done, error) {
	read, err := codec.Decode(board.TeamPath, []byte(text))
	if err != nil {
		return nil, notRead(file, err, then("correct the file", again))
	}
	team := *read.(*board.Team)
	if team.Extra != nil {
		return nil, wrongLine(file, codec.LineOf([]byte(text), "extra"), "there is no field extra", again)
	}
	return c.Do(ctx, "team", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		p, err := teamPayload(ctx, v, team)
		if err != nil {
			return nil, nil, err
		}
		if f := p.Team.Fault(); f != nil {
			return nil, nil, wrongLine(file, codec.LineOf([]byte(text), f.Where), f.What, again)
		}
		return p, nil, nil
	})
}

// wrongLine refuses a file because of an error on one of its lines.
func wrongLine(file string, line int, what, again string) error {
	return board.Refuse(board.CodeInvalid, fmt.Sprintf("%s: line %d: %s", text.Line(file, 1000), line, what), then(fmt.Sprintf("correct line %d", line), again))
}

// then is a hint to do something and then, unless it is "", to run a command again.
func then(first, again string) string {
	if again == "" {
		return first
	}
	return first + ", then: " + again
}

// notRead refuses a file that is not a record.
func notRead(file string, err error, hint string) error {
	var broken *codec.Error
	if errors.As(err, &broken) {
		err = broken.Err
	}
	return board.Refuse(board.CodeInvalid, fmt.Sprintf("%s: %v", text.Line(file, 1000), err), hint)
}

// teamPayload names the object id of each file of instructions on the integration branch.
func teamPayload(ctx context.Context, v *gitboard.View, t board.Team) (*board.SetTeam, error) {
	t.Roles = append([]board.Role{}, t.Roles...)
	for i := range t.Roles {
		oid, err := v.SpecOID(ctx, t.Roles[i].Instructions)
		if err != nil {
			return nil, err
		}
		t.Roles[i].Blob = oid
	}
	return &board.SetTeam{Team: t}, nil
}
