package clis

// claudeHooks are settings by which Claude Code asks git liza after each tool call and at the end of
// a turn, in addition to the user's own settings.
const claudeHooks = `{"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"git liza hook claude-code"}]}],` +
	`"Stop":[{"hooks":[{"type":"command","command":"git liza hook claude-code"}]}]}}`

// Known are the CLIs that need no configuration. Their quota messages are recorded with sources
// under testdata.
var Known = []CLI{
	{
		Name: "claude", Program: "claude",
		Args:   []string{"-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"},
		Prompt: Stdin, Interrupt: true,
		// As root it refuses to skip permissions. This form denies all other tools without asking.
		Root:        []string{"-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk", "--allowedTools", "Bash,Edit,Write"},
		Resume:      []string{"--resume", "SESSION"},
		Model:       []string{"--model", "MODEL"},
		Hooks:       []string{"--settings", claudeHooks},
		Interactive: []string{"--allowedTools", "Bash(git liza:*)", "Read(/PROMPTS/**)", "--"},
		Quota: []string{
			start + `(?:Claude (?:AI )?)?usage limit reached(?:\|(?P<epoch>\d{9,11})|[^\n]*?\breset at ` + at + `)?`,
			start + `You(?:['’]ve hit your (?:[\w'’-]+ ){0,4}limit|['’]re out of extra usage)\b` + resets,
			start + `(?:[\w-]+ ){1,3}limit reached [·∙•]` + resets,
			start + `Credit balance (?:is )?too low\b`,
			start + `API Error:? \(?429\b`,
			start + `API Error:? (?:Repeated )?\(?529\b`,
			start + `API Error: Rate limit reached`,
		},
		Places:   []string{".claude/local/claude", ".local/bin/claude"},
		LoggedIn: []string{"auth", "status"},
		Install:  "npm install -g @anthropic-ai/claude-code",
	},
	{
		// A login shell would reset PATH. The sandbox keeps git's directories read-only unless they
		// are named.
		Name: "codex", Program: "codex",
		Args: []string{"exec", "--json", "--color", "never", "-c", "allow_login_shell=false"},
		Sandbox: &Sandbox{
			On: []string{
				"--sandbox", "workspace-write", "-c", "sandbox_workspace_write.network_access=true",
				"-c", "sandbox_workspace_write.writable_roots=FOLDERS",
			},
			Off:   []string{"--dangerously-bypass-approvals-and-sandbox"},
			Probe: []string{"sandbox", "-c", `sandbox_mode="workspace-write"`, "--", "true"},
		},
		Prompt: Stdin, Interrupt: true,
		Resume: []string{"resume", "SESSION"}, Last: []string{"-"},
		Model:       []string{"-m", "MODEL"},
		Interactive: []string{"-c", "allow_login_shell=false"},
		Quota: []string{
			start + codexError + `You['’]ve hit your usage limit\b(?:[^\n]*?\btry again (?:at ` + at + `|in ` + in + `))?`,
			start + codexError + `(?:Your workspace is out of credits|You hit your spend cap)\b`,
			start + codexError + `Quota exceeded\. Check your plan`,
			start + codexError + `exceeded retry limit, last status: 429\b`,
			start + codexError + `Selected model is at capacity\b`,
			start + codexError + `(?:stream disconnected before completion: )?Rate limit (?:reached for \S+|is exceeded)\b(?:[^\n]*\n?[^\n]*?\btry again in ` + in + `)?`,
		},
		Traces:   []string{"~/.codex/auth.json", "~/.codex/config.toml", "$CODEX_API_KEY", "$OPENAI_API_KEY"},
		Overhead: 38_000,
		Install:  "npm install -g @openai/codex",
	},
	{
		// In an untrusted directory gemini treats every approval mode as the default.
		Name: "gemini", Program: "gemini",
		Args:   []string{"--approval-mode=yolo", "--skip-trust", "--output-format", "stream-json"},
		Prompt: Stdin, Interrupt: true,
		Resume:      []string{"--resume", "SESSION"},
		Model:       []string{"--model", "MODEL"},
		Interactive: []string{"--include-directories", "PROMPTS", "-i"},
		Quota: []string{
			start + `(?:[^\n]*(?:\[API Error: |QuotaError: ))?You (?:have exhausted your (?:capacity|daily quota) on this model|have reached your daily \S+ quota limit)\b(?:[^\n]*?\breset after ` + in + `)?`,
			start + `\[API Error: (?:Resource (?:has been )?exhausted|You exceeded your current quota)\b(?:(?:[^\n]*\n){0,12}?[^\n]*?(?:\bretry in|\bretry after) ` + in + `)?`,
			start + `\[API Error: [\[{](?:[^\n]*\n){0,12}?[^\n]*?\bcode\\*": ?429\b(?:(?:[^\n]*\n){0,24}?[^\n]*?(?:\breset after|\bretry in|"retryDelay\\*": \\*") ?` + in + `)?`,
		},
		Traces:   []string{"~/.gemini/oauth_creds.json", "~/.gemini/settings.json", "~/.gemini/.env", "$GEMINI_API_KEY", "$GOOGLE_API_KEY", "$GOOGLE_CLOUD_PROJECT"},
		Overhead: 60_000,
		Install:  "npm install -g @google/gemini-cli",
	},
	{
		// Vibe loses a prompt on standard input if there is no terminal (mistralai/mistral-vibe
		// issue 573).
		Name: "vibe", Program: "vibe",
		Args:   []string{"--auto-approve", "--trust", "-p"},
		Prompt: Argument,
		Quota: []string{
			start + `(?:[\w.]*RateLimitError: |Error: )?(?:API error from [^\n]*?: )?Rate ?limits? exceeded(?:\.| for \S+ \(model: [^)\n]*\))`,
		},
		NoUsage: true,
		Install: "uv tool install mistral-vibe",
	},
	{
		Name: "qwen", Program: "qwen",
		Args:   []string{"--yolo", "-o", "stream-json"},
		Prompt: Stdin, Interrupt: true,
		Resume:      []string{"--resume", "SESSION"},
		Model:       []string{"--model", "MODEL"},
		Interactive: []string{"-i"},
		Traces:      []string{"~/.qwen/settings.json", "~/.qwen/oauth_creds.json", "~/.qwen/.env", "$OPENAI_API_KEY", "$ANTHROPIC_API_KEY", "$GEMINI_API_KEY", "$DASHSCOPE_API_KEY"},
		Install:     "npm install -g @qwen-code/qwen-code",
	},
	{
		Name: "opencode", Program: "opencode",
		Args:   []string{"run", "--format", "json", "--auto"},
		Prompt: Stdin, Interrupt: true,
		Resume:      []string{"--session", "SESSION"},
		Model:       []string{"--model", "MODEL"},
		Interactive: []string{"--prompt"},
		Install:     "npm install -g opencode-ai",
	},
	{
		Name: "copilot", Program: "copilot",
		Args:   []string{"--allow-all-tools", "--allow-all-paths", "--no-ask-user", "--output-format", "json"},
		Prompt: Argument, Interrupt: true,
		Resume: []string{"--resume=SESSION"}, Last: []string{"-p"},
		Model:       []string{"--model", "MODEL"},
		Interactive: []string{"-i"},
		Keeps:       copilotTokens,
		NoUsage:     true,
		Traces:      []string{"~/.copilot/config.json", "~/.config/gh/hosts.yml", "$COPILOT_GITHUB_TOKEN", "$GH_TOKEN", "$GITHUB_TOKEN", "$COPILOT_PROVIDER_BASE_URL"},
		Install:     "npm install -g @github/copilot",
	},
	byACP("opencode-acp", "npm install -g opencode-ai", "opencode", "acp"),
	byACP("qwen-acp", "npm install -g @qwen-code/qwen-code", "qwen", "--acp"),
	byACP("copilot-acp", "npm install -g @github/copilot", "copilot", "--acp").keeping(copilotTokens...).unmetered(),
	byACP("goose", "https://block.github.io/goose", "goose", "acp").talking("run", "-s", "-t"),
	byACP("kimi", "npm install -g @moonshot-ai/kimi-code", "kimi", "acp"),
	byACP("claude-acp", "npm install -g @agentclientprotocol/claude-agent-acp", "claude-agent-acp").working("default"),
	byACP("codex-acp", "npm install -g @agentclientprotocol/codex-acp", "codex-acp").working("agent-full-access"), // its sandbox keeps git's folders read-only
	byACP("gemini-acp", "npm install -g @google/gemini-cli", "gemini", "--acp", "--skip-trust"),
}

