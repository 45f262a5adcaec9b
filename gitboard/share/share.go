package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Share makes a remote the judge of this clone's board. After a probe, it pushes the board (unless
// it is there already) with integration, submissions, leases and the task branches in one push. A
// clone without a board adopts the remote's. probe is the id for Probe.
//
// It refuses a remote that doesn't exist, has lost its board or does not accept what a board needs,
// a shallow clone, a clone whose plain fetch would overwrite the board, and a remote whose
// integration is not behind the local one. It returns a *DivergedError if the remote has another
// board.
func (s *Store) Share(ctx context.Context, name, probe string) error {
	if err := s.fit(ctx, name); err != nil {
		return err
	}
	release, err := s.awaitShare(ctx, true)
	if err != nil {
		return err
	}
	defer release()
	if _, err := s.Sharing(ctx); err != nil { // another share may have ended in the meantime
		return err
	}
	known, err := s.named(ctx)
	if err != nil {
		return err
	}
	if known != "" && known != name {
		return board.Refuse(board.CodeExists, "this clone shares its board by "+known, "git liza sync; a board has one remote")
	}
	again, err := s.repeats(ctx, name)
	if err != nil {
		return err
	}
	tip, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	by, err := s.repo.Remote(ctx, name)
	if err != nil {
		return err
	}
	there, err := boardAt(ctx, by)
	if err != nil {
		return err
	}
	if there != none {
		err := s.adopt(ctx, by, there)
		if again {
			err = s.unlessAnother(ctx, err)
		}
		return err
	}
	if tip.IsZero() {
		return log.ErrNoBoard
	}
	if known == "" && s.Name() != "" {
		return board.Refuse(board.CodeExists, fmt.Sprintf("this clone shares its board by %s, and %s does not have it", s.Name(), name), "git remote add "+s.Name()+" URL")
	}
	home, err := s.repo.Ref(ctx, plumbing.HomeRef)
	if err != nil {
		return err
	}
	if home.IsZero() && !again && known != name {
		return s.copied(ctx, name)
	}
	branch, err := s.integration(ctx)
	if err != nil {
		return err
	}
	if err := s.choose(ctx, by, probe); err != nil {
		return err
	}
	if err := s.protect(ctx, name, branch); err != nil {
		return err
	}
	offered, err := s.offered(ctx, by, tip, branch)
	if err != nil {
		return err
	}
	return s.offer(ctx, by, offered, home)
}

// repeats reports whether a share to this remote has begun in this clone and not ended. It refuses
// another remote than that one.
func (s *Store) repeats(ctx context.Context, name string) (bool, error) {
	begun, err := s.begun(ctx)
	if err != nil || begun == "" {
		return false, err
	}
	if begun != name {
		err = s.cutOff(ctx, begun)
	}
	return true, err
}

// unlessAnother passes on the error of adopting a board. If the remote has a board that has nothing
// to do with the one that was being shared, that one is at home here again.
func (s *Store) unlessAnother(ctx context.Context, err error) error {
	apart := (*DivergedError)(nil)
	if !errors.As(err, &apart) || !apart.Unrelated {
		return err
	}
	return errors.Join(err, s.comeHome(ctx, apart.Here))
}

