package script

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// The limits of scripts. A script beyond a limit is opaque.
const (
	maxBytes    = 64 << 10 // of a script, with the scripts inside it
	maxCommands = 500
	maxDepth    = 100 // levels of nesting, scripts inside scripts included
)

// A Script is a command line that was read.
type Script struct {
	Class    engine.Class
	Why      string           // what keeps Class from being better
	Commands []engine.Command // in the order of the text
	Writes   []string         // paths that are written to, as [engine.Intent] has them

	// Loose marks a readable script whose commands are all listed, and which writes to no
	// file itself. It may have patterns and variables in arguments, shells, conditions,
	// finite loops, harmless variables, and commands run by find, xargs and the like.
	Loose bool
	Reads []string // paths read by redirections of a loose script

	// Inputs are the files read by redirections of any script, as written.
	Inputs []engine.Word

	prints    []int // indices of commands that print a here-document into a word
	strict    bool  // a reason beyond those that Loose allows makes it less than plain
	canonical string
}

// Canonical returns a script that runs the commands of a plain script with exactly their
// words, each quoted unambiguously for every shell. It returns false for other scripts.
func (s Script) Canonical() (string, bool) {
	return s.canonical, s.Class == engine.Plain
}

// Read reads a script for bash.
func Read(text string) Script {
	s := Script{Class: engine.Plain}
	v := visitor{s: &s, left: new(int), dirs: []string{""}, lang: syntax.LangBash}
	*v.left = maxBytes
	if file := v.parse(text); file != nil {
		v.stmts(file.Stmts)
		canonical, ok := canonical(file)
		if !ok && s.Class == engine.Plain {
			v.lower(engine.Readable, "it is not a plain list of commands")
		}
		s.canonical = canonical
	}
	if s.Class == engine.Plain { // its canonical form has the text in the word
		for _, i := range slices.Backward(s.prints) {
			s.Commands = slices.Delete(s.Commands, i, i+1)
		}
	}
	if len(s.Commands) == 0 {
		v.lower(engine.Readable, "it holds no command")
	}
	s.Loose = s.Class == engine.Readable && !s.strict
	return s
}

// A visitor goes through the syntax tree and fills a Script.
type visitor struct {
	s      *Script
	left   *int   // remaining bytes of maxBytes
	src    string // the source of the nodes
	inside string // the command that runs the script
	depth  int
	lang   syntax.LangVariant // the language of the script
	again  bool               // it was parsed in another language before

	dirs []string // the possible working directories
	loop bool     // the current part may run more than once
}

// lower lowers the class of the script to at most c.
func (v *visitor) lower(c engine.Class, format string, args ...any) {
	v.s.strict = true
	v.limit(c, format, args...)
}

// loosen makes a plain script readable, for what Loose allows.
func (v *visitor) loosen(format string, args ...any) { v.limit(engine.Readable, format, args...) }

func (v *visitor) limit(c engine.Class, format string, args ...any) {
	if c < v.s.Class {
		v.s.Class, v.s.Why = c, brief(fmt.Sprintf(format, args...))
	}
}

// brief returns s cut to one short line.
func brief(s string) string { return text.OneLine(s, 160) }

// opaque lowers the class to the least.
func (v *visitor) opaque(format string, args ...any) { v.lower(engine.Opaque, format, args...) }

// unchecked records that a program runs a file or its input, which was not read.
func (v *visitor) unchecked(name string, args []word) {
	if len(args) == 0 || args[0].text == "-" {
		if host := v.sender(); host != "" {
			v.opaque("this runs what %s sends, unseen", host)
			return
		}
		v.opaque("%s runs its input, which was not checked", name)
		return
	}
	v.opaque("%s runs %s, which was not checked", name, join(args))
}

// sender returns the host from which the preceding command downloads, "" if there is none.
func (v *visitor) sender() string {
	for _, c := range slices.Backward(v.s.Commands) {
		switch name, _ := c.Program(); name {
		case "curl", "wget", "fetch", "http", "https":
		default:
			continue
		}
		for _, w := range c.Argv[1:] {
			if u, err := url.Parse(w.Text); err == nil && w.Known && u.Host != "" {
				return u.Host
			}
		}
	}
	return ""
}

