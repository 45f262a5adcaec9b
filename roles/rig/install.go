//go:build unix

package rig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// packages maps the CLIs' programs to their packages in npm's registry.
var packages = map[string]string{
	"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli",
	"claude-acp": "@agentclientprotocol/claude-agent-acp",
}

// programs are the programs of CLIs whose names differ.
var programs = map[string]string{"claude-acp": "claude-agent-acp"}

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

// Install returns the directory of a CLI's program, after installing it by npm if the cache lacks
// it. Its error explains in one line why it could not.
func Install(name string) (dir string, err error) {
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
	if _, err := os.Stat(filepath.Join(dir, cmp.Or(programs[name], name))); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed")
	}
	cmd := exec.Command(npm, "install", "--prefix", cache, "--no-fund", "--no-audit", packages[name])
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm can't install %s: %v: %s", packages[name], err, lastLine(string(out)))
	}
	return dir, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
