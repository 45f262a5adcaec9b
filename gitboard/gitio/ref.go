package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Ref is a ref and the object it points to, not peeled.
type Ref struct {
	Name string // in full: "refs/heads/main"
	OID  OID
	Type ObjectType // of that object; "" where one that was asked for leads to a missing object
}

// Ref returns the present value of the ref with that full name, not peeled,
// and ZeroOID when there is none. Refs may point to objects of any type. A
// BrokenRefError when there is a file for it that leads to no object.
func (r *Repo) Ref(ctx context.Context, name string) (OID, error) {
	if err := checkRefName(name); err != nil {
		return "", err
	}
	objects, err := r.Objects(ctx, []string{name})
	if err != nil {
		return "", err
	}
	oid := objects[0].OID
	if oid == "" {
		return r.absentRef(ctx, name)
	}
	// Asked for "refs/heads/x", git also thinks of "refs/tags/refs/heads/x".
	// The file of a loose ref tells that it is the right one.
	if loose, err := os.ReadFile(filepath.Join(r.common, filepath.FromSlash(name))); err == nil && string(loose) == string(oid)+"\n" {
		return oid, nil
	}
	return r.exactRef(ctx, name)
}

// absentRef tells a ref that does not exist from one that a crash has emptied,
// or whose object has gone. It may also have come just now.
func (r *Repo) absentRef(ctx context.Context, name string) (OID, error) {
	file := filepath.Join(r.common, filepath.FromSlash(name))
	for range attempts {
		found, err := os.Lstat(file)
		if err != nil || found.IsDir() {
			return ZeroOID, nil
		}
		objects, err := r.Objects(ctx, []string{name})
		if err != nil || objects[0].OID != "" {
			return objects[0].OID, err
		}
		data, err := os.ReadFile(file)
		text := strings.TrimSpace(string(data))
		if err != nil || strings.HasPrefix(text, "ref:") {
			continue
		}
		// Deleted and made again meanwhile, it leads somewhere.
		objects, err = r.Objects(ctx, []string{text})
		if err != nil {
			return "", err
		}
		if objects[0].OID == "" {
			return "", &BrokenRefError{Ref: name, Text: text}
		}
	}
	return ZeroOID, nil
}

// exactRef asks for that very name, at the price of a child.
func (r *Repo) exactRef(ctx context.Context, name string) (OID, error) {
	refs, err := r.Refs(ctx, name)
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		if ref.Name == name {
			return ref.OID, nil
		}
	}
	return ZeroOID, nil
}

// Refs returns the refs below the given prefixes, sorted by name; all refs
// without any. A prefix ends where a path component does: "refs/liza" and
// "refs/liza/" mean the same, and a full name means that ref.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) ([]Ref, error) {
	for _, prefix := range prefixes {
		if err := checkRefName(prefix); err != nil {
			return nil, err
		}
	}
	out, err := r.forEachRef(ctx, "%(objectname) %(objecttype) %(refname)", prefixes)
	if failed := (*CommandError)(nil); errors.As(err, &failed) && failed.Exit > 0 {
		// A ref to an object that is missing stops git from telling of the others, too, unless it needn't look.
		out, err = r.forEachRef(ctx, "%(objectname)  %(refname)", prefixes)
	}
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var refs []Ref
	for _, line := range splitLines(out) {
		oid, rest, _ := strings.Cut(line, " ")
		kind, name, _ := strings.Cut(rest, " ")
		refs = append(refs, Ref{Name: name, OID: OID(oid), Type: ObjectType(kind)})
	}
	return refs, nil
}

// SymbolicRefs returns of these refs the symbolic ones, and where each leads.
// One that leads nowhere is none.
func (r *Repo) SymbolicRefs(ctx context.Context, names ...string) (map[string]string, error) {
	for _, name := range names {
		if err := checkRefName(name); err != nil {
			return nil, err
		}
	}
	out, err := r.forEachRef(ctx, "%(refname) %(symref)", names)
	if err != nil {
		return nil, fmt.Errorf("list symbolic refs: %w", err)
	}
	symbolic := map[string]string{}
	for _, line := range splitLines(out) {
		if name, to, _ := strings.Cut(line, " "); to != "" {
			symbolic[name] = to
		}
	}
	return symbolic, nil
}

// Where returns the values of refs by full name; those that do not exist are
// left out. It starts no child for a few.
func (r *Repo) Where(ctx context.Context, names []string) (map[string]OID, error) {
	const fewRefs, many = 8, 200 // many arguments: all refs are listed then
	values := make(map[string]OID, len(names))
	if len(names) <= fewRefs {
		for _, name := range names {
			oid, err := r.Ref(ctx, name)
			if broken := (*BrokenRefError)(nil); err != nil && !errors.As(err, &broken) {
				return nil, err
			} else if broken != nil {
				oid = OID(broken.Text)
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
	return r.command("for-each-ref", append([]string{"for-each-ref", "--format=" + format}, prefixes...)...).output(ctx)
}

// checkRefName refuses what is no full ref name, before git reads an option,
// a revision or a pattern into it. What git-check-ref-format adds to these
// rules is left to git.
func checkRefName(name string) error {
	if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") || strings.ContainsAny(name, " ~^:?*[\\\n\x00") {
		return fmt.Errorf("%q is not the full name of a ref", name)
	}
	return nil
}

// branchRef returns the full name of a branch, which may be given either way.
func branchRef(branch string) string {
	return headsPrefix + strings.TrimPrefix(branch, headsPrefix)
}

const headsPrefix = "refs/heads/"

// splitLines splits output that ends each line with a line feed.
func splitLines(out []byte) []string { return splitBy(out, "\n") }

// splitNUL splits output of children that were told -z.
func splitNUL(out []byte) []string { return splitBy(out, "\x00") }

func splitBy(out []byte, end string) []string {
	text := strings.TrimSuffix(string(out), end)
	if text == "" {
		return nil
	}
	return strings.Split(text, end)
}
