package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Call is one run of a command: its flags, its arguments and the board that it opens.
type Call struct {
	App         *App
	Cmd         *Command
	Args        []string
	Typed       []string // everything after the command's name, including flags
	Dir         string
	JSON        bool
	Request     string
	retries     int
	AllowSecret bool
	Versions    []string
	At          string
	Offline     bool

	Keys        func(context.Context, *Call, board.Actor) (*sshsig.Signer, error) // signs what this call commits
	Board       *gitboard.Board                                                   // of the repository that the command runs in; nil if the command runs anywhere
	Signer      *sshsig.Signer                                                    // named on the command line, instead of the settings
	OnClose     []io.Closer
	Minting     sync.Mutex // creates one session key at a time in a team
	SessionKeys sync.Map   // by agent: the file of the key with which its supervisor signs
	messages    []message  // that no answer has shown yet
	warned      bool       // of a board that breaks its rules
}

func (c *Call) Close() {
	if c.Board != nil {
		c.Board.Close()
	}
	for _, open := range c.OnClose {
		open.Close()
	}
}

func (c *Call) Directory() string {
	dir := c.App.Dir
	if dir == "" {
		dir = "."
	}
	switch {
	case c.Dir == "":
		return dir
	case filepath.IsAbs(c.Dir):
		return c.Dir
	}
	return filepath.Join(dir, c.Dir)
}

// Open opens the board of the repository that the command runs in.
func (c *Call) Open(ctx context.Context) error {
	b, err := gitboard.Open(ctx, c.Directory(), gitboard.Options{Now: c.App.Now, Random: c.App.Random, Writes: c.Cmd.Writes, Key: c.key()})
	if errors.Is(err, git.ErrNotRepository) {
		return c.noRepository()
	}
	if err != nil {
		return err
	}
	c.Board = b
	return nil
}

func (c *Call) key() gitboard.KeyOf {
	if c.Keys == nil {
		return nil
	}
	return func(ctx context.Context, a board.Actor) (*sshsig.Signer, error) { return c.Keys(ctx, c, a) }
}

func (c *Call) noRepository() error {
	where := "the working directory"
	if dir := c.Directory(); dir != "." {
		where = dir
	}
	message := where + " is not in a git repository"
	if _, err := os.Stat(c.Directory()); err != nil {
		message = "there is no directory " + where
	}
	return &Outcome{1, CodeNotARepository, message, "go to a git repository, or make one: git init"}
}

// Begin returns the context of everything that the command does: together it retries up to
// --retries times.
func (c *Call) Begin(ctx context.Context) context.Context {
	if c.Cmd.Lasts {
		return ctx
	}
	ctx, _ = retry.With(ctx, c.retries)
	return ctx
}

// View reads the board as it is now, or as of --at. A command that only reads warns on standard
// error of a board that breaks its rules.
func (c *Call) View(ctx context.Context) (*gitboard.View, error) {
	v, err := c.quietView(ctx)
	if err != nil || !c.Cmd.Reads || c.warned {
		return v, err
	}
	doubt, err := v.Doubt(ctx)
	if doubt != nil {
		c.warned = true
		fmt.Fprintf(c.App.Stderr, "warning: %s (%s)\n", text.Visible(doubt.Error()), cmdline.Of(report.Verify))
	}
	return v, err
}

// quietView is View without the warning.
func (c *Call) quietView(ctx context.Context) (*gitboard.View, error) {
	if c.At != "" {
		return c.Board.ViewAt(ctx, c.At)
	}
	return c.Board.View(ctx)
}

// Moment is the time of the view: now, or with --at the time of that board.
func (c *Call) Moment(s *board.State) time.Time {
	if c.At != "" {
		return s.Time().Std()
	}
	return c.App.Now()
}

// Asks is an actor's request with the call's options.
func (c *Call) Asks(actor board.Actor) gitboard.Request {
	return gitboard.Request{Actor: actor, ID: c.Request, AllowSecret: c.AllowSecret, Seen: strings.Join(c.Versions, " ")}
}

