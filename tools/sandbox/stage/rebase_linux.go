package stage

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A rebaseTodo is a line in the todo list of a rebase that makes git run a program.
type rebaseTodo struct{ file, line string }

// gitTodos are the directories of the todo lists, and the file in each that names a merge
// strategy. They exist only during a rebase, or a cherry-pick of several commits, so no
// placeholder can replace them. A cherry-pick's list runs no programs.
var gitTodos = [][2]string{{"rebase-merge", "strategy"}, {"rebase-apply", "strategy"}, {"sequencer", "opts"}}

// maxTodo is the maximal length of a list in bytes; some have thousands of lines.
const maxTodo = 8 << 20

// steps are the commands of todo lists that run no program, and their short names.
var steps = strings.Fields("pick p reword r edit e squash s fixup f drop d break b label l reset t merge m noop update-ref u")

// todos returns a line of a repository's rebase lists that makes git run something, except the
// lines of known; nil if there is none.
func todos(fd int, known ...string) *rebaseTodo {
	for _, pair := range gitTodos {
		name, options := pair[0], pair[1]
		file := name + "/git-rebase-todo"
		if isLink(fd, name) {
			return &rebaseTodo{name, "what a link leads to"}
		}
		dir, err := open(fd, name, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			continue
		}
		isTodo, todo := there(dir, "git-rebase-todo"), contentsUpTo(dir, "git-rebase-todo", maxTodo)
		chooses, strategy := there(dir, options), contents(dir, options)
		unix.Close(dir)
		switch line := strings.TrimSpace(string(strategy)); {
		case chooses && strategy == nil:
			return &rebaseTodo{name + "/" + options, "what can't be read"}
		case strings.Contains(line, "/") && !slices.Contains(known, line): // git-merge-x/y is a program of the workspace
			return &rebaseTodo{name + "/" + options, line}
		case isTodo && todo == nil:
			return &rebaseTodo{file, "what can't be read"}
		}
		for line := range strings.Lines(string(todo)) {
			line = strings.TrimSpace(line)
			word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			if line != "" && line[0] != '#' && !slices.Contains(steps, word) && !slices.Contains(known, line) {
				return &rebaseTodo{file, line}
			}
		}
	}
	return nil
}

// A rebaseDir is a repository whose todo lists of a rebase are watched.
type rebaseDir struct {
	top   *top
	at    string
	known []string // former lines that make git run a program
}

// watchRebase stores the lines of a repository's todo lists.
func (g *guard) watchRebase(t *top, at string) {
	r := rebaseDir{top: t, at: at}
	fd, err := open(t.fd, at, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for {
		next := todos(fd, r.known...)
		if next == nil || slices.Contains(r.known, next.line) {
			break
		}
		r.known = append(r.known, next.line)
	}
	g.rebases = append(g.rebases, r)
}

// enforce puts aside a todo list with a new line that makes git run a program.
func (r rebaseDir) enforce() (problems []string) {
	for range 2 * len(gitTodos) {
		fd, err := open(r.top.fd, r.at, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return problems
		}
		bad := todos(fd, r.known...)
		unix.Close(fd)
		if bad == nil {
			return problems
		}
		said, _ := r.top.aside(path.Join(r.at, bad.file), fmt.Sprintf("it has git run %.200q", bad.line))
		problems = append(problems, said)
	}
	return problems
}
