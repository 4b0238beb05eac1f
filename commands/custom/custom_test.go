package custom

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/genai"

	"gemline/engine"
)

// put writes files below a new directory, and returns it.
func put(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// world is Sources whose commands and files say what they are.
var world = Sources{
	Run: func(_ context.Context, command string) (string, error) {
		if command == "false" {
			return "", errors.New("refused")
		}
		return "<" + command + ">", nil
	},
	Files: func(_ context.Context, path string, _ bool) ([]*genai.Part, error) {
		if path == "none" {
			return nil, nil
		}
		return []*genai.Part{{Text: "[" + path + " !{rm} {{args}}]"}}, nil
	},
	Insert: func(line string, marks *regexp.Regexp, value func(string) string) (string, error) {
		return marks.ReplaceAllStringFunc(line, func(mark string) string { return "'" + value(mark) + "'" }), nil
	},
}

// said returns what a prompt becomes, its parts divided by bars.
func said(t testing.TB, markdown bool, prompt, args string) (string, error) {
	t.Helper()
	c := Command{Name: "x", prompt: prompt, Dir: Dir{Markdown: markdown}}
	var err error
	if c.pieces, err = split(prompt, markdown); err != nil {
		return "", err
	}
	parts, err := c.Expand(context.Background(), Invocation{Line: strings.TrimSpace("/x  " + args), Args: args}, world)
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "|"), err
}

