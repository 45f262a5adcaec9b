package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// long is how many commits main has: more than are read one by one.
const long = 60

// history is what the places begin with: a long main with a request in it, a topic that can be
// merged, one that can't, and a merge.
func history(p *place) {
	var in strings.Builder
	mark := 0
	commit := func(branch, from, second, message, files string) string {
		mark++
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\nauthor Ada <ada@example.org> %d +0200\ncommitter Ada <ada@example.org> %d +0200\ndata %d\n%s\n",
			branch, mark, noon.Unix()+int64(mark), noon.Unix()+int64(mark), len(message), message)
		if from != "" {
			fmt.Fprintf(&in, "from %s\n", from)
		}
		if second != "" {
			fmt.Fprintf(&in, "merge %s\n", second)
		}
		in.WriteString(files)
		return fmt.Sprint(":", mark)
	}
	file := func(name, text string) string {
		return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
	}
	first := commit("main", "", "", "first", file("a.txt", "one\ntwo\nthree\n")+file("dir/b.txt", "b\n")+file("go.txt", "to go\n"))
	topic := commit("topic", first, "", "topic", file("dir/b.txt", "topic\n")+file("new.txt", "new\n")+"D go.txt\n")
	commit("clash", first, "", "clash", file("a.txt", "one\nclash\nthree\n")+file("new.txt", "new\n"))
	last := first
	for i := range long {
		message := fmt.Sprint("step ", i)
		if i == long-7 {
			message += "\n\nLiza-Request: r4"
		}
		last = commit("main", last, "", message, file("a.txt", fmt.Sprintf("one\ntwo %d\nthree\n", i)))
	}
	commit("merged", last, topic, "merged", file("dir/b.txt", "topic\n"))
	commit("next", last, "", "next", file("a.txt", "one\nnext\nthree\n")+file("dir/c.txt", "c\n"))
	commit("short", first, "", "short", file("s.txt", "s\n"))
	fmt.Fprint(&in, "reset refs/tags/v1\nfrom ", first, "\n")
	top := p.path("repo")
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = top, strings.NewReader(in.String())
	if out, err := load.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	native(p.t, top, "reset", "-q", "--hard", "main")
	native(p.t, top, "worktree", "add", "-q", "--detach", p.path("one"), "main")
	native(p.t, top, "init", "-q", "--bare", "-b", "main", p.path("hub.git"))
	check(p.t, os.RemoveAll(p.path("hub.git/hooks")))
	check(p.t, os.Mkdir(p.path("repo/.git/liza"), 0o755)) // for the record of a push
	native(p.t, top, "remote", "add", "hub", p.path("hub.git"))
	native(p.t, top, "push", "-q", "hub", "main~1:refs/heads/main", "topic", "topic:refs/liza/far")
	for _, line := range strings.Split(native(p.t, top, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads", "refs/tags"), "\n") {
		name, id, _ := strings.Cut(line, " ")
		p.ids[name] = plumbing.OID(id)
		p.ids[name+" tree"] = plumbing.OID(native(p.t, top, "rev-parse", id+"^{tree}"))
	}
	p.ids["main~1"] = plumbing.OID(native(p.t, top, "rev-parse", "main~1"))
	p.ids["main~3"] = plumbing.OID(native(p.t, top, "rev-parse", "main~3"))
	p.ids["a.txt"] = plumbing.OID(native(p.t, top, "rev-parse", "main:a.txt"))
	p.ids["b.txt"] = plumbing.OID(native(p.t, top, "rev-parse", "main:dir/b.txt"))
	p.ids["zero"] = plumbing.ZeroOID
}

func historyPlace(t *testing.T) *place { return placeLike(t, "history", history) }

func only(err error) (any, error) { return "done", err }

func one[T any](value T, err error) (any, error) { return value, err }

