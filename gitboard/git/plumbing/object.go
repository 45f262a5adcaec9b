package plumbing

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/pjbgf/sha1cd"
)

// ObjectType is git's name for an object's type.
type ObjectType string

// The four types of objects.
const (
	BlobObject   ObjectType = "blob"
	TreeObject   ObjectType = "tree"
	CommitObject ObjectType = "commit"
	TagObject    ObjectType = "tag"
)

// Object is an object's type and content, without git's header. An Object with OID "" is missing.
type Object struct {
	OID  OID
	Type ObjectType
	Data []byte
}

// NewObject returns the object with that content and its id. It keeps data and writes nothing.
func NewObject(t ObjectType, data []byte) Object {
	return Object{OID: hashObject(t, data), Type: t, Data: data}
}

func hashObject(t ObjectType, data []byte) OID {
	return sum(sha1cd.New(), t, data)
}

// PlainHash returns an object's id without NewObject's detection of crafted collisions. It is
// several times as fast. For a crafted object it returns another id than NewObject. The data may be
// in several parts.
func PlainHash(t ObjectType, data ...[]byte) OID {
	return sum(sha1.New(), t, data...)
}

func sum(h hash.Hash, t ObjectType, data ...[]byte) OID {
	size := 0
	for _, part := range data {
		size += len(part)
	}
	fmt.Fprintf(h, "%s %d\x00", t, size)
	for _, part := range data {
		h.Write(part)
	}
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// inPack is the number of a type in packs.
var inPack = map[ObjectType]byte{CommitObject: 1, TreeObject: 2, BlobObject: 3, TagObject: 4}
