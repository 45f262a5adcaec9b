package plumbing

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
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
	return OID(plumbing.ComputeHash(t.plumbing(), data).String())
}

// PlainHash returns an object's id without NewObject's detection of crafted collisions. It is
// several times as fast. For a crafted object it returns another id than NewObject. The data may be
// in several parts.
func PlainHash(t ObjectType, data ...[]byte) OID {
	size := 0
	for _, part := range data {
		size += len(part)
	}
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, size)
	for _, part := range data {
		h.Write(part)
	}
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// plumbing converts t to go-git's type.
func (t ObjectType) plumbing() plumbing.ObjectType {
	switch t {
	case BlobObject:
		return plumbing.BlobObject
	case TreeObject:
		return plumbing.TreeObject
	case CommitObject:
		return plumbing.CommitObject
	case TagObject:
		return plumbing.TagObject
	}
	return plumbing.InvalidObject
}

// memory returns the object in the form that go-git's decoders need.
func (o Object) memory() *plumbing.MemoryObject {
	m := &plumbing.MemoryObject{}
	m.SetType(o.Type.plumbing())
	m.Write(o.Data) // can't fail
	return m
}

// encode returns the encoding of one of go-git's object types. Callers exclude what its encoders
// reject, and writing to memory does not fail, so an error is a bug in this package.
func encode(o interface {
	Encode(plumbing.EncodedObject) error
}) []byte {
	m := &plumbing.MemoryObject{}
	if err := o.Encode(m); err != nil {
		panic("git: encode: " + err.Error())
	}
	r, err := m.Reader()
	if err != nil {
		panic("git: encode: " + err.Error())
	}
	data, err := io.ReadAll(r)
	if err != nil {
		panic("git: encode: " + err.Error())
	}
	return data
}