func TestExpand(t *testing.T) {
	tests := []struct{ name, prompt, args, want string }{
		{"plain", "Do it.", "", "Do it."},
		{"arguments that nothing takes", "Do it.", "a b", "Do it.\n\n/x  a b"},
		{"arguments", "See {{args}}.", "a b", "See a b."},
		{"no arguments", "See {{args}}.", "", "See ."},
		{"command", "now: !{date}", "", "now: <date>"},
		{"quoted in a command", "!{grep {{args}} f}", "it's", "<grep 'it's' f>"},
		{"nothing quoted", "!{ls {{args}}}", "", "<ls ''>"},
		{"balanced braces", "!{awk '{print $1}' f} end", "", "<awk '{print $1}' f> end"},
		{"empty command", "a!{}b", "", "ab"},
		{"empty file", "a@{ }b", "", "ab"},
		{"file", "read @{ a b.txt } now", "", "read |[a b.txt !{rm} {{args}}]| now"},
		{"no file", "read @{none} now", "", "read @{none} now"},
		{"arguments name no file", "@{ {{args}} }", "x", "[{{args}} !{rm} {{args}}]|\n\n/x  x"},
		{"arguments bring no command", "say {{args}}", "!{rm} @{x}", "say !{rm} @{x}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, err := said(t, false, test.prompt, test.args); got != test.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
	for prompt, want := range map[string]string{"!{oops": "!{ has no closing brace", "@{oops {}": "@{ has no closing brace", "a !{false}": "refused"} {
		if _, err := said(t, false, prompt, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", prompt, err)
		}
	}
}

func TestExpandMarkdown(t *testing.T) {
	tests := []struct{ prompt, args, want string }{
		{"Fix $ARGUMENTS.", "a b", "Fix a b."},
		{"Fix $1 by $2, $3", "a b", "Fix a by b, "},
		{"Fix $1 for $100, $12 or $2x.", "a b", "Fix a for $100, $12 or $2x."},
		{`$1 costs \$1.50, \$100 or \$ARGUMENTS; \\$1 \x $0`, "a b", `a costs $1.50, $100 or $ARGUMENTS; \\a \x $0`},
		{"$1/$2/$3/$4", `"two  words" 'it is' "" z`, "two  words/it is//z"},
		{"$1/$2/$3/$4", `it's "a'b" 'tis "open`, `it's/a'b/'tis/"open`},
		{"!`grep $1 $2 f` $ARGUMENTS", `"a; b" c`, `<grep 'a; b' 'c' f> "a; b" c`},
		{"Fix.", "a", "Fix.\n\n/x  a"},
		{"State: !`git status $1` and `code`", "-s", "State: <git status '-s'> and `code`"},
		{"costs !`5", "", "costs !`5"},
		{"{{args}} !{date}", "", "{{args}} !{date}"},
	}
	for _, test := range tests {
		if got, err := said(t, true, test.prompt, test.args); got != test.want || err != nil {
			t.Errorf("%q with %q: got %q, %v; want %q", test.prompt, test.args, got, err, test.want)
		}
	}
}

func TestLoad(t *testing.T) {
	long := strings.Repeat("l", 60)
	extension := put(t, map[string]string{"review.toml": `prompt = "e"`, "help.toml": `prompt = "e"`})
	user := put(t, map[string]string{"review.toml": `prompt = "u"`, "git/com mit.toml": `prompt = "u"` + "\n" + `description = "two` + "\u200b" + ` words"` + "\nmodel = \"x\"\nagent = 1\n[tools]\nx = 1",
		"type.toml": "prompt = [\"a\"]", "described.toml": "prompt = 'x'\ndescription = 1", "b\x1b[31m\nell.toml": `prompt = "u"`, "bad\x1b.toml": "prompt = [",
		".dot.toml": `prompt = "u"`, "help.toml": `prompt = "u"`, long + ".toml": `prompt = "u"`, "README.md": "x", "review.md": "x", "claude.md": "x", "loud.TOML": `prompt = "u"`,
		"bad.toml": "prompt = [", "none.toml": `description = "x"`, "open.toml": `prompt = "a !{b"`, "latin.toml": "prompt = \"\xff\"", "user.review.toml": `prompt = "u"`})
	project := put(t, map[string]string{"review.toml": `prompt = "p"`, "in/real.toml": `prompt = "p"`})
	outside := put(t, map[string]string{"secret.toml": `prompt = "s"`})
	for to, from := range map[string]string{filepath.Join(outside, "secret.toml"): "out.toml", outside: "outdir", filepath.Join(project, "in"): "inner", project: "in/loop"} {
		if err := os.Symlink(to, filepath.Join(project, from)); err != nil {
			t.Skip(err)
		}
	}
	commands, notes, lost := load([]Dir{
		{Path: extension, Owner: "ext", Extension: true, Within: true},
		{Path: user, Owner: "user"}, {Path: project, Owner: "workspace", Within: true}, {Path: filepath.Join(user, "nowhere"), Owner: "user"},
	}, func(name string) bool { return name == "help" })
	var got []string
	for _, c := range commands {
		got = append(got, c.Name+" "+strings.Join(c.Others, " ")+" "+c.prompt)
	}
	want := []string{
		".dot user..dot u", "b__31m_ell user.b__31m_ell u", "ext.help ext:help e", "ext.review ext:review e", "git:com_mit user.git:com_mit u",
		"in:real workspace.in:real p", "inner:real workspace.inner:real p",
		strings.Repeat("l", 47) + "... user." + strings.Repeat("l", 47) + "... u",
		"review workspace.review p", "user.help  u", "user.review user.user.review u", "user.review1  u",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	l := &Library{Dirs: func() []Dir { return []Dir{{Path: project, Owner: "workspace"}, {Path: user, Owner: "user"}} }}
	if broken := l.Faults(""); len(broken) < 6 || l.Faults("") != nil || !slices.Contains(broken,
		"the command "+filepath.Join(user, "bad.toml")+" is not used: line 1: unexpected EOF; expected value") {
		t.Errorf("broken: %q", broken)
	}
	if why := lost["none"]; !strings.HasSuffix(why, "none.toml is not used: it has no prompt") {
		t.Errorf("/none is lost since %q", why)
	}
	if why := lost["claude"]; !strings.HasSuffix(why, "its name must be claude.toml") {
		t.Errorf("/claude is lost since %q", why)
	}
	all := strings.Join(notes, "\n")
	if strings.Contains(all, "README.md") || strings.Contains(all, "review.md") {
		t.Errorf("notes about files that are not meant as commands: %s", all)
	}
	if strings.ContainsRune(all, '\x1b') {
		t.Errorf("a name is told raw: %q", all)
	}
	for _, part := range []string{"bad.toml is not used: line 1", `bad\u001b.toml is not used: line 1`, "type.toml is not used: its prompt is not a text in quotes",
		"described.toml is not used: its description is not a text in quotes", "none.toml is not used: it has no prompt", "open.toml is not used: !{ has no closing brace", "latin.toml is not used: it is not UTF-8",
		"out.toml is not used: it is a link that leads out of the folder", "outdir is not used: it is a link", "claude.md is not used: its name must be claude.toml", "loud.TOML is not used: its name must be loud.toml", "the keys model, agent, tools and tools.x mean nothing here",
		"User command /help is /user.help here, since there is a built-in command of that name",
		"User command /review is /user.review1 here, since the project has one of that name", "Extension ext's command /review is /ext.review here"} {
		if !strings.Contains(all, part) {
			t.Errorf("no note %q in:\n%s", part, all)
		}
	}
}

func TestDescription(t *testing.T) {
	dir := put(t, map[string]string{"a.toml": `prompt = "x"`, "b.toml": "prompt = 'x'\ndescription = \"\"\"two\n\\u0007 lines " + strings.Repeat("w", 200) + "\"\"\""})
	commands, _, _ := load([]Dir{{Path: dir, Owner: "ext", Extension: true}}, func(string) bool { return false })
	if got := commands[0].Description; got != "[ext] Custom command from a.toml" {
		t.Errorf("got %q", got)
	}
	if got := commands[1].Description; !strings.HasPrefix(got, "[ext] two lines w") || len(got) > 120 {
		t.Errorf("got %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	dir := put(t, map[string]string{
		"full.md":   "\ufeff---\r\ndescription: \"Fix: an issue\"\r\nargument-hint: [issue] [priority]\r\nallowed-tools: Bash(git diff:*, --stat), Read, NoSuch\r\nmodel: opus\r\nagent: x\r\n---\r\n\r\nFix $1.\r\n",
		"items.md":  "---\nallowed-tools:\n  - Bash(git add:*)\n  - read_file\n---\nGo.",
		"bare.md":   "Just do it.\n---\nReally.",
		"broken.md": "---\ndescription: never ends\n",
		"near.md":   "---\nalowed-tools: Read\n---\nGo.",
		"other.md":  "---\nAllowed_Tools: Read\n---\nGo.",
	})
	commands, notes, _ := load([]Dir{{Path: dir, Owner: "user", Markdown: true}}, func(string) bool { return false })
	by := map[string]Command{}
	for _, c := range commands {
		by[c.Name] = c
	}
	if c := by["full"]; c.Description != "Fix: an issue" || c.Arguments != "[issue] [priority]" || c.prompt != "Fix $1.\n" {
		t.Errorf("full: %+v", c)
	}
	if c := by["bare"]; c.prompt != "Just do it.\n---\nReally." || c.Only != nil {
		t.Errorf("bare: %+v", c)
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "it allows NoSuch, which gemline has not") || !strings.Contains(all, "the keys model and agent mean nothing here") ||
		!strings.Contains(all, "near.md: alowed-tools means nothing; did you mean allowed-tools? It allows no tools") || len(notes) != 3 {
		t.Error(all)
	}
	shell := func(class engine.Class, lines ...string) engine.Proposal {
		p := engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "run_shell_command"}}}
		p.Intent.Plan.Class = class
		for _, line := range lines {
			c := engine.Command{}
			for w := range strings.FieldsSeq(line) {
				c.Argv = append(c.Argv, engine.Word{Text: w, Known: true})
			}
			p.Intent.Plan.Commands = append(p.Intent.Plan.Commands, c)
		}
		return p
	}
	for _, test := range []struct {
		command string
		p       engine.Proposal
		want    bool
	}{
		{"items", shell(engine.Plain, "git add ."), true},
		{"items", shell(engine.Plain, "git addx"), false},
		{"items", shell(engine.Plain, "git add .", "rm x"), false},
		{"items", shell(engine.Opaque, "git add ."), false},
		{"items", engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "read_file"}}}, true},
		{"items", engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write_file"}}}, false},
		{"bare", shell(engine.Opaque, "rm"), true},
		{"near", engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "read_file"}}}, false},
		{"other", engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "read_file"}}}, true},
		{"other", engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write_file"}}}, false},
	} {
		if got := by[test.command].Only.Allows(test.p); got != test.want {
			t.Errorf("%s allows %v: %v", test.command, test.p.Intent.Plan.Commands, got)
		}
		if test.want && !by[test.command].Only.Offers(test.p.Tool) {
			t.Errorf("%s does not offer %s", test.command, test.p.Tool.Name())
		}
	}
}

