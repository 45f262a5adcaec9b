package install

import (
	"context"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
)

// Sequences returns why a server must not move refs itself, "" if it may. Its operator's rules
// about single refs apply to pushes of these refs, and would not see what the server does. project
// is the directory of the operator's own hooks.
func Sequences(ctx context.Context, repo *git.Repo, project string) (why string, err error) {
	if !repo.Bare() {
		return "the repository has a worktree", nil
	}
	for _, name := range []string{"pre-receive", "update", "proc-receive", "reference-transaction"} {
		if info, err := os.Stat(filepath.Join(project, name)); err == nil && info.Mode()&0o111 != 0 {
			return "the server has its own hook " + name, nil
		}
	}
	rules, err := repo.Settings().PushRules(ctx)
	if len(rules) > 0 {
		why = "the server sets " + rules[0]
	}
	return why, err
}

// advertised returns what the ref points to by which a server shows that it sequences.
func advertised() plumbing.Object {
	return plumbing.NewObject(plumbing.BlobObject, []byte("git liza: this server decides operations that are pushed to "+plumbing.InboxPrefix+"\n"))
}

// advertise shows clones whether this server sequences.
func advertise(ctx context.Context, repo *git.Repo, project string) error {
	why, err := Sequences(ctx, repo, project)
	if err != nil {
		return err
	}
	if why != "" {
		return conceal(ctx, repo)
	}
	at, err := repo.Ref(ctx, parcel.Ref)
	if err != nil {
		return err
	}
	shown := advertised()
	return repo.WriteAndUpdate(ctx, []plumbing.Object{shown}, []plumbing.RefUpdate{{Ref: parcel.Ref, Old: at, New: shown.OID}}, "")
}

// conceal ends what advertise has begun.
func conceal(ctx context.Context, repo *git.Repo) error {
	at, err := repo.Ref(ctx, parcel.Ref)
	if err != nil {
		return err
	}
	return repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: parcel.Ref, Old: at}}, "")
}
