package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Remote is another repository, which this one fetches from and pushes to by
// git's own means: its transports, its credentials, its settings.
type Remote struct {
	Name     string
	repo     *Repo
	patience time.Duration
	env      []string
	spared   []string
}

// networkPatience is how long a child that talks to another repository may say
// nothing, unless liza.networkTimeout (seconds) says otherwise.
const networkPatience = 60 * time.Second

// Settings of this repository that a Remote knows.
const (
	RemoteKey         = "liza.remote"
	networkTimeoutKey = "liza.networktimeout"
)

// Shared returns the remote that the board is shared by (liza.remote in the
// repository's own settings), nil when it is not: then no child is started.
func (r *Repo) Shared(ctx context.Context) (*Remote, error) {
	if !r.ownSettings().mayShare() {
		return nil, nil
	}
	settings := r.people.settings()
	if settings == nil {
		var err error
		if settings, err = r.remoteSettings(ctx); err != nil {
			return nil, err
		}
	}
	if len(settings[RemoteKey]) == 0 {
		return nil, nil
	}
	return r.remote(last(settings[RemoteKey]), settings), nil
}

// MayMirror reports, without asking git, whether this repository's settings may
// let a plain fetch overwrite every ref, as `git clone --mirror` does.
func (r *Repo) MayMirror() bool { return r.ownSettings().mayMirror() }

// MayHaveRemotes reports, without asking git, whether there may be a remote.
func (r *Repo) MayHaveRemotes() bool { return r.ownSettings().mayHaveRemotes() }

// Remote returns the remote of that name.
func (r *Repo) Remote(ctx context.Context, name string) (*Remote, error) {
	settings, err := r.remoteSettings(ctx)
	if err != nil {
		return nil, err
	}
	return r.remote(name, settings), nil
}

func (r *Repo) remoteSettings(ctx context.Context) (map[string][]string, error) {
	out, err := r.command("config", "config", "--null", "--get-regexp", `^(liza\.(remote|networktimeout)|core\.(sshcommand|askpass)|remote\..*\.fetch)$`).output(ctx)
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("settings of the remote: %w", err)
	}
	settings := map[string][]string{}
	for _, entry := range splitNUL(out) {
		key, value, _ := strings.Cut(entry, "\n")
		settings[key] = append(settings[key], value)
	}
	return settings, nil
}

// last is the value that counts of a setting, "" for none.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func (r *Repo) remote(name string, settings map[string][]string) *Remote {
	m := &Remote{Name: name, repo: r, patience: networkPatience, env: sshEnv(last(settings["core.sshcommand"]))}
	if _, set := os.LookupEnv("GIT_ASKPASS"); !set && len(settings["core.askpass"]) == 0 {
		m.env = append(m.env, "GIT_ASKPASS=") // else git would ask with ssh's
	}
	if seconds, err := strconv.Atoi(last(settings[networkTimeoutKey])); err == nil && seconds > 0 {
		m.patience = time.Duration(seconds) * time.Second
	}
	for _, spec := range settings["remote."+name+".fetch"] {
		if ref, is := strings.CutPrefix(spec, "^"); is {
			m.spared = append(m.spared, ref)
		}
	}
	return m
}

