package definition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Flags are the flags that define a task, for add-task and amend-task.
type Flags struct {
	D     board.Definition
	kind  string
	stage string
	flags *pflag.FlagSet
}

func (o *Flags) Add(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.D.Title, "title", "", "its name in lists, of at most 60 characters; else the first sentence of --desc")
	f.StringVar(&o.D.Description, "desc", "", "what to build, in one or two sentences")
	f.StringVar(&o.D.SpecRef, "spec", "", "the `FILE` (with #anchor, if any) that specifies it")
	f.StringVar(&o.D.DoneWhen, "done", "", "what can be observed once it is done; something could prove it wrong")
	f.StringVar(&o.D.Scope, "scope", "", "what is IN and what is OUT")
	f.IntVar(&o.D.Priority, "priority", 3, "1 (first) to 5 (last)")
	call.ListFlag(f, &o.D.DependsOn, "depends", "`IDS` of the tasks that must be merged before, with commas or repeated")
	f.StringArrayVar(&o.D.Touches, "touches", nil, "a `GLOB` of files that it will change, for the order of claims; repeatable")
	f.StringVar(&o.stage, "stage", board.CodeStage, "the stage of the team's work that it is in: git liza team show")
	f.StringVar(&o.kind, "kind", "code", "code, doc, config or spec; code needs tests with it")
	f.IntVar(&o.D.MaxIterations, "max-iterations", 0, "overrides the board's limit")
	f.IntVar(&o.D.MaxReviewCycles, "max-review-cycles", 0, "overrides the board's limit")
	f.IntVar(&o.D.LeaseDurationOverride, "lease-duration", 0, "overrides the board's lease, in `SECONDS`")
}

// fieldOfFlag maps flags to the fields of a record.
var fieldOfFlag = map[string]string{
	"title": "title", "desc": "description", "spec": "spec_ref", "done": "done_when", "scope": "scope", "priority": "priority", "depends": "depends_on", "touches": "touches",
	"kind": "kind", "stage": "stage", "max-iterations": "max_iterations", "max-review-cycles": "max_review_cycles", "lease-duration": "lease_duration_override",
}

// Definition is the definition that the flags express.
func (o *Flags) Definition() board.Definition {
	d := o.D
	d.Kind = board.Kind(o.kind)
	if o.stage != board.CodeStage {
		d.Stage = o.stage
	}
	return d
}

// Set lists the fields whose flags were given.
func (o *Flags) Set() []string {
	var fields []string
	o.flags.VisitAll(func(f *pflag.Flag) {
		if name := fieldOfFlag[f.Name]; name != "" && f.Changed {
			fields = append(fields, name)
		}
	})
	return fields
}

// Tasks reads tasks from a file with a YAML list. like has what they have in common.
func Tasks(c *call.Call, file string, like board.AddTask) (tasks []board.AddTask, err error) {
	text, err := c.File("--file", file)
	if err != nil {
		return nil, err
	}
	var listed []struct {
		ID               string
		board.Definition `yaml:",inline"`
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&listed); err != nil {
		if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) { // the first of them, without names of Go
			first, _, _ := strings.Cut(wrong.Errors[0], " in type ")
			err = errors.New(first)
		}
		return nil, call.Usage(c.Cmd, "--file: no list of tasks with id and the fields of their records: %v", err)
	}
	if len(listed) == 0 {
		return nil, call.Usage(c.Cmd, "--file: the list of tasks is empty")
	}
	for _, t := range listed {
		t.Priority, t.Kind = cmp.Or(t.Priority, 3), cmp.Or(t.Kind, board.Code)
		if t.Stage == board.CodeStage {
			t.Stage = ""
		}
		like.About, like.Definition = board.About{Task: t.ID}, t.Definition
		tasks = append(tasks, like)
	}
	return tasks, nil
}

// SpecOID looks up the spec's file on integration, unless SkipSpecFile.
func SpecOID(ctx context.Context, c *call.Call, v *gitboard.View, ref string) (string, error) {
	if c.App.SkipSpecFile() || ref == "" {
		return "", nil
	}
	return v.SpecOID(ctx, ref)
}

// GoalSpec refuses an edit of a goal whose new specification is not a file on integration: no planner
// would be started.
func GoalSpec(ctx context.Context, c *call.Call, v *gitboard.View, p *board.Write) error {
	at := slices.IndexFunc(p.Fields, func(f board.FieldEdit) bool { return f.Field == "spec_ref" })
	if at < 0 || !strings.HasPrefix(p.Path, board.GoalDir+"/") || c.App.SkipSpecFile() {
		return nil
	}
	var ref string
	if err := yaml.Unmarshal([]byte(p.Fields[at].Value), &ref); err != nil || ref == "" {
		return nil // Check refuses what is not a text
	}
	if oid, err := v.SpecOID(ctx, ref); oid != "" || err != nil {
		return err
	}
	return NoSuchSpec(ref)
}

// NoSuchSpec refuses a goal's specification that is not on integration.
func NoSuchSpec(ref string) error {
	path, _, _ := strings.Cut(ref, "#")
	return board.Refuse(board.CodeGate, fmt.Sprintf("the goal's spec %s is not a file on the integration branch", strconv.Quote(text.Line(ref, 100))),
		"commit it, then git liza land --spec "+path)
}
