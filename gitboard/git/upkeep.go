package git

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
)

// Upkeep keeps written objects beside gits that delete, and has git pack and count them.
type Upkeep struct{ repo *Repo }

// Upkeep returns the upkeep of the repository's objects.
func (r *Repo) Upkeep() Upkeep { return Upkeep{r} }

// Maintain removes what killed processes have left in liza's directory, and runs git's maintenance
// if it is due, as `git gc --auto` would. Git ensures that it never runs twice at once. If
// cancelled, it leaves nothing half done.
func (u Upkeep) Maintain(ctx context.Context) error {
	u.repo.dropLeft()
	_ = u.repo.Locks().Clear(filepath.Join(u.repo.common, "objects", "maintenance.lock"), LockAge) // git would silently do nothing for ever
	c := u.repo.command("maintenance", "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false", "maintenance", "run", "--auto", "--quiet")
	return c.Run(ctx)
}

// Pack packs all loose objects, also unreachable ones, even if git's settings keep its own
// maintenance from doing so. What no ref has reached for long goes (gc.pruneExpire).
func (u Upkeep) Pack(ctx context.Context) error {
	return u.repo.command("gc", "gc", "--quiet", "--cruft").Run(ctx)
}

// Usage is the number and size of the repository's objects.
type Usage struct {
	Loose     int   `json:"loose_objects"`
	LooseSize int64 `json:"loose_bytes"`
	Packs     int   `json:"packs"`
	PackSize  int64 `json:"pack_bytes"`
}

// Usage counts the repository's objects.
func (of Upkeep) Usage(ctx context.Context) (u Usage, err error) {
	out, err := of.repo.command("count-objects", "count-objects", "-v").Output(ctx)
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
func (h History) DiskUsage(ctx context.Context, ref string) (int64, error) {
	out, err := h.repo.command("rev-list", "rev-list", "--disk-usage", "--objects", ref, "--").Output(ctx)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}
