package git

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// dangerous are settings by which git runs a program, here RUN: each set has some that don't keep git from
// the others. ATTRIBUTES of the files and the ways of the remote are such that the operations of
// TestNoProgramOfTheRepository come to them.
var dangerous = [][]string{
	{
		"filter.evil.clean=RUN", "filter.evil.smudge=RUN", "filter.lfs.clean=RUN", "merge.evil.driver=RUN", "diff.evil.textconv=RUN",
		"core.fsmonitor=RUN", "core.hooksPath=DIR", "core.alternateRefsCommand=RUN", "core.pager=RUN", "core.editor=RUN", "sequence.editor=RUN",
		"alias.status=!RUN", "alias.merge=!RUN", "gpg.program=RUN",
	},
	{"filter.evil.process=RUN", "diff.evil.command=RUN", "gpg.format=ssh", "gpg.ssh.program=RUN", "gpg.ssh.defaultKeyCommand=RUN"},
	{
		"diff.external=RUN", "core.sshCommand=RUN", "core.gitProxy=RUN", "core.askPass=RUN",
		"credential.helper=!RUN", "credential.http://127.0.0.1:1.helper=!RUN",
	},
	{"remote.hub.url=ext::RUN"},
	{"url.ext::RUN .insteadOf=/"},
}

// ofTransports begin the settings that only transports to other machines read.
var ofTransports = []string{"core.sshCommand", "core.gitProxy", "core.askPass", "credential."}