func TestFaultsOfReading(t *testing.T) {
	checkTries(t, "faults-read.txt", historyPlace, []try{
		{"DefaultBranch of origin", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/topic\n")
		}, func(p *place) (any, error) { return one(p.r.History().DefaultBranch(p.ctx, "main")) }, ""},
		{"Unheld", nil, func(p *place) (any, error) { return one(p.r.History().Unheld(p.ctx, p.ids["main"])) }, ""},
		{"ResolveCommit", nil, func(p *place) (any, error) { return one(p.r.ResolveCommit(p.ctx, "v1")) }, ""},
		{"MergeBase", nil, func(p *place) (any, error) {
			return one(p.r.History().MergeBase(p.ctx, p.ids["main"], p.ids["topic"]))
		}, ""},
		{"Log far", nil, func(p *place) (any, error) {
			log, err := p.r.Log(p.ctx, p.ids["v1"], p.ids["main"])
			return len(log), err
		}, ""},
		{"Requested", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4", "r5"}, 20))
		}, ""},
		{"Refs", nil, func(p *place) (any, error) {
			return one(p.r.Refs(p.ctx, "refs/heads/topic", "refs/tags"))
		}, ""},
		{"Where, of many", nil, func(p *place) (any, error) {
			names := []string{"refs/heads/main"}
			for i := range 200 {
				names = append(names, fmt.Sprint("refs/heads/none-", i))
			}
			at, err := p.r.Where(p.ctx, names)
			return fmt.Sprint(at["refs/heads/main"], len(at) > 1), err
		}, ""},
		{"WholeSince far", nil, func(p *place) (any, error) { return only(p.r.History().WholeSince(p.ctx, p.ids["v1"], p.ids["main"])) }, ""},
		{"BrokenRefs", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/liza/broken", string(blob("none").OID)+"\n")
			writeIn(p.t, p.path("repo"), ".git/refs/liza/empty", "")
		}, func(p *place) (any, error) {
			broken, err := p.r.BrokenRefs(p.ctx, "refs/liza/")
			return len(broken), err
		}, ""},
	})
}

func TestFaultsOfWorktrees(t *testing.T) {
	cut := func(p *place) { // an Advance that has written its files, one of them in part, and not the index
		writeIn(p.t, p.path("repo"), "a.txt", "one\nnext\nthree\n")
		writeIn(p.t, p.path("repo"), "dir/c.txt", "")
	}
	checkTries(t, "faults-worktrees.txt", historyPlace, []try{
		{"Advance, busy each time", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("repo")).Advance(p.ctx, p.ids["main"], p.ids["next"]))
		}, "1 on"},
		{"Resume, killed", cut, func(p *place) (any, error) {
			ctx, _ := retry.With(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).Resume(ctx, p.ids["main"], p.ids["next"]))
		}, "killed"},
		{"KeepIgnored", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/info/exclude", "*.env\n")
			writeIn(p.t, p.path("one"), "a.env", "a")
		}, func(p *place) (any, error) {
			files, err := p.r.Worktree(p.path("one")).Ignored(p.ctx, func(string) bool { return false })
			if err != nil {
				return nil, err
			}
			return one(p.r.Worktree(p.path("one")).KeepIgnored(p.ctx, files, "m", ada))
		}, ""},
		{"CheckoutDetached", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, p.ids["topic"]))
		}, ""},
		{"MergeInto with a conflict", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["clash"], "merge", ada))
		}, ""},
		{"MergeTree with a conflict", nil, func(p *place) (any, error) {
			tree, conflicts, err := p.r.History().MergeTree(p.ctx, p.ids["main"], p.ids["clash"])
			return fmt.Sprint(tree, conflicts), err
		}, ""},
		{"Snapshot", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"Worktrees", nil, func(p *place) (any, error) { return one(p.r.Worktrees(p.ctx)) }, ""},
		{"Head", nil, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("repo")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"AttachHead", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).AttachHead(p.ctx, "topic"))
		}, ""},
		{"AddWorktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Add(p.ctx, p.ids["topic"]))
		}, ""},
		{"AddWorktree that git dies of", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Add(p.ctx, p.ids["topic"]))
		}, ""},
		{"MoveWorktree, killed", func(p *place) { check(p.t, os.Mkdir(p.path("below"), 0o755)) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("below/two")))
			}, "killed"},
		{"RemoveWorktree", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Remove(p.ctx))
		}, ""},
		{"DiscardWorktree that was never completed", func(p *place) {
			check(p.t, os.Remove(p.path("one/.git")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Discard(p.ctx))
		}, ""},
	})
}

