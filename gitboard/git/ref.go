package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Ref returns the current value of the ref with that full name, not peeled, or ZeroOID if it does
// not exist. Refs may point to objects of any type. It returns a BrokenRefError if the ref has a
// value that leads to no object.
func (r *Repo) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	if err := plumbing.CheckRefName(name); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err // even for an object at hand
	}
	if oid := r.refAtHand(name); oid != "" {
		return oid, nil
	}
	objects, err := r.Objects(ctx, []string{name})
	if err != nil {
		return "", err
	}
	oid := objects[0].OID
	if oid == "" {
		return r.absentRef(ctx, name)
	}
	// Asked for "refs/heads/x", git also considers "refs/tags/refs/heads/x". The file of a loose
	// ref confirms that it is the right one.
	if loose, err := os.ReadFile(filepath.Join(r.common, filepath.FromSlash(name))); err == nil && string(loose) == string(oid)+"\n" {
		return oid, nil
	}
	return r.exactRef(ctx, name)
}

// absentRef distinguishes a ref that does not exist from one that a crash has emptied or whose
// object is gone. The ref may also have been created just now.
func (r *Repo) absentRef(ctx context.Context, name string) (plumbing.OID, error) {
	for range attempts {
		text, err := r.refText(name)
		if err != nil || text == nil {
			return plumbing.ZeroOID, err
		}
		objects, err := r.Objects(ctx, []string{name})
		if err != nil {
			return "", err
		}
		if objects[0].OID != "" {
			return objects[0].OID, nil
		}
		if strings.HasPrefix(*text, "ref:") {
			continue
		}
		// A ref that was deleted and created again meanwhile is valid, and so is one whose object
		// was brought back.
		objects, err = r.Objects(ctx, []string{*text})
		if err != nil {
			return "", err
		}
		if objects[0].OID == "" || objects[0].OID != plumbing.OID(*text) {
			return "", &BrokenRefError{Ref: name, Text: *text}
		}
		return objects[0].OID, nil
	}
	return plumbing.ZeroOID, nil
}

// refText returns the content of a ref's file, or else its value in packed-refs; nil if it has
// neither.
func (r *Repo) refText(name string) (*string, error) {
	file := filepath.Join(r.common, filepath.FromSlash(name))
	for {
		data, err := os.ReadFile(file)
		if err == nil {
			text := strings.TrimSpace(string(data))
			return &text, nil
		}
		found, missing := os.Lstat(file)
		if missing != nil || found.IsDir() {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || !found.Mode().IsRegular() {
			return nil, err
		}
		// It was created between the two looks.
	}
	packed, err := r.PackedRefs(name)
	if oid, is := packed[name]; is {
		text := string(oid)
		return &text, err
	}
	return nil, err
}

// exactRef looks up exactly that name, at the price of a child.
func (r *Repo) exactRef(ctx context.Context, name string) (plumbing.OID, error) {
	refs, err := r.Refs(ctx, name)
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		if ref.Name == name {
			return ref.OID, nil
		}
	}
	return plumbing.ZeroOID, nil
}

// Refs returns the refs below the given prefixes, sorted by name, or all refs if there are none. A
// prefix matches whole path components: "refs/liza" and "refs/liza/" mean the same, and a full name
// means that ref.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) ([]plumbing.Ref, error) {
	for _, prefix := range prefixes {
		if err := plumbing.CheckRefName(prefix); err != nil {
			return nil, err
		}
	}
	out, err := r.forEachRef(ctx, "%(objectname) %(objecttype) %(refname)", prefixes)
	if child.ExitCode(err) > 0 {
		// A ref to a missing object also stops git from listing the others, unless the object's
		// type is not asked for.
		out, err = r.forEachRef(ctx, "%(objectname)  %(refname)", prefixes)
	}
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var refs []plumbing.Ref
	for _, line := range child.Lines(out) {
		oid, rest, _ := strings.Cut(line, " ")
		kind, name, _ := strings.Cut(rest, " ")
		refs = append(refs, plumbing.Ref{Name: name, OID: plumbing.OID(oid), Type: plumbing.ObjectType(kind)})
	}
	return refs, nil
}

// IsAlias reports whether a ref is a symbolic ref, by its file; with reftables it is false.
func (r *Repo) IsAlias(name string) bool {
	text, _ := disk.Line(filepath.Join(r.common, filepath.FromSlash(name))) // what can't be read is none
	return strings.HasPrefix(text, plumbing.SymbolicMark)
}

// SymbolicRefs returns the symbolic refs among names, each with its target. A dangling one is left
// out.
func (r *Repo) SymbolicRefs(ctx context.Context, names ...string) (map[string]string, error) {
	for _, name := range names {
		if err := plumbing.CheckRefName(name); err != nil {
			return nil, err
		}
	}
	out, err := r.forEachRef(ctx, "%(refname) %(symref)", names)
	if err != nil {
		return nil, fmt.Errorf("list symbolic refs: %w", err)
	}
	symbolic := map[string]string{}
	for _, line := range child.Lines(out) {
		if name, to, _ := strings.Cut(line, " "); to != "" {
			symbolic[name] = to
		}
	}
	return symbolic, nil
}

// Where returns the values of refs by full name; those that do not exist are left out. It starts no
// child for a few.
func (r *Repo) Where(ctx context.Context, names []string) (map[string]plumbing.OID, error) {
	const fewRefs, many = 8, 200 // above many arguments, all refs are listed
	values := make(map[string]plumbing.OID, len(names))
	if len(names) <= fewRefs {
		for _, name := range names {
			oid, err := r.Ref(ctx, name)
			if broken := (*BrokenRefError)(nil); err != nil && !errors.As(err, &broken) {
				return nil, err
			} else if broken != nil {
				oid = plumbing.OID(broken.Text)
			}
			if !oid.IsZero() {
				values[name] = oid
			}
		}
		return values, nil
	}
	asked := names
	if len(names) > many {
		asked = nil
	}
	refs, err := r.Refs(ctx, asked...)
	for _, ref := range refs {
		values[ref.Name] = ref.OID
	}
	return values, err
}

func (r *Repo) forEachRef(ctx context.Context, format string, prefixes []string) ([]byte, error) {
	return r.command("for-each-ref", append([]string{"for-each-ref", "--format=" + format}, prefixes...)...).Output(ctx)
}
