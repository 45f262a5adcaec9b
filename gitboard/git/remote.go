package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/network"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/settings"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// Remote is another repository that this one fetches from and pushes to with git's own transports,
// credentials and settings.
type Remote struct {
	Name string
	// OnlyBranches means that the host accepts only branches, and lets them only grow. The refs of the
	// board have other names there (plumbing.AsBranch).
	OnlyBranches bool

	repo     *Repo
	patience time.Duration
	env      []string
	spared   []string
	unnamed  bool         // git has no address for it
	near     string       // its git directory, if git reads that itself; "" otherwise
	aside    *atomic.Bool // whether the last fetch failed: another git may have deleted what came
}

// networkPatience is how long a child that talks to another repository may stay silent, unless
// liza.networkTimeout (in seconds) overrides it.
const networkPatience = 60 * time.Second

// Settings of this repository that a Remote reads.
const (
	RemoteKey         = "liza.remote"
	OnlyBranchesKey   = "liza.onlybranches" // whether that remote is one with OnlyBranches
	networkTimeoutKey = "liza.networktimeout"
)

// Shared returns the remote that shares the board (liza.remote in the repository's own settings),
// or nil if the board is not shared; then it starts no child.
func (r *Repo) Shared(ctx context.Context) (*Remote, error) {
	if !settings.ReadOwn(r.common).MayShare() {
		return nil, nil
	}
	settings := r.people.settings()
	if len(settings[RemoteKey]) == 0 { // it was not set yet when those were read
		var err error
		if settings, err = r.remoteSettings(ctx); err != nil {
			return nil, err
		}
	}
	if len(settings[RemoteKey]) == 0 {
		return nil, nil
	}
	return r.remote(network.Last(settings[RemoteKey]), settings), nil
}

// MayMirror reports, without asking git, whether this repository's settings may let a plain fetch
// overwrite every ref, as after `git clone --mirror`.
func (s Settings) MayMirror() bool { return settings.ReadOwn(s.repo.common).MayMirror() }

// MayHaveRemotes reports, without asking git, whether there may be a remote.
func (s Settings) MayHaveRemotes() bool { return settings.ReadOwn(s.repo.common).MayHaveRemotes() }

// Remote returns the remote with that name.
func (r *Repo) Remote(ctx context.Context, name string) (*Remote, error) {
	settings, err := r.remoteSettings(ctx)
	if err != nil {
		return nil, err
	}
	return r.remote(name, settings), nil
}

func (r *Repo) remoteSettings(ctx context.Context) (map[string][]string, error) {
	out, err := r.command("config", "config", "--null", "--get-regexp", `^(liza\.(remote|onlybranches|networktimeout)|core\.(sshcommand|askpass)|remote\..*\.(fetch|url|pushurl|uploadpack))$`).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return nil, fmt.Errorf("settings of the remote: %w", err)
	}
	settings := map[string][]string{}
	for _, entry := range child.Fields(out) {
		key, value, _ := strings.Cut(entry, "\n")
		settings[key] = append(settings[key], value)
	}
	return settings, nil
}

func (r *Repo) remote(name string, settings map[string][]string) *Remote {
	m := &Remote{Name: name, repo: r, aside: &atomic.Bool{}, patience: networkPatience, env: network.SSHEnv(r.environ, name, settings, r.base(), filepath.Join(r.common, "liza"))}
	m.OnlyBranches = name == network.Last(settings[RemoteKey]) && network.Last(settings[OnlyBranchesKey]) == "true"
	if _, set := r.environ.Lookup("GIT_ASKPASS"); !set && len(settings["core.askpass"]) == 0 {
		m.env = append(m.env, "GIT_ASKPASS=") // otherwise git falls back to SSH_ASKPASS
	}
	if seconds, err := strconv.Atoi(network.Last(settings[networkTimeoutKey])); err == nil && seconds > 0 {
		m.patience = time.Duration(seconds) * time.Second
	}
	urls := settings["remote."+name+".url"]
	m.unnamed = len(urls) == 0
	if len(urls) > 0 && filepath.IsAbs(urls[0]) && len(settings["remote."+name+".uploadpack"]) == 0 {
		m.near = urls[0]
	}
	for _, spec := range settings["remote."+name+".fetch"] {
		if ref, is := strings.CutPrefix(spec, "^"); is {
			m.spared = append(m.spared, ref)
		}
	}
	return m
}

