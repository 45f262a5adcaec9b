package oplog

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// cacheVersion changes with the form of a brief.
const cacheVersion = 1

// briefCache remembers briefs by the id of the blob that they came from: such a brief never gets old.
// Losing the file, or two processes writing it at once, costs time and nothing else.
type briefCache struct{ file string }

type cachedBriefs struct {
	Version int                       `json:"version"`
	Briefs  map[gitio.OID]board.Brief `json:"briefs"`
}

func (c *briefCache) load() map[gitio.OID]board.Brief {
	if c.file == "" {
		return nil
	}
	data, err := os.ReadFile(c.file)
	if err != nil {
		return nil
	}
	var stored cachedBriefs
	if json.Unmarshal(data, &stored) != nil || stored.Version != cacheVersion {
		return nil
	}
	return stored.Briefs
}

// save keeps the briefs of the tasks that there are now, once enough of them are new for it to pay.
func (c *briefCache) save(entries []gitio.TreeEntry, known, fresh map[gitio.OID]board.Brief) {
	if c.file == "" || len(fresh) <= 8+len(entries)/50 {
		return
	}
	stored := cachedBriefs{cacheVersion, make(map[gitio.OID]board.Brief, len(entries))}
	for _, e := range entries {
		if b, ok := known[e.OID]; ok {
			stored.Briefs[e.OID] = b
		} else if b, ok := fresh[e.OID]; ok {
			stored.Briefs[e.OID] = b
		}
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(c.file), 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.file), ".briefs-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(data)
	if closeErr := tmp.Close(); err != nil || closeErr != nil || os.Rename(tmp.Name(), c.file) != nil {
		os.Remove(tmp.Name())
	}
}