// offer pushes the board to a remote that has none. From then on writes in this clone wait until it
// is known whether the remote has the board: others may write to it there. home is where the board
// is at home here, zero if an earlier offer was cut off.
func (s *Store) offer(ctx context.Context, by *git.Remote, offered map[string]string, home plumbing.OID) error {
	if err := s.begin(by.Name); err != nil {
		return err
	}
	if err := s.moveHome(ctx, home, plumbing.ZeroOID); errors.Is(err, git.ErrRefMoved) {
		return sharingNow() // beside this one, where files can't be locked
	} else if err != nil {
		return err
	}
	found := none
	push := func(ctx context.Context) error { return by.Offer(ctx, offered) }
	arrived := func(ctx context.Context) (is bool, err error) {
		found, err = boardAt(ctx, by)
		return found != none && found != lost, err
	}
	err := tried(ctx, push, arrived, func(error) bool { return found != lost })
	switch {
	case err != nil && found == lost: // a part has arrived, and the rest has to follow
		return &log.UnclearError{Err: err}
	case err == nil && found != none: // others may have built on it
		return s.unlessAnother(ctx, s.adopt(ctx, by, found))
	case err == nil:
		return s.keepName(ctx, by)
	case home.IsZero() && errors.Is(err, git.ErrUnsent): // an interrupted push may still be on its way
		return &log.UnclearError{Err: err}
	case home.IsZero():
		return err
	case errors.Is(err, git.ErrUnsent):
		return errors.Join(err, s.comeHome(ctx, home))
	case errors.Is(err, git.ErrRejected) || errors.Is(err, git.ErrNotAtomic):
		return errors.Join(fmt.Errorf("%w; nothing was shared", err), s.comeHome(ctx, home))
	case errors.As(err, new(*log.UnclearError)):
		return err
	}
	return &log.UnclearError{Err: err}
}

// comeHome makes the board at home here again, since it was not shared. If that fails, as on a full
// disk, the share counts as cut off: another one continues it.
func (s *Store) comeHome(ctx context.Context, home plumbing.OID) error {
	if err := s.moveHome(ctx, plumbing.ZeroOID, home); err != nil {
		return err
	}
	return s.ended()
}

// moveHome moves plumbing.HomeRef, which a copy of a board has not.
func (s *Store) moveHome(ctx context.Context, from, to plumbing.OID) error {
	if from == to {
		return nil
	}
	return s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, Old: from, New: to}}, "")
}

// named returns the remote that shares this clone's board, "" if there is none, or none of that
// name any more.
func (s *Store) named(ctx context.Context) (string, error) {
	names, err := s.repo.Settings().Remotes(ctx)
	if slices.Contains(names, s.Name()) {
		return s.Name(), err
	}
	return "", err
}

// offered maps what a remote gets when the board is first shared to its names there: the board, and
// the branches of all tasks that were ever claimed. Other branches of that form belong to humans.
func (s *Store) offered(ctx context.Context, by *git.Remote, tip plumbing.OID, integration string) (map[string]string, error) {
	at, err := s.log.At(ctx, tip)
	if err != nil {
		return nil, err
	}
	tasks := at.State.TaskBranches()
	branches, err := s.repo.Refs(ctx, plumbing.BranchRef(tasks.Dir()))
	if err != nil {
		return nil, err
	}
	offered := map[string]string{
		plumbing.BoardRef: plumbing.BoardRef, string(tip): named(by, plumbing.HomeRef), integration: integration,
		plumbing.ReviewPrefix + "*": named(by, plumbing.ReviewPrefix) + "*",
	}
	for _, b := range branches {
		if id, is := tasks.Task(plumbing.BranchName(b.Name)); is && at.State.Task(id).Begun() {
			offered[b.Name] = plumbing.PublishedRef(id)
		}
	}
	if err := at.State.Err(); err != nil || !by.OnlyBranches {
		offered[plumbing.LeasePrefix+"*"] = plumbing.LeasePrefix + "*"
		return offered, err
	}
	return offered, s.offerLeases(ctx, offered)
}

// Find asks every remote and names those that share a board. It returns the error of a remote that
// can't be asked, and refuses if all that it finds are copies, or remotes that have lost theirs.
func (s *Store) Find(ctx context.Context) ([]string, error) {
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	var unfit error
	for _, name := range names {
		by, err := s.repo.Remote(ctx, name)
		if err != nil {
			return nil, err
		}
		switch there, err := boardAt(ctx, by); {
		case err != nil:
			return nil, err
		case there == judge:
			found = append(found, name)
		case there == copied:
			unfit = cmp.Or(unfit, copyAt(by))
		case there == lost:
			unfit = &LostError{Remote: name}
		}
	}
	if len(found) > 0 {
		unfit = nil
	}
	return found, unfit
}

