package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/worktrees"
)

// call is one run of a command: its flags and arguments, and what it opens on its way.
type call struct {
	app         *App
	ctx         context.Context
	cmd         *command
	args        []string
	dir         string
	json        bool
	request     string
	retries     int
	allowSecret bool
	at          string
	offline     bool

	opened  *gitboard.Board
	signer  *sshsig.Signer // that the command line names, in place of the settings
	onClose []io.Closer
	minting sync.Mutex // one session's key at a time, in a team
}

func (c *call) close() {
	if c.opened != nil {
		c.opened.Close()
	}
	for _, open := range c.onClose {
		open.Close()
	}
}

func (c *call) directory() string {
	dir := c.app.Dir
	if dir == "" {
		dir = "."
	}
	switch {
	case c.dir == "":
		return dir
	case filepath.IsAbs(c.dir):
		return c.dir
	}
	return filepath.Join(dir, c.dir)
}

// board opens the repository that the command runs in.
func (c *call) board() (*gitboard.Board, error) {
	if c.opened != nil {
		return c.opened, nil
	}
	b, err := gitboard.Open(c.ctx, c.directory(), gitboard.Options{Now: c.app.Now, Random: c.app.Random, Retries: c.retries, Writes: c.cmd.writes, Key: c.signingKey})
	if errors.Is(err, gitio.ErrNotRepository) {
		return nil, c.noRepository()
	}
	if err != nil {
		return nil, err
	}
	c.opened = b
	return b, nil
}

func (c *call) noRepository() error {
	where := "the working directory"
	if dir := c.directory(); dir != "." {
		where = dir
	}
	message := where + " is not in a git repository"
	if _, err := os.Stat(c.directory()); err != nil {
		message = "there is no directory " + where
	}
	return &outcome{1, "not-a-repository", message, "go to a git repository, or make one: git init"}
}

// view looks at the board: now, or as --at says.
func (c *call) view() (*gitboard.View, error) {
	b, err := c.board()
	if err != nil {
		return nil, err
	}
	if c.at != "" {
		return b.ViewAt(c.ctx, c.at)
	}
	return b.View(c.ctx)
}

// do asks for an operation on behalf of whoever calls.
func (c *call) do(op string, intent gitboard.Intent) (*gitboard.Done, error) {
	actor, err := c.actor(op)
	if err != nil {
		return nil, err
	}
	onBoard := func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		if v.Commit.IsZero() && op != "init" && op != "import" {
			return nil, nil, oplog.ErrNoBoard
		}
		return intent(ctx, v)
	}
	return c.opened.Do(c.ctx, gitboard.Request{Actor: actor, ID: c.request, AllowSecret: c.allowSecret, Intent: onBoard})
}

// end asks for an operation that may end a task's worktree, and prints that it was done.
func (c *call) end(actor board.Actor, p board.TaskPayload) error {
	done, err := worktrees.End(c.ctx, c.opened, gitboard.Request{Actor: actor, ID: c.request, AllowSecret: c.allowSecret}, p)
	if err != nil {
		return err
	}
	return c.report(done, nil)
}

// just asks for an operation whose payload is known, and prints that it was done.
func (c *call) just(p board.Payload) error {
	if c.offline {
		return c.queue(p)
	}
	done, err := c.do(p.Op(), gitboard.Just(p))
	if err != nil {
		return err
	}
	return c.report(done, nil)
}

// report prints an operation that was done. The fields of extra join the JSON; for a human the lines
// follow the first.
func (c *call) report(done *gitboard.Done, extra map[string]any, lines ...string) error {
	if c.json {
		return c.printJSON(reported(done, extra))
	}
	said := done.Subject
	if done.Repeated {
		said += " (done before, under this request)"
	}
	return c.say(append([]string{said}, lines...)...)
}

// reported is an operation that was done, as JSON shows it.
func reported(done *gitboard.Done, extra map[string]any) map[string]any {
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
	if dir := bornIn(done.Op.Payload); dir != "" {
		if id, err := done.After.LastID(dir); err == nil {
			o["id"] = id
		}
	}
	for k, v := range extra {
		o[k] = v
	}
	return o
}

// bornIn is the directory in which an operation makes a record under the next number, "" for the others.
func bornIn(p board.Payload) string {
	switch p.(type) {
	case *board.Discover:
		return board.DiscoveryDir
	case *board.AddNote:
		return board.NoteDir
	case *board.LogAnomaly:
		return board.AnomalyDir
	case *board.RecordSpecChange:
		return board.SpecChangeDir
	}
	return ""
}

// answer prints what a command that is no operation has done.
func (c *call) answer(fields map[string]any, line string) error {
	if !c.json {
		return c.say(line)
	}
	o := map[string]any{"ok": true}
	for k, v := range fields {
		o[k] = v
	}
	return c.printJSON(o)
}

func (c *call) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := c.app.Stdout.Write(b.Bytes())
	return err
}

// say prints lines for a human; characters that would hide or reorder text are left out.
func (c *call) say(lines ...string) error {
	_, err := io.WriteString(c.app.Stdout, c.legible(board.Visible(strings.Join(lines, "\n")))+"\n")
	return err
}

// text is a flag's text, or that of a file ("-" is standard input).
func (c *call) text(flag, text, file string) (string, error) {
	if file == "" {
		return text, nil
	}
	if text != "" {
		return "", usage(c.cmd, "the text is given twice: once in --%s-file", flag)
	}
	return c.file(flag+"-file", file)
}

// file is the text of a file that a flag names; "-" is standard input.
func (c *call) file(flag, file string) (string, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(c.app.Stdin, 1<<20))
	} else {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.directory(), file)
		}
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return "", usage(c.cmd, "--%s: %v", flag, err)
	}
	return string(data), nil
}
