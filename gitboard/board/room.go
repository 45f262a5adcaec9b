package board

import (
	"reflect"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// MaxRecord is the maximum size of a written record in bytes. Tasks and goals grow with each
// operation, so each kind of operation may fill only part of the record: an operation that ends a
// task always finds room.
const MaxRecord = 256 << 10

const (
	// maxPlanned is how far planners and humans may fill a task, or a goal with its description.
	maxPlanned = 208 << 10
	// maxWorked is how far coders and reviewers may fill a task, except for a coder's block.
	maxWorked = 160 << 10
	// maxEnding is how much an operation that ends a task may add above maxPlanned: room for both a
	// block and an end.
	maxEnding = 16 << 10
	// maxAligned is how far entries made by other operations may fill a goal.
	maxAligned = 240 << 10
)

// MaxShare is how many bytes the texts of one coder or reviewer may take in the history of one
// task.
const MaxShare = 48 << 10

// MaxWords is the maximum size in bytes of one text in a coder's or a reviewer's operation on a
// task. All its texts together may have twice as much.
const MaxWords = 16 << 10

// smallStep is the size of an operation's addition that only records who does what.
const smallStep = 1 << 10

// works reports whether an operation on a task is by a coder or a reviewer.
func works(op Operation) bool {
	if op.Actor.Role == roles.Human || op.Actor.Role == roles.Planner {
		return false
	}
	rule, _ := ruleOf(op.Name())
	return rule.moves != nil
}

// checkRoom refuses an operation that would take the room reserved for operations that end a task.
func checkRoom(before, after *State, op Operation) error {
	rule, _ := ruleOf(op.Name())
	if rule.begins {
		return nil // an import may have any size
	}
	for path, r := range after.Changes() {
		t, is := r.(*Task)
		if !is {
			continue
		}
		size, was := Size(t), &Task{}
		if record, _ := before.Record(path); record != nil {
			was = record.(*Task)
		}
		if err := roomFor(path, Size(was), size, op, rule); err != nil {
			return err
		}
		if size > MaxShare && works(op) {
			if err := shareOf(was, t, op); err != nil {
				return err
			}
		}
	}
	return nil
}

func roomFor(path string, before, after int, op Operation, rule rule) error {
	most := maxPlanned
	switch _, blocks := op.Payload.(*Block); {
	case after <= before:
		return nil
	case rule.ends && !(blocks && works(op)):
		if after <= maxPlanned || after-before <= maxEnding && after <= MaxRecord {
			return nil
		}
		return refuse(CodeInvalid, "%s has %d of %d bytes, and this would add %d", path, before, MaxRecord, after-before).
			Advise("say it in fewer words")
	case works(op) && !blocks:
		most = maxWorked
	}
	if after <= most {
		return nil
	}
	return refuse(CodeInvalid, "%s has %d bytes, and with this %d; %s may fill it to %d", path, before, after, rule.noun, most).
		Advise("say it in fewer words; a planner or a human can supersede what has grown too long")
}

// shareOf refuses an operation if one agent's texts would exceed their share of a task's history.
func shareOf(was, now *Task, op Operation) error {
	added := 0
	for _, e := range now.History[len(was.History):] {
		added += Size(&e)
	}
	for _, c := range now.Comments[min(len(was.Comments), len(now.Comments)):] {
		added += Size(&c)
	}
	if added <= smallStep {
		return nil
	}
	share := added
	for i := range was.History {
		if was.History[i].Agent == op.Actor.ID {
			share += Size(&was.History[i])
		}
	}
	for _, c := range was.Comments {
		if c.By == op.Actor.ID {
			share += Size(&c)
		}
	}
	if share <= MaxShare {
		return nil
	}
	return refuse(CodeInvalid, "what %s says about %s would have %d bytes in all; %d are allowed", op.Actor.ID, now.ID, share, MaxShare).
		Advise("say it in fewer words, or name a file of the project")
}

// Size is an upper bound of a record's size in bytes when written. It needs no encoder.
func Size(record any) int { return sizeOf(reflect.ValueOf(record), 0) }

// perItem is the overhead of an item, or of a key with its value: a dash or a colon,
// quotes, a line break.
const perItem = 8

func sizeOf(v reflect.Value, depth int) int {
	indent := 4 * depth
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return perItem
		}
		return sizeOf(v.Elem(), depth)
	case reflect.Struct:
		n := 0
		for i, field := range Fields(v.Type()) {
			if f := v.Field(i); !field.OmitEmpty || !f.IsZero() {
				n += indent + len(field.Name) + perItem + sizeOf(f, depth+1)
			}
		}
		return n
	case reflect.Slice:
		n := 0
		for i := range v.Len() {
			n += indent + perItem + sizeOf(v.Index(i), depth+1)
		}
		return n
	case reflect.Map:
		n := 0
		for _, k := range v.MapKeys() {
			n += indent + 2*perItem + sizeOf(k, depth+1) + sizeOf(v.MapIndex(k), depth+1)
		}
		return n
	case reflect.String:
		return textSize(v.String(), indent)
	}
	return 24 // a number or a boolean
}

// textSize is the size of a text both as a literal block, indented, and as a quoted text with
// escapes.
func textSize(text string, indent int) int {
	lines, escapes := 1, 0
	before := '\n'
	for _, r := range text {
		if before == '\n' && r != '\n' {
			lines++
		}
		before = r
		switch {
		case r == '\n' || r == '"' || r == '\'' || r == '\\':
			escapes++
		case r < ' ' || r >= 0x7f && (!unicode.IsPrint(r) || r > 0xFFFF):
			escapes += 6 // \U0001F600
		}
	}
	return len(text) + max(lines*indent, escapes)
}
