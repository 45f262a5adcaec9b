package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// attributesFile is the name of the files in which a project sets attributes (gitattributes).
const attributesFile = ".gitattributes"

// attributes returns the texts of the attribute files of ours that may matter for a merge of two
// commits, by path: those in directories that differ between them. It starts no child.
func (r *Repo) attributes(ctx context.Context, ours, theirs plumbing.OID) (map[string]string, error) {
	type pair struct {
		dir   string
		trees [2]string
	}
	texts := map[string]string{}
	for level := []pair{{"", [2]string{string(ours) + "^{tree}", string(theirs) + "^{tree}"}}}; len(level) > 0; {
		var names []string
		for _, p := range level {
			names = append(names, p.trees[:]...)
		}
		read, err := r.Objects(ctx, names)
		if err != nil {
			return nil, err
		}
		var next []pair
		for i, p := range level {
			entries, _ := plumbing.DecodeTree(read[2*i].Data) // git reports what it can't read
			others, _ := plumbing.DecodeTree(read[2*i+1].Data)
			for _, e := range entries {
				at := slices.IndexFunc(others, func(o plumbing.TreeEntry) bool { return o.Name == e.Name })
				other := ""
				if at >= 0 && others[at].Mode == filemode.Dir {
					other = string(others[at].OID)
				}
				switch below := path.Join(p.dir, e.Name); {
				case e.Name == attributesFile && (e.Mode == filemode.Regular || e.Mode == filemode.Executable):
					texts[below] = string(e.OID)
				case e.Mode == filemode.Dir && string(e.OID) != other && !isDotGit(e.Name):
					next = append(next, pair{below, [2]string{string(e.OID), other}})
				}
			}
		}
		level = next
	}
	for name, oid := range texts {
		o, err := r.Object(ctx, oid)
		if err != nil {
			return nil, err
		}
		texts[name] = string(o.Data)
	}
	return texts, nil
}

// isDotGit reports whether a malformed tree names a directory that is no place for files of ours.
func isDotGit(name string) bool {
	return strings.Contains(name, "/") || name == ".." || strings.EqualFold(name, ".git")
}

// attributeLine is a line of an attribute file: its pattern, and the attributes that it sets.
var attributeLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^([ \t]*(?:"(?:[^"\\\n]|\\.)*"|[^# \t\n]\S*))([^\n]*)$`)
})

// mergeAttribute is an attribute that names a driver, for merging or for converting files.
var mergeAttribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([ \t\r])(merge|filter)=(\S+)`) })

// driversIn lists the names of merge drivers in attribute files that are not git's own.
func driversIn(texts map[string]string) (names []string) {
	for _, text := range texts {
		for _, line := range attributeLine().FindAllStringSubmatch(text, -1) {
			for _, set := range mergeAttribute().FindAllStringSubmatch(line[2], -1) {
				if name := set[3]; set[2] == "merge" && !slices.Contains([]string{"text", "binary", "union"}, name) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// safe returns an attribute file in which drivers other than the given ones give a conflict, as
// files that are not merged do, and which has no filters.
func safe(text string, drivers []string) string {
	return attributeLine().ReplaceAllStringFunc(text, func(line string) string {
		part := attributeLine().FindStringSubmatch(line)
		return part[1] + mergeAttribute().ReplaceAllStringFunc(part[2], func(set string) string {
			is := mergeAttribute().FindStringSubmatch(set)
			switch {
			case is[2] == "filter":
				return is[1]
			case slices.Contains([]string{"text", "binary", "union"}, is[3]) || slices.Contains(drivers, is[3]):
				return set
			}
			return is[1] + "-merge"
		})
	})
}

// mergePlace is a git directory with the objects of this repository, whose working tree has the
// project's attribute files and nothing else. Of the settings, only those of the user and the
// system hold there: a merge must not depend on the clone in which it is computed, nor run a
// program that this repository's settings name, which agents can write.
type mergePlace struct {
	r       *Repo
	dir     string
	texts   map[string]string
	drivers []string // those in texts that the user's own settings define
}

// mergePlace makes such a git directory for a merge of two commits.
func (r *Repo) mergePlace(ctx context.Context, ours, theirs plumbing.OID) (*mergePlace, error) {
	texts, err := r.attributes(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	var drivers []string
	if drivers = driversIn(texts); len(drivers) > 0 {
		drivers = slices.DeleteFunc(drivers, func(name string) bool { return !r.definesDriver(ctx, name, true) })
	}
	for _, temp := range []string{"", r.common} { // there may be no room for temporary files
		var dir string
		if dir, err = os.MkdirTemp(temp, "liza-merge-"); err != nil {
			continue
		}
		a := &mergePlace{r: r, dir: dir, texts: texts, drivers: drivers}
		if err = a.make(); err == nil {
			return a, nil
		}
		a.remove()
	}
	return nil, disk.NewStorageError(r.common, err)
}

func (a *mergePlace) make() error {
	const settings = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	files := map[string]string{"HEAD": "ref: " + plumbing.BoardRef + "\n", "config": settings, plumbing.RefsPrefix + "none": "", "objects/none": "", "tree/none": ""}
	for name, text := range a.texts {
		files["tree/"+name] = safe(text, a.drivers)
	}
	for name, text := range files {
		file := filepath.Join(a.dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil && filepath.Base(file) != "none" {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *mergePlace) remove() { _ = os.RemoveAll(a.dir) }

// command prepares a child that sees nothing but the objects of the repository and the attributes.
func (a *mergePlace) command(op string, args ...string) command {
	tree := filepath.Join(a.dir, "tree")
	set := []string{"-c", "core.attributesFile=" + os.DevNull, "-c", "merge.default=text", "-c", "merge.renames=true", "-c", "merge.directoryRenames=conflict", "-c", "merge.renameLimit=7000",
		"-c", "merge.renormalize=false", "-c", "core.autocrlf=false"}
	if info, err := os.Stat(a.r.objectDir()); err == nil && info.Mode()&0o020 != 0 {
		set = append(set, "-c", "core.sharedRepository=group")
	}
	c := command{Op: op, Dir: tree, Args: slices.Concat(noMonitor, noHooks, set, []string{"--git-dir=" + a.dir, "--work-tree=" + tree}, args), Repair: a.r.command(op).Repair}
	c = c.With("GIT_ATTR_NOSYSTEM=1", "GIT_OBJECT_DIRECTORY="+a.r.objectDir(), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotedDir(filepath.Join(a.r.common, "objects")))
	if shallow := filepath.Join(a.r.common, "shallow"); !a.r.environ.Quarantined() && a.r.Shallow() {
		c = c.With("GIT_SHALLOW_FILE=" + shallow)
	}
	return c
}

// endings is an attribute by which git converts line endings.
var endings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t\r](text|eol|crlf)\b`) })