// sshEnv keeps ssh, and git's credential manager, from asking. A command that is
// none of OpenSSH's is left as it is; the timeout ends it should it ask.
func sshEnv(setting string) []string {
	command := os.Getenv("GIT_SSH_COMMAND")
	if command == "" {
		command = setting
	}
	if command == "" && os.Getenv("GIT_SSH") == "" {
		command = "ssh"
	}
	env := []string{"SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
	if words := strings.Fields(command); len(words) > 0 && filepath.Base(words[0]) == "ssh" {
		env = append(env, "GIT_SSH_COMMAND="+command+" -o BatchMode=yes")
	}
	return env
}

// Spares reports whether a plain fetch leaves a ref of the remote alone (a
// negative refspec), as the settings were when m was made.
func (m *Remote) Spares(ref string) bool { return slices.Contains(m.spared, ref) }

// Patience is how long a child may say nothing.
func (m *Remote) Patience() time.Duration { return m.patience }

// NetworkError is a remote that could not be talked to, or that refused.
type NetworkError struct {
	Remote string
	Said   string // by git or the remote, one line
	Err    error
}

// Error returns one sentence.
func (e *NetworkError) Error() string { return fmt.Sprintf("the remote %s: %s", e.Remote, e.Said) }

// Unwrap returns the cause.
func (e *NetworkError) Unwrap() error { return e.Err }

// ErrRejected says that the remote has moved none of the refs of a push,
// because one of them could not be moved.
var ErrRejected = errors.New("the push was rejected")

// ErrLockedThere says, beside ErrRejected, that a lock at the remote was in the
// way: another push's, or one that a killed git has left there.
var ErrLockedThere = errors.New("the remote's refs are locked")

// ErrDeclinedThere says, beside ErrRejected, that a hook at the remote or a setting has declined the push: the same push is
// declined again.
var ErrDeclinedThere = errors.New("the remote has declined")

// ErrHiddenThere says, beside ErrRejected, that the remote takes no push to one of
// the refs (receive.hideRefs, which a clone with a board has for its own).
var ErrHiddenThere = errors.New("the remote takes no pushes to its board")

// ErrNotAtomic says that the remote does not move several refs at once; it was
// told nothing.
var ErrNotAtomic = errors.New("the remote does not move several refs at once")

// ErrSilent says that the remote was given up on, because nothing was heard of it
// for as long as Patience. That was a wait: to try again at once is only another.
var ErrSilent = errors.New("nothing was heard")

// ErrUnsent says that a push failed before it has told the remote anything.
var ErrUnsent = errors.New("nothing was sent")

// Fetch brings refs and what they need, as refspecs tell. Nothing else moves:
// no remote-tracking branch, no FETCH_HEAD, no tag. prune takes away what
// refspecs with a pattern have made before and is no longer at the remote.
// A partial clone leaves out nothing of what is new here: whoever reads it later
// may have no network. whole brings what it has left out before, too.
//
// The error is ErrBusy, with the lock's path, when a ref could not be moved here
// because another process keeps its lock; else a NetworkError, also when a ref
// could not be moved here for another reason.
func (m *Remote) Fetch(ctx context.Context, prune, whole bool, refspecs ...string) error {
	args := flags(noHooks, noUpkeep, refSettings, []string{"-c", "fetch.writeCommitGraph=false", "fetch", "--refmap=", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-tags", "--no-filter", "--no-recurse-submodules", "--no-show-forced-updates", "--progress"})
	if prune {
		args = append(args, "--prune")
	} else {
		args = append(args, "--no-prune")
	}
	if whole {
		args = append(args, "--refetch")
	}
	args = append(args, "--", m.Name)
	for attempt := 1; ; attempt++ {
		_, err := m.talk(ctx, "fetch", append(args, refspecs...), nil)
		failed := (*NetworkError)(nil)
		if !errors.As(err, &failed) || exitCode(failed.Err) != 1 {
			return err
		}
		busy := m.repo.locked(fetchLocks(refspecs)...)
		if busy == nil {
			return err
		}
		if attempt == attempts || !m.repo.awaitBusy(ctx, busy) {
			return busy
		}
	}
}

// fetchLocks are the lock files, or patterns of them, that keep a fetch from
// moving refs here.
func fetchLocks(refspecs []string) []string {
	locks := slices.Clone(wholeLocks)
	for _, spec := range refspecs {
		if _, to, moves := strings.Cut(spec, ":"); moves {
			locks = append(locks, to+".lock")
			if strings.HasSuffix(to, "*") {
				locks = append(locks, to+"/*.lock")
			}
		}
	}
	return locks
}

// List returns those refs of the remote that are there, by the full names given.
func (m *Remote) List(ctx context.Context, refs ...string) (map[string]git.OID, error) {
	args := append([]string{"ls-remote", "--quiet", "--refs", "--", m.Name}, refs...)
	out, err := m.talk(ctx, "ls-remote", args, nil)
	there := map[string]git.OID{}
	for _, line := range splitLines(out) {
		oid, ref, _ := strings.Cut(line, "\t")
		if slices.Contains(refs, ref) { // git lists longer names that end so, too
			there[ref] = git.OID(oid)
		}
	}
	return there, err
}

// Push is what a push is to do with one ref of the remote.
type Push struct {
	Ref string  // in full
	New git.OID // zero: delete it
	// Exactly makes it a compare-and-swap from Old, zero for "it must not
	// exist". Else the ref may only go forward, as git says that.
	Exactly bool
	Old     git.OID
}

// Push moves refs of the remote, all or none. ErrRejected in a NetworkError
// when the remote or git refused, ErrUnsent when it has not come so far; any
// other NetworkError may mean that it was done all the same.
func (m *Remote) Push(ctx context.Context, pushes []Push) error {
	args := flags(noHooks, noUpkeep, []string{"push", "--porcelain", "--progress", "--atomic", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"})
	for _, p := range pushes {
		if err := git.CheckRefName(p.Ref); err != nil {
			return err
		}
		if p.Exactly {
			old := p.Old.OrZero()
			if old == git.ZeroOID {
				old = ""
			}
			args = append(args, "--force-with-lease="+p.Ref+":"+string(old))
		}
	}
	args = append(args, "--", m.Name)
	for _, p := range pushes {
		from := string(p.New.OrZero())
		if p.New.OrZero() == git.ZeroOID {
			from = ""
		}
		args = append(args, from+":"+p.Ref)
	}
	seen := m.watched()
	defer seen.drop()
	err := rejected(m.talk(ctx, "push", args, nil, seen.env()...))
	if failed := (*NetworkError)(nil); errors.As(err, &failed) && seen.unsent() {
		failed.Err = fmt.Errorf("%w (%w)", ErrUnsent, failed.Err)
	}
	return err
}

// rejected tells a push that was refused from one of which nothing is known.
func rejected(out []byte, err error) error {
	failed := (*NetworkError)(nil)
	if !errors.As(err, &failed) || exitCode(failed.Err) <= 0 {
		return err
	}
	if strings.Contains(failed.Said, "--atomic") { // an option, so it is in every language; git dies before it pushes
		failed.Err = fmt.Errorf("%w: %w", ErrNotAtomic, failed.Err)
		return failed
	}
	for _, line := range splitLines(out) {
		if rest, is := strings.CutPrefix(line, "!\t"); is {
			_, why, _ := strings.Cut(rest, "\t")
			if !strings.HasPrefix(failed.Said, "remote: ") {
				failed.Said = why
			}
			failed.Err = fmt.Errorf("%w (%w)", ErrRejected, failed.Err)
			if strings.Contains(failed.Said, "cannot lock ref") && strings.Contains(failed.Said, ".lock'") { // not what stands where a ref is to be
				failed.Err = fmt.Errorf("%w: %w", ErrLockedThere, failed.Err)
			}
			if strings.Contains(failed.Said, "hidden ref") { // a word of the protocol: it is in every language
				failed.Err = fmt.Errorf("%w: %w: %w", ErrHiddenThere, ErrDeclinedThere, failed.Err)
			}
			if strings.Contains(why, "hook declined") {
				failed.Err = fmt.Errorf("%w: %w", ErrDeclinedThere, failed.Err)
			}
			return failed
		}
	}
	return failed
}

// talk runs a child that talks to the remote, for as long as it says something
// now and then.
func (m *Remote) talk(ctx context.Context, op string, args []string, stdin []byte, env ...string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := m.repo.command(op, args...).with(m.env...).with(env...).feed(stdin)
	repair := c.repair
	c.repair = nil // what a remote has done of it shows when it is asked again
	c.dir = m.repo.base()
	heard := &listener{patience: m.patience, silent: func() { cancel(ErrSilent) }}
	heard.timer = time.AfterFunc(m.patience, heard.silent)
	defer heard.timer.Stop()
	c.heard, c.alone = heard, true
	out, err := c.output(ctx)
	if err == nil {
		return out, nil
	}
	repair(ctx)
	said := firstCause(heard.said.String())
	switch {
	case errors.Is(context.Cause(ctx), ErrSilent):
		said = fmt.Sprintf("git %s heard nothing for %s", op, m.patience)
		err = fmt.Errorf("%w (%w)", ErrSilent, err)
	case ctx.Err() != nil || errors.As(err, new(*UnsupportedError)):
		return out, err
	case said == "":
		said = err.Error()
	}
	return out, &NetworkError{Remote: m.Name, Said: strings.TrimSuffix(said, "."), Err: err} // others continue the sentence
}

// base is the directory that relative addresses of remotes are meant from: the
// top of the main worktree, as far as it can be told.
func (r *Repo) base() string {
	switch {
	case filepath.Base(r.common) == ".git":
		return filepath.Dir(r.common)
	case r.gitDir == r.common && r.top != "":
		return r.top
	}
	return r.common
}

// listener hears what a child says, and ends it when it says nothing.
type listener struct {
	mu       sync.Mutex
	said     tail
	patience time.Duration
	timer    *time.Timer
	silent   func()
}

// Write never fails.
func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Reset(l.patience)
	return l.said.Write(p)
}

// Offer pushes refs under the names that they have here, of which each may be a
// pattern, and those of renamed under other names; all or none. None of them is
// moved by force.
func (m *Remote) Offer(ctx context.Context, renamed map[string]string, refs ...string) error {
	args := flags(noHooks, noUpkeep, []string{"push", "--porcelain", "--progress", "--atomic", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--", m.Name})
	for _, ref := range refs {
		args = append(args, ref+":"+ref)
	}
	for from, to := range renamed {
		args = append(args, from+":"+to)
	}
	return rejected(m.talk(ctx, "push", args, nil))
}

// RemoteHead returns the full name, at the remote, of the branch that others
// start from, as this clone remembers it; "" when it doesn't.
func (r *Repo) RemoteHead(ctx context.Context, remote string) (string, error) {
	prefix := git.RemoteRef(remote, "")
	head, err := r.symbolic(ctx, prefix+"HEAD")
	if name, is := strings.CutPrefix(head, prefix); is {
		return git.HeadsPrefix + name, err
	}
	return "", err
}
