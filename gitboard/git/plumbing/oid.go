package plumbing

// OID is an object id: the full hexadecimal SHA-1, in lower case.
type OID string

// ZeroOID is how git writes "no object". In a ref update it is the value of a ref that does not
// exist.
const ZeroOID OID = "0000000000000000000000000000000000000000"

// EmptyTree is the tree without entries. Git knows it even if it is not stored.
const EmptyTree OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// EmptyBlob is the empty file.
const EmptyBlob OID = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// oidLength is the number of hexadecimal digits of a SHA-1.
const oidLength = len(ZeroOID)

// shortLength is long enough to stay unique in a large repository and short enough to be read
// aloud.
const shortLength = 10

// IsZero reports whether o is "" or all zeros and thus names no object.
func (o OID) IsZero() bool { return o == "" || o == ZeroOID }

// Short returns the first ten digits, for people. Never use it as a key.
func (o OID) Short() string { return string(o[:min(shortLength, len(o))]) }

// Valid reports whether o has git's form of a full id. Only valid ids may be passed as arguments to
// a child: anything else could be taken for an option.
func (o OID) Valid() bool {
	if len(o) != oidLength {
		return false
	}
	for i := range len(o) {
		if c := o[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// OrZero returns o, or ZeroOID if o is "".
func (o OID) OrZero() OID {
	if o == "" {
		return ZeroOID
	}
	return o
}
