package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/process"
	"github.com/git-liza/git-liza/roles/prompt"
)

// command is a run of an agent's program.
type command struct {
	process.Command
	container string // name of its container, "" for none
	resumed   bool   // it continues an earlier conversation
	size      int    // bytes of the prompt
}

// markOf is the entry by which everything that an agent starts is known: its session.
func markOf(session string) string { return "LIZA_SESSION=" + session }

// prepare builds the prompt and the command of a run.
func (s *supervisor) prepare(ctx context.Context, l Look, step Step) (command, string, error) {
	in := prompt.Input{
		State: l.State, Agent: s.actor.ID, Role: s.Role, Root: s.root, Task: step.Task, Wake: step.Wake,
		Restarted: s.restarted(step),
	}
	v, err := s.Board.View(ctx)
	if err != nil {
		return command{}, "", err
	}
	named, err := l.State.Team().RoleOf(s.actor.ID)
	if err != nil {
		return command{}, "", err
	}
	if !in.Restarted {
		in.Warnings = s.warnings
	}
	dir, subject := s.root, "planning"
	if step.Wake != nil {
		subject = strings.ToLower(strings.ReplaceAll(string(step.Wake.Trigger), "_", "-"))
	}
	if step.Task != "" {
		dir, subject = filepath.Join(s.Board.WorktreesFolder(s.root), step.Task), step.Task
		if s.Role == roles.Coder {
			did, err := s.Executor.Unlock(ctx, step.Task)
			if s.repaired(step.Task, did); err != nil {
				s.report(Trouble, step.Task, err.Error())
			}
		}
		if err := s.housed(ctx, step.Task, dir); err != nil {
			return command{}, "", err
		}
	}
	if err := Facts(ctx, s.Board, v, named, &in); err != nil {
		return command{}, "", err
	}
	session := s.continues(step)
	in.Continued = session != ""
	var text string
	if unread := read(l.State, func() { text, err = prompt.Build(in) }); unread != nil || err != nil {
		return command{}, "", cmp.Or(unread, err)
	}
	if err := s.shown(ctx, text); err != nil {
		return command{}, "", err
	}
	file, err := s.files.savePrompt(l.Now, subject, text)
	if err != nil {
		return command{}, "", err
	}
	bin, err := s.files.binary(s.Program)
	if err != nil {
		return command{}, "", err
	}
	environ, err := s.environment(ctx, bin, file)
	if err != nil {
		return command{}, "", err
	}
	c := command{Command: process.Command{Dir: dir, Env: environ, Mark: markOf(s.actor.Session)}, resumed: session != "", size: len(text)}
	if s.Terminal != nil {
		c.Args = append([]string{s.program}, s.CLI.InteractiveCommand(file, s.folders(dir))...)
		c.Stdin, c.Output, c.Shares = s.Terminal, s.Terminal, true
		return s.contained(c), file, nil
	}
	if s.CLI.Prompt == clis.ACP {
		c.Args, c.Stdin = append([]string{filepath.Join(bin, "git-liza")}, s.CLI.Bridge(s.program, session)...), strings.NewReader(text)
		return s.contained(c), file, nil
	}
	args, stdin := s.CLI.Command(clis.Start{Prompt: text, File: file, Session: session, Root: os.Geteuid() == 0, Hooks: true, Folders: s.folders(dir)})
	c.Args, c.Stdin = append([]string{s.program}, args...), strings.NewReader(stdin)
	return s.contained(c), file, nil
}

