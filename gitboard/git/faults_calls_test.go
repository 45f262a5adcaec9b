package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
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

// dirty changes a file of the main worktree.
func dirty(name, text string) func(p *place) {
	return func(p *place) { writeIn(p.t, p.path("repo"), name, text) }
}

func only(err error) (any, error) { return "done", err }

func one[T any](value T, err error) (any, error) { return value, err }

func TestFaultsOfReading(t *testing.T) {
	checkTries(t, "faults-read.txt", historyPlace, []try{
		{"DefaultBranch", nil, func(p *place) (any, error) { return one(p.r.History().DefaultBranch(p.ctx)) }, ""},
		{"DefaultBranch but main", nil, func(p *place) (any, error) {
			return one(p.r.History().DefaultBranch(p.ctx, "main"))
		}, ""},
		{"DefaultBranch of a detached HEAD", func(p *place) { writeIn(p.t, p.path("repo"), ".git/HEAD", string(p.ids["topic"])+"\n") },
			func(p *place) (any, error) { return one(p.r.History().DefaultBranch(p.ctx)) }, ""},
		{"DefaultBranch of origin", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/topic\n")
		}, func(p *place) (any, error) { return one(p.r.History().DefaultBranch(p.ctx, "main")) }, ""},
		{"RemoteHead", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/topic\n")
		}, func(p *place) (any, error) { return one(p.r.Settings().RemoteHead(p.ctx, "origin")) }, ""},
		{"RemoteHead of another", nil, func(p *place) (any, error) { return one(p.r.Settings().RemoteHead(p.ctx, "hub")) }, ""},
		{"ChangedFiles", nil, func(p *place) (any, error) {
			return one(p.r.History().ChangedFiles(p.ctx, p.ids["main"], p.ids["topic"]))
		}, ""},
		{"Diff", nil, func(p *place) (any, error) {
			return one(p.r.History().Diff(p.ctx, p.ids["v1"], p.ids["topic"], "dir", "go.txt"))
		}, ""},
		{"RangeDiff", nil, func(p *place) (any, error) {
			return one(p.r.History().RangeDiff(p.ctx, p.ids["v1"], p.ids["topic"], p.ids["v1"], p.ids["clash"]))
		}, ""},
		{"DiffBlobs", nil, func(p *place) (any, error) {
			return one(p.r.History().DiffBlobs(p.ctx, p.ids["a.txt"], p.ids["b.txt"]))
		}, ""},
		{"DiffStats", nil, func(p *place) (any, error) {
			return one(p.r.History().DiffStats(p.ctx, [][2]plumbing.OID{{p.ids["v1 tree"], p.ids["topic tree"]}, {p.ids["v1 tree"], p.ids["clash tree"]}}))
		}, ""},
		{"DiffStats of none", nil, func(p *place) (any, error) { return one(p.r.History().DiffStats(p.ctx, nil)) }, ""},
		{"ResolveCommit", nil, func(p *place) (any, error) { return one(p.r.ResolveCommit(p.ctx, "v1")) }, ""},
		{"IsAncestor near", nil, func(p *place) (any, error) {
			return one(p.r.History().IsAncestor(p.ctx, p.ids["v1"], p.ids["topic"]))
		}, ""},
		{"IsAncestor far", nil, func(p *place) (any, error) {
			return one(p.r.History().IsAncestor(p.ctx, p.ids["v1"], p.ids["main"]))
		}, ""},
		{"IsAncestor not", nil, func(p *place) (any, error) {
			return one(p.r.History().IsAncestor(p.ctx, p.ids["topic"], p.ids["main"]))
		}, ""},
		{"IsAncestor of itself", nil, func(p *place) (any, error) {
			return one(p.r.History().IsAncestor(p.ctx, p.ids["main"], p.ids["main"]))
		}, ""},
		{"Since near", nil, func(p *place) (any, error) {
			return one(p.r.History().Since(p.ctx, p.ids["main~3"], p.ids["main"]))
		}, ""},
		{"Since far", nil, func(p *place) (any, error) {
			chain, err := p.r.History().Since(p.ctx, p.ids["v1"], p.ids["main"])
			return len(chain), err
		}, ""},
		{"Since what is not there", nil, func(p *place) (any, error) {
			return one(p.r.History().Since(p.ctx, p.ids["clash"], p.ids["topic"]))
		}, ""},
		{"MergeBase", nil, func(p *place) (any, error) {
			return one(p.r.History().MergeBase(p.ctx, p.ids["main"], p.ids["topic"]))
		}, ""},
		{"CountCommits", nil, func(p *place) (any, error) {
			return one(p.r.History().CountCommits(p.ctx, p.ids["v1"], p.ids["main"]))
		}, ""},
		{"CountCommits of itself", nil, func(p *place) (any, error) {
			return one(p.r.History().CountCommits(p.ctx, p.ids["main"], p.ids["main"]))
		}, ""},
		{"CountCommits from nothing to nothing", nil, func(p *place) (any, error) {
			return one(p.r.History().CountCommits(p.ctx, plumbing.ZeroOID, plumbing.ZeroOID))
		}, ""},
		{"FindMerge near", nil, func(p *place) (any, error) {
			return one(p.r.History().FindMerge(p.ctx, p.ids["main~3"], p.ids["main"]))
		}, ""},
		{"FindMerge", nil, func(p *place) (any, error) {
			return one(p.r.History().FindMerge(p.ctx, p.ids["main~3"], p.ids["merged"]))
		}, ""},
		{"FindMerge far", nil, func(p *place) (any, error) {
			return one(p.r.History().FindMerge(p.ctx, p.ids["v1"], p.ids["main"]))
		}, ""},
		{"RevList", nil, func(p *place) (any, error) {
			return one(p.r.History().RevList(p.ctx, p.ids["v1"], p.ids["topic"]))
		}, ""},
		{"FirstParents", nil, func(p *place) (any, error) {
			return one(p.r.History().FirstParents(p.ctx, p.ids["topic"], 0))
		}, ""},
		{"FirstParents, two", nil, func(p *place) (any, error) {
			return one(p.r.History().FirstParents(p.ctx, p.ids["main"], 2))
		}, ""},
		{"Matching", nil, func(p *place) (any, error) {
			return one(p.r.History().Matching(p.ctx, p.ids["main"], "^step 1$"))
		}, ""},
		{"Touching", nil, func(p *place) (any, error) {
			return one(p.r.History().Touching(p.ctx, p.ids["topic"], "go.txt"))
		}, ""},
		{"Log near", nil, func(p *place) (any, error) {
			log, err := p.r.Log(p.ctx, p.ids["main~1"], p.ids["main"])
			return len(log), err
		}, ""},
		{"Log far", nil, func(p *place) (any, error) {
			log, err := p.r.Log(p.ctx, p.ids["v1"], p.ids["main"])
			return len(log), err
		}, ""},
		{"Log of a file", nil, func(p *place) (any, error) {
			return one(p.r.Log(p.ctx, plumbing.ZeroOID, p.ids["a.txt"]))
		}, ""},
		{"RequestCommit", nil, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["main"], "r4", 20))
		}, ""},
		{"RequestCommit that git dies of", nil, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["main"], "r4", 20))
		}, "128"},
		{"RequestCommit that git dies of, beside a damaged file", func(p *place) {
			dirty("a.txt", "damaged\n")(p)
			p.ids["damaged"] = plumbing.OID(testrun.CommitAll(p.t, p.path("repo"), "damaged"))
			check(p.t, os.Remove(loosePath(p.r, blob("damaged\n").OID)))
		}, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["damaged"], "r4", 20))
		}, "128"},
		{"RequestCommit too deep", nil, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["main"], "r4", 2))
		}, ""},
		{"RequestCommit of no request", nil, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["main"], "", 20))
		}, ""},
		{"RequestCommit to no depth", nil, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["main"], "r4", 0))
		}, ""},
		{"Requested", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4", "r5"}, 20))
		}, ""},
		{"Requested nothing", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], nil, 20))
		}, ""},
		{"Requested to no depth", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4"}, 0))
		}, ""},
		{"Requested of nothing", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, plumbing.ZeroOID, []string{"r4"}, 20))
		}, ""},
		{"Requested of what is no id", nil, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, "main", []string{"r4"}, 20))
		}, ""},
		{"Identity", nil, func(p *place) (any, error) { return one(p.r.Settings().Identity(p.ctx)) }, ""},
		{"Author", nil, func(p *place) (any, error) { return one(p.r.Settings().Author(p.ctx)) }, ""},
		{"Author, asked before", nil, func(p *place) (any, error) {
			r, err := OpenWith(p.ctx, p.path("repo"), Options{ToWrite: true})
			if err != nil {
				return nil, err
			}
			defer r.Close()
			var said []plumbing.Signature
			for _, who := range []func(context.Context) (plumbing.Signature, error){r.Settings().Author, r.Settings().Identity, r.Settings().Author} {
				s, err := who(p.ctx)
				if err != nil {
					return nil, err
				}
				said = append(said, s)
			}
			settings := r.people.settings()
			return fmt.Sprint(said, len(settings) > 0, settings["remote.hub.url"], r.people.settings() == nil), nil
		}, ""},
		{"Sizes", nil, func(p *place) (any, error) {
			return one(p.r.History().Sizes(p.ctx, p.ids["v1"], p.ids["topic"]))
		}, ""},
		{"Sizes of nothing", nil, func(p *place) (any, error) {
			return one(p.r.History().Sizes(p.ctx, p.ids["topic"], p.ids["topic"]))
		}, ""},
		{"ObjectSizes", nil, func(p *place) (any, error) {
			return one(p.r.History().ObjectSizes(p.ctx, []string{string(p.ids["a.txt"]), "HEAD", string(p.ids["v1"])}))
		}, ""},
		{"ObjectSizes of one that is missing", nil, func(p *place) (any, error) {
			return one(p.r.History().ObjectSizes(p.ctx, []string{"HEAD", string(blob("missing").OID)}))
		}, ""},
		{"SizesOf a name with a space", nil, func(p *place) (any, error) {
			return one(p.r.History().SizesOf(p.ctx, []string{"HEAD", "no such", "a name with"}))
		}, ""},
		{"SizesOf none", nil, func(p *place) (any, error) { return one(p.r.History().SizesOf(p.ctx, nil)) }, ""},
		{"Ref", nil, func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "refs/heads/topic")) }, ""},
		{"Ref that is not there", nil, func(p *place) (any, error) {
			return one(p.r.Ref(p.ctx, "refs/heads/none"))
		}, ""},
		{"Ref that is packed", func(p *place) { native(p.t, p.path("repo"), "pack-refs", "--all") },
			func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "refs/heads/topic")) }, ""},
		{"Ref that is symbolic", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/link", "ref: refs/heads/topic\n")
		}, func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "refs/heads/link")) }, ""},
		{"Ref that leads nowhere", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/link", "ref: refs/heads/none\n")
		}, func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "refs/heads/link")) }, ""},
		{"Ref that is broken", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/broken", string(blob("none").OID)+"\n")
		}, func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "refs/heads/broken")) }, ""},
		{"Ref that is a directory", nil, func(p *place) (any, error) {
			return one(p.r.Ref(p.ctx, "refs/heads"))
		}, ""},
		{"Ref of a wrong name", nil, func(p *place) (any, error) { return one(p.r.Ref(p.ctx, "main")) }, ""},
		{"Refs", nil, func(p *place) (any, error) {
			return one(p.r.Refs(p.ctx, "refs/heads/topic", "refs/tags"))
		}, ""},
		{"Refs of a wrong name", nil, func(p *place) (any, error) { return one(p.r.Refs(p.ctx, "--all")) }, ""},
		{"SymbolicRefs", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/link", "ref: refs/heads/topic\n")
		}, func(p *place) (any, error) {
			return one(p.r.SymbolicRefs(p.ctx, "refs/heads/link", "refs/heads/main"))
		}, ""},
		{"SymbolicRefs of a wrong name", nil, func(p *place) (any, error) {
			return one(p.r.SymbolicRefs(p.ctx, "--all"))
		}, ""},
		{"Where", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/broken", string(blob("none").OID)+"\n")
		}, func(p *place) (any, error) {
			return one(p.r.Where(p.ctx, []string{"refs/heads/main", "refs/heads/none", "refs/heads/broken"}))
		}, ""},
		{"Where, of more than a few", nil, func(p *place) (any, error) {
			return one(p.r.Where(p.ctx, []string{"refs/heads/main", "refs/heads/1", "refs/heads/2", "refs/heads/3", "refs/heads/4",
				"refs/heads/5", "refs/heads/6", "refs/heads/7", "refs/heads/8", "refs/heads/9"}))
		}, ""},
		{"Where, of many", nil, func(p *place) (any, error) {
			names := []string{"refs/heads/main"}
			for i := range 200 {
				names = append(names, fmt.Sprint("refs/heads/none-", i))
			}
			at, err := p.r.Where(p.ctx, names)
			return fmt.Sprint(at["refs/heads/main"], len(at) > 1), err
		}, ""},
		{"FileOID", nil, func(p *place) (any, error) {
			return one(p.r.History().FileOID(p.ctx, p.ids["main"], "./dir/../a.txt"))
		}, ""},
		{"FileOID of a directory", nil, func(p *place) (any, error) {
			return one(p.r.History().FileOID(p.ctx, p.ids["main"], "dir"))
		}, ""},
		{"FileOID in nothing", nil, func(p *place) (any, error) {
			return one(p.r.History().FileOID(p.ctx, plumbing.ZeroOID, "a.txt"))
		}, ""},
		{"Checkout", dirty("a.txt", "x\n"), func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("repo")).Checkout(p.ctx))
		}, ""},
		{"Status", dirty("b.txt", "x\n"), func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("repo")).Status(p.ctx))
		}, ""},
		{"Whole", nil, func(p *place) (any, error) { return only(p.r.History().Whole(p.ctx, p.ids["topic"])) }, ""},
		{"Whole of what is no id", nil, func(p *place) (any, error) { return only(p.r.History().Whole(p.ctx, "topic")) }, ""},
		{"WholeAlone", nil, func(p *place) (any, error) { return only(p.r.History().WholeAlone(p.ctx, p.ids["topic"])) }, ""},
		{"WholeSince", nil, func(p *place) (any, error) {
			return only(p.r.History().WholeSince(p.ctx, p.ids["main"], p.ids["topic"]))
		}, ""},
		{"WholeSince far", nil, func(p *place) (any, error) { return only(p.r.History().WholeSince(p.ctx, p.ids["v1"], p.ids["main"])) }, ""},
		{"WholeSince, of a partial clone", func(p *place) { native(p.t, p.path("repo"), "config", "extensions.partialClone", "hub") },
			func(p *place) (any, error) {
				return only(p.r.History().WholeSince(p.ctx, p.ids["main"], p.ids["topic"]))
			}, ""},
		{"WholeSince what is no id", nil, func(p *place) (any, error) { return only(p.r.History().WholeSince(p.ctx, "main", p.ids["topic"])) }, ""},
		{"WholeBesideRefs", nil, func(p *place) (any, error) { return only(p.r.History().WholeBesideRefs(p.ctx, p.ids["topic"])) }, ""},
		{"WholeBesideRefs of what is no id", nil, func(p *place) (any, error) { return only(p.r.History().WholeBesideRefs(p.ctx, "topic")) }, ""},
		{"Holds", nil, func(p *place) (any, error) {
			return only(p.r.History().Holds(p.ctx, p.ids["topic"], func(yield func([]string) bool) {
				_ = yield([]string{string(p.ids["topic"]), string(p.ids["a.txt"])}) && yield([]string{string(p.ids["v1"])})
			}))
		}, ""},
		{"Holds what is missing", nil, func(p *place) (any, error) {
			return only(p.r.History().Holds(p.ctx, p.ids["topic"], func(yield func([]string) bool) {
				_ = yield([]string{string(p.ids["topic"]), string(blob("none").OID)})
			}))
		}, ""},
		{"Holds what is damaged", func(p *place) {
			check(p.t, p.r.WriteObjects(p.t.Context(), []plumbing.Object{blob("loose")}))
			check(p.t, os.RemoveAll(p.r.Upkeep().KeptDir()))
			check(p.t, os.Remove(loosePath(p.r, blob("loose").OID)))
			check(p.t, os.WriteFile(loosePath(p.r, blob("loose").OID), []byte("x"), 0o444))
		}, func(p *place) (any, error) {
			return only(p.r.History().Holds(p.ctx, p.ids["topic"], func(yield func([]string) bool) {
				_ = yield([]string{string(p.ids["topic"]), string(blob("loose").OID)})
			}))
		}, ""},
		{"Reflog", nil, func(p *place) (any, error) { return one(p.r.Reflog("HEAD")) }, ""},
		{"Reflog of nothing", nil, func(p *place) (any, error) { return one(p.r.Reflog("refs/heads/none")) }, ""},
		{"CommittedIn", func(p *place) {
			writeIn(p.t, p.path("one"), "x", "x\n")
			testrun.CommitAll(p.t, p.path("one"), "in one")
		}, func(p *place) (any, error) { return p.r.Records().CommittedIn(), nil }, ""},
		{"CommittedIn, picked, beside a record that is being removed", func(p *place) {
			native(p.t, p.path("one"), "cherry-pick", string(p.ids["topic"]))
			p.ids["picked"] = plumbing.OID(native(p.t, p.path("one"), "rev-parse", "HEAD"))
			writeIn(p.t, p.path("repo"), ".git/worktrees/gone/logs/HEAD", string(plumbing.ZeroOID)+" "+string(p.ids["next"])+" A <a@x> 1 +0000\tcommit: x\n")
		}, func(p *place) (any, error) { return p.r.Records().CommittedIn(), nil }, ""},
		{"Reflog of half lines", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/logs/refs/heads/odd", "x\nx y\n"+string(p.ids["main"])+" "+string(p.ids["topic"])+"\n")
		}, func(p *place) (any, error) { return one(p.r.Reflog("refs/heads/odd")) }, ""},
		{"ResolveCommit beyond a log", nil, func(p *place) (any, error) {
			_, err := p.r.ResolveCommit(p.ctx, "HEAD@{99}")
			return errors.Is(err, ErrNotFound), err
		}, ""},
		{"Log of a merge", nil, func(p *place) (any, error) {
			log, err := p.r.Log(p.ctx, p.ids["main"], p.ids["merged"])
			return len(log), err
		}, ""},
		{"Touching what is missing", nil, func(p *place) (any, error) {
			return one(p.r.History().Touching(p.ctx, blob("none").OID, "go.txt"))
		}, ""},
		{"FileOID in what is no id", nil, func(p *place) (any, error) { return one(p.r.History().FileOID(p.ctx, "main", "a.txt")) }, ""},
		{"Whole, of a partial clone", func(p *place) {
			native(p.t, p.path("repo"), "config", "extensions.partialClone", "hub")
		}, func(p *place) (any, error) {
			return "done", errors.Join(p.r.History().Whole(p.ctx, blob("none").OID), p.r.History().Holds(p.ctx, p.ids["main"], func(yield func([]string) bool) {
				yield([]string{string(blob("none").OID)})
			}))
		}, ""},
		{"Requested at a server", func(p *place) { p.r.bare = true }, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4"}, 20))
		}, ""},
		{"Requested at a server that remembers some", func(p *place) {
			p.r.bare = true
			must[map[string]plumbing.OID](p.t)(p.r.History().Requested(p.t.Context(), p.ids["main~3"], []string{"r4"}, 20))
		}, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4"}, 20))
		}, ""},
		{"Requested where nothing can be remembered", func(p *place) {
			p.r.bare = true
			check(p.t, os.Remove(p.path("repo/.git/liza")))
		}, func(p *place) (any, error) {
			return one(p.r.History().Requested(p.ctx, p.ids["main"], []string{"r4"}, 20))
		}, ""},
		{"BrokenRefs", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/liza/broken", string(blob("none").OID)+"\n")
			writeIn(p.t, p.path("repo"), ".git/refs/liza/empty", "")
		}, func(p *place) (any, error) {
			broken, err := p.r.BrokenRefs().List(p.ctx, "refs/liza/")
			return len(broken), err
		}, ""},
		{"BrokenRefs, an empty one alone", func(p *place) { writeIn(p.t, p.path("repo"), ".git/refs/liza/empty", "") },
			func(p *place) (any, error) {
				broken, err := p.r.BrokenRefs().List(p.ctx, "refs/liza/")
				return len(broken), err
			}, ""},
		{"RequestCommit that git dies of, beside a file that is garbage", func(p *place) {
			dirty("a.txt", "damaged\n")(p)
			p.ids["damaged"] = plumbing.OID(testrun.CommitAll(p.t, p.path("repo"), "damaged"))
			check(p.t, os.Remove(loosePath(p.r, blob("damaged\n").OID)))
			check(p.t, os.WriteFile(loosePath(p.r, blob("damaged\n").OID), stored("blob 8\x00", []byte("damaged\n"))[:12], 0o444))
		}, func(p *place) (any, error) {
			return one(p.r.RequestCommit(p.ctx, p.ids["damaged"], "r4", 20))
		}, "128"},
		{"Usage", func(p *place) { native(p.t, p.path("repo"), "gc", "-q") }, func(p *place) (any, error) {
			u, err := p.r.Upkeep().Usage(p.ctx)
			return fmt.Sprint(u.Loose, u.LooseSize, u.Packs, u.PackSize > 0), err
		}, ""},
		{"DiskUsage", nil, func(p *place) (any, error) {
			n, err := p.r.History().DiskUsage(p.ctx, "topic")
			return n > 100, err
		}, ""},
		{"Version", nil, func(p *place) (any, error) {
			major, _, _, err := Version(p.ctx)
			return major, errors.Join(err, RequireVersion(p.ctx))
		}, ""},
	})
}

