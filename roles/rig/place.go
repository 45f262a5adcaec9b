//go:build unix

package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// nobody is the unprivileged user as which root runs the CLIs.
const nobody = 65534

// Place is a scratch directory in which a team of one CLI runs: a home directory, a project,
// git-liza.
type Place struct {
	Dir     string
	Home    string
	Project string
	Liza    string // the program
	Environ []string
	user    *syscall.Credential // nil for this process's user
}

// NewPlace creates a place. bin is the directory of the CLI's program, liza the git-liza to copy
// into the place. With root the CLIs run as root if this process does.
func NewPlace(dir, bin, liza string, model *Model, root bool) (*Place, error) {
	p := &Place{Dir: dir, Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), Liza: filepath.Join(dir, "tools", "git-liza")}
	if os.Getuid() == 0 && !root {
		p.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	tmp := filepath.Join(dir, "tmp")
	for _, d := range []string{p.Home, p.Project, tmp, filepath.Dir(p.Liza)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	if err := copyFile(liza, p.Liza); err != nil {
		return nil, err
	}
	path := []string{bin}
	for _, program := range []string{"node", "git", "sh"} { // and their directories' other programs
		if found, err := exec.LookPath(program); err == nil && !slices.Contains(path, filepath.Dir(found)) {
			path = append(path, filepath.Dir(found))
		}
	}
	p.Environ = []string{
		"PATH=" + strings.Join(path, ":"), "HOME=" + p.Home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "SHELL=/bin/bash",
		"HTTP_PROXY=" + model.URL, "HTTPS_PROXY=" + model.URL, "NO_PROXY=127.0.0.1,localhost",
		// Claude Code: https://code.claude.com/docs/en/settings (environment variables)
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=sk-fake", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		// Gemini CLI: docs/cli/configuration.md
		"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=fake",
		"RIG_KEY=fake", // Codex, by its model_provider
		"OPENCODE_DISABLE_MODELS_FETCH=1",
		// GitHub Copilot CLI: copilot help providers
		"COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + model.URL, "COPILOT_PROVIDER_API_KEY=fake", "COPILOT_MODEL=fake-model",
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
	}
	if err := p.settings(model); err != nil {
		return nil, err
	}
	return p, p.project()
}

// settings writes the configuration files that keep the CLIs from contacting other hosts.
func (p *Place) settings(model *Model) error {
	return errors.Join(
		p.Write("home/.codex/config.toml", fmt.Sprintf(`model = "gpt-5"
model_provider = "rig"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.rig]
name = "rig"
base_url = "%s/v1"
env_key = "RIG_KEY"
wire_api = "responses"
`, model.URL)),
		p.Write("home/.qwen/settings.json", fmt.Sprintf(`{"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},
"modelProviders":{"anthropic":[{"id":"fake-model","envKey":"ANTHROPIC_API_KEY","baseUrl":"%s"}]},"model":{"name":"fake-model"},"security":{"auth":{"selectedType":"anthropic"}}}`, model.URL)),
		p.Write("home/.config/opencode/opencode.json", fmt.Sprintf(`{"autoupdate":false,"share":"disabled","model":"rig/fake-model","small_model":"rig/fake-model",
"provider":{"rig":{"npm":"@ai-sdk/anthropic","options":{"baseURL":"%s/v1","apiKey":"fake"},"models":{"fake-model":{"name":"fake","limit":{"context":200000,"output":32000}}}}}}`, model.URL)),
		p.Write("home/.kimi-code/config.toml", fmt.Sprintf(`default_model = "fake"
telemetry = false
[providers.rig]
type = "anthropic"
base_url = "%s"
api_key = "fake"
[models.fake]
provider = "rig"
model = "fake-model"
max_context_size = 200000
capabilities = ["tool_use"]
`, model.URL)),
		p.Write("home/.gemini/settings.json", `{"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false},
"telemetry":{"enabled":false},"security":{"auth":{"selectedType":"gemini-api-key"}}}`),
	)
}

// project creates a repository with a vision and a board. The human's identity is in the home
// directory's configuration, which gemini's shell does not read.
func (p *Place) project() error {
	err := errors.Join(
		p.Write("home/.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"),
		p.Write("project/specs/vision.md", "# Vision\n\nPrograms that print their own names.\n"),
		p.Own(),
	)
	for _, args := range [][]string{
		{"git", "init", "-q"}, {"git", "add", "."}, {"git", "commit", "-q", "-m", "Begin"},
		{p.Liza, "init", "--unattended", "Print names", "--spec", "specs/vision.md"},
	} {
		if err != nil {
			return err
		}
		_, err = p.Run(args...)
	}
	return err
}

// Write writes a file of the place; name is relative to it.
func (p *Place) Write(name, text string) error {
	file := filepath.Join(p.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// Own makes the place's user own everything in it.
func (p *Place) Own() error {
	if p.user == nil {
		return nil
	}
	return filepath.WalkDir(p.Dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
}

// Command is a command in the project, with the place's user and environment.
func (p *Place) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if !filepath.IsAbs(args[0]) {
		cmd.Path, cmd.Err = p.look(args[0])
	}
	cmd.Dir, cmd.Env = p.Project, p.Environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.user, Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// look finds a program in the place's PATH.
func (p *Place) look(program string) (string, error) {
	path := strings.TrimPrefix(p.Environ[0], "PATH=")
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s is not in %s", program, path)
}

// Run runs a command in the project and returns what it printed.
func (p *Place) Run(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := p.Command(context.Background(), args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String(), nil
}

// Marked returns the processes that have this place's home in their environment, that is, what a
// team has left running. It needs /proc.
func (p *Place) Marked() []string {
	var left []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, data...), []byte("\x00HOME="+p.Home+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		left = append(left, filepath.Base(filepath.Dir(file))+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
	}
	return left
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
