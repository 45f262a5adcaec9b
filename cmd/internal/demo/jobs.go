package demo

// job is how a coder carries out a stage of a task. Its files are in files/<stage>.
type job struct {
	intent  string // of the checkpoint; "" for a stage that continues under one
	files   []string
	message string
	resolve *resolution
}

// jobs are the stages of the work.
var jobs = map[string]job{
	"greet-world": {
		intent: "give an empty name a default, and test it through run", files: []string{"greet.go", "world_test.go"},
		message: "Greet the world when nobody is named",
	},
	"trim-name": {
		intent: "fold the spaces of a name before greeting", files: []string{"greet.go", "spaces.go", "spaces_test.go"},
		message: "Fold the spaces in a name",
	},
	"many-names-1": {
		intent: "put names into one phrase, and greet that", files: []string{"names.go", "names_test.go", "main.go", "main_test.go"},
		message: "Put names into one phrase",
	},
	"many-names-2": {message: "Greet everybody who is named"},
	"trim-name-fix": {
		intent: "keep both changes: fold spaces first, then look for an empty name", files: []string{"greet.go", "blank_test.go"},
		message: "Merge integration: fold spaces, then greet the world",
		resolve: &resolution{"greet.go", "\tname = folded(name)\n\tif name == \"\" {\n\t\tname = \"world\"\n\t}\n"},
	},
	"shout-1": {
		intent: "look for --shout and capitalize the greeting", files: []string{"main.go", "shout_test.go"},
		message: "Shout when asked to",
	},
	"shout-2": {
		intent: "find --shout among all arguments; test it after a name, too", files: []string{"main.go", "shout_test.go"},
		message: "Find --shout anywhere among the arguments",
	},
}

// trial is how the reviewer tries a submission, and what to say if it fails.
type trial struct {
	args            []string
	want            string
	file, at        string // where the fault would be: a file, and a text on the line
	why, suggestion string
}

// trials are the trials of each task, taken from the spec.
var trials = map[string][]trial{
	"greet-world": {{want: "Hello, world!", file: "greet.go"}},
	"trim-name":   {{args: []string{"  Ann   Lee "}, want: "Hello, Ann Lee!", file: "greet.go"}},
	"many-names":  {{args: []string{"Ann", "Bob", "Eve"}, want: "Hello, Ann, Bob and Eve!", file: "main.go"}},
	"shout": {
		{args: []string{"--shout", "Ann"}, want: "HELLO, ANN!", file: "main.go"},
		{
			args: []string{"Ann", "--shout"}, want: "HELLO, ANN!", file: "main.go", at: `"--shout"`,
			why: "the spec says anywhere on the command line", suggestion: "look for it among all arguments, and test it after a name",
		},
	},
}
