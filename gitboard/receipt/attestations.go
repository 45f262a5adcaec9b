package receipt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// attested is a stored statement whose signature is good.
type attested struct {
	sha256 string
	public string
	head   string
	kind   string
	board  Board
	result string // of a test
	ran    string // the command of a test
}

// pathOf is where an envelope about a commit is stored.
func pathOf(commit plumbing.OID, envelope []byte) string {
	return path.Join(string(commit[:2]), string(commit), SHA256(envelope)+".json")
}

// stored reads the statements of a tip of plumbing.AttestationsRef. Files that are no signed
// statement about the commit of their path are counted in bad.
func stored(ctx context.Context, repo *git.Repo, tip plumbing.OID) (all []attested, bad int, err error) {
	if tip.IsZero() {
		return nil, 0, nil
	}
	files := map[string]plumbing.OID{}
	if err := list(ctx, repo, string(tip)+"^{tree}", "", files); err != nil {
		return nil, 0, err
	}
	paths := slices.Sorted(func(yield func(string) bool) {
		for p := range files {
			if !yield(p) {
				return
			}
		}
	})
	for part := range slices.Chunk(paths, 256) {
		names := make([]string, len(part))
		for i, p := range part {
			names[i] = string(files[p])
		}
		objects, err := repo.Objects(ctx, names)
		if err != nil {
			return nil, 0, err
		}
		for i, o := range objects {
			if a, ok := read(part[i], o.Data); ok {
				all = append(all, a)
			} else {
				bad++
			}
		}
	}
	return all, bad, nil
}

// read reads a stored envelope.
func read(at string, data []byte) (a attested, ok bool) {
	text, public, err := Open(data)
	if err != nil {
		return a, false
	}
	var s statement
	if err := json.Unmarshal(text, &s); err != nil || s.Type != statementType || len(s.Subject) != 1 {
		return a, false
	}
	var p struct {
		Board   Board  `json:"board"`
		Result  string `json:"result"`
		Command string `json:"command"`
	}
	if err := json.Unmarshal(s.Predicate, &p); err != nil {
		return a, false
	}
	a = attested{SHA256(data), public, s.Subject[0].Digest["gitCommit"], Provenance, p.Board, p.Result, p.Command}
	if s.PredicateType == testResultType {
		a.kind = TestResult
	}
	known := s.PredicateType == testResultType || s.PredicateType == provenanceType
	return a, known && plumbing.OID(a.head).Valid() && at == pathOf(plumbing.OID(a.head), data)
}

// list lists the files below a tree by their paths.
func list(ctx context.Context, repo *git.Repo, tree, dir string, into map[string]plumbing.OID) error {
	o, err := repo.Object(ctx, tree)
	if err != nil {
		return err
	}
	entries, err := plumbing.DecodeTree(o.Data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		if e.Mode == filemode.Dir {
			if err := list(ctx, repo, string(e.OID), at, into); err != nil {
				return err
			}
		} else {
			into[at] = e.OID
		}
	}
	return nil
}

// treeOf makes the tree of files by their paths.
func treeOf(files map[string]plumbing.OID, made *[]plumbing.Object) plumbing.OID {
	below := map[string]map[string]plumbing.OID{}
	var entries []plumbing.TreeEntry
	for p, oid := range files {
		dir, rest, nested := strings.Cut(p, "/")
		if !nested {
			entries = append(entries, plumbing.TreeEntry{Name: p, Mode: filemode.Regular, OID: oid})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]plumbing.OID{}
		}
		below[dir][rest] = oid
	}
	for dir, files := range below {
		entries = append(entries, plumbing.TreeEntry{Name: dir, Mode: filemode.Dir, OID: treeOf(files, made)})
	}
	o := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(entries))
	*made = append(*made, o)
	return o.OID
}

// rounds is how often a store of an envelope is tried again after others have stored theirs.
const rounds = 8

// Store adds an envelope about a commit to this clone's statements and, with a remote, to the
// remote's. Statements are never lost: where both have some, the result has the union.
func Store(ctx context.Context, repo *git.Repo, remote *git.Remote, commit plumbing.OID, envelope []byte, by plumbing.Signature, now time.Time) error {
	by.When = now
	blob := plumbing.NewObject(plumbing.BlobObject, envelope)
	if err := repo.WriteObjects(ctx, []plumbing.Object{blob}); err != nil {
		return err
	}
	file := pathOf(commit, envelope)
	for range rounds {
		there := plumbing.ZeroOID
		if remote != nil {
			var err error
			if there, err = theirs(ctx, repo, remote); err != nil {
				return err
			}
		}
		here, err := repo.Ref(ctx, plumbing.AttestationsRef)
		if err != nil {
			return err
		}
		tip, err := union(ctx, repo, here, there, file, blob.OID, by)
		if err != nil {
			return err
		}
		if err := repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.AttestationsRef, Old: here, New: tip}}, "git liza: attest"); err != nil {
			if errors.Is(err, git.ErrRefMoved) {
				continue
			}
			return err
		}
		if remote == nil || tip == there {
			return nil
		}
		err = remote.Push(ctx, []git.Push{{Ref: at(remote), New: tip, Old: there}})
		if err == nil || !errors.Is(err, git.ErrRejected) || errors.Is(err, git.ErrDeclinedThere) {
			return err
		}
	}
	return fmt.Errorf("others stored statements %d times in between: %w", rounds, git.ErrBusy)
}

