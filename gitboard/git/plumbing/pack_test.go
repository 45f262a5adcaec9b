package plumbing

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestEncodePack(t *testing.T) {
	one, two := NewObject(BlobObject, []byte("one")), NewObject(TreeObject, nil)
	pack := testrun.Must(EncodePack([]Object{one, two, one}))(t)
	if n := binary.BigEndian.Uint32(pack[8:]); n != 2 {
		t.Errorf("%d objects are packed, not 2", n)
	}
	back := memory.NewStorage()
	testrun.Check(t, packfile.UpdateObjectStorage(back, bytes.NewReader(pack)))
	if len(back.Objects) != 2 || back.Objects[plumbing.NewHash(string(one.OID))] == nil || back.Objects[plumbing.NewHash(string(two.OID))] == nil {
		t.Errorf("the pack has %v", back.Objects)
	}
	one.OID = two.OID
	if _, err := EncodePack([]Object{one}); err == nil || !strings.Contains(err.Error(), string(two.OID)) {
		t.Errorf("an object with another id: %v", err)
	}
	if _, err := EncodePack([]Object{{OID: NewObject("", nil).OID}}); err == nil {
		t.Error("an object without a type is packed")
	}
}