func TestFaultsOfSettings(t *testing.T) {
	set := func(key, value string) func(p *place) {
		return func(p *place) { native(p.t, p.path("repo"), "config", "--add", key, value) }
	}
	checkTries(t, "faults-settings.txt", historyPlace, []try{
		{"Config", nil, func(p *place) (any, error) {
			value, set, err := p.r.Settings().Get(p.ctx, "remote.hub.url")
			return fmt.Sprint(value, set), err
		}, ""},
		{"Config that is not set", nil, func(p *place) (any, error) {
			value, set, err := p.r.Settings().Get(p.ctx, "liza.none")
			return fmt.Sprint(value, set), err
		}, ""},
		{"ConfigPaths", set("liza.path", "~/x"), func(p *place) (any, error) {
			all, err := p.r.Settings().Paths(p.ctx, "liza.path")
			return fmt.Sprint(len(all) == 1 && strings.HasSuffix(all[0], "/x") && !strings.HasPrefix(all[0], "~")), err
		}, ""},
		{"SetConfig", nil, func(p *place) (any, error) { return only(p.r.Settings().Set(p.ctx, "liza.x", "y")) }, ""},
		{"SetConfig, refused each time", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Set(p.ctx, "liza.x", "y"))
		}, "3 on"},
		{"SetConfig, killed", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Set(p.ctx, "liza.x", "y"))
		}, "killed"},
		{"SetConfig of a wrong key", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Set(p.ctx, "liza", "y"))
		}, ""},
		{"SetConfig without a file", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/config"))) },
			func(p *place) (any, error) { return only(p.r.Settings().Set(p.ctx, "liza.x", "y")) }, ""},
		{"ConfigAll", set("liza.x", "y"), func(p *place) (any, error) {
			return one(p.r.Settings().All(p.ctx, "liza.x"))
		}, ""},
		{"ConfigAll of nothing", nil, func(p *place) (any, error) { return one(p.r.Settings().All(p.ctx, "liza.x")) }, ""},
		{"AddConfig", set("liza.x", "y"), func(p *place) (any, error) {
			return only(p.r.Settings().Add(p.ctx, "liza.x", "z"))
		}, ""},
		{"AddConfig of what is there", set("liza.x", "y"), func(p *place) (any, error) {
			return only(p.r.Settings().Add(p.ctx, "liza.x", "y"))
		}, ""},
		{"Remotes", nil, func(p *place) (any, error) { return one(p.r.Settings().Remotes(p.ctx)) }, ""},
		{"Remotes, none", func(p *place) { native(p.t, p.path("repo"), "remote", "remove", "hub") },
			func(p *place) (any, error) { return one(p.r.Settings().Remotes(p.ctx)) }, ""},
		{"PushRules", func(p *place) {
			set("receive.denyDeletes", "true")(p)
			set("receive.denyNonFastForwards", "false")(p)
			set("transfer.hideRefs", "refs/x")(p)
		}, func(p *place) (any, error) { return one(p.r.Settings().PushRules(p.ctx)) }, ""},
		{"PushRules, none", nil, func(p *place) (any, error) { return one(p.r.Settings().PushRules(p.ctx)) }, ""},
		{"EditConfigFile", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Edit(func(text []byte) ([]byte, error) { return append(text, "[liza]\n"...), nil }))
		}, ""},
		{"EditConfigFile to the same", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Edit(func(text []byte) ([]byte, error) { return text, nil }))
		}, ""},
		{"EditConfigFile that fails", nil, func(p *place) (any, error) {
			return only(p.r.Settings().Edit(func([]byte) ([]byte, error) { return nil, errors.New("no") }))
		}, ""},
		{"EditConfigFile without a file", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/config"))) },
			func(p *place) (any, error) {
				return only(p.r.Settings().Edit(func(text []byte) ([]byte, error) { return text, nil }))
			}, ""},
		{"EditConfigFile that is a directory", func(p *place) {
			check(p.t, os.Remove(p.path("repo/.git/config")))
			check(p.t, os.Mkdir(p.path("repo/.git/config"), 0o755))
		}, func(p *place) (any, error) {
			return only(p.r.Settings().Edit(func(text []byte) ([]byte, error) { return text, nil }))
		}, ""},
		{"Exclude", nil, func(p *place) (any, error) { return only(p.r.Settings().Exclude("x", "y", "x")) }, ""},
		{"Exclude what is there", func(p *place) { writeIn(p.t, p.path("repo"), ".git/info/exclude", "x\r\ny") },
			func(p *place) (any, error) { return only(p.r.Settings().Exclude("x", "z")) }, ""},
		{"Exclude into a directory", func(p *place) {
			check(p.t, os.RemoveAll(p.path("repo/.git/info")))
			check(p.t, os.MkdirAll(p.path("repo/.git/info/exclude"), 0o755))
		}, func(p *place) (any, error) { return only(p.r.Settings().Exclude("x")) }, ""},
		{"Exclude below a file", func(p *place) {
			check(p.t, os.RemoveAll(p.path("repo/.git/info")))
			check(p.t, os.WriteFile(p.path("repo/.git/info"), nil, 0o644))
		}, func(p *place) (any, error) { return only(p.r.Settings().Exclude("x")) }, ""},
		{"Shared", set(RemoteKey, "hub"), func(p *place) (any, error) {
			m, err := p.r.Shared(p.ctx)
			if m == nil {
				return m, err
			}
			return fmt.Sprint(m.Name, m.OnlyBranches, m.Patience()), err
		}, ""},
		{"Remote", func(p *place) {
			set(RemoteKey, "hub")(p)
			set(OnlyBranchesKey, "true")(p)
			set(networkTimeoutKey, "7")(p)
			set("remote.hub.fetch", "^refs/heads/liza/*")(p)
		}, func(p *place) (any, error) {
			m, err := p.r.Remote(p.ctx, "hub")
			if err != nil {
				return nil, err
			}
			another, err := p.r.Remote(p.ctx, "another")
			if err != nil {
				return nil, err
			}
			return fmt.Sprint(m.OnlyBranches, m.Patience(), m.Spares("refs/heads/liza/*"), m.Spares("refs/heads/x"), m.env, another.OnlyBranches), err
		}, ""},
		{"Remote with another timeout", func(p *place) {
			set(networkTimeoutKey, "0")(p)
			set("core.askPass", "x")(p)
			set("core.sshCommand", "ssh -v")(p)
		}, func(p *place) (any, error) {
			m, err := p.r.Remote(p.ctx, "hub")
			if err != nil {
				return nil, err
			}
			return fmt.Sprint(m.Patience(), m.env), nil
		}, ""},
	})
}

