package server_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestHollowParcels: a parcel moves no ref to a commit whose history is not complete on the server.
// A push that git refuses for that can leave one there, and nobody can fetch a ref that leads to it.
func TestHollowParcels(t *testing.T) {
	w := newWorld(t, 1)
	clone := w.clones[0].Repo().TopLevel()
	base, head := plumbing.OID(w.git(clone, "rev-parse", "liza/state")), plumbing.OID(w.git(clone, "rev-parse", "main"))
	sound := plumbing.OID(w.git(clone, "rev-parse", "main^{tree}"))
	by := plumbing.Signature{Name: "Eve", Email: "eve@example.org", When: time.Unix(1_700_000_000, 0).UTC()}
	gone := plumbing.NewObject(plumbing.BlobObject, []byte("that the server has not\n")).OID
	lacking := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "gone", Mode: filemode.Regular, OID: gone}}))
	commit := func(message string, tree plumbing.OID, parents ...plumbing.OID) plumbing.Object {
		return plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Parents: parents, Author: by, Committer: by, Message: message + "\n"}))
	}
	noFile := commit("no file", lacking.OID, head)
	noTree := commit("no tree", gone, head)
	hollow := map[string]plumbing.Object{
		"a file": noFile, "a tree": noTree, "a file of the commit before": commit("removes it", sound, noFile.OID),
		"the commit before": commit("no parent", sound, gone), "nothing": commit("all is there", sound, head),
	}
	written := []plumbing.Object{lacking, noFile, noTree}
	for _, c := range hollow {
		written = append(written, c)
	}
	w.check(w.open(w.hub).Repo().WriteObjects(w.ctx, written))
	for name, c := range hollow {
		t.Run(name, func(t *testing.T) {
			before := w.refs()
			p := parcel.Parcel{Transactions: []parcel.Transaction{{Base: base, Integration: head, Refs: []plumbing.RefUpdate{{Ref: plumbing.PublishedRef("parse"), Old: plumbing.ZeroOID, New: c.OID}}}}}
			text, _ := p.Text()
			out, err := exec.Command("git", "-C", clone, "push", "--porcelain", "-o", text, "origin", ":"+parcel.Ref).CombinedOutput()
			if name == "nothing" {
				if err != nil || !strings.Contains(w.refs(), string(c.OID)) {
					t.Errorf("%v\n%s", err, out)
				}
				w.git(w.hub, "update-ref", "-d", plumbing.PublishedRef("parse"))
				return
			}
			if err == nil || !strings.Contains(string(out), "are missing or damaged") || w.refs() != before {
				t.Errorf("%v\n%s\nthe refs are\n%s", err, out, w.refs())
			}
		})
	}
	t.Run("a replacement", func(t *testing.T) { // git would check the history of the replacement
		whole, zero := hollow["nothing"].OID, string(plumbing.ZeroOID)
		w.pushRaw(zero + " " + string(whole) + " " + plumbing.ReplacePrefix + string(noFile.OID))
		before := w.refs()
		if said := w.pushRaw(zero + " " + string(noFile.OID) + " " + plumbing.PublishedRef("parse")); !strings.Contains(said, "missing necessary objects") || w.refs() != before {
			t.Errorf("%s\nthe refs are\n%s", said, w.refs())
		}
	})
	w.git("", "clone", "-q", "--mirror", "--no-local", w.hub, filepath.Join(t.TempDir(), "all"))
}

// pushRaw pushes objects that the hub has already, which git push would not do if the clone lacks a
// part of them. It returns what git says.
func (w *world) pushRaw(command string) string {
	w.t.Helper()
	send := exec.Command("git", "receive-pack", w.hub)
	command += "\x00report-status"
	send.Stdin = strings.NewReader(fmt.Sprintf("%04x%s0000", len(command)+4, command) + w.emptyPack())
	out := testrun.Must(send.CombinedOutput())(w.t)
	return string(out)
}

func (w *world) emptyPack() string {
	w.t.Helper()
	out := testrun.Must(exec.Command("git", "-C", w.hub, "pack-objects", "-q", "--stdout").Output())(w.t)
	return string(out)
}
