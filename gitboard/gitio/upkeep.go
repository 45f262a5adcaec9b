package gitio

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
)

// Maintain removes what killed processes have left in liza's directory, and runs git's maintenance
// if it is due, as `git gc --auto` would. Git ensures that it never runs twice at once. If
// cancelled, it leaves nothing half done.
func (r *Repo) Maintain(ctx context.Context) error {
	r.dropLeft()
	_ = r.ClearLock(filepath.Join(r.common, "objects", "maintenance.lock"), LockAge) // git would silently do nothing for ever
	c := r.command("maintenance", "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", "maintenance", "run", "--auto", "--quiet")
	return c.run(ctx)
}

// Pack packs all loose objects, also those that no ref reaches, even if git's settings or a lock
// keep its own maintenance from doing so. What no ref has reached for long goes (gc.pruneExpire).
func (r *Repo) Pack(ctx context.Context) error {
	return r.command("gc", "gc", "--quiet", "--cruft").run(ctx)
}

// Usage is the number and size of the repository's objects.
type Usage struct {
	Loose     int   `json:"loose_objects"`
	LooseSize int64 `json:"loose_bytes"`
	Packs     int   `json:"packs"`
	PackSize  int64 `json:"pack_bytes"`
}

// Usage counts the repository's objects.
func (r *Repo) Usage(ctx context.Context) (u Usage, err error) {
	out, err := r.command("count-objects", "count-objects", "-v").output(ctx)
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "count":
			u.Loose = int(n)
		case "size":
			u.LooseSize = n << 10
		case "packs":
			u.Packs = int(n)
		case "size-pack":
			u.PackSize = n << 10
		}
	}
	return u, nil
}

// DiskUsage returns the number of bytes that a ref's history takes on disk, trees and files
// included.
func (r *Repo) DiskUsage(ctx context.Context, ref string) (int64, error) {
	out, err := r.command("rev-list", "rev-list", "--disk-usage", "--objects", ref, "--").output(ctx)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}
