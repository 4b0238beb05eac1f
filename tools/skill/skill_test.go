package skill

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant makes files below a fresh directory.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// What people's documentation shows as skills is read as it stands.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, source, skill, description, body, wrong string }{
		{"Anthropic's", "---\nname: pdf\ndescription: Extract text and tables from PDF files, fill forms. Use when working with PDFs.\nlicense: Proprietary. LICENSE.txt has complete terms\nallowed-tools: Read, Bash(python:*)\nmetadata:\n  version: 1.0\n---\n\n# PDF\nSee [reference.md](reference.md).\n",
			"pdf", "Extract text and tables from PDF files, fill forms. Use when working with PDFs.", "# PDF\nSee [reference.md](reference.md).", ""},
		{"Google's", "---\nname: code-reviewer\ndescription:\n  Use this skill to review code. It supports both local changes\n  and remote Pull Requests.\n---\n\n# Code Reviewer\n",
			"code-reviewer", "Use this skill to review code. It supports both local changes and remote Pull Requests.", "# Code Reviewer", ""},
		{"folded", "---\nname: a\ndescription: >\n  one\n  two\n---\nx", "a", "one two", "x", ""},
		{"literal, Windows", "\ufeff---\r\nname: a\r\ndescription: |\r\n  one\r\n  two\r\n---\r\nx\r\n", "a", "one\ntwo", "x", ""},
		{"a colon", "---\nname: a\ndescription: Use it: always\n  and more: too\nother: [\n---\nx", "a", "Use it: always and more: too", "x", ""},
		{"quotes beside what is no YAML", "---\nname: \"a\"\ndescription: 'Use: it'\nother: [\n---\nx", "a", "Use: it", "x", ""},
		{"very long", "---\nname: a\ndescription: " + strings.Repeat("x", maxFront) + "\n---\nx", "", "", "", "its front matter is too long"},
		{"quotes", "---\nname: 'a: b'\ndescription: \"x\"\n---", "a- b", "x", "", ""},
		{"a path", "---\nname: ../a/b\ndescription: x\n---", "..-a-b", "x", "", ""},
		{"a number", "---\nname: 7\ndescription: x\n---", "7", "x", "", ""},
		{"no name", "---\ndescription: x\n---", "", "x", "", ""},
		{"a list", "---\nname: [a]\ndescription: x\n---", "", "x", "", ""},
		{"nothing", "", "", "", "", "it does not begin with ---"},
		{"no front matter", "# A\n", "", "", "", "it does not begin with ---"},
		{"no end", "---\nname: a\n", "", "", "", "and another ---"},
		{"an alias bomb", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\nname: a\ndescription: x\n---", "a", "x", "", ""},
	} {
		h, err := parse(c.source)
		if err != nil || c.wrong != "" {
			if c.wrong == "" || err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v; want %q", c.name, err, c.wrong)
			}
			continue
		}
		if h.name != c.skill || h.description != c.description || strings.TrimSpace(h.body) != c.body {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
}

// FuzzParse shows that a name of a skill leads nowhere, whatever a file says.
func FuzzParse(f *testing.F) {
	f.Add("---\nname: a/../b\ndescription: x\n---\nbody")
	f.Add("---\nname: : \ndescription: {\n---")
	f.Fuzz(func(t *testing.T, source string) {
		if h, err := parse(source); err == nil && strings.ContainsAny(h.name, `/\:`) {
			t.Errorf("%q: %q", source, h.name)
		}
	})
}

// Of those of one name the later one counts, and what can't be used is a note.
func TestLoad(t *testing.T) {
	top := plant(t, map[string]string{
		"user/a/SKILL.md":     "---\nname: a\ndescription: user's ${x}\n---\nBody ${x}",
		"user/b/SKILL.md":     "---\nname: b\n---",
		"user/c/README.md":    "",
		"user/loose.md":       "", // beside the folder's own SKILL.md
		"ours/d/skill.md":     "---\nname: d\ndescription: small letters\n---",
		"ours/loose.md":       "---\nname: loose\ndescription: without a folder\n---",
		"ours/skill.md":       "", // named once
		"ours/gone/other":     "",
		"ours/README.md":      "",
		"user/named/SKILL.md": "---\nname: [a]\ndescription: by its folder\n---",
		"user/SKILL.md":       "---\nname: direct\ndescription: itself\n---",
		"ours/x/SKILL.md":     "---\nname: A\ndescription: ours\n---",
		"ours/s/SKILL.md":     "---\nname: skill-creator\ndescription: in the place of the program's\n---",
		"away/SKILL.md":       "---\nname: away\ndescription: elsewhere\n---",
		"ours/up/SKILL.md":    "---\nname: ..\ndescription: in the place of all\n---",
		"ours/here/SKILL.md":  "---\nname: .\ndescription: likewise\n---",
		"ours/bell/SKILL.md":  "---\nname: \"a\\u001b[2J\"\ndescription: rings\n---",
	})
	if err := os.Symlink(filepath.Join(top, "away"), filepath.Join(top, "ours", "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(top, "ours", "gone", FileName)); err != nil {
		t.Fatal(err)
	}
	fill := func(s string) string { return strings.ReplaceAll(s, "${x}", "FILLED") }
	dirs := []Dir{{Path: filepath.Join(top, "none")}, {Path: "relative"}, {Path: filepath.Join(top, "user"), Source: User, Fill: fill}, {Path: filepath.Join(top, "ours"), Source: Workspace, Within: true}}
	list, notes := load(dirs)
	var got []string
	for _, s := range list {
		got = append(got, s.Name+": "+s.Description)
	}
	if want := "A: ours|direct: itself|named: by its folder|skill-creator: in the place of the program's"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	all := strings.Join(notes, "\n")
	for _, want := range []string{"b/SKILL.md is not used: its front matter has no description", "leads out of the folder", "the skill A in", "is not a short line of text", `up/SKILL.md is not used: the name ".." is no name of a folder`, "here/SKILL.md is not used", "named/SKILL.md: its name is no text; it has that of its folder",
		"ours/d/skill.md is not used: its file must be called SKILL.md", "ours/loose.md is not used: a skill is a folder with a file SKILL.md", "ours/skill.md is not used: its file must be called SKILL.md"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if len(notes) != 10 {
		t.Errorf("%q", notes)
	}
	own, _ := load(dirs[2:3])
	if body, err := own[0].Read(); err != nil || body != "Body FILLED" || own[0].Description != "user's FILLED" {
		t.Errorf("%q %v", body, err)
	}
	if tree, n := own[0].Tree(); n != 1 || !strings.HasSuffix(tree, "a/\n  SKILL.md\n") {
		t.Errorf("%q", tree)
	}
	for _, name := range []string{".git", "node_modules/x", "z/y"} { // the first is a file in a worktree
		at := filepath.Join(own[0].Folder(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if tree, n := own[0].Tree(); n != 3 || !strings.HasSuffix(tree, "a/\n  SKILL.md\n  z/\n    y\n") {
		t.Errorf("%q", tree)
	}
	if builtin, _ := load(nil); len(builtin) != 1 {
		t.Errorf("%v", builtin)
	} else if body, err := builtin[0].Read(); err != nil || !strings.Contains(body, "# Writing a skill") || builtin[0].Description == "" {
		t.Errorf("%v", err)
	}
}
