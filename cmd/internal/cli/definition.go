package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// definition is the flags that say what a task is, for add-task and amend-task.
type definition struct {
	d       board.Definition
	kind    string
	depends string
	flags   *pflag.FlagSet
}

func (o *definition) add(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.d.Description, "desc", "", "what to build, in one or two sentences")
	f.StringVar(&o.d.SpecRef, "spec", "", "the `FILE` (with #anchor, if any) that specifies it")
	f.StringVar(&o.d.DoneWhen, "done", "", "what can be observed once it is done; something could prove it wrong")
	f.StringVar(&o.d.Scope, "scope", "", "what is IN and what is OUT")
	f.IntVar(&o.d.Priority, "priority", 3, "1 (first) to 5 (last)")
	f.StringVar(&o.depends, "depends", "", "`IDS` of the tasks that must be merged before, with commas")
	f.StringVar(&o.kind, "kind", "code", "code, doc, config or spec; code needs tests with it")
	f.IntVar(&o.d.MaxIterations, "max-iterations", 0, "overrides the board's limit")
	f.IntVar(&o.d.MaxReviewCycles, "max-review-cycles", 0, "overrides the board's limit")
	f.IntVar(&o.d.LeaseDurationOverride, "lease-duration", 0, "overrides the board's lease, in `SECONDS`")
}

// fieldOfFlag names the field of a record that a flag sets.
var fieldOfFlag = map[string]string{
	"desc": "description", "spec": "spec_ref", "done": "done_when", "scope": "scope", "priority": "priority", "depends": "depends_on",
	"kind": "kind", "max-iterations": "max_iterations", "max-review-cycles": "max_review_cycles", "lease-duration": "lease_duration_override",
}

// definition is what the flags say.
func (o *definition) definition() board.Definition {
	d := o.d
	d.Kind, d.DependsOn = board.Kind(o.kind), commas(o.depends)
	return d
}

// set lists the fields whose flags were given.
func (o *definition) set() []string {
	var fields []string
	o.flags.VisitAll(func(f *pflag.Flag) {
		if name := fieldOfFlag[f.Name]; name != "" && f.Changed {
			fields = append(fields, name)
		}
	})
	return fields
}

func commas(list string) []string {
	var out []string
	for _, part := range strings.Split(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// skipSpecFile says that the spec's file is not looked for.
func (c *call) skipSpecFile() bool { return c.app.Getenv("SKIP_SPEC_FILE_CHECK") == "true" }

// specOID looks for the spec's file on integration, unless that is skipped.
func (c *call) specOID(ctx context.Context, v *gitboard.View, ref string) (string, error) {
	if c.skipSpecFile() || ref == "" {
		return "", nil
	}
	return c.opened.SpecOID(ctx, v, ref)
}
