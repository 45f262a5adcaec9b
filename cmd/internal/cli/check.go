package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/receipt"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks"
)

// checkFormats are the ways in which check prints its result.
var checkFormats = []string{"text", "json", "github", "gitlab", "junit"}

// rangeFlags are the flags of check.
type rangeFlags struct {
	o                   receipt.Options
	require             []string
	format              string
	fetch, landed, push bool
}

var _ = add(func() *call.Command {
	var f rangeFlags
	return &call.Command{
		Name: "check", Group: "machines", Args: "BASE..HEAD", Max: -1,
		Short: "check, using only a clone, that integration obeyed the rules",
		Long: `Every commit of the range must have come to integration by a recorded merge or landing, approved at exactly
that commit by others than its authors. The board is the remote's, as fetched; it is replayed as a whole, and anything
that can't be checked is a failure. Requirements are signed, tested, approvals=N, humans=N and reproduced=N, here and in
liza-check.yaml, which is read at BASE. Exit code 1: not met; 3: shallow, or commits are missing; 4: forged, rewound, or
another board.`,
		Flags: func(s *pflag.FlagSet) {
			s.StringVar(&f.o.Root, "root", "", "the first `COMMIT` of the board, in full")
			s.StringVar(&f.o.Policy, "policy", "", "the policy's `FILE` at BASE, instead of "+receipt.PolicyFile)
			s.StringSliceVar(&f.require, "require", nil, "further `REQUIREMENTS`, with commas")
			s.StringVar(&f.o.Remote, "remote", "", "the `REMOTE` whose board counts, instead of origin or the only one")
			s.BoolVar(&f.fetch, "fetch", false, "first fetch the board, the branches and the submissions")
			s.BoolVar(&f.landed, "landed", false, "HEAD is a commit of the branch on which integration lands by merge, squash or rebase")
			s.StringVar(&f.format, "format", "text", "the result as `FORMAT`: "+strings.Join(checkFormats, ", "))
			s.BoolVar(&f.push, "pre-receive", false, "check a push to a bare repository, from its hook's standard input; arguments are branches")
		},
		Example: "git liza check origin/main..HEAD --require signed,tested,approvals=1",
		Run: func(ctx context.Context, c *call.Call) error {
			if c.JSON {
				f.format = "json"
			}
			if !slices.Contains(checkFormats, f.format) {
				return call.Usage(c.Cmd, "%q is not a format: use %s", text.Line(f.format, 40), strings.Join(checkFormats, ", "))
			}
			if f.o.Root != "" && !plumbing.OID(f.o.Root).Valid() {
				return call.Usage(c.Cmd, "--root takes the full id of a commit, not %q", text.Line(f.o.Root, 60))
			}
			var err error
			if f.o.Require, err = (receipt.Requirements{}).ParseRequirements(f.require); err != nil {
				return call.Usage(c.Cmd, "--require: %v", err)
			}
			f.o.Fetch, f.o.Landed = f.fetch, f.landed
			if f.push {
				return checkPush(ctx, c, f)
			}
			base, head, ranged := strings.Cut(call.First(c.Args), "..")
			if len(c.Args) != 1 || !ranged || base == "" || head == "" || strings.HasPrefix(head, ".") {
				return call.Usage(c.Cmd, "check takes a range: BASE..HEAD")
			}
			f.o.Base, f.o.Head = base, head
			if f.o.Remote, err = call.RemoteOf(ctx, c.Board.Repo(), f.o.Remote); err != nil {
				return err
			}
			r, err := receipt.Check(ctx, c.Board.Repo(), f.o)
			if err != nil {
				return err
			}
			return reportCheck(c, f.format, r)
		},
	}
})

// checkPush checks what a push brings to branches of this repository, by default to its default
// branch.
func checkPush(ctx context.Context, c *call.Call, f rangeFlags) error {
	repo := c.Board.Repo()
	moves, err := hooks.ReadMoves(c.App.Stdin)
	if err != nil {
		return err
	}
	branches := c.Args
	if len(branches) == 0 {
		name, err := repo.History().DefaultBranch(ctx)
		if err != nil {
			return err
		}
		branches = []string{name}
	}
	for _, m := range moves {
		if !slices.ContainsFunc(branches, func(b string) bool { return plumbing.BranchRef(b) == m.Ref }) {
			continue
		}
		name := plumbing.BranchName(m.Ref)
		if plumbing.OID(m.Old).IsZero() || plumbing.OID(m.New).IsZero() {
			return &call.Outcome{Exit: 1, Code: receipt.CodeMissing, Message: fmt.Sprintf("%s is created or deleted by this push, so there is no range to check", name), Hint: "the server's administrator does that without the hook"}
		}
		o := f.o
		o.Base, o.Head, o.Landed, o.Remote, o.Fetch = m.Old, m.New, true, "", false
		r, err := receipt.Check(ctx, repo, o)
		if err != nil {
			return err
		}
		if err := reportCheck(c, f.format, r); err != nil {
			return err
		}
	}
	return nil
}

// reportCheck prints a result.
func reportCheck(c *call.Call, format string, r *receipt.Result) error {
	var out string
	var data []byte
	var err error
	switch format {
	case "json":
		err = c.PrintJSON(r.JSON())
	case "github":
		out = r.GitHub()
		if file := c.App.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
			err = appendTo(file, r.Summary())
		}
	case "gitlab":
		data, err = r.GitLab()
	case "junit":
		data = r.JUnit()
	default:
		err = c.Say(checkLines(r)...)
	}
	if err != nil {
		return err
	}
	if out += string(data); out != "" {
		if _, err := fmt.Fprintln(c.App.Stdout, strings.TrimRight(out, "\n")); err != nil {
			return err
		}
	}
	if r.OK() {
		return nil
	}
	f := r.Failures[0]
	return &call.Outcome{Exit: r.Exit(), Code: f.Code, Message: f.Text, Hint: f.Hint}
}

func checkLines(r *receipt.Result) []string {
	var lines []string
	for _, f := range r.Failures {
		lines = append(lines, "FAIL "+text.Line(f.String(), 500))
	}
	for _, m := range r.Moves {
		lines = append(lines, text.Line(m.Line(), 500))
	}
	for _, n := range r.Notes {
		lines = append(lines, "NOTE "+n)
	}
	return append(lines, r.Line())
}

// appendTo adds text to a file that the caller's CI has made.
func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