// TestNoProgramOfTheRepository: our children run no program that is set where agents can write, by
// whatever file the setting comes in.
func TestNoProgramOfTheRepository(t *testing.T) {
	places := map[string]func(t *testing.T, r *Repo, one, text string){
		"config": func(t *testing.T, r *Repo, _, text string) { appendTo(t, filepath.Join(r.CommonDir(), "config"), text) },
		"an include": func(t *testing.T, r *Repo, one, text string) {
			appendTo(t, filepath.Join(one, "more"), text)
			appendTo(t, filepath.Join(r.CommonDir(), "config"), "[include]\n\tpath = "+filepath.Join(one, "more")+"\n")
		},
		"our include": func(t *testing.T, r *Repo, _, text string) {
			appendTo(t, filepath.Join(r.CommonDir(), "liza", "hooks", "gitconfig"), text)
			appendTo(t, filepath.Join(r.CommonDir(), "config"), "[include]\n\tpath = liza/hooks/gitconfig\n")
		},
		"config.worktree": func(t *testing.T, r *Repo, one, text string) {
			native(t, one, "config", "extensions.worktreeConfig", "true")
			for _, dir := range []string{r.CommonDir(), records.LinkedDir(one)} {
				appendTo(t, filepath.Join(dir, "config.worktree"), text)
			}
		},
		"another common directory": func(t *testing.T, r *Repo, one, text string) {
			other := filepath.Join(t.TempDir(), "common")
			check(t, os.CopyFS(other, os.DirFS(r.CommonDir())))
			appendTo(t, filepath.Join(other, "config"), text)
			check(t, os.WriteFile(filepath.Join(records.LinkedDir(one), "commondir"), []byte(other+"\n"), 0o666))
		},
		"another common directory, when git runs": func(t *testing.T, r *Repo, one, text string) {
			other, link := filepath.Join(t.TempDir(), "common"), filepath.Join(records.LinkedDir(one), "commondir")
			check(t, os.CopyFS(other, os.DirFS(r.CommonDir())))
			appendTo(t, filepath.Join(other, "config"), text)
			inFront(t, "now=$(cat '"+link+"'); echo '"+other+"' >'"+link+"'; git \"$@\"; e=$?; echo \"$now\" >'"+link+"'; exit $e")
		},
		"a submodule": func(t *testing.T, r *Repo, one, text string) {
			sub := filepath.Join(one, "sub")
			native(t, one, "init", "-q", sub)
			writeIn(t, sub, "a.txt", "one\n")
			writeIn(t, sub, ".gitattributes", "* filter=evil\n")
			native(t, sub, "add", "--all")
			native(t, sub, "commit", "-q", "-m", "sub")
			native(t, one, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
			appendTo(t, filepath.Join(sub, ".git", "config"), text)
			check(t, os.Chtimes(filepath.Join(sub, "a.txt"), noon, noon))
		},
	}
	n := 0
	for _, place := range slices.Sorted(maps.Keys(places)) {
		for i, entries := range dangerous {
			if place != "config" && i > 0 {
				continue
			}
			if n++; !testrun.OneIn(2, n) {
				continue
			}
			t.Run(place+"/"+entries[0], func(t *testing.T) {
				ctx, r := scratch(t)
				ran := filepath.Join(t.TempDir(), "ran")
				dir := filepath.Join(t.TempDir(), "evil")
				run := filepath.Join(dir, "run")
				appendTo(t, run, "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\nexit 1\n")
				for _, hook := range []string{"post-checkout", "reference-transaction", "pre-push", "pre-merge-commit", "post-index-change"} {
					appendTo(t, filepath.Join(dir, hook), "#!/bin/sh\n'"+run+"'\n")
				}
				hub := filepath.Join(t.TempDir(), "hub.git")
				native(t, r.TopLevel(), "init", "-q", "--bare", hub)
				native(t, r.TopLevel(), "remote", "add", "hub", hub)
				base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
				theirs := commitFiles(t, ctx, r, map[string]string{"a.txt": "one\ntwo\ntheirs\n"}, base)
				one := filepath.Join(t.TempDir(), "one")
				check(t, r.Worktree(one).Add(ctx, base))
				writeIn(t, one, "a.txt", "one\ntwo\nours\n")
				native(t, one, "commit", "-q", "-a", "-m", "ours")

				write(t, r, ".git/info/attributes", "* filter=evil merge=evil diff=evil\n*.bin filter=lfs\n")
				text, transports, names := "", false, strings.NewReplacer("RUN", run, "DIR", dir)
				for _, entry := range entries {
					key, value, _ := strings.Cut(entry, "=")
					text += asText(names.Replace(key), names.Replace(value))
					transports = transports || slices.ContainsFunc(ofTransports, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
				}
				places[place](t, r, one, text+"[commit]\n\tgpgSign = true\n[merge]\n\trenormalize = true\n[protocol]\n\tallow = always\n[submodule]\n\trecurse = true\n")
				writeIn(t, one, "b.bin", "b\n")
				check(t, os.Chtimes(filepath.Join(one, "a.txt"), noon, noon))

				// Some of them fail. None may run the program.
				_, _ = r.Worktree(one).Checkout(ctx)
				_, _ = r.Worktree(one).Snapshot(ctx, "left", ada)
				_ = r.Worktree(filepath.Join(t.TempDir(), "two")).Add(ctx, theirs)
				_, _ = r.Worktree(one).MergeInto(ctx, theirs, "merge", ada)
				_ = r.Worktree(one).CheckoutDetached(ctx, theirs)
				_, _ = r.History().Diff(ctx, base, theirs)
				addresses := []string{""}
				if transports {
					addresses = append(addresses, "ssh://127.0.0.1:1/x", "git://127.0.0.1:1/x", "http://127.0.0.1:1/x")
				}
				for _, address := range addresses {
					if address != "" {
						native(t, r.TopLevel(), "config", "remote.hub.url", address)
					}
					m := must[*Remote](t)(r.Remote(ctx, "hub"))
					_ = m.Push(ctx, []Push{{Ref: "refs/heads/x", New: base}})
					_ = m.Fetch(ctx, false, false, "+refs/heads/*:refs/remotes/hub/*")
				}
				if text, err := os.ReadFile(ran); err == nil {
					t.Errorf("it ran:\n%s", text)
				}
			})
		}
	}
}

// asText is a setting as a file holds it.
func asText(key, value string) string {
	section, rest, _ := strings.Cut(key, ".")
	if last := strings.LastIndexByte(rest, '.'); last >= 0 {
		section, rest = section+` "`+rest[:last]+`"`, rest[last+1:]
	}
	return "[" + section + "]\n\t" + rest + " = \"" + value + "\"\n"
}

// appendTo appends to a file that can be run.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o777))
	old, _ := os.ReadFile(path)
	check(t, os.WriteFile(path, append(old, text...), 0o777))
}