// Spares reports whether a plain fetch leaves a ref of the remote alone (a negative refspec), going
// by the settings when m was created.
func (m *Remote) Spares(ref string) bool { return slices.Contains(m.spared, ref) }

// Near returns the git directory of a remote on this machine, and where it has a ref. It returns ""
// if the remote is reached by a program, or has no such file.
func (m *Remote) Near(ref string) (dir string, at plumbing.OID) {
	text, err := os.ReadFile(filepath.Join(m.near, filepath.FromSlash(ref)))
	if at = plumbing.OID(strings.TrimSpace(string(text))); err != nil || m.near == "" || !at.Valid() {
		return "", ""
	}
	return m.near, at
}

// Patience returns how long a child may stay silent.
func (m *Remote) Patience() time.Duration { return m.patience }

// NetworkError is network.Error, and PartError is network.PartError.
type (
	NetworkError = network.Error
	PartError    = network.PartError
)

// The errors of package network.
var (
	ErrRejected      = network.ErrRejected
	ErrLockedThere   = network.ErrLockedThere
	ErrDeclinedThere = network.ErrDeclinedThere
	ErrUnstoredThere = network.ErrUnstoredThere
	ErrHiddenThere   = network.ErrHiddenThere
	ErrNoRemote      = network.ErrNoRemote
	ErrNotAtomic     = network.ErrNotAtomic
	ErrSilent        = network.ErrSilent
	ErrUnsent        = network.ErrUnsent
	ErrNotOffered    = network.ErrNotOffered
)

