//go:build unix

package rig

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// packages maps the CLIs' programs to their packages in npm's registry.
var packages = map[string]string{
	"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli",
	"qwen": "@qwen-code/qwen-code", "opencode": "opencode-ai", "copilot": "@github/copilot", "kimi": "@moonshot-ai/kimi-code",
	"claude-agent-acp": "@agentclientprotocol/claude-agent-acp", "codex-acp": "@agentclientprotocol/codex-acp",
}

// programOf is the program of an agent by its name in roles/clis.
func programOf(agent string) string {
	switch agent {
	case "claude-acp":
		return "claude-agent-acp"
	case "codex-acp":
		return agent
	}
	return strings.TrimSuffix(agent, "-acp")
}

// leastNode is the oldest node that runs all CLIs. Where the installed one is older, the cache gets its own.
const leastNode = 22

// Cache is the directory in which the CLIs are installed: $LIZA_RIG_CACHE, or a subdirectory of the
// user's cache. For root it is below /var/cache, because the unprivileged user that runs the CLIs
// can't reach root's own cache.
func Cache() (string, error) {
	if dir := os.Getenv("LIZA_RIG_CACHE"); dir != "" {
		return dir, nil
	}
	if os.Getuid() == 0 {
		return "/var/cache/git-liza/clis", nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "git-liza", "clis"), err
}

// Version is the version of an installed agent's package.
func Version(agent string) string {
	cache, err := Cache()
	if err != nil {
		return ""
	}
	var p struct{ Version string }
	data, _ := os.ReadFile(filepath.Join(cache, "node_modules", packages[programOf(agent)], "package.json"))
	_ = json.Unmarshal(data, &p) // then it is unknown
	return p.Version
}

// Install returns the directory of an agent's program, after installing it by npm if the cache lacks
// it. Its error explains in one line why it could not.
func Install(agent string) (dir string, err error) {
	if out, err := exec.Command("node", "--version").Output(); err == nil {
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		if n, err := strconv.Atoi(major); err == nil && n < leastNode {
			if _, err := install("node", fmt.Sprintf("node-%s-%s@%d", runtime.GOOS, strings.Replace(runtime.GOARCH, "amd64", "x64", 1), leastNode)); err != nil {
				return "", err
			}
		}
	}
	return install(programOf(agent), packages[programOf(agent)]+"@latest")
}

// install installs a package for its program.
func install(program, spec string) (dir string, err error) {
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed")
	}
	cmd := exec.Command(npm, "install", "--prefix", cache, "--no-fund", "--no-audit", spec)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm can't install %s: %v: %s", spec, err, lastLine(string(out)))
	}
	return dir, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
