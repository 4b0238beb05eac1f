package markdown

import "strings"

// A syntax describes the coloured parts of code, for a family of languages.
type syntax struct {
	names string // of the languages
	line  string // begins a comment up to the end of the line
	open  string // begins a comment up to close
	close string
	quote string // characters around strings of one line
	long  string // around strings of several lines
	words string // the key words
}

// syntaxes has the most common languages of models. Code in other languages has one colour.
var syntaxes = []syntax{
	{"go", "//", "/*", "*/", `"`, "`",
		"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota"},
	{"c c++ objective-c", "//", "/*", "*/", `"`, "",
		"auto bool break case catch char class const constexpr continue default delete do double else enum extern false float for goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while"},
	{"java kotlin c# scala swift dart groovy", "//", "/*", "*/", `"`, `"""`,
		"abstract as async await boolean break byte case catch char class const continue data def default do double else enum extends false final finally float for fun func guard if implements import in init int interface internal is let long match namespace new null object open override package private protected public readonly return sealed short static string struct super switch this throw throws trait true try typealias using val var void when where while with yield"},
	{"javascript typescript jsx tsx", "//", "/*", "*/", `"'`, "`",
		"any as async await boolean break case catch class const continue debugger default delete do else enum export extends false finally for from function if implements import in instanceof interface keyof let new null number of private public readonly return static string super switch this throw true try type typeof undefined var void while yield"},
	{"rust zig", "//", "/*", "*/", `"`, "",
		"as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while"},
	{"php", "// #", "/*", "*/", `"'`, "",
		"abstract as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements interface match namespace new null private protected public readonly return static switch this throw trait true try use var while"},
	{"python", "#", "", "", `"'`, `""" '''`,
		"and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield"},
	{"ruby elixir", "#", "", "", `"'`, "",
		"alias and begin break case class def defmodule do else elsif end ensure false fn for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield"},
	{"sh fish", "#", "", "", `"'`, "",
		"case do done elif else esac export fi for function if in local return select set then until while"},
	{"powershell", "#", "<#", "#>", `"'`, "",
		"begin break catch continue do else elseif end exit filter finally for foreach function if in param process return switch throw try until while"},
	{"perl r julia", "#", "", "", `"'`, "",
		"and begin do else elsif end eq for foreach function if last local module my ne next no not or our package return struct sub then unless use using while"},
	{"sql", "--", "/*", "*/", `'"`, "",
		"add all alter and as asc begin between by case commit create cross default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with"},
	{"lua haskell", "--", "", "", `"'`, "",
		"and break case class data deriving do else elseif end false for function goto if import in infix instance let local module newtype nil not of or repeat return then true type until where while"},
	{"yaml toml ini dockerfile makefile terraform nix conf properties", "#", "", "", `"'`, `"""`,
		"true false null yes no FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR EXPOSE ARG ADD USER VOLUME resource variable output module provider"},
	{"json jsonc json5", "//", "/*", "*/", `"`, "", "true false null"},
	{"css scss less", "//", "/*", "*/", `"'`, "", "important"},
	{"html xml svg", "", "<!--", "-->", `"`, "", ""},
}

// A lexer finds the coloured parts of code, line by line.
type lexer struct {
	syntax
	known map[string]bool // its key words
	diff  bool
	end   string // the end of an open string or comment
	style Style  // of the open string or comment
}

// newLexer returns a lexer of a language, or nil if the language is unknown.
func newLexer(language string) *lexer {
	language = oneName(language)
	if language == oneName("diff") {
		return &lexer{diff: true}
	}
	for _, s := range syntaxes {
		for name := range strings.FieldsSeq(s.names) {
			if oneName(name) != language {
				continue
			}
			l := &lexer{syntax: s, known: map[string]bool{}}
			for word := range strings.FieldsSeq(s.syntaxWords()) {
				l.known[word] = true
			}
			return l
		}
	}
	return nil
}

// syntaxWords returns the key words, also in capitals where that is common.
func (s *syntax) syntaxWords() string {
	if s.names == "sql" {
		return s.words + " " + strings.ToUpper(s.words)
	}
	return s.words
}

// maxLexed is the length of the longest coloured line.
const maxLexed = 1000

// read passes the parts of a line to put, in order.
func (l *lexer) read(line string, put func(Style, string)) {
	switch {
	case l.diff:
		put(diffStyle(line), line)
		return
	case len(line) > maxLexed:
		put(Plain, line)
		return
	}
	bare := 0 // the start of text without a colour
	for i := 0; i < len(line); {
		style, n := l.token(line, i)
		if style != Plain {
			put(Plain, line[bare:i])
			put(style, line[i:i+n])
			bare = i + n
		}
		i += n
	}
	put(Plain, line[bare:])
}

// token returns the style and the length of the token at line[i].
func (l *lexer) token(line string, i int) (Style, int) {
	rest := line[i:]
	if l.end != "" {
		return l.style, l.goOn(rest, 0)
	}
	for mark := range strings.FieldsSeq(l.syntax.line) {
		if strings.HasPrefix(rest, mark) && (mark != "#" || i == 0 || blank(line[i-1])) {
			return Comment, len(rest)
		}
	}
	if l.open != "" && strings.HasPrefix(rest, l.open) {
		l.end, l.style = l.close, Comment
		return Comment, l.goOn(rest, len(l.open))
	}
	for mark := range strings.FieldsSeq(l.long) {
		if strings.HasPrefix(rest, mark) {
			l.end, l.style = mark, String
			return String, l.goOn(rest, len(mark))
		}
	}
	c := rest[0]
	switch {
	case strings.IndexByte(l.quote, c) >= 0:
		if n := quoted(rest); n > 0 {
			return String, n
		}
		return Plain, 1
	case digit(c):
		return Number, 1 + wordLength(rest[1:], ".")
	}
	n := wordLength(rest, "")
	if n > 0 && l.known[rest[:n]] {
		return Keyword, n
	}
	return Plain, max(1, n)
}

// goOn returns how much of s belongs to the open string or comment, which began within the first n
// bytes or earlier.
func (l *lexer) goOn(s string, n int) int {
	i := strings.Index(s[n:], l.end)
	if i < 0 {
		return len(s)
	}
	n += i + len(l.end)
	l.end = ""
	return n
}

// quoted returns the length of the string at the start of s, or 0 if it does not end.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// wordLength returns the length of the name or number at the start of s.
func wordLength(s, more string) int {
	for i := range len(s) {
		c := s[i]
		if !letter(c) && !digit(c) && c != '_' && c < 0x80 && strings.IndexByte(more, c) < 0 {
			return i
		}
	}
	return len(s)
}

// diffStyle returns the style of a line of a diff.
func diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "@@"):
		return Hunk
	case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "diff "):
		return Title
	case strings.HasPrefix(line, "+"):
		return Added
	case strings.HasPrefix(line, "-"):
		return Removed
	}
	return Plain
}
