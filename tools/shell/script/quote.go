package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Quote returns s as one word that every POSIX shell reads as s, wherever it
// stands. A NUL can't be in a word; s is cut there.
func Quote(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	if s != "" && !reserved[s] && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// argument is [Quote] for words after the first, where = is not special.
func argument(s string) string {
	if s != "" && !reserved[s] && strings.IndexFunc(s, func(r rune) bool { return r != '=' && special(r) }) < 0 {
		return s
	}
	return Quote(s)
}

func special(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
		r == '_', r == '-', r == '.', r == '/', r == ':', r == ',', r == '@', r == '%', r == '+':
		return false
	}
	return true
}

// reserved are the shell's reserved words without special characters.
var reserved = map[string]bool{"if": true, "then": true, "elif": true, "else": true, "fi": true, "for": true,
	"while": true, "until": true, "do": true, "done": true, "case": true, "esac": true, "in": true,
	"function": true, "select": true, "time": true, "coproc": true, "foreach": true, "end": true, "repeat": true, "nocorrect": true}

// canonical returns file as a plain script, if it is one.
func canonical(file *syntax.File) (string, bool) {
	var w writer
	w.Grow(int(file.End().Offset() - file.Pos().Offset()))
	for i, s := range file.Stmts {
		if i > 0 {
			w.WriteString("; ")
		}
		if !w.plain(s, 0) {
			return "", false
		}
	}
	return w.String() + w.documents, true
}

// A writer writes a plain script.
type writer struct {
	strings.Builder
	documents string // the here-documents, which follow the line
}

// operators may stand between the commands of a plain script.
var operators = map[syntax.BinCmdOperator]string{syntax.AndStmt: " && ", syntax.OrStmt: " || ", syntax.Pipe: " | "}

// plain writes s, if it is plain.
func (b *writer) plain(s *syntax.Stmt, depth int) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || depth > maxCommands {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 {
			return false
		}
		words := make([]string, len(cmd.Args))
		for i, w := range cmd.Args {
			word := literal(w)
			if !word.known {
				return false
			}
			words[i] = word.text
		}
		b.WriteString(Quote(words[0]))
		for _, word := range words[1:] {
			b.WriteString(" " + argument(word))
		}
	case *syntax.BinaryCmd:
		op, ok := operators[cmd.Op]
		// A list of commands is written flat: the shell groups it like the original.
		if !ok || len(s.Redirs) > 0 || !b.plain(cmd.X, depth+1) {
			return false
		}
		b.WriteString(op)
		return b.plain(cmd.Y, depth+1)
	default:
		return false
	}
	for _, r := range s.Redirs {
		text, ok := harmless(r)
		if body, is := document(r); is {
			end := literal(r.Word).text
			text, ok = "<<'"+end+"'", true
			b.documents += "\n" + body + end
		}
		if !ok {
			return false
		}
		b.WriteString(" " + text)
	}
	return true
}

// harmless returns a redirection that only joins the standard outputs or
// leads to /dev/null.
func harmless(r *syntax.Redirect) (string, bool) {
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	if fd != "" && fd != "0" && fd != "1" && fd != "2" || r.Word == nil {
		return "", false
	}
	w := literal(r.Word)
	if !w.known {
		return "", false
	}
	switch r.Op {
	case syntax.DplOut:
		return fd + ">&" + w.text, (w.text == "1" || w.text == "2") && fd != "0"
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		return fd + ">/dev/null", w.text == "/dev/null" && fd != "0"
	case syntax.RdrAll, syntax.AppAll:
		return ">/dev/null 2>&1", w.text == "/dev/null" && fd == ""
	case syntax.RdrIn:
		return "</dev/null", w.text == "/dev/null" && (fd == "" || fd == "0")
	}
	return "", false
}
