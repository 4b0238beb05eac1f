package script

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/shell/program"
)

// command reads a simple command: its words, the variables env set for it, and its standard
// input in, if known.
func (v *visitor) command(words []word, env []string, in *string) {
	c := engine.Command{Env: env, Wrapper: v.inside, Argv: make([]engine.Word, len(words))}
	for i, w := range words {
		c.Argv[i] = w.engine()
	}
	v.record(c)
	if len(words) == 0 || v.deep() {
		return
	}
	name, known := c.Program()
	if strings.HasPrefix(words[0].text, "%") {
		v.opaque("it resumes a stopped job: %s", words[0].text)
	}
	if !known || name == "" {
		v.opaque("which program runs is known only when it runs (%s)", words[0].text)
		return
	}
	if strings.ContainsFunc(words[0].text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		v.lower(engine.Readable, "the name of the program has blanks or non-ASCII characters: %s", words[0].text)
	}
	name = program.Fold(name)
	v.depth++
	defer func() { v.depth-- }()
	args := words[1:]
	if strings.ContainsRune(words[0].text, '/') || !v.builtin(name, args) {
		v.program(name, args, in)
	}
}

// set records the assignment of a variable.
func (v *visitor) set(name string, value word) {
	v.loosen("it sets %s", name)
	if value.known && slices.Contains([]string{"", "cat", "less", "more", "true", ":", "0", "1"},
		value.text) && name != "PATH" && name != "IFS" {
		v.s.strict = v.s.strict || program.IsSteering(name) && !strings.HasSuffix(name, "PAGER")
		return
	}
	if program.IsSteering(name) {
		v.opaque("it sets %s, which decides what programs run", name)
	}
}

// join returns words on a line.
func join(words []word) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return strings.Join(all, " ")
}

// skip returns words without the first if that is s.
func skip(words []word, s string) []word {
	if len(words) > 0 && words[0].text == s {
		return words[1:]
	}
	return words
}

// runsScript reads words that command runs as one script.
func (v *visitor) runsScript(command string, words []word) {
	words = skip(words, "--")
	if slices.ContainsFunc(words, func(w word) bool { return !w.known }) {
		v.opaque("which script %s runs is known only when it runs (%s)", command, join(words))
		return
	}
	if len(words) > 0 {
		v.text(join(words), command)
	}
}

// runs reads a command that another one runs, with env set for it.
func (v *visitor) runs(command string, words []word, env []string) {
	if slices.Contains([]string{"find", "fd", "xargs", "timeout", "nice", "time"}, command) || command == "env" && len(words) == 0 {
		v.loosen("%s runs another command", command)
	} else {
		v.lower(engine.Readable, "%s runs another command", command)
	}
	if len(words) == 0 {
		return
	}
	was := v.inside
	v.inside = command
	v.command(words, env, nil)
	v.inside = was
}
