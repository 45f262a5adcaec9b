package cli

import (
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func verifyCommand() *command {
	return &command{
		name: "verify", group: "machines", args: "[RANGE]", max: 1,
		short: "prove the board's history by replay, and hold it against the repository",
		long: `Every commit's operation is checked and applied to its parent, and the bytes are compared. A range is
FROM..TO, FROM.. or TO; without one it is the whole history. Exit code 4 when a rule is broken.`,
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			r, err := c.verifyRange(first(c.args))
			if err != nil {
				return err
			}
			var progress func(done, total int)
			if bool(c.paint()) && !c.json {
				progress = func(done, total int) {
					fmt.Fprintf(c.app.Stderr, "\r%d of %d commits", done, total)
					if done == total {
						fmt.Fprint(c.app.Stderr, "\r\x1b[K")
					}
				}
			}
			report, err := audit.Verify(c.ctx, b.Log().Store(), b.Repo(), r, progress)
			if err != nil {
				return err
			}
			if err := c.noteFuture(report); err != nil {
				return err
			}
			return c.reportVerify(report)
		},
	}
}

// noteFuture notes a board that is ahead of this machine's clock: every later operation has to be later still.
func (c *call) noteFuture(r *audit.Report) error {
	last, err := c.opened.Repo().Object(c.ctx, string(r.To))
	if err != nil {
		return err
	}
	head, err := gitio.DecodeCommit(last)
	if err != nil {
		return nil // which is a finding
	}
	if at := board.At(head.Author.When); at > board.At(c.app.Now().Add(board.ClockSlack)) {
		r.Notes = append(r.Notes, audit.Finding{Commit: r.To, Code: audit.CodeTime, Text: fmt.Sprintf("it is of %s, which is yet to come: a clock is wrong, or somebody has written it by hand", at)})
	}
	return nil
}

func (c *call) verifyRange(text string) (audit.Range, error) {
	var r audit.Range
	from, to, ranged := strings.Cut(text, "..")
	if !ranged {
		from, to = "", text
	}
	for _, part := range []struct {
		name string
		oid  *gitio.OID
	}{{from, &r.From}, {to, &r.To}} {
		if part.name == "" {
			continue
		}
		oid, err := c.opened.Repo().ResolveCommit(c.ctx, part.name)
		if err != nil {
			return r, usage(c.cmd, "%q is no commit", part.name)
		}
		*part.oid = oid
	}
	return r, nil
}

func (c *call) reportVerify(r *audit.Report) error {
	attested := 0
	for _, n := range r.Attested {
		attested += n
	}
	if c.json {
		if err := c.printJSON(map[string]any{
			"ok": r.OK(), "from": r.From, "to": r.To, "commits": r.Commits, "proven": r.Proven, "checked": r.Checked, "unchecked": r.Unchecked, "unnamed": r.Unnamed,
			"signed": r.Signed, "signed_from": r.SignedFrom, "attested": r.Attested, "findings": findingsJSON(r.Findings), "notes": findingsJSON(r.Notes),
		}); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			if err := c.say("VIOLATION " + f.String()); err != nil {
				return err
			}
		}
		for _, f := range r.Notes {
			if err := c.say("NOTE " + f.String()); err != nil {
				return err
			}
		}
		line := fmt.Sprintf("%s: %d proven by replay, %d checked in the repository, %d attested", plural(r.Commits, "operation"), r.Proven, r.Checked, attested)
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
			line += fmt.Sprintf("; %s handed to review without an agent's trailers", plural(r.Unnamed, "commit"))
		}
		if err := c.say(line); err != nil {
			return err
		}
	}
	if r.OK() {
		return nil
	}
	return &outcome{4, "violation", "the board's history breaks the rules in " + plural(len(r.Findings), "place"), "stop, and let a human look"}
}

func findingsJSON(all []audit.Finding) []map[string]string {
	out := make([]map[string]string, 0, len(all))
	for _, f := range all {
		out = append(out, map[string]string{"commit": string(f.Commit), "subject": f.Subject, "code": f.Code, "text": f.Text})
	}
	return out
}