// copyAt is the refusal of a remote that has only a copy of a board.
func copyAt(by *git.Remote) error {
	return board.Refuse(board.CodeUnfitRemote, name(by)+" has a copy of a board, as a fork has: what is claimed there, others may have claimed where the board is shared",
		"git remote add upstream URL, with the address that the team shares it by; then git liza share upstream")
}

// Join adopts a remote's board in a clone that has none. It creates the integration branch from the
// remote's, unless the clone has one. It refuses what Share refuses.
func (s *Store) Join(ctx context.Context, name string) error {
	if err := s.fit(ctx, name); err != nil {
		return err
	}
	release, err := s.awaitShare(ctx, true)
	if err != nil {
		return err
	}
	defer release()
	by, err := s.repo.Remote(ctx, name)
	if err != nil {
		return err
	}
	there, err := boardAt(ctx, by)
	if err != nil {
		return err
	}
	return s.adopt(ctx, by, there)
}

func (s *Store) adopt(ctx context.Context, by *git.Remote, has presence) error {
	if has == copied {
		return copyAt(by)
	}
	if has == lost {
		return &LostError{Remote: by.Name}
	}
	// The remote's board is fetched to a tracking ref first, so that it can't mix with another
	// board that is here.
	whole, err := s.partial(ctx, by.Name)
	if err != nil {
		return err
	}
	seen := plumbing.TrackingRef(by.Name, "state")
	if err := fetchFrom(ctx, by, whole, "+"+plumbing.BoardRef+":"+seen); err != nil {
		return err
	}
	if _, _, err := s.aheadOf(ctx, by.Name, seen); err != nil {
		return err
	}
	there, err := s.repo.Ref(ctx, seen)
	if err != nil {
		return err
	}
	at, err := s.log.At(ctx, there)
	if err != nil {
		return err
	}
	config := at.State.Config()
	if err := at.State.Err(); err != nil {
		return err
	}
	if err := config.CheckBranches(); err != nil {
		return &log.RecordError{Commit: there, Path: board.ConfigPath, Err: err}
	}
	branch := plumbing.BranchRef(config.IntegrationBranch)
	if err := s.protect(ctx, by.Name, branch); err != nil {
		return err
	}
	if err := fetchFrom(ctx, by, whole, "+"+branch+":"+plumbing.TrackingRef(by.Name, "integration")); err != nil {
		return err
	}
	landed, err := s.repo.Ref(ctx, plumbing.TrackingRef(by.Name, "integration"))
	if err != nil {
		return err
	}
	var updates []plumbing.RefUpdate
	for _, u := range []plumbing.RefUpdate{{Ref: branch, New: landed}, {Ref: plumbing.BoardRef, New: there}} {
		here, err := s.repo.Ref(ctx, u.Ref)
		if err != nil {
			return err
		}
		if here.IsZero() {
			updates = append(updates, u)
		}
	}
	if err := s.repo.UpdateRefs(ctx, updates, "git liza: join"); err != nil {
		return err
	}
	return s.keepName(ctx, by)
}

func (s *Store) keepName(ctx context.Context, by *git.Remote) error {
	if _, set, err := s.repo.Settings().Get(ctx, git.OnlyBranchesKey); err != nil || set || by.OnlyBranches {
		if err := errors.Join(err, s.repo.Settings().Set(ctx, git.OnlyBranchesKey, strconv.FormatBool(by.OnlyBranches))); err != nil {
			return err
		}
	}
	if err := s.repo.Settings().Set(ctx, git.RemoteKey, by.Name); err != nil {
		return err
	}
	by, err := s.repo.Remote(ctx, by.Name) // reread: what it spares has changed
	if err != nil {
		return err
	}
	s.remote.Store(by)
	return errors.Join(s.ended(), s.dropTracked(ctx, by.Name), s.FetchAll(ctx))
}