// parse returns text parsed, or nil if it can't be.
func (v *visitor) parse(text string) (file *syntax.File) {
	if *v.left -= len(text); *v.left < 0 {
		v.opaque("it is longer than %d bytes", maxBytes)
		return nil
	}
	if problem := strange(text); problem != "" {
		v.opaque("%s", problem)
	}
	if nests(text) > maxNests {
		v.opaque("it is nested too deep")
		return nil
	}
	defer func() {
		if recover() != nil { // a panic of the parser must not end the program
			v.opaque("it can't be parsed")
			file = nil
		}
	}()
	v.src = text
	file, err := syntax.NewParser(syntax.Variant(v.lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		v.opaque("it can't be parsed")
	}
	return file
}

// text reads a script inside the script, which command would run.
func (v *visitor) text(text, command string) { v.script(text, command, v.lang, v.again) }

// script is text for a script in another language, which may have been read
// before.
func (v *visitor) script(text, command string, lang syntax.LangVariant, again bool) {
	v.lower(engine.Readable, "%s runs a script of its own", command)
	in := *v
	in.inside, in.depth, in.lang, in.again = command, v.depth+1, lang, again
	if in.deep() {
		return
	}
	if file := in.parse(text); file != nil {
		in.stmts(file.Stmts)
	}
	v.dirs = in.dirs
}

// deep reports whether v is nested too deep.
func (v *visitor) deep() bool {
	if v.depth > maxDepth {
		v.opaque("it is nested too deep")
		return true
	}
	return false
}

// written returns the source of a node, on one line.
func (v *visitor) written(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from >= to || to > uint(len(v.src)) {
		return "?"
	}
	return text.Words(v.src[from:to])
}

// Facts returns the book's facts about the program of c.
func Facts(c engine.Command) engine.Facts {
	name, _ := c.Program()
	p := program.Find(name)
	takes := p.Is(program.Changes) || p.Is(program.Removes)
	return engine.Facts{Writes: takes || p.Is(program.Writes), ModifiesOperands: takes &&
		(p.Grammar != "sed" || slices.ContainsFunc(c.Argv, func(w engine.Word) bool { return editsInPlace(w.Text) })),
		Broad: p.Is(program.Broad), Subcommands: p.Is(program.Commands), Runner: p.Is(program.Runner)}
}

// record adds a command to the list.
func (v *visitor) record(c engine.Command) {
	if len(v.s.Commands) >= maxCommands {
		v.opaque("it holds more than %d commands", maxCommands)
		return
	}
	if v.again && slices.ContainsFunc(v.s.Commands, func(told engine.Command) bool {
		return told.Wrapper == c.Wrapper && told.String() == c.String() && slices.Equal(told.Argv, c.Argv)
	}) {
		return // a second parse found the same command
	}
	c.Facts = Facts(c)
	v.s.Commands = append(v.s.Commands, c)
}

// write adds a path that is written to.
func (v *visitor) write(w word) {
	v.lower(engine.Readable, "it writes to %s", w.text)
	v.note(w)
}

// note adds a path that a program is meant to write to.
func (v *visitor) note(w word) {
	dirs := v.dirs
	if !w.known || strings.HasPrefix(w.text, "/") {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := w.text
		if dir != "" {
			path = strings.TrimSuffix(dir, "/") + "/" + path
		}
		if !slices.Contains(v.s.Writes, path) {
			v.s.Writes = append(v.s.Writes, path)
		}
	}
}

// enterDir adds a possible directory of later commands.
func (v *visitor) enterDir(w word) {
	const most = 8
	if !w.known || w.text == "-" || strings.HasPrefix(w.text, "+") || v.loop || len(v.dirs) >= most {
		v.leaveDir()
		return
	}
	for _, dir := range slices.Clone(v.dirs) {
		if dir != "" && !strings.HasPrefix(w.text, "/") {
			dir = strings.TrimSuffix(dir, "/") + "/" + w.text
		} else {
			dir = w.text
		}
		if !slices.Contains(v.dirs, dir) {
			v.dirs = append(v.dirs[:len(v.dirs):len(v.dirs)], dir)
		}
	}
}

// leaveDir makes the directory unknown.
func (v *visitor) leaveDir() {
	const somewhere = "(another directory)"
	if !slices.Contains(v.dirs, somewhere) {
		v.dirs = append(v.dirs[:len(v.dirs):len(v.dirs)], somewhere)
	}
}
