package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Batch is one `git cat-file --batch` child. It is started on first use and restarted after it
// dies. Requests are serialized; one request may hold many names.
type Batch struct {
	environ gitenv.List // of the child, besides what its command adds
	command Command
	turn    chan struct{} // holds a token while no request is running
	Partial func() bool   // whether git may die for lack of an object of a remote
	closed  atomic.Bool

	// Guarded by turn.
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *Tail
	died   bool // the last child died of the object it was asked for
}

func NewBatch(given gitenv.List, c Command) *Batch {
	b := &Batch{environ: given, command: c, turn: make(chan struct{}, 1), Partial: func() bool { return false }}
	b.turn <- struct{}{}
	return b
}

// Ask returns the objects for names, in order. A missing or damaged object has OID "". No name may
// contain a line feed.
func (b *Batch) Ask(ctx context.Context, names []string) ([]plumbing.Object, error) {
	select {
	case <-b.turn:
	case <-ctx.Done():
		return nil, b.failed(ctx, ctx.Err())
	}
	defer func() { b.turn <- struct{}{} }()
	if b.closed.Load() {
		return nil, ErrClosed
	}
	// If the child died while idle, only this request notices; a new child may answer.
	old := b.cmd != nil
	objects, err := b.exchange(ctx, names)
	if err != nil && old && ctx.Err() == nil {
		objects, err = b.exchange(ctx, names)
	}
	for err != nil && ctx.Err() == nil && b.died && len(objects) < len(names) && !b.Partial() {
		objects, err = b.without(ctx, names, objects)
	}
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// without continues after the child died of one object, as git does of a damaged one. The object
// counts as missing if a new child that is asked for it alone dies as well.
func (b *Batch) without(ctx context.Context, names []string, answers []plumbing.Object) ([]plumbing.Object, error) {
	next := len(answers)
	one, err := b.exchange(ctx, names[next:next+1])
	if err != nil && !b.died {
		return answers, err
	}
	if err != nil {
		one = []plumbing.Object{{}}
	}
	if answers = append(answers, one...); len(answers) == len(names) {
		return answers, nil // without a child that has nothing to answer
	}
	rest, err := b.exchange(ctx, names[next+1:])
	return append(answers, rest...), err
}

// exchange sends one request. After a failure the child is stopped, since the next answer could not
// be matched to its name; the answers received before the failure are returned.
func (b *Batch) exchange(ctx context.Context, names []string) ([]plumbing.Object, error) {
	b.died = false
	if err := ctx.Err(); err != nil {
		return nil, b.failed(ctx, err)
	}
	if b.cmd == nil {
		if err := b.start(ctx); err != nil {
			return nil, b.failed(ctx, err)
		}
	}
	kill := b.cmd.Process.Kill
	stop := context.AfterFunc(ctx, func() { kill() })
	// Write and read concurrently: with both pipes full, neither side would proceed.
	asked := make(chan error, 1)
	in := b.in
	go func() { asked <- writeNames(in, names) }()
	objects, err := readObjects(b.out, names)
	if err != nil {
		kill() // releases the writer
	}
	err = errors.Join(err, <-asked)
	stop() // if it is too late, the next request finds a dead child
	if err != nil {
		b.stop()
		return objects, b.failed(ctx, err)
	}
	return objects, nil
}

// failed adds git's last error line to err.
func (b *Batch) failed(ctx context.Context, err error) error {
	var said string
	if b.stderr != nil {
		said = b.stderr.String()
	}
	if line := LastLine(said); line != "" {
		err = fmt.Errorf("%w (%s)", err, line)
	}
	return b.command.failure(ctx, err, said)
}

func (b *Batch) start(ctx context.Context) error {
	if b.command.Err != nil {
		return b.command.Err
	}
	off, err := b.command.Door.environ(ctx, b.environ)
	if err != nil {
		return err
	}
	cmd := exec.Command("git", b.command.Args...)
	cmd.Dir, cmd.WaitDelay = b.command.Dir, waitDelay
	cmd.Env = append(append(gitenv.Clean(b.environ), off...), b.command.Env...)
	b.stderr = &Tail{}
	cmd.Stderr = b.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.cmd, b.in, b.out = cmd, in, bufio.NewReaderSize(out, 64<<10)
	return nil
}

// stop kills the child, which owns nothing. It sets died if the child had already exited by itself
// With the code that git uses for fatal errors.
func (b *Batch) stop() {
	b.cmd.Process.Kill()
	b.cmd.Wait() // closes the pipes
	b.died = b.cmd.ProcessState.ExitCode() == Died
	b.cmd = nil
}

// Close kills the child and waits for it. The child owns nothing, so there is no point in letting
// it finish.
func (b *Batch) Close() error {
	<-b.turn
	defer func() { b.turn <- struct{}{} }()
	b.closed.Store(true)
	if b.cmd != nil {
		b.stop()
	}
	return nil
}

// writeNames writes the request: one name per line.
func writeNames(in io.Writer, names []string) error {
	w := bufio.NewWriter(in)
	for _, name := range names {
		// bufio.Writer keeps the first error for Flush.
		w.WriteString(name)
		w.WriteByte('\n')
	}
	return w.Flush()
}

// readObjects reads the answer for each name. On error it also returns the answers before it.
func readObjects(out *bufio.Reader, names []string) ([]plumbing.Object, error) {
	objects := make([]plumbing.Object, len(names))
	for i, name := range names {
		object, err := readObject(out)
		if err != nil {
			return objects[:i], fmt.Errorf("read object %q: %w", name, err)
		}
		objects[i] = object
	}
	return objects, nil
}

// readObject reads one answer (git-cat-file, "BATCH OUTPUT"): either a line of id, type and size,
// followed by the content and a line feed; or, if there is no such object, one line that ends in
// another word ("missing", "ambiguous"). An object whose content does not match its id is damaged
// and counts as missing.
func readObject(out *bufio.Reader) (plumbing.Object, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return plumbing.Object{}, unexpectedEnd(err)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(fields) != 3 || !plumbing.OID(fields[0]).Valid() {
		return plumbing.Object{}, nil
	}
	size, err := strconv.ParseUint(fields[2], 10, 62)
	if err != nil {
		return plumbing.Object{}, nil
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(out, data); err != nil {
		return plumbing.Object{}, unexpectedEnd(err)
	}
	if data[size] != '\n' {
		return plumbing.Object{}, fmt.Errorf("the answer of git cat-file is out of step")
	}
	object := plumbing.Object{OID: plumbing.OID(fields[0]), Type: plumbing.ObjectType(fields[1]), Data: data[:size:size]}
	if plumbing.PlainHash(object.Type, object.Data) != object.OID {
		return plumbing.Object{}, nil
	}
	return object, nil
}

// unexpectedEnd turns io.EOF into io.ErrUnexpectedEOF: the stream ended in the middle of an answer.
func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Closed reports whether Close was called.
func (b *Batch) Closed() bool { return b.closed.Load() }
