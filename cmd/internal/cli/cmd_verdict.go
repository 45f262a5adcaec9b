package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

// rejectionFlags are the parts of a rejection that is not given as one text.
type rejectionFlags struct {
	blockers, concerns, prior []string
	overall, spec, anomaly    string
}

func (o *rejectionFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&o.blockers, "blocker", nil, "`\"file:line|issue|why|suggestion\"`; once for each")
	f.StringArrayVar(&o.concerns, "concern", nil, "`\"file:line|issue\"`; once for each")
	f.StringVar(&o.overall, "overall", "", "your assessment in a sentence or two")
	f.StringVar(&o.spec, "spec", "", "the part of the spec that it is about")
	f.StringVar(&o.anomaly, "anomaly", "", "the `ID` of an anomaly that you logged")
	f.StringArrayVar(&o.prior, "prior", nil, "`\"RESOLVED: ...\"`, \"STILL PRESENT: ...\" or \"PARTIAL: ...\"; from iteration 2")
}

func (o *rejectionFlags) given() bool {
	return len(o.blockers)+len(o.concerns)+len(o.prior) > 0 || o.overall != ""
}

// rejection is the rejection that the flags describe.
func (o *rejectionFlags) rejection(cmd *edge.Command) (*board.Rejection, error) {
	r := &board.Rejection{Overall: o.overall, Spec: o.spec, Anomaly: o.anomaly, Prior: o.prior}
	for _, b := range o.blockers {
		if strings.Count(b, "|") < 3 {
			return nil, edge.Usage(cmd, `--blocker needs four parts: "file:line|issue|why|suggestion"`)
		}
		r.Blockers = append(r.Blockers, board.ParseFinding(b))
	}
	for _, b := range o.concerns {
		if strings.Count(b, "|") < 1 {
			return nil, edge.Usage(cmd, `--concern needs two parts: "file:line|issue"`)
		}
		r.Concerns = append(r.Concerns, board.ParseFinding(b))
	}
	return r, nil
}

var _ = add(verdictCommand)

func verdictCommand() *edge.Command {
	var commit, reason, file string
	var o rejectionFlags
	return &edge.Command{
		Name: "verdict", Group: "reviewer", Args: "ID APPROVED|REJECTED", Min: 2, Max: 2, Writes: true,
		Short: "give the binding verdict on a submission",
		Long: `A rejection is given as text in the required form (--reason, --reason-file; "-" is standard input), or as its
parts: --blocker, --concern, --overall, --spec, --anomaly, --prior.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&commit, "commit", "", "the `COMMIT` that was reviewed")
			f.StringVar(&reason, "reason", "", "the rejection, or a comment on an approval")
			f.StringVar(&file, "reason-file", "", "a `FILE` that holds the reason")
			o.add(f)
		},
		Example: `git liza verdict login REJECTED --commit 3f2a91c --reason "An empty password is accepted" --blocker "api/login.go:17|no check|anyone gets in|refuse it"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if commit == "" {
				return &edge.UsageError{
					Message: "--commit is missing: a verdict names the commit that was reviewed",
					Hint:    "git liza read tasks." + c.Args[0] + ".review_commit",
				}
			}
			text, err := c.Text("reason", reason, file)
			if err != nil {
				return err
			}
			var rejection *board.Rejection
			if o.given() {
				if text != "" {
					return edge.Usage(c.Cmd, "a reason is given as text or in parts, not both")
				}
				if rejection, err = o.rejection(c.Cmd); err != nil {
					return err
				}
			}
			actor, err := c.Actor(ctx, "verdict")
			if err != nil {
				return err
			}
			done, err := worktrees.Verdict(ctx, c.Board, worktrees.VerdictRequest{Request: gitboard.Request{
				Actor: actor,
				ID:    c.Request, AllowSecret: c.AllowSecret},
				Task: c.Args[0], Verdict: strings.ToUpper(c.Args[1]), Commit: commit, Reason: text, Rejection: rejection,
			})
			if err != nil {
				return err
			}
			var lines []string
			if done.After.Task(c.Args[0]).Status == board.Approved && !c.Supervised() && c.AgentID() != "" {
				lines = append(lines, "next: git liza merge "+c.Args[0])
			}
			if t := done.After.Task(c.Args[0]); t.Status == board.ReadyForReview {
				lines = append(lines, "it stays READY_FOR_REVIEW: "+done.After.ReviewProgress(t).String())
			}
			return c.Report(done, nil, lines...)
		},
	}
}
