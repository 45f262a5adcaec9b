package demo

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestEnvironment(t *testing.T) {
	env := environment([]string{"GIT_DIR=/x", "LIZA_AGENT_ID=coder-9", "GOFLAGS=-mod=vendor", "PATH=/bin", "HOME=/h"}, "/demo")
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); name == "GIT_DIR" || name == "LIZA_AGENT_ID" || v == "GOFLAGS=-mod=vendor" {
			t.Errorf("%s is left", v)
		}
	}
	if !slices.Contains(env, "PATH=/demo:/bin") || !slices.Contains(env, "HOME=/h") {
		t.Errorf("PATH or HOME differs: %q", env)
	}
	for have, want := range map[string]string{"HOME=/h": "", "HOME=": "GOPATH=/demo/go GOCACHE=/demo/go-cache", "GOPATH=/g": "GOCACHE=/demo/go-cache", "XDG_CACHE_HOME=/c": "GOPATH=/demo/go"} {
		var got []string
		for _, v := range environment([]string{have}, "/demo") {
			if v != have && (strings.HasPrefix(v, "GOPATH=") || strings.HasPrefix(v, "GOCACHE=")) {
				got = append(got, v)
			}
		}
		testrun.Equal(t, strings.Join(got, " "), want, "with %s: %q", have, got)
	}
}