func TestFaultsOfWorktrees(t *testing.T) {
	cut := func(p *place) { // an Advance that has written its files, one of them in part, and not the index
		writeIn(p.t, p.path("repo"), "a.txt", "one\nnext\nthree\n")
		writeIn(p.t, p.path("repo"), "dir/c.txt", "")
	}
	checkTries(t, "faults-worktrees.txt", historyPlace, []try{
		{"CanAdvance", nil, func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).CanAdvance(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"CanAdvance over a change", dirty("a.txt", "mine\n"), func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).CanAdvance(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"Advance", nil, func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return only(p.r.Worktree(p.path("repo")).Advance(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"Advance over a change", dirty("a.txt", "mine\n"), func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return only(p.r.Worktree(p.path("repo")).Advance(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"Resume", cut, func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).Resume(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"Resume, killed", cut, func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).Resume(ctx, p.ids["main"], p.ids["next"]))
		}, "killed"},
		{"Advance over a lock that is let go", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("repo")).Advance(p.ctx, p.ids["main"], p.ids["next"]))
		}, "128"},
		{"Advance, refused each time", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("repo")).Advance(p.ctx, p.ids["main"], p.ids["next"]))
		}, "3 on"},
		{"Advance, busy each time", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("repo")).Advance(p.ctx, p.ids["main"], p.ids["next"]))
		}, "1 on"},
		{"Resume while it deleted a file", func(p *place) {
			check(p.t, os.Remove(p.path("repo/dir/b.txt")))
			writeIn(p.t, p.path("repo"), "new.txt", "n")
		},
			func(p *place) (any, error) {
				ctx, _ := WithRetries(p.ctx, 0)
				return one(p.r.Worktree(p.path("repo")).Resume(ctx, p.ids["v1"], p.ids["topic"]))
			}, ""},
		{"CanAdvance over a link", func(p *place) {
			check(p.t, os.Remove(p.path("repo/a.txt")))
			check(p.t, os.Symlink("dir/b.txt", p.path("repo/a.txt")))
		}, func(p *place) (any, error) {
			ctx, _ := WithRetries(p.ctx, 0)
			return one(p.r.Worktree(p.path("repo")).CanAdvance(ctx, p.ids["main"], p.ids["next"]))
		}, ""},
		{"CheckoutDetached", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, p.ids["topic"]))
		}, ""},
		{"CheckoutDetached of no worktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("none")).CheckoutDetached(p.ctx, p.ids["topic"]))
		}, ""},
		{"CheckoutDetached of one that is locked", func(p *place) { writeIn(p.t, p.path("repo"), ".git/worktrees/one/index.lock", "") },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, p.ids["topic"]))
			}, ""},
		{"CheckoutDetached of what nobody delivers", func(p *place) {
			native(p.t, p.path("repo"), "config", "remote.hub.promisor", "true")
			native(p.t, p.path("repo"), "config", "remote.hub.partialclonefilter", "blob:none")
			check(p.t, os.RemoveAll(p.path("hub.git")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, blob("none").OID))
		}, ""},
		{"CheckoutDetached of a sparse one whose files are not known", func(p *place) {
			check(p.t, os.MkdirAll(p.path("repo/.git/worktrees/one/info/sparse-checkout"), 0o755))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, p.ids["topic"]))
		}, ""},
		{"Sparse of no worktree", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("none")).Sparse(p.ctx)) }, ""},
		{"CheckoutDetached of what is no id", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).CheckoutDetached(p.ctx, "topic"))
		}, ""},
		{"Untouched", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Untouched(p.ctx, p.ids["topic"]))
		}, ""},
		{"Untouched after a merge that was cut short", func(p *place) { writeIn(p.t, p.path("one"), "new.txt", "n") },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).Untouched(p.ctx, p.ids["topic"]))
			}, ""},
		{"Untouched beside a change", func(p *place) { writeIn(p.t, p.path("one"), "a.txt", "n") },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).Untouched(p.ctx, p.ids["topic"]))
			}, ""},
		{"Untouched before the first commit", func(p *place) {
			native(p.t, p.path("one"), "symbolic-ref", "HEAD", "refs/heads/unborn")
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Untouched(p.ctx, p.ids["topic"]))
		}, ""},
		{"MergeInto", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["topic"], "merge", ada))
		}, ""},
		{"MergeInto with a conflict", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["clash"], "merge", ada))
		}, ""},
		{"MergeInto over what another has left", func(p *place) { writeIn(p.t, p.path("one"), "new.txt", "n") },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["topic"], "merge", ada))
			}, ""},
		{"MergeInto over a change", func(p *place) { writeIn(p.t, p.path("one"), "dir/b.txt", "mine") },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["topic"], "merge", ada))
			}, ""},
		{"MergeInto ahead, over a change", func(p *place) { writeIn(p.t, p.path("one"), "a.txt", "mine") },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, p.ids["next"], "merge", ada))
			}, ""},
		{"MergeInto of what is no id", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).MergeInto(p.ctx, "topic", "merge", ada))
		}, ""},
		{"MergeTree", nil, func(p *place) (any, error) {
			tree, conflicts, err := p.r.History().MergeTree(p.ctx, p.ids["main"], p.ids["topic"])
			return fmt.Sprint(tree, conflicts), err
		}, ""},
		{"MergeTree with a conflict", nil, func(p *place) (any, error) {
			tree, conflicts, err := p.r.History().MergeTree(p.ctx, p.ids["main"], p.ids["clash"])
			return fmt.Sprint(tree, conflicts), err
		}, ""},
		{"MergeTree that says 1", nil, func(p *place) (any, error) {
			tree, conflicts, err := p.r.History().MergeTree(p.ctx, p.ids["main"], p.ids["topic"])
			return fmt.Sprint(tree, conflicts), err
		}, "1"},
		{"Snapshot", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"StagedSnapshot", func(p *place) {
			writeIn(p.t, p.path("one"), "x", "x")
			native(p.t, p.path("one"), "add", "x")
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).StagedSnapshot(p.ctx, "staged", ada))
		}, ""},
		{"OwnCommits of no worktree", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("none")).OwnCommits(p.ctx))
		}, ""},
		{"OwnCommits where refs are in tables", func(p *place) { check(p.t, os.Mkdir(p.path("repo/.git/worktrees/one/reftable"), 0o755)) },
			func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).OwnCommits(p.ctx)) }, ""},
		{"OwnCommits", func(p *place) { native(p.t, p.path("one"), "update-ref", "refs/worktree/own", "main") }, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).OwnCommits(p.ctx))
		}, ""},
		{"Snapshot of no worktree", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("none")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"Snapshot of nothing", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"Snapshot without an index", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/worktrees/one/index"))) },
			func(p *place) (any, error) {
				return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
			}, ""},
		{"Snapshot of an index that is a directory", func(p *place) {
			check(p.t, os.Remove(p.path("repo/.git/worktrees/one/index")))
			check(p.t, os.Mkdir(p.path("repo/.git/worktrees/one/index"), 0o755))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"Snapshot before the first commit", func(p *place) {
			native(p.t, p.path("one"), "symbolic-ref", "HEAD", "refs/heads/unborn")
			native(p.t, p.path("one"), "rm", "-q", "-r", "--cached", ".")
			check(p.t, os.RemoveAll(p.path("one/dir")))
			check(p.t, os.Remove(p.path("one/a.txt")))
			check(p.t, os.Remove(p.path("one/go.txt")))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).Snapshot(p.ctx, "all", ada))
		}, ""},
		{"Worktrees", nil, func(p *place) (any, error) { return one(p.r.Records().Worktrees(p.ctx)) }, ""},
		{"CheckedOut", nil, func(p *place) (any, error) { return one(p.r.Records().CheckedOut(p.ctx, "refs/heads/main")) }, ""},
		{"CheckedOut nowhere", nil, func(p *place) (any, error) {
			return one(p.r.Records().CheckedOut(p.ctx, "refs/heads/topic"))
		}, ""},
		{"CheckedOut nowhere, without linked worktrees", func(p *place) { check(p.t, os.RemoveAll(p.path("repo/.git/worktrees"))) },
			func(p *place) (any, error) {
				return one(p.r.Records().CheckedOut(p.ctx, "refs/heads/topic"))
			}, ""},
		{"CheckedOut by a symbolic ref", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/heads/link", "ref: refs/heads/topic\n")
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", "ref: refs/heads/link\n")
		}, func(p *place) (any, error) {
			return one(p.r.Records().CheckedOut(p.ctx, "refs/heads/topic"))
		}, ""},
		{"CheckedOut beside an odd HEAD", func(p *place) { writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", "odd\n") },
			func(p *place) (any, error) {
				return p.r.plainlyFree("refs/heads/topic"), nil
			}, ""},
		{"CheckedOut with reftables", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", "ref: refs/heads/.invalid\n")
		}, func(p *place) (any, error) {
			return p.r.plainlyFree("refs/heads/topic"), nil
		}, ""},
		{"CheckedOut beside no HEAD", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/worktrees/one/HEAD"))) },
			func(p *place) (any, error) {
				return p.r.plainlyFree("refs/heads/topic"), nil
			}, ""},
		{"CheckedOut beside what is no directory", func(p *place) {
			check(p.t, os.RemoveAll(p.path("repo/.git/worktrees")))
			check(p.t, os.WriteFile(p.path("repo/.git/worktrees"), nil, 0o644))
		}, func(p *place) (any, error) {
			return p.r.plainlyFree("refs/heads/topic"), nil
		}, ""},
		{"Head of a linked worktree whose HEAD is a directory", func(p *place) {
			check(p.t, os.Remove(p.path("repo/.git/worktrees/one/HEAD")))
			check(p.t, os.Mkdir(p.path("repo/.git/worktrees/one/HEAD"), 0o755))
		}, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("one")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"Head", nil, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("repo")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"Head of a linked worktree", nil, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("one")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"Head of a linked worktree, with a branch", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", "ref: refs/heads/topic\n")
		}, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("one")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"Head of a linked worktree, at a tree", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", string(p.ids["a.txt"])+"\n")
		}, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("one")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"Head of a linked worktree, odd", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/HEAD", "ref: refs/liza/odd\n")
		}, func(p *place) (any, error) {
			commit, branch, err := p.r.Worktree(p.path("one")).Head(p.ctx)
			return fmt.Sprint(commit, branch), err
		}, ""},
		{"LastHead", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).LastHead(p.ctx)) }, ""},
		{"LastHead of no worktree", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("none")).LastHead(p.ctx)) }, ""},
		{"LastHead without a log", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/worktrees/one/logs/HEAD"))) },
			func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).LastHead(p.ctx)) }, ""},
		{"LastHead of a log that is a directory", func(p *place) {
			check(p.t, os.Remove(p.path("repo/.git/worktrees/one/logs/HEAD")))
			check(p.t, os.Mkdir(p.path("repo/.git/worktrees/one/logs/HEAD"), 0o755))
		}, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).LastHead(p.ctx)) }, ""},
		{"LastHead of half lines", func(p *place) {
			log := must[[]byte](p.t)(os.ReadFile(p.path("repo/.git/worktrees/one/logs/HEAD")))
			writeIn(p.t, p.path("repo"), ".git/worktrees/one/logs/HEAD", string(log)+"x y\nx\n"+string(p.ids["main"])+" "+string(plumbing.ZeroOID)+" z\n")
		}, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).LastHead(p.ctx)) }, ""},
		{"Unheld", nil, func(p *place) (any, error) { return one(p.r.History().Unheld(p.ctx, p.ids["main"])) }, ""},
		{"Unheld by any ref", func(p *place) {
			native(p.t, p.path("one"), "checkout", "-q", "--detach")
			native(p.t, p.path("one"), "commit", "-q", "--allow-empty", "-m", "own")
			p.ids["own"] = plumbing.OID(native(p.t, p.path("one"), "rev-parse", "HEAD"))
		}, func(p *place) (any, error) { return one(p.r.History().Unheld(p.ctx, p.ids["own"])) }, ""},
		{"Unheld, but a file", nil, func(p *place) (any, error) { return one(p.r.History().Unheld(p.ctx, p.ids["a.txt"])) }, ""},
		{"Unheld, but missing", nil, func(p *place) (any, error) {
			return one(p.r.History().Unheld(p.ctx, plumbing.OID(strings.Repeat("1", 40))))
		}, ""},
		{"AttachHead", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).AttachHead(p.ctx, "topic"))
		}, ""},
		{"AttachHead to a wrong name", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).AttachHead(p.ctx, "to pic"))
		}, ""},
		{"Owns", nil, func(p *place) (any, error) {
			return fmt.Sprint(p.r.Worktree(p.path("one")).Owns(), p.r.Worktree(p.path("repo")).Owns(), p.r.Worktree(p.path("none")).Owns()), nil
		}, ""},
		{"AddWorktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Add(p.ctx, p.ids["topic"]))
		}, ""},
		{"AddWorktree of what is no id", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Add(p.ctx, "topic"))
		}, ""},
		{"AddWorktree, died once", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Add(p.ctx, p.ids["topic"]))
		}, "128"},
		{"Refs, refused each time", nil, func(p *place) (any, error) {
			return one(p.r.Refs(p.ctx, "refs/heads/topic"))
		}, "3 on"},
		{"Refs, killed", nil, func(p *place) (any, error) {
			return one(p.r.Refs(p.ctx, "refs/heads/topic"))
		}, "killed"},
		{"AddWorktree that git dies of", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Add(p.ctx, p.ids["topic"]))
		}, ""},
		{"MoveWorktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("two")))
		}, ""},
		{"MoveWorktree to another directory", func(p *place) { check(p.t, os.Mkdir(p.path("below"), 0o755)) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("below/two")))
			}, ""},
		{"MoveWorktree to what exists", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("repo")))
		}, ""},
		{"MoveWorktree of none", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("none")).Move(p.ctx, p.path("two")))
		}, ""},
		{"MoveWorktree with modules", func(p *place) { check(p.t, os.Mkdir(p.path("repo/.git/worktrees/one/modules"), 0o755)) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("two")))
			}, ""},
		{"MoveWorktree to a name that is too long", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path(strings.Repeat("x", 256))))
		}, ""},
		{"MoveWorktree of a locked one", func(p *place) { native(p.t, p.path("repo"), "worktree", "lock", p.path("one")) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("two")))
			}, ""},
		{"MoveWorktree to the place of one that is gone", func(p *place) {
			native(p.t, p.path("repo"), "worktree", "add", "-q", "--detach", p.path("two"), "main")
			check(p.t, os.RemoveAll(p.path("two")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("two")))
		}, ""},
		{"MoveWorktree, killed", func(p *place) { check(p.t, os.Mkdir(p.path("below"), 0o755)) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("below/two")))
			}, "killed"},
		{"MoveWorktree with a relative link", func(p *place) {
			writeIn(p.t, p.path("one"), ".git", "gitdir: ../repo/.git/worktrees/one\n")
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Move(p.ctx, p.path("two")))
		}, ""},
		{"MoveWorktree beside a record that is being removed", func(p *place) {
			check(p.t, os.Mkdir(p.path("repo/.git/worktrees/half"), 0o755))
		}, func(p *place) (any, error) {
			_, plain := p.r.Worktree(p.path("one")).movesPlainly(p.path("two"))
			return plain, nil
		}, ""},
		{"UnlockWorktree", func(p *place) { native(p.t, p.path("repo"), "worktree", "lock", p.path("one")) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Unlock(p.ctx))
			}, ""},
		{"UnlockWorktree whose lock can't be removed", func(p *place) {
			check(p.t, os.MkdirAll(p.path("repo/.git/worktrees/one/locked/x"), 0o755))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Unlock(p.ctx))
		}, ""},
		{"UnlockWorktree that is not locked", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Unlock(p.ctx))
		}, ""},
		{"UnlockWorktree that was moved by hand", func(p *place) {
			native(p.t, p.path("repo"), "worktree", "lock", p.path("one"))
			check(p.t, os.Rename(p.path("one"), p.path("two")))
			check(p.t, os.Symlink(p.path("two"), p.path("one")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Unlock(p.ctx))
		}, ""},
		{"UnlockWorktree that was moved by hand and is not locked", func(p *place) {
			check(p.t, os.Rename(p.path("one"), p.path("two")))
			check(p.t, os.Symlink(p.path("two"), p.path("one")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("two")).Unlock(p.ctx))
		}, ""},
		{"UnlockWorktree of none", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("none")).Unlock(p.ctx))
		}, ""},
		{"RemoveWorktree", func(p *place) { writeIn(p.t, p.path("one"), "x", "x") }, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Remove(p.ctx))
		}, ""},
		{"RemoveWorktree by a path that ends in a dot", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one") + "/.").Remove(p.ctx))
		}, ""},
		{"RemoveWorktree by another path", func(p *place) { check(p.t, os.Symlink(p.path("one"), p.path("link"))) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("link")).Remove(p.ctx))
			}, ""},
		{"RemoveWorktree that is gone", func(p *place) { check(p.t, os.RemoveAll(p.path("one"))) },
			func(p *place) (any, error) {
				return only(p.r.Worktree(p.path("one")).Remove(p.ctx))
			}, ""},
		{"RemoveWorktree, the main one", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("repo")).Remove(p.ctx))
		}, ""},
		{"DiscardWorktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Discard(p.ctx))
		}, ""},
		{"DiscardWorktree that was never completed", func(p *place) {
			check(p.t, os.Remove(p.path("one/.git")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Discard(p.ctx))
		}, ""},
		{"DiscardWorktree that can't be removed", func(p *place) {
			check(p.t, os.Remove(p.path("one/.git")))
		}, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one") + "/.").Discard(p.ctx))
		}, ""},
		{"DiscardWorktree of one that is gone", func(p *place) { check(p.t, os.RemoveAll(p.path("one"))) }, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("one")).Discard(p.ctx))
		}, ""},
		{"RepairWorktrees", func(p *place) { check(p.t, os.Rename(p.path("one"), p.path("two"))) },
			func(p *place) (any, error) {
				return only(p.r.Records().Repair(p.ctx, p.path("two")))
			}, ""},
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/broken", text}, p.ids[to]))
		}
	}
	checkTries(t, "faults-write.txt", historyPlace, []try{
		{"UpdateRefs", nil, update("refs/heads/topic", "topic", "main"), ""},
		{"UpdateRefs, killed", nil, update("refs/heads/topic", "topic", "main"), "killed"},
		{"UpdateRefs, died", nil, update("refs/heads/topic", "topic", "main"), "128"},
		{"UpdateRefs, refused each time", nil, update("refs/heads/topic", "topic", "main"), "3 on"},
		{"UpdateRefs, killed each time", nil, update("refs/heads/topic", "topic", "main"), "killed on"},
		{"UpdateRefs that are elsewhere", nil, update("refs/heads/topic", "main", "next"), ""},
		{"UpdateRefs that are there already", nil, update("refs/heads/topic", "main", "topic"), ""},
		{"UpdateRefs that stay", nil, update("refs/heads/topic", "topic", "topic"), ""},
		{"UpdateRefs that stay, refused each time", nil, update("refs/heads/topic", "topic", "topic"), "3 on"},
		{"UpdateRefs to nothing", nil, update("refs/heads/topic", "topic", "zero"), ""},
		{"WriteAndUpdate", nil, func(p *place) (any, error) {
			return only(p.r.WriteAndUpdate(p.ctx, []plumbing.Object{blob("new")}, []plumbing.RefUpdate{{Ref: "refs/liza/new", New: blob("new").OID}}, ""))
		}, ""},
		{"WriteAndUpdate a wrong name", nil, func(p *place) (any, error) {
			return only(p.r.WriteAndUpdate(p.ctx, []plumbing.Object{blob("new")}, []plumbing.RefUpdate{{Ref: "new", New: blob("new").OID}}, ""))
		}, ""},
		{"WriteAndUpdate a wrong object", nil, func(p *place) (any, error) {
			return only(p.r.WriteAndUpdate(p.ctx, []plumbing.Object{{OID: p.ids["main"], Type: plumbing.BlobObject}}, []plumbing.RefUpdate{{Ref: "refs/liza/new", New: p.ids["main"]}}, ""))
		}, ""},
		{"WriteAndUpdate where nothing can be kept", func(p *place) {
			check(p.t, os.RemoveAll(p.path("repo/.git/liza")))
			writeIn(p.t, p.path("repo"), ".git/liza", "a file")
		}, func(p *place) (any, error) {
			return only(p.r.WriteAndUpdate(p.ctx, []plumbing.Object{blob("new")}, []plumbing.RefUpdate{{Ref: "refs/liza/new", New: blob("new").OID}}, ""))
		}, ""},
		{"ReplaceBroken", broken(""), replace("", "main"), ""},
		{"ReplaceBroken that is another", broken("x"), replace("", "main"), ""},
		{"ReplaceBroken that is whole", nil, func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/topic", ""}, p.ids["main"]))
		}, ""},
		{"ReplaceBroken that is there", nil, func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/topic", ""}, p.ids["topic"]))
		}, ""},
		{"ReplaceBroken that is locked", func(p *place) {
			broken("")(p)
			writeIn(p.t, p.path("repo"), ".git/refs/heads/broken.lock", "")
		}, replace("", "main"), ""},
		{"ReplaceBroken below a file", nil, func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/topic/below", ""}, p.ids["main"]))
		}, ""},
		{"ReplaceBroken of a name too long to lock", nil, func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/" + strings.Repeat("x", 252), ""}, p.ids["main"]))
		}, ""},
		{"ReplaceBroken of a wrong name", nil, func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"broken", ""}, p.ids["main"]))
		}, ""},
		{"ReplaceBroken by what is no id", broken(""), func(p *place) (any, error) {
			return only(p.r.BrokenRefs().Replace(p.ctx, &BrokenRefError{"refs/heads/broken", ""}, "main"))
		}, ""},
		{"Maintain", nil, func(p *place) (any, error) { return only(p.r.Upkeep().Maintain(p.ctx)) }, ""},
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
		{"Fetch that a ref is in the way of", nil, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, false, "refs/heads/main:refs/heads/topic"))
		}, ""},
		{"Fetch and prune", func(p *place) {
			native(p.t, p.path("repo"), "update-ref", "refs/liza/gone", "main")
		}, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, true, false, "refs/liza/*:refs/liza/*"))
		}, ""},
		{"Fetch where git is set to prune", func(p *place) {
			native(p.t, p.path("repo"), "config", "fetch.prune", "true")
			native(p.t, p.path("repo"), "update-ref", "refs/liza/gone", "main")
		}, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, false, "refs/liza/*:refs/liza/*"))
		}, ""},
		{"Fetch by a relative address", func(p *place) { native(p.t, p.path("repo"), "config", "remote.hub.url", "../hub.git") },
			func(p *place) (any, error) {
				return only(p.hub.Fetch(p.ctx, false, false, "refs/liza/*:refs/liza/*"))
			}, ""},
		{"Fetch whole", nil, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, true, "refs/liza/*:refs/liza/*"))
		}, "128"},
		{"Fetch beside a lock, without a retry", func(p *place) { writeIn(p.t, p.path("repo"), ".git/refs/liza/far.lock", "") },
			func(p *place) (any, error) {
				ctx, _ := WithRetries(p.ctx, 0)
				return only(p.hub.Fetch(ctx, false, false, "refs/liza/*:refs/liza/*"))
			}, ""},
		{"Fetch beside a lock", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/refs/liza/far.lock", "")
			p.t.Setenv(ProcessSpaceVar, "elsewhere")
			p.r.environ = environ(os.Environ())
		}, func(p *place) (any, error) {
			return only(p.hub.Fetch(p.ctx, false, false, "refs/liza/*:refs/liza/*"))
		}, ""},
		{"Remote that is asked for a password", func(p *place) { p.r.environ = append(p.r.environ, "GIT_ASKPASS=x") }, func(p *place) (any, error) {
			m := p.r.remote("hub", map[string][]string{"remote.hub.fetch": {"+refs/heads/*:refs/remotes/hub/*", "^refs/heads/x"}})
			return fmt.Sprint(slices.Contains(m.env, "GIT_ASKPASS="), slices.Contains(p.hub.env, "GIT_ASKPASS="), m.spared), nil
		}, ""},
		{"List", nil, func(p *place) (any, error) {
			return one(p.hub.List(p.ctx, "refs/heads/main", "refs/liza/*", "heads/topic"))
		}, ""},
		{"Push to nobody", nil, func(p *place) (any, error) {
			m, err := p.r.Remote(p.ctx, "nobody")
			if err != nil {
				return nil, err
			}
			err = m.Push(p.ctx, []Push{{Ref: "refs/heads/main", New: p.ids["main"]}})
			return errors.Is(err, ErrNoRemote), err
		}, ""},
		{"Push", nil, push(to("refs/heads/main", "main"), exactly("refs/heads/new", "zero", "topic"), exactly("refs/liza/far", "topic", "zero")), ""},
		{"Push, killed", nil, push(to("refs/heads/main", "main")), "killed"},
		{"Push of what is not ahead", nil, push(to("refs/heads/main", "topic")), ""},
		{"Push from another", nil, push(exactly("refs/heads/main", "topic", "main"), to("refs/heads/new", "main")), ""},
		{"Push of what exists", nil, push(exactly("refs/heads/main", "zero", "main")), ""},
		{"Push of a wrong name", nil, push(to("main", "main")), ""},
		{"Push that a hook declines", hook("echo liza: no; exit 1"), push(to("refs/heads/main", "main")), ""},
		{"Push that a hook declines with nothing", hook("exit 1"), push(to("refs/heads/main", "main")), ""},
		{"Push to a hidden ref", hubConfig("receive.hideRefs", "refs/liza"), push(exactly("refs/liza/far", "zero", "main")), ""},
		{"Push beside a lock", func(p *place) { writeIn(p.t, p.path("hub.git"), "refs/heads/main.lock", "") }, push(to("refs/heads/main", "main")), ""},
		{"Push below another's name", nil, push(to("refs/heads/main/below", "main")), ""},
		{"Push to one that can't move all", hubConfig("receive.advertiseAtomic", "false"), push(to("refs/heads/main", "main")), ""},
		{"Push to one that is not there", func(p *place) { check(p.t, os.RemoveAll(p.path("hub.git"))) }, push(to("refs/heads/main", "main")), ""},
		{"Push while git is watched by others", func(p *place) {
			p.r.environ = append(p.r.environ, traceKey+"=0")
			check(p.t, os.RemoveAll(p.path("hub.git")))
		}, push(to("refs/heads/main", "main")), ""},
		{"Deliver", nil, deliver("refs/heads/main", "main", ""), ""},
		{"Deliver with an option", hubConfig("receive.advertisePushOptions", "true"), deliver("refs/heads/main", "main", "an option"), ""},
		{"Deliver with an option that it does not take", nil, deliver("refs/heads/main", "main", "an option"), ""},
		{"Deliver what is not ahead", nil, deliver("refs/heads/main", "topic", ""), ""},
		{"Deliver nothing to what is not there", nil, deliver("refs/heads/none", "zero", ""), ""},
		{"Deliver to a wrong name", nil, deliver("none", "main", ""), ""},
		{"Offer", nil, func(p *place) (any, error) {
			return only(p.hub.Offer(p.ctx, map[string]string{"refs/heads/t*": "refs/heads/t*", string(p.ids["main"]): "refs/heads/main"}))
		}, ""},
		{"Offer what is not ahead", nil, func(p *place) (any, error) {
			return only(p.hub.Offer(p.ctx, map[string]string{"refs/heads/topic": "refs/heads/main"}))
		}, ""},
		{"Upload", lfs, func(p *place) (any, error) {
			err := p.hub.Upload(p.ctx, []LargeFile{{"x", strings.Repeat("1", 64)}, {"y", strings.Repeat("2", 64)}})
			asked, _ := os.ReadFile(p.path("asked"))
			return string(asked), err
		}, ""},
		{"Upload many", lfs, func(p *place) (any, error) {
			err := p.hub.Upload(p.ctx, slices.Repeat([]LargeFile{{"x", strings.Repeat("1", 64)}}, objectsAtOnce+1))
			asked, _ := os.ReadFile(p.path("asked"))
			return fmt.Sprint(bytes.Count(asked, []byte("\n")), " calls for ", bytes.Count(asked, []byte(" 1111"))), err
		}, ""},
		{"Upload nothing", nil, func(p *place) (any, error) { return only(p.hub.Upload(p.ctx, nil)) }, ""},
		{"LargeFiles", large("*.bin filter=lfs\n"), largeFiles, ""},
		{"LargeFiles that no attributes name", large(""), largeFiles, ""},
		{"LargeFiles that are packed", func(p *place) {
			large("*.bin filter=lfs\n")(p)
			native(p.t, p.path("repo"), "gc", "-q")
		}, largeFiles, ""},
		{"LargeFiles, one of them damaged", func(p *place) {
			large("*.bin filter=lfs\n")(p)
			file := loosePath(p.r, plumbing.OID(native(p.t, p.path("repo"), "rev-parse", "HEAD:y.bin")))
			check(p.t, os.Chmod(file, 0o644))
			check(p.t, os.WriteFile(file, stored("blob 130\x00", make([]byte, 130))[:40], 0o444)) // cut off
		}, largeFiles, ""},
		{"LargeFiles without any", nil, func(p *place) (any, error) {
			return one(p.r.History().LargeFiles(p.ctx, p.ids["v1"], p.ids["main"], []string{"a.txt"}))
		}, ""},
		{"HasLargeFile", func(p *place) {
			writeIn(p.t, p.path("repo"), ".git/lfs/objects/11/11/"+strings.Repeat("1", 64), "x")
		}, func(p *place) (any, error) {
			return fmt.Sprint(p.r.History().HasLargeFile(LargeFile{"x", strings.Repeat("1", 64)}), p.r.History().HasLargeFile(LargeFile{"x", strings.Repeat("2", 64)})), nil
		}, ""},
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
		{"Gitlinks", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).Gitlinks(p.ctx)) }, ""},
		{"Gitlinks, none", nil, func(p *place) (any, error) { return one(p.r.Worktree(p.path("repo")).Gitlinks(p.ctx)) }, ""},
		{"Gitlinks without an index", func(p *place) { check(p.t, os.Remove(p.path("repo/.git/worktrees/one/index"))) },
			func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).Gitlinks(p.ctx)) }, ""},
		{"Gitlinks of an index that is a directory", func(p *place) {
			check(p.t, os.Remove(p.path("repo/.git/index")))
			check(p.t, os.Mkdir(p.path("repo/.git/index"), 0o755))
		}, func(p *place) (any, error) { return one(p.r.Worktree(p.path("repo")).Gitlinks(p.ctx)) }, ""},
		{"Submodules", nil, func(p *place) (any, error) { return one(p.r.History().Submodules(p.ctx, p.ids["modules"])) }, ""},
		{"Submodules, none", nil, func(p *place) (any, error) {
			return one(p.r.History().Submodules(p.ctx, p.ids["main"]))
		}, ""},
		{"Submodules without a path", func(p *place) {
			writeIn(p.t, p.path("one"), ".gitmodules", "[submodule \"x\"]\n\turl = y\n")
			native(p.t, p.path("one"), "commit", "-q", "-m", "without", ".gitmodules")
			p.ids["without"] = plumbing.OID(native(p.t, p.path("one"), "rev-parse", "HEAD"))
		}, func(p *place) (any, error) { return one(p.r.History().Submodules(p.ctx, p.ids["without"])) }, ""},
		{"Submodules of what is no id", nil, func(p *place) (any, error) {
			return one(p.r.History().Submodules(p.ctx, "main"))
		}, ""},
		{"ModulePublished", nil, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/mod"), p.ids["lib"]))
		}, ""},
		{"ModulePublished since", func(p *place) {
			native(p.t, p.path("lib"), "commit", "-q", "--allow-empty", "-m", "more")
			native(p.t, p.path("one/nested"), "commit", "-q", "--allow-empty", "-m", "more")
			p.ids["more"] = plumbing.OID(native(p.t, p.path("lib"), "rev-parse", "HEAD"))
		}, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/nested"), p.ids["more"]))
		}, ""},
		{"ModulePublished nowhere", func(p *place) {
			native(p.t, p.path("one/nested"), "commit", "-q", "--allow-empty", "-m", "own")
			p.ids["own"] = plumbing.OID(native(p.t, p.path("one/nested"), "rev-parse", "HEAD"))
		}, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/nested"), p.ids["own"]))
		}, ""},
		{"ModulePublished of none", nil, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/dir"), p.ids["lib"]))
		}, ""},
		{"ModulePublished of what is no id", nil, func(p *place) (any, error) {
			return one(p.r.ModulePublished(p.ctx, p.path("one/mod"), "main"))
		}, ""},
		{"StrayModules", func(p *place) {
			writeIn(p.t, p.path("one"), "a.txt", "changed")
			native(p.t, p.path("one/nested"), "commit", "-q", "--allow-empty", "-m", "own")
		}, func(p *place) (any, error) { return one(p.r.Worktree(p.path("one")).StrayModules(p.ctx)) }, ""},
		{"StrayModules of a worktree without them", func(p *place) { writeIn(p.t, p.path("repo"), "a.txt", "changed") },
			func(p *place) (any, error) { return one(p.r.Worktree(p.path("repo")).StrayModules(p.ctx)) }, ""},
		{"StrayModules of no worktree", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("none")).StrayModules(p.ctx))
		}, ""},
		{"CheckOutModules", func(p *place) { native(p.t, p.path("one"), "rm", "-q", "--cached", "nested") },
			func(p *place) (any, error) { return only(p.r.Worktree(p.path("one")).CheckOutModules(p.ctx)) }, ""},
		{"CheckOutModules of no worktree", nil, func(p *place) (any, error) {
			return only(p.r.Worktree(p.path("none")).CheckOutModules(p.ctx))
		}, ""},
		{"KeepModules", ownCommits, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules that are published", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules of a worktree that is gone", func(p *place) {
			ownCommits(p)
			check(p.t, os.RemoveAll(p.path("one")))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules of what is below a file", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one/a.txt/below")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules of a worktree without them", nil, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("repo")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules, one beside one that is not checked out", func(p *place) {
			ownCommits(p)
			check(p.t, os.RemoveAll(p.path("one/nested/.git")))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules, nested ones alone", func(p *place) {
			ownCommits(p)
			check(p.t, os.RemoveAll(p.path("repo/.git/worktrees/one/modules")))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules, nested ones below a file", func(p *place) {
			ownCommits(p)
			check(p.t, os.RemoveAll(p.path("repo/.git/worktrees/one/modules")))
			check(p.t, os.WriteFile(p.path("kept"), nil, 0o644))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept/below")))
		}, ""},
		{"KeepModules, nested ones over a directory", func(p *place) {
			ownCommits(p)
			check(p.t, os.RemoveAll(p.path("repo/.git/worktrees/one/modules")))
			writeIn(p.t, p.path("kept"), "nested/x", "x")
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
		{"KeepModules below a file", func(p *place) {
			ownCommits(p)
			check(p.t, os.WriteFile(p.path("kept"), nil, 0o644))
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept/below")))
		}, ""},
		{"KeepModules over a directory", func(p *place) {
			ownCommits(p)
			writeIn(p.t, p.path("kept"), "mod", "x")
		}, func(p *place) (any, error) {
			return one(p.r.Worktree(p.path("one")).KeepModules(p.ctx, p.path("kept")))
		}, ""},
	})
}