// copilotTokens are the variables that Copilot logs in by.
var copilotTokens = []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}

// byACP is a CLI that git liza acp runs. Its quota messages are those of any CLI.
func byACP(name, install, program string, args ...string) CLI {
	return CLI{Name: name, Program: program, Args: args, Prompt: ACP, Interrupt: true, Resume: []string{}, Overhead: 60_000, Install: install}
}

// keeping is the CLI with variables that it logs in by.
func (c CLI) keeping(names ...string) CLI {
	c.Keeps = names
	return c
}

// working is the CLI with its sessions in a mode.
func (c CLI) working(mode string) CLI {
	c.Mode = mode
	return c
}

// unmetered is the CLI as one that reports no tokens.
func (c CLI) unmetered() CLI {
	c.NoUsage = true
	return c
}

// talking is the CLI with the arguments of an interactive run.
func (c CLI) talking(args ...string) CLI {
	c.Interactive = args
	return c
}

// generic returns patterns for an unknown program: those of all known CLIs, since it may be a
// script around one, and the usual words on a line that begins like an error.
func generic() []string {
	var all []string
	for _, c := range Known {
		all = append(all, c.Quota...)
	}
	return append(all, start+`(?:[\w.]*error|fatal)\b[^\n:]*:[^\n]*(?:\btoo many requests|\brate.?limit (?:was )?(?:exceeded|reached|hit)|\bquota (?:was )?(?:exceeded|exhausted)|\busage limit (?:was )?(?:exceeded|reached|hit))\b(?:[^\n]*?\b(?:in|after):? `+in+`)?`)
}