// fit refuses a remote or a clone that can't share a board.
func (s *Store) fit(ctx context.Context, name string) error {
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return err
	}
	known := false
	for _, n := range names {
		known = known || n == name
	}
	if !known {
		hint := "git remote add " + text.Line(name, 60) + " URL"
		if name == "" || strings.ContainsAny(name, ":/") {
			hint = "git remote add NAME URL, then git liza share NAME"
		} else if near := text.Nearest(name, names, 1); len(near) > 0 {
			hint = "nearest: git liza share " + near[0]
		}
		return board.Refuse(board.CodeNoRemote, fmt.Sprintf("there is no remote %q", text.Line(name, 60)), hint)
	}
	if s.repo.Shallow() {
		return board.Refuse(board.CodeShallow, "this clone is shallow: the history that merges and reviews need is cut off", "git fetch --unshallow "+name)
	}
	if err := s.overwritten(ctx, name); err != nil {
		return err
	}
	mirror, _, err := s.repo.Settings().Get(ctx, "remote."+name+".mirror")
	if err == nil && mirror == "true" {
		return board.Refuse(board.CodeMirror, "a plain push to "+name+" makes it a mirror of this repository, and takes away what others shared", "share by a remote that is not a mirror")
	}
	return err
}

// overwritten refuses a repository in which a plain fetch from a remote would overwrite the board.
func (s *Store) overwritten(ctx context.Context, name string) error {
	specs, err := s.repo.Settings().All(ctx, "remote."+name+".fetch")
	if err != nil {
		return err
	}
	for _, spec := range specs {
		_, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if pattern, is := strings.CutSuffix(to, "*"); is && strings.HasPrefix(plumbing.BoardRef, pattern) || to == plumbing.BoardRef || strings.HasPrefix(to, strings.TrimSuffix(plumbing.OwnPrefix, "/")) {
			return board.Refuse(board.CodeMirror, fmt.Sprintf("a plain fetch from %s overwrites branches of this repository (%s), and with them what the board has here", name, spec),
				"work in a clone that was not made with --mirror")
		}
	}
	return nil
}

// kept refuses to write in a mirror of another repository: the next fetch would discard the change.
func (s *Store) kept(ctx context.Context) error {
	if !s.repo.Settings().MayMirror() {
		return nil
	}
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.overwritten(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// atHome refuses to write to a copy of a board, which came with a clone and is judged by another
// repository. To updates that move the board it adds that the board stays at home here: Share may
// begin meanwhile, and does not push what comes to the board later.
func (s *Store) atHome(ctx context.Context, updates []plumbing.RefUpdate) ([]plumbing.RefUpdate, error) {
	home, err := s.repo.Ref(ctx, plumbing.HomeRef)
	if err != nil {
		return nil, err
	}
	if home.IsZero() {
		if err := s.copied(ctx, ""); err != nil {
			return nil, err
		}
	}
	moves := func(ref string) bool {
		return slices.ContainsFunc(updates, func(u plumbing.RefUpdate) bool { return u.Ref == ref && u.Old != u.New })
	}
	if !moves(plumbing.BoardRef) || moves(plumbing.HomeRef) {
		return updates, nil
	}
	return append([]plumbing.RefUpdate{{Ref: plumbing.HomeRef, Old: home, New: home}}, updates...), nil
}

// copied refuses to write to the board here, if there is one, since it is not at home here. The
// hint names another remote than one that was seen to have no board, "" for none.
func (s *Store) copied(ctx context.Context, without string) error {
	if at, err := s.repo.Ref(ctx, plumbing.BoardRef); err != nil || at.IsZero() {
		return err
	}
	if begun, err := s.begun(ctx); err != nil {
		return err
	} else if begun != "" {
		return s.cutOff(ctx, begun)
	}
	if !s.repo.Settings().MayHaveRemotes() {
		return nil
	}
	names, err := s.repo.Settings().Remotes(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	hint := "git liza init --alone makes the copy a board of its own"
	names = slices.DeleteFunc(names, func(name string) bool { return name == without })
	if len(names) > 0 {
		hint = "git liza share " + text.Line(names[0], 60) + ", where the team shares it; " + hint
	}
	return board.Refuse(board.CodeElsewhere, "the board here is a copy, which came with a clone: what is written to it reaches nobody", hint)
}

// Own turns a copy of a board that came with a clone into an independent board. It reports whether
// there was a copy.
func (s *Store) Own(ctx context.Context) (bool, error) {
	release, err := s.awaitShare(ctx, true)
	if err != nil {
		return false, err
	}
	defer release()
	if by, err := s.Sharing(ctx); by != nil || err != nil {
		return false, err
	}
	tip, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return false, err
	}
	if tip.IsZero() {
		return false, nil
	}
	if home, err := s.repo.Ref(ctx, plumbing.HomeRef); err != nil || !home.IsZero() {
		return false, err
	}
	return true, errors.Join(s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, New: tip}}, "git liza: a board of its own"), s.ended())
}