// normalizes reports whether the attributes normalize line endings, and git may do that in a merge. It
// reads the root directory's from the commits then, with their filters and drivers.
func (a *mergePlace) normalizes(ctx context.Context, theirs plumbing.OID) bool {
	o, err := a.r.Object(ctx, string(theirs)+":"+attributesFile)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false
	}
	texts := append(slices.Collect(maps.Values(a.texts)), string(o.Data))
	return slices.ContainsFunc(texts, endings().MatchString) && safe(a.texts[attributesFile], nil) == a.texts[attributesFile] && safe(string(o.Data), nil) == string(o.Data)
}

// definesDriver reports whether git's settings define a merge driver; own leaves this repository's
// out.
func (r *Repo) definesDriver(ctx context.Context, name string, own bool) bool {
	key := "merge." + name + ".driver"
	c := r.command("config", "config", "--get", key)
	if own {
		c = command{Op: "config", Args: []string{"--git-dir=" + os.DevNull, "config", "--get", key}}
	}
	return c.Run(ctx) == nil
}

// Driver is the merge driver of a file that is not git's own (gitattributes, merge).
type Driver struct {
	Name  string
	Yours bool // the user's own settings define it, so it was run
	Here  bool // this repository's settings define it, which agents can write; it was not run
}

// Drivers returns the drivers of files in a merge of two commits, by path.
func (r *Repo) Drivers(ctx context.Context, ours, theirs plumbing.OID, paths []string) (map[string]Driver, error) {
	of := map[string]Driver{}
	a, err := r.mergePlace(ctx, ours, theirs)
	if err != nil {
		return nil, err
	}
	defer a.remove()
	if len(driversIn(a.texts)) == 0 {
		return of, nil
	}
	for name, text := range a.texts {
		if err := os.WriteFile(filepath.Join(a.dir, "tree", filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return nil, disk.NewStorageError(a.dir, err)
		}
	}
	out, err := a.command("check-attr", "check-attr", "--stdin", "-z", "merge").Feed([]byte(strings.Join(paths, "\x00") + "\x00")).Output(ctx)
	if err != nil {
		return nil, err
	}
	for field := range slices.Chunk(child.Fields(out), 3) { // path, attribute, value
		if len(field) == 3 && slices.Contains(driversIn(a.texts), field[2]) {
			of[field[0]] = Driver{Name: field[2], Yours: slices.Contains(a.drivers, field[2]), Here: r.definesDriver(ctx, field[2], false)}
		}
	}
	return of, nil
}
