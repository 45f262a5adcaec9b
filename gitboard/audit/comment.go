package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
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
