package script

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

var update = flag.Bool("update", false, "write what is told of the scripts in testdata/told.txt")

// testdata/told.txt holds scripts and what is told of each: its class, why that
// is no better, its commands, and behind an arrow what it writes. A script is a
// line behind $, or quoted behind $$. With -update the rest is written anew,
// and read by a person before it is kept.
func TestTold(t *testing.T) {
	const file = "testdata/told.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		script := ""
		switch {
		case strings.HasPrefix(line, "#"):
			b.WriteString("\n" + line)
			continue
		case strings.HasPrefix(line, "$$ "):
			if script, err = strconv.Unquote(strings.TrimSpace(line[3:])); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		case strings.HasPrefix(line, "$ "):
			script = strings.TrimSuffix(line[2:], "\n")
		default:
			continue
		}
		if seen[script] {
			t.Errorf("%s stands there twice", line)
		}
		seen[script] = true
		b.WriteString(line)
		s := Read(script)
		b.WriteString(s.Class.String())
		if s.Why != "" {
			b.WriteString(": " + s.Why)
		}
		b.WriteString("\n")
		for _, c := range s.Commands {
			b.WriteString("  ")
			if c.Wrapper != "" {
				b.WriteString(c.Wrapper + "> ")
			}
			for _, set := range c.Env {
				b.WriteString(strconv.Quote(set) + " ")
			}
			for i, w := range c.Argv {
				if i > 0 {
					b.WriteString(" ")
				}
				if !w.Known {
					b.WriteString("?")
				}
				if strings.ContainsAny(w.Text, " '\"") || w.Text == "" || strings.HasPrefix(w.Text, "?") || strings.ContainsFunc(w.Text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					b.WriteString(strconv.Quote(w.Text))
				} else {
					b.WriteString(w.Text)
				}
			}
			b.WriteString("\n")
		}
		for _, w := range s.Writes {
			b.WriteString("  -> " + w + "\n")
		}
		if canonical, ok := s.Canonical(); ok && canonical != script {
			b.WriteString("  = " + strings.ReplaceAll(canonical, "\n", `\n`) + "\n")
		}
	}
	got := strings.TrimPrefix(b.String(), "\n")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Error(diff)
	}
}

// What the book says of a command's program, and sed's options.
func TestFacts(t *testing.T) {
	for script, want := range map[string]engine.Facts{
		"cat a": {}, "x a": {}, "cp a b": {Writes: true}, "rm a": {Writes: true, ModifiesOperands: true, Broad: true}, "sed -n p a": {Writes: true, Broad: true},
		"sed -i p a": {Writes: true, ModifiesOperands: true, Broad: true}, "sed -nEi p a": {Writes: true, ModifiesOperands: true, Broad: true}, "sed --in-pl p a": {Writes: true, ModifiesOperands: true, Broad: true}, "sed --debug p -": {Writes: true, Broad: true},
		"git log": {Subcommands: true, Broad: true}, "python3 a.py": {Broad: true}, "npx a": {Broad: true, Runner: true},
	} {
		if got := Facts(Read(script).Commands[0]); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

// At a limit all is well, and one further it is opaque.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		at, over string
	}{
		{"bytes", strings.Repeat("a", maxBytes), strings.Repeat("a", maxBytes+1)},
		{"commands", strings.Repeat("a;", maxCommands), strings.Repeat("a;", maxCommands+1)},
		{"branches", "if a; then b; " + strings.Repeat("elif :; then :; ", 200) + "fi", "if a; then b; " + strings.Repeat("elif :; then :; ", maxCommands+2) + "fi"},
		{"depth", strings.Repeat("{ ", maxDepth) + "a" + strings.Repeat("; }", maxDepth), strings.Repeat("{ ", maxDepth+1) + "a" + strings.Repeat("; }", maxDepth+1)},
		{"commands that run others", strings.Repeat("sudo ", maxDepth) + "a", strings.Repeat("sudo ", maxDepth+1) + "a"},
		{"scripts in scripts", strings.Repeat("eval ", maxDepth/2) + "a", strings.Repeat("eval ", maxDepth/2+1) + "a"},
		{"brackets that the parser goes down into", "a '" + strings.Repeat("(", maxNests) + "'", "a '" + strings.Repeat("(", maxNests+1) + "'"},
		{"signs that the parser goes down into", "a '" + strings.Repeat("!", maxNests+1) + "'", "a '" + strings.Repeat("- ", maxNests+2) + "'"},
		{"signs apart", "a '" + strings.Repeat("!x", maxNests+2) + "'", "a '" + strings.Repeat("+!", maxNests) + "'"},
		{"signs and brackets", "a '" + strings.Repeat("-(", maxNests) + "'", "a '" + strings.Repeat("-(", maxNests+1) + "'"},
	} {
		if s := Read(c.at); s.Class == engine.Opaque {
			t.Errorf("%s: %s", c.name, s.Why)
		}
		if s := Read(c.over); s.Class != engine.Opaque || len(s.Commands) > maxCommands {
			t.Errorf("%s, one more: %s, %d commands", c.name, s.Class, len(s.Commands))
		}
	}
	if why := Read("a $x" + strings.Repeat("b", 100)).Why; !strings.HasSuffix(why, "bb") || strings.Contains(why, "\n") {
		t.Error(why)
	}
	if why := Read("a $x" + strings.Repeat("b", 133)).Why; !strings.HasSuffix(why, "bb") || len(why) != 160 {
		t.Error(why)
	}
	if why := Read("a $x" + strings.Repeat("b", 400)).Why; !strings.HasSuffix(why, "bb...") || len(why) != 163 {
		t.Error(why)
	}
	// What is nested side by side is not deep.
	if s := Read(strings.Repeat("(a);", 200) + strings.Repeat("${x:-b} ", 200) + strings.Repeat("$((1)) ", 200)); strings.Contains(s.Why, "deep") {
		t.Error(s.Why)
	}
	if s := Read(strings.Repeat("sudo a;", 200) + "[[ " + strings.Repeat("a && ", 90) + "b ]]"); strings.Contains(s.Why, "deep") {
		t.Error(s.Why)
	}
}

// A word is cut where no shell could go on.
func TestQuoteNUL(t *testing.T) {
	if got := Quote("a\x00b"); got != "a" {
		t.Error(got)
	}
}
