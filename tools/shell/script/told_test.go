package script

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
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
			if c.Inside != "" {
				b.WriteString(c.Inside + "> ")
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