// HomeLost reports whether plumbing.HomeRef is missing in a repository in which agents have leases, and
// that has seen the board at no remote. A clone has seen it, and a fork or another copy of the
// branches has no leases. (It may have submissions: doctor restores those from the board.)
func (s *Store) HomeLost(ctx context.Context) (bool, error) {
	if by, err := s.Sharing(ctx); by != nil || err != nil {
		return false, err
	}
	if begun, err := s.begun(ctx); begun != "" || err != nil {
		return false, err
	}
	for _, name := range []string{plumbing.HomeRef, plumbing.AsBranch(plumbing.HomeRef)} {
		home, err := s.repo.Ref(ctx, name)
		if errors.As(err, new(*git.BrokenRefError)) {
			return false, nil
		}
		if err != nil || !home.IsZero() {
			return false, err
		}
	}
	seen := plumbing.OwnPrefix + "remotes/"
	refs, err := s.repo.Refs(ctx, plumbing.LeasePrefix, seen)
	if slices.ContainsFunc(refs, func(r plumbing.Ref) bool { return strings.HasPrefix(r.Name, seen) }) {
		return false, err
	}
	return len(refs) > 0, err
}

// protect excludes from a plain fetch what git liza fetches itself: eight at once would make each
// other fail.
func (s *Store) protect(ctx context.Context, name, integration string) error {
	refs := []string{plumbing.BoardPrefix + "*"}
	standard, err := s.repo.Settings().RemoteHead(ctx, name)
	if err != nil {
		return err
	}
	if standard != integration {
		refs = append(refs, integration)
	}
	for _, ref := range refs {
		if err := s.repo.Settings().Add(ctx, "remote."+name+".fetch", "^"+ref); err != nil {
			return err
		}
	}
	return s.dropTracked(ctx, name)
}

// dropTracked deletes git's remote-tracking branches of the board, which a plain fetch does not
// update: git has them from an earlier fetch, or writes them on a push.
func (s *Store) dropTracked(ctx context.Context, name string) error {
	stale, err := s.repo.Refs(ctx, plumbing.RemoteRef(name, strings.TrimSuffix(plumbing.BoardPrefix, "/")))
	if err != nil {
		return err
	}
	var drop []plumbing.RefUpdate
	for _, r := range stale {
		drop = append(drop, plumbing.RefUpdate{Ref: r.Name, Old: r.OID})
	}
	if err := s.repo.UpdateRefs(ctx, drop, ""); !errors.Is(err, git.ErrRefMoved) {
		return err
	}
	return nil
}

// partial reports whether a clone fetches a remote's objects only when they are needed. The board's
// objects must all be here, since it is read without the network.
func (s *Store) partial(ctx context.Context, name string) (bool, error) {
	_, filtered, err := s.repo.Settings().Get(ctx, "remote."+name+".partialclonefilter")
	return filtered, err
}
