package git

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Identity returns the committer that git would record now. It returns a CommandError if git knows
// no identity.
func (s Settings) Identity(ctx context.Context) (plumbing.Signature, error) {
	return s.repo.ident(ctx, "GIT_COMMITTER_IDENT")
}

// Author returns the author that git would record now: the same as Identity unless GIT_AUTHOR_NAME
// and the like override it. It returns a CommandError if git knows no identity.
func (s Settings) Author(ctx context.Context) (plumbing.Signature, error) {
	return s.repo.ident(ctx, "GIT_AUTHOR_IDENT")
}

func (r *Repo) ident(ctx context.Context, variable string) (plumbing.Signature, error) {
	if s, known := r.people.take(variable); known {
		return s, nil
	}
	out, err := r.here("var", "var", variable).Output(ctx)
	if err != nil {
		return plumbing.Signature{}, err
	}
	return plumbing.ParseSignature(trimNewline(out)), nil
}

func trimNewline(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
