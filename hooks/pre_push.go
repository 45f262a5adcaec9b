package hooks

import "github.com/git-liza/git-liza/gitboard/board"

// PrePush refuses every push where agents are: git liza pushes what belongs to an operation together with it.
func PrePush(w Who) *board.Refusal {
	if w.ID == "" {
		return refuse(board.CodePermission, "push as a human, from the project's root", "%s nobody pushes", w.where())
	}
	hint := "git liza prime"
	if w.Task != "" {
		hint = "git liza submit " + w.Task + " hands work on, to other clones too"
	}
	return refuse(board.CodePermission, hint, "%s pushes only through git liza", w.ID)
}
