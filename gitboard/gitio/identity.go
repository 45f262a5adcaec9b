package gitio

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Identity returns who git would record as committer, now. A CommandError
// when git knows nobody.
func (r *Repo) Identity(ctx context.Context) (git.Signature, error) {
	return r.ident(ctx, "GIT_COMMITTER_IDENT")
}

// Author returns who git would record as author, now: Identity, unless
// GIT_AUTHOR_NAME or the like say otherwise. A CommandError when git knows
// nobody.
func (r *Repo) Author(ctx context.Context) (git.Signature, error) {
	return r.ident(ctx, "GIT_AUTHOR_IDENT")
}

func (r *Repo) ident(ctx context.Context, variable string) (git.Signature, error) {
	if s, known := r.people.take(variable); known {
		return s, nil
	}
	out, err := r.here("var", "var", variable).output(ctx)
	if err != nil {
		return git.Signature{}, err
	}
	return git.ParseSignature(trimNewline(out)), nil
}

func trimNewline(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