// Do carries out an operation on behalf of the caller.
func (c *Call) Do(ctx context.Context, op string, intent gitboard.Intent) (*gitboard.Done, error) {
	all, err := c.doAll(ctx, op, func(ctx context.Context, v *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		p, refs, err := intent(ctx, v)
		return []board.Payload{p}, refs, err
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Together carries out operations in one transaction, all or none. Of several, request R uses R/1,
// R/2 and so on.
func (c *Call) Together(ctx context.Context, op string, payloads func(context.Context, *gitboard.View) ([]board.Payload, error)) ([]*gitboard.Done, error) {
	return c.doAll(ctx, op, func(ctx context.Context, v *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		all, err := payloads(ctx, v)
		return all, nil, err
	})
}

// Numbered is the request id of a command's nth transaction, "" for a random one.
func Numbered(request string, n int) string {
	if request == "" {
		return ""
	}
	return fmt.Sprintf("%s/%d", request, n)
}

func (c *Call) doAll(ctx context.Context, op string, intents gitboard.Intents) ([]*gitboard.Done, error) {
	actor, err := c.Actor(ctx, op)
	if err != nil {
		return nil, err
	}
	return c.Board.DoAll(ctx, c.Asks(actor), func(ctx context.Context, v *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		if v.Commit.IsZero() && !board.Begins(op) {
			return nil, nil, c.Board.NoBoard(ctx)
		}
		return intents(ctx, v)
	})
}

// Just carries out an operation whose payload is known, and reports it.
func (c *Call) Just(ctx context.Context, p board.Payload) error {
	if c.Offline {
		return c.Queue(ctx, p)
	}
	return c.Show(c.Doing(ctx, p))
}

// Report prints a successful operation. The fields of extra are added to the JSON; for a human the
// lines follow the subject.
func (c *Call) Report(done *gitboard.Done, extra map[string]any, lines ...string) (err error) {
	if c.JSON {
		err = c.PrintJSON(Reported(done, extra))
	} else {
		said := done.Subject
		if done.Repeated {
			said += " (done before, under this request)"
		}
		err = c.Say(slices.Concat([]string{said}, lines, c.afterwards(done, lines))...)
	}
	if err != nil {
		return &UnwrittenError{done.Subject, err}
	}
	return nil
}

// afterwards is the next step of an agent whose operation has ended its work, unless the lines name one.
func (c *Call) afterwards(done *gitboard.Done, lines []string) []string {
	ends := slices.Contains([]string{"submit", "block", "handoff", "verdict"}, done.Op.Name())
	named := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "next: ") })
	switch {
	case !ends || named || done.After.Agent(done.Op.Actor.ID) == nil:
		return nil
	case c.App.Supervised():
		return []string{"next: end your turn"}
	}
	return []string{"next: git liza prime"}
}

// Reported is a successful operation as JSON shows it.
func Reported(done *gitboard.Done, extra map[string]any) map[string]any {
	o := map[string]any{
		"ok": true, "op": done.Op.Name(), "commit": done.Commit, "subject": done.Subject,
		"request": done.Op.Request, "time": done.Op.Time, "actor": done.Op.Actor.ID,
	}
	if done.Repeated {
		o["repeated"] = true
	}
	if id := done.Op.TaskID(); id != "" {
		o["task"] = id
		if t := done.After.Task(id); t != nil {
			o["status"] = t.Status
		}
	}
	if dir := board.BornIn(done.Op.Name()); dir != "" {
		if id, err := done.After.LastID(dir); err == nil {
			o["id"] = id
		}
	}
	for k, v := range extra {
		o[k] = v
	}
	return o
}

// Answer prints the result of a command that is not an operation.
func (c *Call) Answer(fields map[string]any, line string) error {
	if !c.JSON {
		return c.Say(line)
	}
	o := map[string]any{"ok": true}
	for k, v := range fields {
		o[k] = v
	}
	return c.PrintJSON(o)
}

func (c *Call) PrintJSON(v any) error {
	line, err := cmdline.JSON(v)
	if err != nil {
		return err
	}
	_, err = c.App.Stdout.Write(append(c.withMessages(line), '\n'))
	return err
}

// Tell prints the result of a command that reads: v for a program, lines for a human.
func Tell(c *Call, v any, lines ...string) error {
	if c.JSON {
		return c.PrintJSON(v)
	}
	return c.Say(lines...)
}

// Copy prints a text as it is; v is the same for a program.
func Copy(c *Call, v any, text string) error {
	if c.JSON {
		return c.PrintJSON(v)
	}
	_, err := io.WriteString(c.App.Stdout, text)
	return err
}

// Say prints lines for a human, without characters that would hide or reorder text, or begin a
// line in the middle of one.
func (c *Call) Say(lines ...string) error {
	line := breaks.Replace(strings.Join(lines, "\n"))
	_, err := io.WriteString(c.App.Stdout, c.Legible(text.Visible(line))+"\n")
	return err
}

// breaks replaces the line breaks that texts of the board may have within their lines.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", " ", "\u2028", " ", "\u2029", " ")

// Print writes lines that may be coloured; their texts must already be safe.
func (c *Call) Print(lines []string) error {
	_, err := io.WriteString(c.App.Stdout, c.Legible(strings.Join(lines, "\n"))+"\n")
	return err
}

// Text is a flag's text, or that of a file ("-" is standard input).
func (c *Call) Text(flag, text, file string) (string, error) {
	if file == "" {
		return text, nil
	}
	if text != "" {
		return "", Usage(c.Cmd, "the text is given twice: once in --%s-file", flag)
	}
	return c.File("--"+flag+"-file", file)
}

// maxOfFile is how much of a file is read as a text: more than any text on the board may have.
const maxOfFile = 1 << 20

// File is the text of a file that a flag or an argument names; "-" is standard input. It is without
// the mark by which an editor marks a file as UTF-8.
func (c *Call) File(name, file string) (string, error) {
	from := c.App.Stdin
	if file != "-" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.Directory(), file)
		}
		f, err := os.Open(file)
		if err != nil {
			return "", Usage(c.Cmd, "%s: %v", name, err)
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxOfFile))
	if err != nil {
		return "", Usage(c.Cmd, "%s: %v", name, err)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// SkipSpecFile reports whether the caller's environment turns the check of spec files off.
func (a *App) SkipSpecFile() bool { return a.Getenv("SKIP_SPEC_FILE_CHECK") == "true" }
