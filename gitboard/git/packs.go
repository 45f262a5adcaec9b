package git

import (
	"bytes"
	"crypto/sha1"
	"io"
	"os"
	"path/filepath"
)

// maxPacked limits the bytes of packs that are read for their checksums. More take longer than the
// objects of a board that may be in them.
const maxPacked = 256 << 20

// packsIntact reports whether all packs are here and have the content that their checksums name.
// Each pack and each index ends with the SHA-1 of the preceding bytes.
func (r *Repo) packsIntact() bool {
	dir := filepath.Join(r.common, "objects")
	if _, err := os.Lstat(filepath.Join(dir, "info", "alternates")); err == nil || r.environ.quarantined() {
		return false // some objects are elsewhere
	}
	entries, err := os.ReadDir(filepath.Join(dir, "pack"))
	if err != nil {
		return false
	}
	left := int64(maxPacked)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".pack" && ext != ".idx" && e.Name() != "multi-pack-index" {
			continue
		}
		size, intact := checksummed(filepath.Join(dir, "pack", e.Name()), left)
		if left -= size; !intact {
			return false
		}
	}
	return true
}

// checksummed reports whether a file of at most so many bytes ends with the SHA-1 of the preceding
// bytes.
func checksummed(path string, most int64) (size int64, intact bool) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() > most {
		return 0, false
	}
	sum := sha1.New()
	_, _ = io.CopyN(sum, file, info.Size()-sha1.Size) // what can't be read has another checksum
	end, _ := io.ReadAll(file)
	return info.Size(), bytes.Equal(end, sum.Sum(nil))
}