// Fetch fetches refs and the objects they need, by the refspecs. Nothing else moves: no
// remote-tracking branch, no FETCH_HEAD, no tag. prune deletes refs that a pattern refspec created
// earlier and that are gone from the remote. In a partial clone, no new object is left out, because
// a later reader may have no network. whole also fetches what was left out before.
//
// The error is ErrBusy, with the lock's path, if a local ref could not be moved because another
// process keeps its lock. Otherwise it is a NetworkError, even if a local ref could not be moved
// for another reason.
func (m *Remote) Fetch(ctx context.Context, prune, whole bool, refspecs ...string) error {
	// Without --show-forced-updates, which a setting may turn off, git takes every update for a
	// fast-forward and makes it.
	args := slices.Concat(noHooks, noUpkeep, m.repo.refSettings(), []string{"-c", "fetch.writeCommitGraph=false", "fetch", "--refmap=", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-tags", "--no-filter", "--no-recurse-submodules", "--show-forced-updates", "--progress"})
	if prune {
		args = append(args, "--prune")
	} else {
		args = append(args, "--no-prune")
	}
	fetch := func(options ...string) command {
		c := m.repo.command("fetch", slices.Concat(args, options, []string{"--", m.Name}, refspecs)...)
		c.Dir = m.repo.base()
		return c
	}
	damaged := false // another git has deleted a part of what came
	for attempt := 1; ; attempt++ {
		var again []string
		if whole || damaged {
			again = []string{"--refetch"}
		}
		if damaged || m.aside.Load() {
			release, err := m.fetchAside(ctx, fetch(append(again, "--dry-run")...))
			if err != nil {
				return err
			}
			defer release()
			again = nil
		}
		before := m.repo.targets(ctx, refspecs)
		_, err := m.hear(ctx, fetch(again...))
		if m.aside.Store(child.ExitCode(err) > 0); err == nil {
			err = m.repo.keepFetched(ctx, before, m.repo.targets(ctx, refspecs))
		}
		if damaged = errors.As(err, new(*DamagedError)); damaged && attempt < pruned {
			continue
		}
		failed := (*NetworkError)(nil)
		// Git may wait for a local lock longer than m waits for a word of it.
		if !errors.As(err, &failed) || child.ExitCode(failed.Err) != 1 && !errors.Is(err, ErrSilent) {
			return err
		}
		busy := m.repo.Locks().Find(fetchLocks(refspecs)...)
		if busy == nil {
			return err
		}
		if !retry.May(ctx, attempt, attempts) || !m.repo.Locks().Await(ctx, busy) {
			return busy
		}
	}
}

// fetchAside lets git bring objects to a directory from which no other git deletes them, and then adds
// them as a pack, which stays until release is called.
func (m *Remote) fetchAside(ctx context.Context, c command) (release func(), err error) {
	objects := m.repo.objectDir()
	own := filepath.Join(m.repo.common, "liza")
	if err := m.repo.MakeDir(own); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(own, leftFetch)
	if err != nil {
		return nil, disk.NewStorageError(own, err)
	}
	defer os.RemoveAll(aside)
	c.Args = slices.Concat([]string{"-c", "fetch.unpackLimit=1", "-c", "transfer.unpackLimit=1"}, c.Args)
	if _, err := m.hear(ctx, c.With("GIT_OBJECT_DIRECTORY="+aside, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotedDir(objects))); err != nil {
		return nil, err
	}
	files, _ := os.ReadDir(filepath.Join(aside, "pack")) // none without a pack
	var keeps []string
	for _, suffix := range []string{".keep", ".pack", ".rev", ".idx"} { // git looks for the last
		for _, file := range files {
			name, is := strings.CutSuffix(file.Name(), ".idx")
			to := filepath.Join(objects, "pack", name+suffix)
			switch {
			case !is:
			case suffix == ".keep":
				keeps = append(keeps, to)
				err = errors.Join(err, os.WriteFile(to, []byte("a fetch by git liza\n"), 0o444))
			default:
				if failed := os.Rename(filepath.Join(aside, "pack", name+suffix), to); suffix != ".rev" {
					err = errors.Join(err, failed)
				}
			}
		}
	}
	return func() {
		for _, keep := range keeps {
			_ = os.Remove(keep)
		}
	}, disk.NewStorageError(objects, err)
}

// targets returns the refs that a fetch by refspecs may move here. What can't be read is left out.
func (r *Repo) targets(ctx context.Context, refspecs []string) map[string]plumbing.OID {
	var prefixes []string
	for _, spec := range refspecs {
		if _, to, moves := strings.Cut(spec, ":"); moves {
			prefixes = append(prefixes, strings.TrimSuffix(to, "*"))
		}
	}
	refs, _ := r.Below(ctx, prefixes...)
	return refs
}

// fetchLocks returns the lock files, or patterns for them, that keep a fetch from moving local
// refs.
func fetchLocks(refspecs []string) []string {
	names := slices.Clone(locks.Whole)
	for _, spec := range refspecs {
		if _, to, moves := strings.Cut(spec, ":"); moves {
			names = append(names, to+".lock")
			if strings.HasSuffix(to, "*") {
				names = append(names, to+"/*.lock")
			}
		}
	}
	return names
}

// List returns those of the given refs that exist at the remote, by full name, or by a prefix and a
// final *.
func (m *Remote) List(ctx context.Context, refs ...string) (map[string]plumbing.OID, error) {
	args := append([]string{"ls-remote", "--quiet", "--refs", "--", m.Name}, refs...)
	out, err := m.talk(ctx, "ls-remote", args, nil)
	there := map[string]plumbing.OID{}
	for _, line := range child.Lines(out) {
		oid, ref, _ := strings.Cut(line, "\t")
		asked := func(name string) bool {
			below, all := strings.CutSuffix(name, "*")
			return ref == name || all && strings.HasPrefix(ref, below)
		}
		if slices.ContainsFunc(refs, asked) { // git also lists longer names with this suffix
			there[ref] = plumbing.OID(oid)
		}
	}
	return there, err
}

// Push is the change of one ref of the remote.
type Push struct {
	Ref string       // full name
	New plumbing.OID // zero deletes the ref
	// Exactly makes the push a compare-and-swap from Old; a zero Old means that the ref must not
	// exist. Otherwise git only allows a fast-forward, and Old is only where the caller saw it.
	Exactly bool
	Old     plumbing.OID
}

// source is the object that git pushes for it, "" to delete the ref.
func (p Push) source() string {
	if p.New.IsZero() {
		return ""
	}
	return string(p.New)
}

// Push moves refs of the remote, all or none. The NetworkError wraps ErrRejected if the remote or
// git refused, and ErrUnsent if nothing was sent. After any other NetworkError the push may have
// happened all the same.
func (m *Remote) Push(ctx context.Context, pushes []Push) error {
	args := slices.Clone(pushFlags)
	for _, p := range pushes {
		if err := plumbing.CheckRefName(p.Ref); err != nil {
			return err
		}
		if p.Exactly {
			old := p.Old.OrZero()
			if old == plumbing.ZeroOID {
				old = ""
			}
			args = append(args, "--force-with-lease="+p.Ref+":"+string(old))
		}
	}
	args = append(args, "--", m.Name)
	for _, p := range pushes {
		args = append(args, p.source()+":"+p.Ref)
	}
	_, err := m.push(ctx, args)
	return err
}

// refFlags are the command of a push of one ref, pushFlags that of all refs or none.
var (
	refFlags  = slices.Concat(noHooks, noUpkeep, []string{"push", "--porcelain", "--progress", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"})
	pushFlags = slices.Concat(refFlags, []string{"--atomic"})
)

// Deliver pushes one change of a ref, with an option for the remote's hooks unless it is "", and
// returns the remote's report on it: the name of the ref that it has moved, which is another one if
// a hook of the remote has answered (proc-receive), or with ErrRejected the reason. Errors are
// those of Push, or ErrNotOffered. Without --atomic the remote starts no transaction, and no hooks
// of one, for a ref that a hook answers.
func (m *Remote) Deliver(ctx context.Context, p Push, option string) (said string, err error) {
	if err := plumbing.CheckRefName(p.Ref); err != nil {
		return "", err
	}
	env := []string(nil)
	if option != "" { // arguments can be seen by everybody on this machine
		env = []string{gitenv.ParametersVar + "=" + gitenv.AddSettings(m.repo.environ.Get(gitenv.ParametersVar), gitenv.Setting{Key: "push.pushoption", Value: ""}, gitenv.Setting{Key: "push.pushoption", Value: option})}
	}
	out, err := m.push(ctx, slices.Concat(refFlags, []string{"--", m.Name, p.source() + ":" + p.Ref}), env...)
	for _, line := range child.Lines(out) { // flag, from:to, summary (git-push, --porcelain)
		switch fields := strings.Split(line, "\t"); {
		case len(fields) < 3:
		case fields[0] == "!":
			return fields[2], err
		case err == nil:
			_, said, _ = strings.Cut(fields[1], ":")
			return said, nil
		}
	}
	failed := (*NetworkError)(nil)
	if errors.As(err, &failed) && (strings.HasSuffix(failed.Said, "remote ref does not exist") || strings.HasSuffix(failed.Said, "does not support push options")) {
		failed.Err = fmt.Errorf("%w (%w)", ErrNotOffered, failed.Err)
	}
	return "", err
}

// push runs git push, and marks the error of a push that was refused or never sent. Where another git
// has deleted what is pushed, which no ref holds yet, git reads copies that it can't delete.
func (m *Remote) push(ctx context.Context, args []string, env ...string) ([]byte, error) {
	var gone []plumbing.Object
	c := m.repo.command("push", slices.Concat(m.untracked(), args)...).With(env...)
	c.Dir, c.Repair = m.repo.base(), func(ctx context.Context) bool {
		gone, _ = m.repo.missing(ctx, m.repo.unheld(), loose.Has)
		return m.repo.bringBack(ctx)
	}
	out, err := m.pushBy(ctx, c)
	if len(gone) == 0 || child.ExitCode(err) != 1 {
		return out, err
	}
	scrap, failed := os.MkdirTemp("", "liza-objects-")
	if failed != nil {
		return out, err
	}
	defer os.RemoveAll(scrap)
	for _, o := range m.repo.unheld() {
		_ = loose.Write(scrap, o) // git reports what it can't read
	}
	again, failed := m.pushBy(ctx, c.With("GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotedDir(scrap)))
	if failed != nil && !errors.Is(err, ErrRejected) {
		return out, err // whose outcome is unknown
	}
	return again, failed
}

func (m *Remote) pushBy(ctx context.Context, c command) ([]byte, error) {
	seen := network.TracePush(filepath.Join(m.repo.common, "liza"), m.repo.environ)
	defer seen.Drop()
	out, err := m.hear(ctx, c.With(seen.Env()...))
	err = network.Rejected(out, err)
	if failed := (*NetworkError)(nil); errors.As(err, &failed) && seen.Unsent() {
		failed.Err = fmt.Errorf("%w (%w)", ErrUnsent, failed.Err)
	}
	return out, err
}

// untracked returns settings that keep a push from writing remote-tracking branches of the board,
// which fetches leave alone. Git expands negative refspecs by the destinations of the others
// (query_matches_negative_refspec), so here one has them where they come from.
func (m *Remote) untracked() []string {
	key, board := "remote."+m.Name+".fetch=", plumbing.BoardPrefix+"*"
	return []string{"-c", key + "^" + board, "-c", key + board + ":" + board}
}

// talk runs a child that talks to the remote, for as long as it keeps producing output.
func (m *Remote) talk(ctx context.Context, op string, args []string, stdin []byte, env ...string) ([]byte, error) {
	c := m.repo.command(op, args...).With(env...).Feed(stdin)
	c.Dir = m.repo.base()
	return m.hear(ctx, c)
}

// hear is talk for a child that is prepared.
func (m *Remote) hear(ctx context.Context, c command) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c = c.With(m.env...)
	repair := c.Repair
	c.Repair = nil // no automatic retry: the remote may have acted already
	heard := network.Listen(m.patience, func() { cancel(ErrSilent) })
	defer heard.Stop()
	c.Heard, c.Alone = heard, true
	out, err := c.Output(ctx)
	if err == nil {
		return out, nil
	}
	if repair != nil {
		repair(ctx)
	}
	err = m.repo.damagedRecord(err)
	said := child.FirstCause(heard.Said())
	switch {
	case errors.Is(context.Cause(ctx), ErrSilent):
		said = fmt.Sprintf("git %s heard nothing for %s", c.Op, m.patience)
		err = &CommandError{Op: c.Op, Exit: -1, Err: ErrSilent} // not the cancelled context's: no caller has cancelled it
	case ctx.Err() != nil || errors.As(err, new(*UnsupportedError)):
		return out, err
	case m.unnamed:
		said, err = "git knows no remote of this name", fmt.Errorf("%w (%w)", ErrNoRemote, err)
	case said == "":
		said = err.Error()
	}
	// Callers continue the sentence, so it has no final period.
	return out, &NetworkError{Remote: m.Name, Said: strings.TrimSuffix(said, "."), Err: err}
}

// base returns the directory to which relative addresses of remotes refer: the top of the main
// worktree, as far as it is known.
func (r *Repo) base() string {
	switch {
	case filepath.Base(r.common) == ".git":
		return filepath.Dir(r.common)
	case r.gitDir == r.common && r.top != "":
		return r.top
	}
	return r.common
}

// Offer pushes the refs or commits that are the keys of as, each of which may be a pattern, under
// the names in its values; all or none. Nothing is forced. Errors are those of Push.
func (m *Remote) Offer(ctx context.Context, as map[string]string) error {
	args := slices.Concat(pushFlags, []string{"--", m.Name})
	for _, from := range slices.Sorted(maps.Keys(as)) {
		args = append(args, from+":"+as[from])
	}
	_, err := m.push(ctx, args)
	return err
}

// RemoteHead returns the full name, at the remote, of the remote's default branch as this clone
// remembers it, or "" if it does not.
func (s Settings) RemoteHead(ctx context.Context, remote string) (string, error) {
	prefix := plumbing.RemoteRef(remote, "")
	head, err := s.repo.symbolic(ctx, prefix+"HEAD")
	if name, is := strings.CutPrefix(head, prefix); is {
		return plumbing.HeadsPrefix + name, err
	}
	return "", err
}
