package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// filesAtOnce limits the files held in memory to count their lines.
const filesAtOnce = 16

// commented checks comments against the submissions: a commented file must exist with the recorded
// number of lines, or be deleted by the submission and have had that many. Comments on a damaged
// file are not judged.
func (p *replay) commented(ctx context.Context, repo *git.Repo, all []evidence) error {
	for part := range slices.Chunk(all, filesAtOnce) {
		names := make([]string, 0, 2*len(part))
		for _, e := range part {
			names = append(names, e.comment.says.Commit+":"+e.comment.says.Path, string(e.comment.base)+":"+e.comment.says.Path)
		}
		files, err := repo.Objects(ctx, names)
		if err != nil {
			return fmt.Errorf("look up the files of comments: %w", err)
		}
		for i, e := range part {
			if wrong := wrongLines(e.comment.says, files[2*i], files[2*i+1]); wrong != "" && !p.unread[plumbing.OID(e.comment.says.Commit)] {
				p.report.add(Finding{e.commit, e.subject, CodeEvidence, wrong})
			}
		}
	}
	return nil
}

// rejected checks which places of blockers the submissions lack.
func (p *replay) rejected(ctx context.Context, repo *git.Repo, missing map[int][]need) error {
	for i, e := range p.evidence {
		if e.rejects == nil || len(missing[i]) > 0 {
			continue
		}
		says := e.rejects.says
		lacks, err := log.Lacking(ctx, repo, plumbing.OID(says.Commit), e.rejects.base, says.Rejection)
		if err != nil {
			return fmt.Errorf("look up the files of a rejection: %w", err)
		}
		if !slices.Equal(lacks, says.Missing) && !p.unread[plumbing.OID(says.Commit)] {
			p.report.add(Finding{e.commit, e.subject, CodeEvidence, fmt.Sprintf("it says that the submission lacks [%s] of its blockers, and it lacks [%s]",
				strings.Join(says.Missing, ", "), strings.Join(lacks, ", "))})
		}
	}
	return nil
}

// wrongLines describes what a comment gets wrong about its file, "" for nothing.
func wrongLines(says *board.Comment, now, base plumbing.Object) string {
	at := now
	if says.Deleted {
		if at = base; now.Type == plumbing.BlobObject {
			return fmt.Sprintf("it says that the submission deletes %s, and it does not", quote(says.Path))
		}
	}
	if at.Type != plumbing.BlobObject {
		return fmt.Sprintf("it is about %s, and there is no such file", quote(says.Path))
	}
	if n := plumbing.CountLines(at.Data); n != says.Lines {
		return fmt.Sprintf("it says that %s has %d lines, and it has %d", quote(says.Path), says.Lines, n)
	}
	return ""
}