func TestFaultsOfWriting(t *testing.T) {
	update := func(ref, old, to string) func(p *place) (any, error) {
		return func(p *place) (any, error) {
			return only(p.r.UpdateRefs(p.ctx, []plumbing.RefUpdate{{Ref: ref, Old: p.ids[old], New: p.ids[to]}}, "test"))
		}
	}
	broken := func(text string) func(p *place) {
		return func(p *place) { writeIn(p.t, p.path("repo"), ".git/refs/heads/broken", text) }
	}
	replace := func(text, to string) func(p *place) (any, error) {
		return func(p *place) (any, error) {
			return only(p.r.ReplaceBroken(p.ctx, &BrokenRefError{Ref: "refs/heads/broken", Text: text}, p.ids[to]))
		}
	}
	set := func(p *place) (any, error) { return only(p.r.Settings().Set(p.ctx, "liza.x", "y")) }
	checkTries(t, "faults-write.txt", historyPlace, []try{
		{"UpdateRefs of nothing", nil, func(p *place) (any, error) { return only(p.r.UpdateRefs(p.ctx, nil, "test")) }, ""},
		{"UpdateRefs", nil, update("refs/heads/topic", "topic", "main"), ""},
		{"UpdateRefs, killed", nil, update("refs/heads/topic", "topic", "main"), "killed"},
		{"UpdateRefs, died", nil, update("refs/heads/topic", "topic", "main"), "128"},
		{"UpdateRefs, refused each time", nil, update("refs/heads/topic", "topic", "main"), "3 on"},
		{"UpdateRefs to nothing", nil, update("refs/heads/topic", "topic", "zero"), ""},
		{"WriteAndUpdate", nil, func(p *place) (any, error) {
			return only(p.r.WriteAndUpdate(p.ctx, []plumbing.Object{blob("new")}, []plumbing.RefUpdate{{Ref: "refs/liza/new", New: blob("new").OID}}, ""))
		}, ""},
		{"ReplaceBroken", broken(""), replace("", "main"), ""},
		{"SetConfig", nil, set, ""},
		{"SetConfig, killed", nil, set, "killed"},
		{"Pack", nil, func(p *place) (any, error) { return only(p.r.Upkeep().Pack(p.ctx)) }, ""},
	})
}

func TestFaultsOfRemotes(t *testing.T) {
	lfs := func(p *place) {
		bin := p.path("bin")
		writeIn(p.t, bin, "git-lfs", "#!/bin/sh\necho \"$@\" >>\""+p.path("asked")+"\"\n")
		check(p.t, os.Chmod(filepath.Join(bin, "git-lfs"), 0o755))
		p.git.Beside(bin)
	}
	hook := func(text string) func(p *place) {
		return func(p *place) {
			writeIn(p.t, p.path("hub.git"), "hooks/pre-receive", "#!/bin/sh\n"+text+"\n")
			check(p.t, os.Chmod(p.path("hub.git/hooks/pre-receive"), 0o755))
		}
	}
	hubConfig := func(key, value string) func(p *place) {
		return func(p *place) { native(p.t, p.path("hub.git"), "config", key, value) }
	}
	push := func(pushes ...func(p *place) Push) func(p *place) (any, error) {
		return func(p *place) (any, error) {
			var all []Push
			for _, push := range pushes {
				all = append(all, push(p))
			}
			return only(p.hub.Push(p.ctx, all))
		}
	}
	to := func(ref, id string) func(p *place) Push {
		return func(p *place) Push { return Push{Ref: ref, New: p.ids[id]} }
	}
	exactly := func(ref, old, id string) func(p *place) Push {
		return func(p *place) Push { return Push{Ref: ref, New: p.ids[id], Exactly: true, Old: p.ids[old]} }
	}
	deliver := func(ref, id, option string) func(p *place) (any, error) {
		return func(p *place) (any, error) {
			return one(p.hub.Deliver(p.ctx, Push{Ref: ref, New: p.ids[id]}, option))
		}
	}
	large := func(attributes string) func(p *place) {
		return func(p *place) {
			top := p.path("repo")
			pointer := func(digit string) string {
				return "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat(digit, 64) + "\nsize 5\n"
			}
			writeIn(p.t, top, ".gitattributes", attributes)
			writeIn(p.t, top, "dir/x.bin", pointer("1"))
			writeIn(p.t, top, "u.bin", pointer("1")+"x 1\n") // the same object
			writeIn(p.t, top, "v.bin", strings.Replace(pointer("2"), "v1", "v2", 1))
			writeIn(p.t, top, "w.bin", pointer("3")+strings.Repeat("x", maxPointer))
			writeIn(p.t, top, "x.bin", strings.Repeat("x", maxPointer)+pointer("4"))
			writeIn(p.t, top, "y.bin", pointer("5"))
			native(p.t, top, "-c", "filter.lfs.clean=cat", "add", "--all")
			native(p.t, top, "commit", "-q", "-m", "large")
			p.ids["large"] = plumbing.OID(native(p.t, top, "rev-parse", "HEAD"))
		}
	}
	largeFiles := func(p *place) (any, error) {
		return one(p.r.History().LargeFiles(p.ctx, p.ids["main"], p.ids["large"], []string{"dir/x.bin"}))
	}
	checkTries(t, "faults-remotes.txt", historyPlace, []try{
		{"Fetch", nil, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, false, "refs/liza/*:refs/liza/*"))
		}, ""},
		{"Fetch beside a lock", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/liza/far.lock", "")
			p.t.Setenv(ProcessSpaceVar, "elsewhere")
			p.r.environ = gitenv.List(os.Environ())
		}, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, false, "refs/liza/*:refs/liza/*"))
		}, ""},
		{"Push", nil, push(to("refs/heads/main", "main"), exactly("refs/heads/new", "zero", "topic"), exactly("refs/liza/far", "topic", "zero")), ""},
		{"Push, killed", nil, push(to("refs/heads/main", "main")), "killed"},
		{"Push that a hook declines", hook("echo liza: no; exit 1"), push(to("refs/heads/main", "main")), ""},
		{"Push beside a lock", func(p *place) { writeIn(p.t, p.path("hub.git"), "refs/heads/main.lock", "") }, push(to("refs/heads/main", "main")), ""},
		{"Deliver with an option", hubConfig("receive.advertisePushOptions", "true"), deliver("refs/heads/main", "main", "an option"), ""},
		{"Upload", lfs, func(p *place) (any, error) {
			err := p.hub.Upload(p.ctx, []LargeFile{{"x", strings.Repeat("1", 64)}, {"y", strings.Repeat("2", 64)}})
			asked, _ := os.ReadFile(p.path("asked"))
			return string(asked), err
		}, ""},
		{"LargeFiles", large("*.bin filter=lfs\n"), largeFiles, ""},
	})
}

