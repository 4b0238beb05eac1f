package program

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// interpreters maps programs that run code from an argument to the letters of the options
// before such an argument.
var interpreters = sync.OnceValue(func() map[string]string {
	const lines = `c sh bash zsh dash ash ksh mksh fish xonsh nu su script powershell pwsh python pypy
		ck cmd
		ep node bun tsx
		e deno ruby lua osascript Rscript
		eE perl julia
		rBRE php`
	all := map[string]string{}
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, name := range words[1:] {
			all[name] = words[0]
		}
	}
	return all
})

// longOptions are long options of interpreters whose value is code.
var longOptions = []string{"eval", "print", "command", "call", "run", "commands"}

// Programs returns the indices of the words of a command that a program runs as code, such
// as the word behind sh -c. No value may be filled in there, as it would run. Wrappers such
// as env and docker may precede the program.
func Programs(words []string) (indices []int) {
	letters, whole := "", false // whole: all that follows
	wants := false
	for i, w := range words {
		name := path.Base(strings.ReplaceAll(w, `\`, "/"))
		name = strings.TrimSuffix(strings.TrimRight(name, "0123456789."), ".exe")
		word := strings.TrimLeft(w, "-/")
		option := word != "" && (strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") && letters == "ck") // cmd /c
		switch is, ok := interpreters()[name]; {
		case w == "--", w == "-" && wants:
		case wants && (!option || whole):
			indices, wants = append(indices, i), whole
		case ok && !option:
			letters, whole = is, false
		case letters == "" || !option:
			if i > 0 && !strings.HasPrefix(words[i-1], "-") { // a script file, and its arguments
				letters = ""
			}
		case slices.Contains(longOptions, strings.ToLower(word)):
			wants = true
			whole = !strings.HasPrefix(w, "--") // as in PowerShell
		case slices.ContainsFunc(longOptions, func(o string) bool { return strings.HasPrefix(word, o+"=") }):
			indices = append(indices, i)
		case strings.HasPrefix(w, "/"):
			wants = strings.ContainsAny(strings.ToLower(word), letters) && len(word) == 1
			whole = wants
		case !strings.HasPrefix(w, "--"):
			at := strings.IndexAny(word, letters)
			wants = wants || at >= 0         // as in sh -c -e TEXT
			if at >= 0 && at < len(word)-1 { // the value may be in the option's word
				indices = append(indices, i)
			}
		}
	}
	return indices
}

// IsPlain reports whether text stays part of one word wherever it is filled in: none of its
// characters is special in a shell, a language or a list of options.
func IsPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune("/._-+:=@~,"+string(filepath.Separator), r)
	})
}

// CodeWords returns for each word of a command whether it may be code or a command line, as far
// as the book knows.
func CodeWords(words []string) []bool {
	texts := make([]bool, len(words))
	var before []*Program
	language := false
	for i, word := range words {
		texts[i] = language || slices.ContainsFunc(before, func(p *Program) bool {
			return p.runs(words[i-1], false) || p.runs(word, true)
		})
		p := Find(path.Base(strings.ReplaceAll(word, `\`, "/")))
		language = language || p.Is(Launches) || p.Is(Language) || slices.Contains(p.Usage, "SCRIPT") || slices.Contains(p.Usage, "[-c]")
		if len(p.Options) > 0 && !slices.Contains(before, p) {
			before = append(before, p)
		}
	}
	return texts
}

// runs reports whether a word may be an option whose value, in the word or behind it, is run.
func (p *Program) runs(word string, inside bool) bool {
	for option := range p.Matching(word) {
		if option.Effect == Runs && option.Inside == inside {
			return true
		}
	}
	return false
}
