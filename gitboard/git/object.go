package git

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// ObjectType is what git calls an object's type.
type ObjectType string

// The four types of objects.
const (
	BlobObject   ObjectType = "blob"
	TreeObject   ObjectType = "tree"
	CommitObject ObjectType = "commit"
	TagObject    ObjectType = "tag"
)

// Object is an object's type and content, without git's header. An Object
// with OID "" means one that is missing.
type Object struct {
	OID  OID
	Type ObjectType
	Data []byte
}

// NewObject names the object that data makes. It keeps data and does not
// write anything.
func NewObject(t ObjectType, data []byte) Object {
	return Object{OID: hashObject(t, data), Type: t, Data: data}
}

func hashObject(t ObjectType, data []byte) OID {
	return OID(plumbing.ComputeHash(t.plumbing(), data).String())
}

// PlainHash names an object without NewObject's search for crafted collisions. It is
// several times as fast, and gives a crafted object another name.
func PlainHash(t ObjectType, data []byte) OID {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, len(data))
	h.Write(data)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// plumbing returns t in go-git's form.
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

// memory returns the object as go-git's decoders want it.
func (o Object) memory() *plumbing.MemoryObject {
	m := &plumbing.MemoryObject{}
	m.SetType(o.Type.plumbing())
	m.Write(o.Data) // into memory; it cannot fail
	return m
}

// encode returns the content that one of go-git's object types writes. What
// its encoders refuse has been taken care of by our callers, and writing to
// memory does not fail, so an error is a mistake of this package.
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