func TestFaultsOfModules(t *testing.T) {
	module := func(p *place) {
		history(p)
		one := p.path("one")
		native(p.t, p.dir, "init", "-q", "-b", "main", p.path("lib"))
		native(p.t, p.path("lib"), "commit", "-q", "--allow-empty", "-m", "lib")
		native(p.t, one, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", p.path("lib"), "mod")
		native(p.t, p.dir, "clone", "-q", p.path("lib"), p.path("one/nested"))
		native(p.t, one, "add", "nested")
		native(p.t, one, "commit", "-q", "-m", "modules")
		p.ids["modules"] = plumbing.OID(native(p.t, one, "rev-parse", "HEAD"))
		p.ids["lib"] = plumbing.OID(native(p.t, p.path("lib"), "rev-parse", "HEAD"))
	}
	ownCommits := func(p *place) {
		for _, name := range []string{"one/mod", "one/nested"} {
			native(p.t, p.path(name), "commit", "-q", "--allow-empty", "-m", "own")
		}
	}
	checkTries(t, "faults-modules.txt", func(t *testing.T) *place { return placeLike(t, "modules", module) }, []try{
		{"Gitlinks of no worktree", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("none")).Gitlinks(p.ctx)) }, ""},
		{"Gitlinks", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).Gitlinks(p.ctx)) }, ""},
		{"ModulePublished since", func(p *place) {
			native(p.t, p.path("lib"), "commit", "-q", "--allow-empty", "-m", "more")
			native(p.t, p.path("one/nested"), "commit", "-q", "--allow-empty", "-m", "more")
			p.ids["more"] = plumbing.OID(native(p.t, p.path("lib"), "rev-parse", "HEAD"))
		}, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/nested"), p.ids["more"]))
		}, ""},
		{"KeepModules", ownCommits, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"CheckOutModules", func(p *place) { native(p.t, p.path("one"), "rm", "-q", "--cached", "nested") },
			func(p *place) (any, error) { return only(p.r.Worktree(p.path("one")).CheckOutModules(p.ctx)) }, ""},
		{"KeepModules over a directory", func(p *place) {
			ownCommits(p)
			writeIn(p.t, p.path("kept"), "mod", "x")
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
	})
}
