package git

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// identities is one `git var -l` that runs while a repository is opened. It serves Author and
// Identity once each, because their dates are those of the moment of asking.
type identities struct {
	done chan struct{}
	mu   sync.Mutex
	said map[string]plumbing.Signature // identities not yet taken, by variable
	all  map[string][]string           // the values of each setting; nil if git failed
}

func askIdentities(ctx context.Context, dir string) *identities {
	p := &identities{done: make(chan struct{})}
	ask := command{Op: "var", Env: gitenv.Of(ctx).Where(), Args: []string{"-C", dir, "var", "-l"}}
	go func() {
		defer close(p.done)
		if out, err := ask.Output(ctx); err == nil {
			p.all = parseSettings(out)
			p.said = parseIdentities(p.all, gitenv.Of(ctx).Lookup)
		}
	}()
	return p
}

// take returns git's answer for a variable, once.
func (p *identities) take(variable string) (plumbing.Signature, bool) {
	if p == nil {
		return plumbing.Signature{}, false
	}
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.said[variable]
	delete(p.said, variable)
	return s, ok
}

// settings returns all settings, once: a later caller wants the values at that time. It returns nil
// if git failed.
func (p *identities) settings() map[string][]string {
	if p == nil {
		return nil
	}
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all
	p.all = nil
	return all
}

// parseSettings parses the output of `git var -l`: settings and then variables, one per line.
// Further lines of a multi-line value are lost.
func parseSettings(out []byte) map[string][]string {
	all := map[string][]string{}
	for line := range bytes.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		all[key] = append(all[key], value)
	}
	return all
}

// parseIdentities reads author and committer from the output of `git var -l`. Unlike `git var
// NAME`, that command invents what is not configured, so names and addresses count only if the
// settings or the environment hold them literally.
func parseIdentities(lines map[string][]string, env func(string) (string, bool)) map[string]plumbing.Signature {
	said := map[string]plumbing.Signature{}
	for _, role := range []string{"author", "committer"} {
		upper := "GIT_" + strings.ToUpper(role)
		configured := func(value, field string) bool {
			if given, is := env(upper + "_" + strings.ToUpper(field)); is {
				return value == given && value != ""
			}
			return value != "" && (slices.Contains(lines[role+"."+field], value) || slices.Contains(lines["user."+field], value))
		}
		all := lines[upper+"_IDENT"]
		if len(all) == 0 {
			continue
		}
		s := plumbing.ParseSignature([]byte(all[len(all)-1]))
		if configured(s.Name, "name") && configured(s.Email, "email") {
			said[upper+"_IDENT"] = s
		}
	}
	return said
}
