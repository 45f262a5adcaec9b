package plumbing

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
)

// EncodePack returns objects as a pack (gitformat-pack), without deltas. An object that is named
// twice is in it once. It returns an error for an object whose content has another id.
func EncodePack(objects []Object) ([]byte, error) {
	var pack bytes.Buffer
	packed := make(map[OID]bool, len(objects))
	pack.WriteString("PACK\x00\x00\x00\x02????") // version 2, and the number of objects
	for _, o := range objects {
		kind, known := inPack[o.Type]
		if id := hashObject(o.Type, o.Data); id != o.OID || !known {
			return nil, fmt.Errorf("pack: an object is named %q, and its content makes it %s", o.OID, id)
		}
		if packed[o.OID] {
			continue
		}
		packed[o.OID] = true
		pack.Write(packHeader(kind, len(o.Data)))
		z := zlib.NewWriter(&pack) // writing to memory can't fail
		z.Write(o.Data)
		z.Close()
	}
	data := pack.Bytes()
	binary.BigEndian.PutUint32(data[8:], uint32(len(packed)))
	sum := sha1.Sum(data)
	return append(data, sum[:]...), nil
}

// packHeader returns a type and the size of the content: 4 bits, then 7 to a byte, the lowest
// first.
func packHeader(kind byte, size int) []byte {
	b := []byte{kind<<4 | byte(size&0xf)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}