// Facts fills in the prompt's facts about the repository, the agent's role and its task, if it names
// one, as they are on a view.
func Facts(ctx context.Context, b *gitboard.Board, v *gitboard.View, named *board.Role, in *prompt.Input) error {
	tip, err := v.IntegrationTip(ctx)
	if err != nil {
		return err
	}
	in.Integration = tip.Short()
	if in.Extra, err = b.Instructions(ctx, named); err != nil || in.Task == "" {
		return err
	}
	t, err := in.State.FindTask(in.Task)
	if err != nil {
		return err
	}
	in.Worktree = filepath.Join(b.WorktreesFolder(in.Root), t.ID)
	if in.NewerSpec, err = v.NewerSpec(ctx, t); err != nil {
		return err
	}
	if in.Remarks, err = b.Remarks(ctx, t); err != nil {
		return err
	}
	if in.Role == roles.CodeReviewer {
		if t.ReviewCommit != "" {
			in.Review, err = v.Submission(ctx, t)
		}
		return err
	}
	off, err := v.OffBranch(ctx, t.ID, in.Worktree)
	if off != "" {
		in.Warnings = append(slices.Clip(in.Warnings), off)
	}
	return err
}

// shown keeps that the agent sees the notes that its prompt has as a whole.
func (s *supervisor) shown(ctx context.Context, in string) error {
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	unread, err := v.Unread(s.actor.ID)
	var ids []string
	for _, n := range unread {
		if strings.Contains(in, text.Line(n.Line(), board.MaxText)) {
			ids = append(ids, n.ID)
		}
	}
	if err != nil || len(ids) == 0 {
		return err
	}
	return v.Show(s.actor.ID, ids...)
}

// contained makes a run use the supervisor's container, if it has one.
func (s *supervisor) contained(c command) command {
	if s.Container == nil {
		return c
	}
	name := fmt.Sprintf("liza-%s-%s-%d", s.actor.ID, s.actor.Session[:min(8, len(s.actor.Session))], s.Board.Now().UnixMilli())
	c.Command, c.container = s.Container.Wrap(c.Command, name, s.Board.Repo().CommonDir(), s.Program), name
	return c
}

// housed makes sure that a task's worktree exists.
func (s *supervisor) housed(ctx context.Context, task, dir string) error {
	if s.Role == roles.CodeReviewer {
		if err := s.Executor.ForReview(ctx, task); err != nil {
			return err
		}
	}
	if isWorktree(dir) {
		return nil
	}
	did, err := s.Executor.Repair(ctx, s.actor, task)
	s.repaired(task, did)
	if err != nil {
		return err
	}
	if !isWorktree(dir) {
		return fmt.Errorf("the worktree of %s is missing, and could not be made again: git liza doctor", task)
	}
	return nil
}

// isWorktree reports whether a directory is a worktree. In another directory below the project's
// root git would act on the project's own checkout.
func isWorktree(dir string) bool {
	link, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil && link.Mode().IsRegular()
}

// Installed refuses a CLI that is not installed.
func (c Config) Installed() error { return (&supervisor{Config: c}).find() }

// find looks up the agent's program.
func (s *supervisor) find() (err error) {
	if s.program = s.CLI.Program; s.Container != nil {
		return nil // the image has it
	}
	if s.program, err = FindProgram(s.CLI); err != nil {
		return &StopError{Exit: 5, Reason: s.CLI.Program + " is not installed, or not in PATH", Hint: s.CLI.Install + "; or another agent: --cli NAME, --exec COMMAND"}
	}
	return nil
}

// FindProgram looks up the program of a CLI in PATH, and where its installer puts it.
func FindProgram(c clis.CLI) (string, error) {
	program, err := exec.LookPath(c.Program)
	home, homeless := os.UserHomeDir()
	for _, place := range c.Places {
		if err == nil || homeless != nil {
			break
		}
		program, err = exec.LookPath(filepath.Join(home, filepath.FromSlash(place)))
	}
	return program, err
}

// warnOfLogin reports that the CLI's user is not logged in. It asks a CLI with a command for that
// once for all supervisors of a process.
func (s *supervisor) warnOfLogin(ctx context.Context) {
	why := ""
	switch {
	case s.Container != nil:
	case s.CLI.LoggedIn != nil:
		asked, _ := s.proof.logins.LoadOrStore(s.CLI.Name, sync.OnceValue(func() string { return s.probe(ctx, s.CLI.LoggedIn) }))
		if asked.(func() string)() != "" {
			why = fmt.Sprintf("its `%s` fails", strings.Join(append([]string{s.CLI.Program}, s.CLI.LoggedIn...), " "))
		}
	case s.CLI.Traces != nil && !slices.ContainsFunc(s.CLI.Traces, s.exists):
		why = "there is none of " + strings.Join(s.CLI.Traces, ", ")
	}
	if why != "" && ctx.Err() == nil {
		s.report(Trouble, "", fmt.Sprintf("%s seems not to be logged in: %s; log in as the user who runs the team", s.CLI.Name, why))
	}
}

