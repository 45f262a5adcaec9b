package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A history of the corpus is a git bundle. `git fetch FILE 'refs/*:refs/*'` fetches it into any
// repository, where git log, git show and git liza work on it.

const bundleHead = "# v2 git bundle\n"

// keeper is a store that records the objects written to it.
type keeper struct {
	*testrepo.Memory
	objects []plumbing.Object
}

func (k *keeper) WriteObjects(ctx context.Context, objects []plumbing.Object) error {
	k.objects = append(k.objects, objects...)
	return k.Memory.WriteObjects(ctx, objects)
}

// bundle packs all written objects with the current refs.
func (k *keeper) bundle(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(bundleHead)
	refs := testrun.Must(k.Refs(context.Background()))(t)
	for _, r := range refs {
		fmt.Fprintf(&out, "%s %s\n", r.OID, r.Name)
	}
	out.WriteString("\n")
	all := memory.NewStorage()
	var ids []gogit.Hash
	for _, o := range k.objects {
		e := all.NewEncodedObject()
		kind := testrun.Must(gogit.ParseObjectType(string(o.Type)))(t)
		e.SetType(kind)
		w := testrun.Must(e.Writer())(t)
		testrun.Must(w.Write(o.Data))(t)
		id := testrun.Must(all.SetEncodedObject(e))(t)
		if id.String() != string(o.OID) {
			t.Fatalf("%s is packed as %s", o.OID, id)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	testrun.Must(packfile.NewEncoder(&out, all, false).Encode(ids, 200))(t)
	return out.Bytes()
}

// unbundle loads a bundle into a store.
func unbundle(t testing.TB, store log.Store, data []byte) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(data))
	if line, err := in.ReadString('\n'); err != nil || line != bundleHead {
		t.Fatalf("this is not a bundle: %q, %v", line, err)
	}
	var refs []plumbing.RefUpdate
	for {
		line := testrun.Must(in.ReadString('\n'))(t)
		if line == "\n" {
			break
		}
		oid, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs = append(refs, plumbing.RefUpdate{Ref: ref, New: plumbing.OID(oid)})
	}
	all := memory.NewStorage()
	p := testrun.Must(packfile.NewParserWithStorage(packfile.NewScanner(in), all))(t)
	testrun.Must(p.Parse())(t)
	var objects []plumbing.Object
	for id, e := range all.Objects {
		r := testrun.Must(e.Reader())(t)
		content := testrun.Must(io.ReadAll(r))(t)
		o := plumbing.NewObject(plumbing.ObjectType(e.Type().String()), content)
		if string(o.OID) != id.String() {
			t.Fatalf("%s reads as %s", id, o.OID)
		}
		objects = append(objects, o)
	}
	check(t, store.WriteObjects(context.Background(), objects))
	check(t, store.UpdateRefs(context.Background(), refs, "unbundle"))
}
