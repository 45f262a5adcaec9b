package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/receipt"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "verify", Group: "machines", Args: "[RANGE]", Max: 1,
		Short: "prove the board's history by replay, and check it against the repository",
		Long: `Every commit's operation is checked and applied to its parent, and the bytes are compared. A range is
FROM..TO, FROM.. or TO; without one it is the whole history. Exit code 4 when a rule is broken.`,
		Example: `git liza verify`,
		Run: func(ctx context.Context, c *call.Call) error {
			r, err := verifyRange(ctx, c, call.First(c.Args))
			if err != nil {
				return err
			}
			var progress func(done, total int)
			if bool(c.Paint()) && !c.JSON {
				progress = func(done, total int) {
					fmt.Fprintf(c.App.Stderr, "\r%d of %d commits", done, total)
					if done == total {
						fmt.Fprint(c.App.Stderr, "\r\x1b[K")
					}
				}
			}
			store, of, err := boardToVerify(ctx, c)
			if err != nil {
				return err
			}
			report, err := audit.Verify(ctx, store, c.Board.Repo(), r, progress)
			if err != nil {
				return err
			}
			if of != "" {
				report.Notes = append(report.Notes, audit.Finding{Commit: report.To, Text: fmt.Sprintf("this clone has not joined: the board is that of %s, as last fetched", of)})
			}
			if r.To.IsZero() {
				back, err := audit.FindSetBack(ctx, c.Board.Repo())
				if err != nil {
					return err
				}
				if back != nil {
					report.Findings = append(report.Findings, audit.Finding{Commit: back.At, Code: audit.CodeRewritten, Text: back.String()})
				}
			}
			if err := noteFuture(ctx, c, report); err != nil {
				return err
			}
			return reportVerify(c, report)
		},
	}
})

// boardToVerify returns the store with the board of this repository or, if it has none, with that of
// a remote, as last fetched, and the remote's name.
func boardToVerify(ctx context.Context, c *call.Call) (log.Store, string, error) {
	store, repo := c.Board.Log().Store(), c.Board.Repo()
	tip, err := store.Ref(ctx, plumbing.BoardRef)
	if err != nil || !tip.IsZero() {
		return store, "", err
	}
	remotes, err := repo.Settings().Remotes(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, name := range remotes {
		tracked, err := audit.Track(ctx, repo, name)
		if err == nil {
			return tracked, name, nil
		}
		if !errors.Is(err, log.ErrNoBoard) {
			return nil, "", err
		}
	}
	if repo.Shallow() {
		f := receipt.ShallowClone
		return nil, "", &call.Outcome{Exit: f.Exit(), Code: f.Code, Message: f.Text, Hint: f.Hint}
	}
	return nil, "", c.Board.NoBoard(ctx)
}

// noteFuture notes a board that is ahead of this machine's clock, because every later operation has
// to be later still.
func noteFuture(ctx context.Context, c *call.Call, r *audit.Report) error {
	last, err := c.Board.Repo().Object(ctx, string(r.To))
	if err != nil {
		return err
	}
	head, err := plumbing.DecodeCommit(last)
	if err != nil {
		return nil // verify has reported it
	}
	if at := board.At(head.Author.When); at > board.At(c.App.Now().Add(board.ClockSlack)) {
		r.Notes = append(r.Notes, audit.Finding{Commit: r.To, Code: audit.CodeTime, Text: fmt.Sprintf("it is of %s, which is yet to come: a clock is wrong, or somebody has written it by hand", at)})
	}
	return nil
}

func verifyRange(ctx context.Context, c *call.Call, line string) (audit.Range, error) {
	var r audit.Range
	from, to, ranged := strings.Cut(line, "..")
	if !ranged {
		from, to = "", line
	}
	for _, part := range []struct {
		name string
		oid  *plumbing.OID
	}{{from, &r.From}, {to, &r.To}} {
		if part.name == "" {
			continue
		}
		oid, err := c.Board.Repo().ResolveCommit(ctx, part.name)
		if errors.As(err, new(*git.AmbiguousError)) {
			return r, err
		}
		if err != nil {
			return r, call.Usage(c.Cmd, "%q is not a commit", part.name)
		}
		if foreign, err := isForeign(ctx, c, oid); foreign || err != nil {
			return r, cmp.Or(err, error(board.Refuse(board.CodeInvalid, text.Line(part.name, 60)+" is not a commit of the board", "git liza log")))
		}
		*part.oid = oid
	}
	return r, nil
}

// isForeign reports whether a commit carries no operation and is not in the board's history, where
// verify would report it.
func isForeign(ctx context.Context, c *call.Call, commit plumbing.OID) (bool, error) {
	repo := c.Board.Repo()
	object, err := repo.Object(ctx, string(commit))
	if err != nil {
		return false, err
	}
	if decoded, err := plumbing.DecodeCommit(object); err == nil {
		if _, err := codec.ParseHead(decoded.Message); err == nil {
			return false, nil
		}
	}
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip.IsZero() {
		return false, err
	}
	inside, err := repo.History().IsAncestor(ctx, commit, tip)
	return !inside, err
}

func reportVerify(c *call.Call, r *audit.Report) error {
	attested := 0
	for _, n := range r.Attested {
		attested += n
	}
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, "VIOLATION "+f.String())
	}
	for _, f := range r.Notes {
		lines = append(lines, "NOTE "+f.String())
	}
	line := fmt.Sprintf("%s: %d proven by replay, %d checked in the repository, %d attested", text.Plural(r.Commits, "operation"), r.Proven, r.Checked, attested)
	if r.Unchecked > 0 {
		line += fmt.Sprintf(", %d can't be checked here", r.Unchecked)
	}
	if r.Signed > 0 {
		line += fmt.Sprintf(", %d signed", r.Signed)
		if !r.SignedFrom.IsZero() {
			line += " (all since " + r.SignedFrom.Short() + ")"
		}
	}
	if r.Unnamed > 0 {
		line += fmt.Sprintf("; %s handed to review without an agent's trailers", text.Plural(r.Unnamed, "commit"))
	}
	if err := call.Tell(c, map[string]any{
		"ok": r.OK(), "from": r.From, "to": r.To, "commits": r.Commits, "proven": r.Proven, "checked": r.Checked, "unchecked": r.Unchecked, "unnamed": r.Unnamed,
		"signed": r.Signed, "signed_from": r.SignedFrom, "attested": r.Attested, "findings": findingsJSON(r.Findings), "notes": findingsJSON(r.Notes),
	}, append(lines, line)...); err != nil {
		return err
	}
	switch {
	case r.OK() && r.Unseen != "":
		return &call.Outcome{Exit: 3, Code: board.CodeUnchecked, Message: fmt.Sprintf("this clone does not have the branch %s: its landings are unchecked", r.Unseen), Hint: "git fetch, or git liza sync in a clone that has joined the board"}
	case r.OK():
		return nil
	}
	hint := "stop, and let a human look"
	if r.Lacking {
		hint = "git liza doctor --fix"
	}
	return &call.Outcome{Exit: 4, Code: call.CodeViolation, Message: "the board's history breaks the rules in " + text.Plural(len(r.Findings), "place"), Hint: hint}
}

func findingsJSON(all []audit.Finding) []map[string]string {
	out := make([]map[string]string, 0, len(all))
	for _, f := range all {
		out = append(out, map[string]string{"commit": string(f.Commit), "subject": f.Subject, "code": string(f.Code), "text": f.Text})
	}
	return out
}
