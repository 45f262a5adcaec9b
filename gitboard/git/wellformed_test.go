package git

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWellFormed compares what is found malformed of a history with what git-fsck --strict refuses.
func TestWellFormed(t *testing.T) {
	ctx, r := scratch(t)
	dir := r.TopLevel()
	from := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	oids := store(t, ctx, r, "text", "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n", "* text\n")
	file, modules, attributes := string(oids[0]), string(oids[1]), string(oids[2])
	entry := func(mode, name, oid string) string {
		return mode + " " + name + "\x00" + string(must[[]byte](t)(hex.DecodeString(oid)))
	}
	object := func(kind plumbing.ObjectType, data string) plumbing.OID {
		o := plumbing.NewObject(kind, []byte(data))
		check(t, r.WriteObjects(ctx, []plumbing.Object{o}))
		return o.OID
	}
	commit := func(tree plumbing.OID, who, rest string, parents ...plumbing.OID) plumbing.OID {
		text := fmt.Sprintf("tree %s\n", tree)
		for _, parent := range parents {
			text += fmt.Sprintf("parent %s\n", parent)
		}
		return object(plumbing.CommitObject, text+"author "+who+"\ncommitter "+who+"\n"+rest)
	}
	const ann = "Ann <ann@example.org> 1700000000 +0100"
	whole := plumbing.OID(strings.TrimSpace(native(t, dir, "rev-parse", "HEAD^{tree}")))
	inner := string(object(plumbing.TreeObject, entry("100644", "..", file)))
	cases := map[string]plumbing.OID{
		"a missing space": commit(whole, "Ann<ann@example.org> 1700000000 +0100", "\nx\n", from),
		"no address":      commit(whole, "Ann 1700000000 +0100", "\nx\n", from),
		"no zone":         commit(whole, "Ann <a@x> 1700000000", "\nx\n", from),
		"a padded date":   commit(whole, "Ann <a@x> 01700000000 +0100", "\nx\n", from),
		"a NUL":           commit(whole, ann, "\nx\x00y\n", from),
		"no name":         commit(whole, " <a@x> 1700000000 +0100", "\nx\n", from),
		"two authors":     commit(whole, ann+"\nauthor "+ann, "\nx\n", from),
		"a signature":     commit(whole, ann, "gpgsig x\n y\n\nx\n", from),
	}
	for name, tree := range map[string]string{
		"usual":         entry("100644", ".gitignore", file) + entry("40000", "a", string(whole)) + entry("100755", "b", file) + entry("120000", "c", file) + entry("160000", "é", string(from)),
		"a path":        entry("100644", "x/y", file),
		"deep":          entry("40000", "d", inner),
		"twice":         entry("100644", "a", file) + entry("100644", "a", file),
		"both kinds":    entry("100644", "a", file) + entry("100644", "a-b", file) + entry("40000", "a", string(whole)),
		"unsorted":      entry("100644", "b", file) + entry("100644", "a", file),
		"a padded mode": entry("0100644", "a", file), "a null id": entry("160000", "a", string(plumbing.ZeroOID)),
		"group may write": entry("100664", "a", file), "an unknown mode": entry("100600", "a", file),
		"git~1": entry("40000", "git~1", string(whole)), ".GIT": entry("40000", ".GIT", string(whole)), ".git.": entry("40000", ".git .", string(whole)),
		"hidden": entry("40000", ".g\u200cit", string(whole)), ".git:x": entry("100644", ".git:x", file), `a\.git`: entry("100644", `a\.git`, file),
		".": entry("40000", ".", string(whole)), "...": entry("100644", "...", file), "a~": entry("100644", "a~", file), "’": entry("100644", "’", file),
		"modules": entry("100644", ".gitmodules", modules), "modules by a link": entry("120000", ".gitmodules", file), "GITMOD~1": entry("120000", "GITMOD~1", file),
		"attributes": entry("100644", ".gitattributes", attributes),
	} {
		cases[name] = commit(object(plumbing.TreeObject, tree), ann, "\nx\n", from)
	}
	cases["in the middle"] = commit(whole, ann, "\nmended\n", cases["a path"])
	cases["in a merge"] = commit(whole, ann, "\nmerged\n", from, cases["in the middle"])
	cases["a merge"] = commit(whole, ann, "\nmerged\n", from, cases["usual"])
	said, _ := exec.Command("git", "-C", dir, "fsck", "--strict", "--no-dangling", "--no-reflogs").CombinedOutput()
	for name, tip := range testrun.Some(9, cases) {
		refuses := slices.ContainsFunc(reached(t, dir, from, tip), func(oid string) bool { return regexp.MustCompile("error in [a-z]+ " + oid + ": ").Match(said) })
		repo := open(t, ctx, dir)
		all := must[[]error](t)(repo.History().AllWellFormed(ctx, [][2]plumbing.OID{{from, from}, {from, tip}, {from, cases["a merge"]}}))
		for what, err := range map[string]error{
			"WellFormed": repo.History().WellFormed(ctx, from, tip), "WholeSince": repo.History().WholeSince(ctx, from, tip), "AllWellFormed": all[1],
		} {
			if malformed := errors.As(err, new(*MalformedError)); malformed != refuses || err != nil && !malformed && name != "a null id" {
				t.Errorf("%s, %s: %v, and git-fsck refuses it: %v", name, what, err, refuses)
			}
		}
	}
}

// reached lists the objects that tip has and from does not.
func reached(t *testing.T, dir string, from, tip plumbing.OID) []string {
	return strings.Fields(native(t, dir, "rev-list", "--objects", "--no-object-names", string(tip), "^"+string(from)))
}
