package gitio

import (
	"context"
	"errors"
)

// Fsck lets git check every object and returns what it reports, for people;
// a CommandError besides when git found damage.
func (r *Repo) Fsck(ctx context.Context) (string, error) {
	out, err := r.command("fsck", "fsck", "--full", "--no-progress", "--no-dangling").output(ctx)
	var failed *CommandError
	if errors.As(err, &failed) {
		out = append(out, failed.Stderr...) // fsck tells of damage on both
	}
	return string(out), err
}

// PackAll packs all refs and all objects, and removes old garbage.
func (r *Repo) PackAll(ctx context.Context) error {
	return runAll(ctx,
		r.command("pack-refs", "pack-refs", "--all", "--prune"),
		r.command("gc", "gc", "--quiet"),
	)
}