// exists reports whether there is a trace of a login (clis.CLI.Traces).
func (s *supervisor) exists(trace string) bool {
	if name, is := strings.CutPrefix(trace, "$"); is {
		return slices.ContainsFunc(s.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") && entry != name+"=" })
	}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(filepath.Join(home, filepath.FromSlash(strings.TrimPrefix(trace, "~/"))))
	}
	return err == nil
}

// restarted reports whether the agent was started before on the same task or wake-up.
func (s *supervisor) restarted(step Step) bool {
	if step.Wake != nil {
		return s.memory.Unfinished != nil && s.memory.Unfinished.Trigger == step.Wake.Trigger
	}
	return s.fresh != step.Task
}

// environment is the agent's environment. Some CLIs' shells reset PATH or remove git's own
// variables, so the author and the alias of `git liza` are set where git reads last.
func (s *supervisor) environment(ctx context.Context, bin, promptFile string) ([]string, error) {
	path, parameters := bin, ""
	for _, entry := range s.Environ {
		if value, is := strings.CutPrefix(entry, "PATH="); is {
			path = bin + string(os.PathListSeparator) + value
		}
		if value, is := strings.CutPrefix(entry, gitenv.ParametersVar+"="); is {
			parameters = value
		}
	}
	settings := []gitenv.Setting{aliased(filepath.Join(bin, "git-liza"))}
	for _, key := range []string{"user.name", "user.email"} {
		value, set, err := s.Board.Repo().Settings().Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if set {
			settings = append(settings, gitenv.Setting{Key: key, Value: value})
		}
	}
	author, err := s.files.author(s.actor)
	if err != nil {
		return nil, err
	}
	settings = append(settings, author...)
	set := map[string]string{
		"LIZA_AGENT_ID": s.actor.ID, "LIZA_SESSION": s.actor.Session, "LIZA_SUPERVISED": "1", "LIZA_PROMPT_FILE": promptFile, "PATH": path, TokenVar: s.token,
		gitenv.ParametersVar: gitenv.AddSettings(parameters, settings...),
	}
	if space := proc.Space(); space != "" {
		set[git.ProcessSpaceVar] = space
	}
	if s.key != "" {
		set[keyVar] = s.key
	}
	maps.Copy(set, s.caches())
	return inherit(s.Environ, set, s.CLI.Keeps...), nil
}

// keyVar names the signing key. An agent does not inherit it from the environment of its
// supervisor.
const keyVar = "LIZA_SIGNING_KEY"

// inherit is the environment for a program that finds its own repository, with the variables in set
// replaced. Of all tokens it has only the program's own.
func inherit(environ []string, set map[string]string, keeps ...string) []string {
	tokens := forge.Tokens()
	env := slices.DeleteFunc(gitenv.Elsewhere(environ), func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		_, other := set[key]
		return other || key == keyVar || slices.Contains(tokens, key) && !slices.Contains(keeps, key)
	})
	for _, key := range slices.Sorted(maps.Keys(set)) {
		env = append(env, key+"="+set[key])
	}
	return env
}

// aliased makes `git liza` work where PATH does not contain it. Git runs an alias at the top of the
// worktree, but arguments may be files relative to the caller's directory.
func aliased(program string) gitenv.Setting {
	quoted := "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	return gitenv.Setting{Key: "alias.liza", Value: `!cd "./$GIT_PREFIX" && ` + quoted}
}

// outputs returns the writers for an agent's output.
func (s *supervisor) outputs() []io.Writer {
	to := []io.Writer{s.log}
	if s.Output != nil {
		to = append(to, s.Output(s.actor.ID))
	}
	return to
}