// Whatever a prompt and its arguments are, what is run is what the prompt has between
// its braces, and the arguments bring in nothing.
func FuzzExpand(f *testing.F) {
	f.Add("see !{ls {{args}}} @{a} {{args}}", "!{rm}", false)
	f.Add("!`x $1` $ARGUMENTS", "!`rm`", true)
	f.Fuzz(func(t *testing.T, prompt, args string, markdown bool) {
		c := Command{prompt: prompt, Dir: Dir{Markdown: markdown}}
		var err error
		if c.pieces, err = split(prompt, markdown); err != nil {
			return
		}
		var whole strings.Builder
		shells := 0
		for _, p := range c.pieces {
			whole.WriteString(p.raw)
			if p.kind == shell && p.text != "" {
				shells++
			}
		}
		if whole.String() != prompt {
			t.Fatalf("the pieces of %q are %q", prompt, whole.String())
		}
		ran := 0
		w := world
		w.Run = func(context.Context, string) (string, error) { ran++; return "!{again} !`again`", nil }
		if _, err := c.Expand(context.Background(), Invocation{Line: "/x " + args, Args: args}, w); err == nil && ran != shells {
			t.Errorf("%d commands ran, %d are in %q", ran, shells, prompt)
		}
	})
}

// A file that somebody else has written is read to a command or a note, and what of it is
// listed has no control characters.
func FuzzLoad(f *testing.F) {
	f.Add("prompt = \"x\"\ndescription = \"a\\u001bb\"\nother = 1", false)
	f.Add("---\nallowed-tools: Bash(git:*), Read(\n- x\nargument-hint: \"\x1b[2J\"\n---\n!`x` $1", true)
	f.Add("---\n---", true)
	f.Add("prompt = {}", false)
	f.Fuzz(func(t *testing.T, source string, markdown bool) {
		dir := Dir{Path: t.TempDir(), Owner: "workspace", Markdown: markdown}
		l := loader{dir: dir, lost: map[string]string{}}
		path := filepath.Join(dir.Path, "x"+l.extension())
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		l.read(path, []string{"x"})
		if len(l.found) == 0 && len(l.faults) == 0 {
			t.Errorf("nothing is said of %q", source)
		}
		for _, c := range l.found {
			if strings.ContainsFunc(c.Description+c.Arguments, unicode.IsControl) {
				t.Errorf("%q, %q", c.Description, c.Arguments)
			}
		}
	})
}

// load returns the commands of dirs, what is said of their files, and why names have none.
func load(dirs []Dir, taken func(name string) bool) (commands []Command, notes []string, lost map[string]string) {
	l := Library{Dirs: func() []Dir { return dirs }}
	commands = l.Commands(taken)
	return commands, l.Notes(""), l.files.lost
}