// at is the ref's name at a remote.
func at(remote *git.Remote) string {
	if remote.OnlyBranches {
		return plumbing.AsBranch(plumbing.AttestationsRef)
	}
	return plumbing.AttestationsRef
}

// theirs fetches the remote's statements and returns their tip, zero for none.
func theirs(ctx context.Context, repo *git.Repo, remote *git.Remote) (plumbing.OID, error) {
	name := at(remote)
	there, err := remote.List(ctx, name)
	if err != nil || there[name] == "" {
		return plumbing.ZeroOID, err
	}
	seen := plumbing.TrackingRef(remote.Name, "attestations")
	if err := remote.Fetch(ctx, false, false, "+"+name+":"+seen); err != nil {
		return "", err
	}
	return repo.Ref(ctx, seen)
}

// union returns a tip that has the files of both tips and one more.
func union(ctx context.Context, repo *git.Repo, here, there plumbing.OID, file string, blob plumbing.OID, by plumbing.Signature) (plumbing.OID, error) {
	files := map[string]plumbing.OID{}
	var parents, trees []plumbing.OID
	for _, tip := range []plumbing.OID{there, here} {
		if tip.IsZero() || slices.Contains(parents, tip) {
			continue
		}
		if len(parents) > 0 {
			if older, err := repo.History().IsAncestor(ctx, tip, parents[0]); err != nil {
				return "", err
			} else if older {
				continue
			}
			if newer, err := repo.History().IsAncestor(ctx, parents[0], tip); err != nil {
				return "", err
			} else if newer {
				parents, trees = nil, nil
			}
		}
		if err := list(ctx, repo, string(tip)+"^{tree}", "", files); err != nil {
			return "", err
		}
		o, err := repo.Object(ctx, string(tip)+"^{tree}")
		if err != nil {
			return "", err
		}
		parents, trees = append(parents, tip), append(trees, o.OID)
	}
	files[file] = blob
	var made []plumbing.Object
	tree := treeOf(files, &made)
	if len(trees) == 1 && trees[0] == tree {
		return parents[0], nil // it is there already
	}
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{
		Tree: tree, Parents: parents, Author: by, Committer: by, Message: "Attest " + path.Base(path.Dir(file)) + "\n",
	}))
	return commit.OID, repo.WriteObjects(ctx, append(made, commit))
}

// statements reads the statements that count: by keys of the board, not revoked or recorded before
// the revocation, about this board.
func (c *check) statements(ctx context.Context) error {
	ref := plumbing.AttestationsRef
	tip, err := c.repo.Ref(ctx, ref)
	if err != nil {
		return err
	}
	if c.o.Remote != "" {
		seen, err := c.repo.Ref(ctx, plumbing.TrackingRef(c.o.Remote, "attestations"))
		if err != nil {
			return err
		}
		if seen.IsZero() {
			if seen, err = c.repo.Ref(ctx, plumbing.RemoteRef(c.o.Remote, plumbing.AsBranch(ref))); err != nil {
				return err
			}
		}
		if !seen.IsZero() {
			tip = seen
		}
	}
	all, bad, err := stored(ctx, c.repo, tip)
	if err != nil {
		return err
	}
	for _, a := range all {
		switch k := c.ledger.keys[a.public]; {
		case k == nil || a.board.Root != c.Board.Root:
			bad++
		case k.revoked > 0 && (c.ledger.recorded[a.sha256] == 0 || c.ledger.recorded[a.sha256] > k.revoked):
			bad++
		default:
			c.attested = append(c.attested, a)
		}
	}
	if bad > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d stored statements don't count: of another board, or not signed by a key of this one", bad))
	}
	for _, a := range c.attested {
		if _, has := c.ledger.index[a.board.Tip]; !has {
			c.fail(Failure{Code: CodeRewound, Commit: a.board.Tip, Text: fmt.Sprintf("%s attested the board at %s, which the board at %s lacks: it was set back", c.ledger.keys[a.public].principal, a.board.Tip.Short(), c.Board.Tip.Short()), Hint: "git fetch; if the remote has no newer board: stop, and let a human look"})
			break
		}
	}
	return nil
}

// reproduced checks that enough runners repeated the test of the head with success.
func (c *check) reproduced(context.Context) error {
	if c.Require.Reproduced == 0 || len(c.Moves) == 0 {
		return nil
	}
	head := c.Moves[len(c.Moves)-1]
	passedBy, failure := []string{}, ""
	for _, a := range c.attested {
		k := c.ledger.keys[a.public]
		if a.kind != TestResult || a.head != string(head.Commit) || !k.runner || a.ran != head.Test || head.Test == "" {
			continue
		}
		if a.result != passed {
			failure = "; it failed for " + k.principal
		} else if !slices.Contains(passedBy, k.principal) {
			passedBy = append(passedBy, k.principal)
		}
	}
	if len(passedBy) < c.Require.Reproduced {
		text := fmt.Sprintf("%d of %d runners repeated the test of %s with success", len(passedBy), c.Require.Reproduced, head.Commit.Short())
		c.fail(Failure{Code: CodeReproduced, Commit: head.Commit, Task: head.Task, Text: text + failure, Hint: "on a runner: git liza attest --type test-result --run --key KEY --push"})
	}
	return nil
}
