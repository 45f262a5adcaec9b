package pullrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// target is where pull requests go: the repository of a remote, and its host.
type target struct {
	remote *git.Remote
	at     forge.Place
	kind   string
	host   forge.Host
	lost   error // its address is that of no host
}

// remoteOf returns the remote that pull requests go to.
func remoteOf(ctx context.Context, c *call.Call, name string) (*git.Remote, error) {
	name, err := call.RemoteOf(ctx, c.Board.Repo(), name)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, board.Refuse(board.CodeNoRemote, "this repository has no remote, so no host has its issues and pull requests", "git remote add origin ADDRESS")
	}
	return c.Board.Repo().Remote(ctx, name)
}

// placeOf reads where a remote's repository is, and what kind of host has it. The kind is "" if
// unknown, or if the address is that of no host.
func placeOf(ctx context.Context, c *call.Call, remote *git.Remote) (*target, error) {
	settings := c.Board.Repo().Settings()
	addresses, err := settings.All(ctx, "remote."+remote.Name+".url")
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, board.Refuse(board.CodeNoRemote, "the remote "+remote.Name+" has no address", "git remote set-url "+remote.Name+" ADDRESS")
	}
	at, err := forge.PlaceOf(addresses[0])
	if err != nil {
		return &target{remote: remote, lost: err}, nil
	}
	t := &target{remote: remote, at: at, kind: forge.KindOf(at.Name)}
	if kind, set, err := settings.Get(ctx, "liza.forge."+at.Name+".kind"); err != nil {
		return nil, err
	} else if set {
		t.kind = kind
	}
	if web, set, err := settings.Get(ctx, "liza.forge."+at.Name+".url"); err != nil {
		return nil, err
	} else if set {
		t.at.Web = strings.TrimSuffix(web, "/")
	}
	return t, nil
}

// connect finds the token of a target's host.
func (t *target) connect(ctx context.Context, c *call.Call, meter *forge.Meter) error {
	if t.lost != nil {
		return board.Refuse(board.CodeForge, t.lost.Error(), "git liza pr submit --no-forge pushes the branch alone")
	}
	if t.kind == "" {
		return board.Refuse(board.CodeForge, fmt.Sprintf("the kind of the host %s is not known from its name", t.at.Name),
			fmt.Sprintf("git config liza.forge.%s.kind github, gitlab or gitea; or git liza pr submit --no-forge", t.at.Name))
	}
	if len(forge.Variables(t.kind, t.at.Name)) == 0 {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is no kind of host: github, gitlab or gitea", text.Line(t.kind, 40)), "git config liza.forge."+t.at.Name+".kind KIND")
	}
	token, err := tokenOf(ctx, c, t)
	if err != nil {
		return err
	}
	if token == "" {
		return board.Refuse(board.CodeNoToken, "no token for "+t.at.Name+" is known",
			"set "+strings.Join(forge.Variables(t.kind, t.at.Name), " or ")+", or keep one with git credential; git liza pr submit --no-forge needs none")
	}
	t.host, err = forge.At(t.kind, t.at, token, meter)
	return err
}

// tokenOf looks for a token in the environment, then with GitHub's own program, then with git's
// credential helpers.
func tokenOf(ctx context.Context, c *call.Call, t *target) (string, error) {
	for _, name := range forge.Variables(t.kind, t.at.Name) {
		if token := c.App.Getenv(name); token != "" {
			return token, nil
		}
	}
	if t.kind == forge.GitHub {
		if out, err := exec.CommandContext(ctx, "gh", "auth", "token", "--hostname", t.at.Name).Output(); err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	return c.Board.Repo().Settings().Credential(ctx, t.at.Web)
}

// forged turns an error of a host into the caller's.
func forged(err error) error {
	var refused *forge.RefusedError
	var away *forge.UnreachableError
	switch {
	case errors.As(err, &refused) && refused.Status == 401:
		return board.Refuse(board.CodeNoToken, err.Error(), "the token has expired or was revoked: make another one")
	case errors.As(err, &refused) && refused.Status == 301:
		return board.Refuse(board.CodeForge, err.Error(), "if it was renamed or transferred: git remote set-url NAME ADDRESS, then git liza pr submit")
	case errors.As(err, &refused) && (refused.Status == 404 || refused.Status == 410):
		return board.Refuse(board.CodeForge, err.Error(), "check the address (git remote -v): it was renamed or deleted, or the token may not see it")
	case errors.As(err, &refused):
		return board.Refuse(board.CodeForge, err.Error(), "the token's rights and the repository's rules decide that; nothing on the board was changed")
	case errors.As(err, &away):
		return &call.Outcome{Exit: 3, Code: call.CodeNetwork, Message: err.Error(), Hint: "run the same command again later: it finds what it has done"}
	}
	return err
}

// act carries out one of several operations of a command. Each has a request id of its own.
func act(ctx context.Context, c *call.Call, p board.Payload) error {
	if request := c.Request; request != "" {
		c.Request += "/" + p.Op()
		defer func() { c.Request = request }()
	}
	_, err := c.Do(ctx, p.Op(), gitboard.Just(p))
	return err
}

// brought fetches a branch of the remote, and returns its tip.
func brought(ctx context.Context, c *call.Call, remote *git.Remote, ref, as string) (plumbing.OID, error) {
	if err := remote.Fetch(ctx, false, false, "+"+ref+":"+as); err != nil {
		return "", err
	}
	return c.Board.Repo().Ref(ctx, as)
}

// baseOf names the branch that takes the work.
func baseOf(ctx context.Context, c *call.Call, remote, wanted string) (string, error) {
	if wanted != "" {
		return wanted, nil
	}
	head, err := c.Board.Repo().Settings().RemoteHead(ctx, remote)
	if err != nil {
		return "", err
	}
	return cmp.Or(strings.TrimPrefix(head, plumbing.HeadsPrefix), "main"), nil
}
