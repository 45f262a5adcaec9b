package supervisor

import (
	"slices"
	"testing"

	"github.com/git-liza/git-liza/forge"
)

// TestInherit checks that an agent gets no token of a host, by which it would act as the human there.
func TestInherit(t *testing.T) {
	environ := []string{"HOME=/home/ann", "LIZA_AGENT_ID=coder-9"}
	for _, name := range forge.Tokens() {
		environ = append(environ, name+"=s3cr3t")
	}
	got := inherit(environ, map[string]string{"LIZA_AGENT_ID": "coder-1"})
	if !slices.Equal(got, []string{"HOME=/home/ann", "LIZA_AGENT_ID=coder-1"}) {
		t.Errorf("%q", got)
	}
	if got := inherit(environ, nil, "GH_TOKEN"); !slices.Contains(got, "GH_TOKEN=s3cr3t") || len(got) != 3 {
		t.Errorf("with the token that its CLI logs in by: %q", got)
	}
	for _, kind := range []string{forge.GitHub, forge.GitLab, forge.Gitea} {
		for _, name := range append(forge.Variables(kind, "github.com"), forge.Variables(kind, "host.example")...) {
			if !slices.Contains(forge.Tokens(), name) {
				t.Errorf("%s is not among the tokens", name)
			}
		}
	}
}
