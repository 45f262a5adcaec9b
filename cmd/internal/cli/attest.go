package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/receipt"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// attestFlags are the flags of attest.
type attestFlags struct {
	kind, repo, key, out, remote string
	run, push                    bool
}

var _ = add(func() *call.Command {
	var f attestFlags
	return &call.Command{
		Name: "attest", Group: "machines", Args: "[REV|BASE..HEAD]", Max: 1, Writes: true,
		Short: "state who wrote, approved, tested and merged a commit, signed",
		Long: `Prints an in-toto statement about a commit of integration, by default its tip, once git liza check passes; with a
key it is signed (DSSE, SSHSIG with the namespace in-toto). Two verifiers make the same bytes. --push stores it here and
at the remote, where statements are only added, and in a clone that has joined the board records that. With --type
test-result --run the test that the board recorded is repeated in a repository of its own, without this environment: on a
machine without secrets, with a key of runner/NAME.`,
		Flags: func(s *pflag.FlagSet) {
			s.StringVar(&f.kind, "type", receipt.Provenance, "the `TYPE` of statement: "+strings.Join(board.Attestations, " or "))
			s.StringVar(&f.repo, "repo", "", "the `URI` of the repository, instead of the remote's")
			s.StringVar(&f.key, "key", "", "sign with the key in this `FILE`, instead of the settings'")
			s.StringVar(&f.out, "out", "", "write to a `FILE`")
			s.StringVar(&f.remote, "remote", "", "the `REMOTE` whose board counts, instead of origin or the only one")
			s.BoolVar(&f.run, "run", false, "with --type test-result: repeat the test")
			s.BoolVar(&f.push, "push", false, "store the signed statement, and push it")
		},
		Example: "git liza attest origin/integration --push",
		Run: func(ctx context.Context, c *call.Call) error {
			if !slices.Contains(board.Attestations, f.kind) {
				return call.Usage(c.Cmd, "%q is not a type of statement: use %s", text.Line(f.kind, 40), strings.Join(board.Attestations, " or "))
			}
			if (f.kind == receipt.TestResult) != f.run {
				return call.Usage(c.Cmd, "--type test-result and --run go together")
			}
			a := &attestation{c: c, f: f}
			return a.make(ctx)
		},
	}
})

// attestation is a statement in the making.
type attestation struct {
	c      *call.Call
	f      attestFlags
	remote string
	signer *sshsig.Signer // nil to sign nothing
	result *receipt.Result
}

func (a *attestation) make(ctx context.Context) error {
	repo := a.c.Board.Repo()
	var err error
	if a.remote, err = call.RemoteOf(ctx, repo, a.f.remote); err != nil {
		return err
	}
	if a.signer, err = a.key(ctx); err != nil {
		return err
	}
	o := receipt.Options{Remote: a.remote, Head: call.First(a.c.Args)}
	if base, head, ranged := strings.Cut(o.Head, ".."); ranged {
		if base == "" || head == "" || a.f.run {
			return call.Usage(a.c.Cmd, "attest takes a range BASE..HEAD or, and with --run only, a commit")
		}
		o.Base, o.Head = base, head
	}
	if a.result, err = receipt.Check(ctx, repo, o); err != nil {
		return err
	}
	if !a.result.OK() {
		f := a.result.Failures[0]
		return &call.Outcome{Exit: a.result.Exit(), Code: f.Code, Message: f.Text, Hint: f.Hint}
	}
	head, err := repo.Object(ctx, string(a.result.Head)+"^{tree}")
	if err != nil {
		return err
	}
	statement, err := a.statement(ctx, repo, head.OID)
	if err != nil {
		return err
	}
	if a.signer == nil {
		return a.print(statement)
	}
	envelope, err := receipt.Seal(statement, a.signer)
	if err != nil {
		return err
	}
	if a.f.push {
		if err := a.store(ctx, repo, envelope); err != nil {
			return err
		}
	}
	return a.print(envelope)
}

// key finds the key to sign with; nil if none is set, and none is needed.
func (a *attestation) key(ctx context.Context) (*sshsig.Signer, error) {
	if a.f.key != "" {
		return signing.LoadKey(ctx, a.c, a.f.key)
	}
	s, err := signing.KeyOf(ctx, a.c, board.HumanActor("", ""))
	if err != nil && !a.f.push && a.c.App.Getenv("LIZA_SIGNING_KEY") == "" {
		return nil, nil
	}
	return s, err
}

func (a *attestation) statement(ctx context.Context, repo *git.Repo, tree plumbing.OID) ([]byte, error) {
	if !a.f.run {
		uri := a.f.repo
		if uri == "" && a.remote != "" {
			address, _, err := repo.Settings().Get(ctx, "remote."+a.remote+".url")
			if err != nil {
				return nil, err
			}
			uri = receipt.RepoURI(address)
		}
		return a.result.Statement(uri, tree)
	}
	test := a.result.Moves[len(a.result.Moves)-1].Test
	if test == "" {
		return nil, board.Refuse(board.CodeTests, fmt.Sprintf("%s was merged without a test: there is nothing to repeat", a.result.Head.Short()), "git liza config set integration_test COMMAND")
	}
	var out io.Writer
	if !a.c.JSON {
		out = a.c.App.Stderr
	}
	again, err := merge.Reproduce(ctx, repo, a.result.Head, test, reproduceTimeout, out)
	if err != nil {
		return nil, err
	}
	return a.result.TestStatement(tree, receipt.TestRun{Passed: again.Passed, Command: test, Environment: again.Environment, Log: again.Log})
}

// reproduceTimeout bounds a repeated test.
const reproduceTimeout = 2 * time.Hour

// store stores an envelope and, in a clone that has joined the board, records that on the board.
func (a *attestation) store(ctx context.Context, repo *git.Repo, envelope []byte) error {
	who, err := repo.Settings().Identity(ctx)
	if err != nil {
		return gitboard.NoIdentity(err)
	}
	var remote *git.Remote
	if a.remote != "" {
		if remote, err = repo.Remote(ctx, a.remote); err != nil {
			return err
		}
	}
	if err := receipt.Store(ctx, repo, remote, a.result.Head, envelope, who, a.c.App.Now()); err != nil {
		return err
	}
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip.IsZero() {
		return err
	}
	_, err = a.c.Do(ctx, "attest", gitboard.Just(&board.Attest{SHA256: receipt.SHA256(envelope), Commit: string(a.result.Head), Type: a.f.kind}))
	return err
}

func (a *attestation) print(data []byte) error {
	data = append(bytes.TrimRight(data, "\n"), '\n')
	if a.f.out != "" {
		ours := func(old []byte) bool {
			return bytes.HasPrefix(old, []byte("{")) && bytes.Contains(old, []byte("in-toto"))
		}
		if err := call.WriteFile(signing.KeyFile(a.c, a.f.out), data, ours); err != nil {
			return err
		}
		return a.c.Answer(map[string]any{"file": a.f.out, "head": a.result.Head}, a.f.out+": "+a.f.kind+" of "+a.result.Head.Short())
	}
	_, err := a.c.App.Stdout.Write(data)
	return err
}
