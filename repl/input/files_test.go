package input

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/tools/workspace"
)

// project makes a directory of files; a name that ends in a slash is a
// directory. The first file is the oldest.
func project(t testing.TB, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "/") {
			os.MkdirAll(path, 0o755)
			continue
		}
		text := "text of " + name
		if filepath.Base(name) == ".geminiignore" {
			text = "secret*\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		os.Chtimes(path, at, at)
	}
	return dir
}

func TestFiles(t *testing.T) {
	dir := project(t, ".geminiignore", "a.txt", "my file.txt", "src/b.txt", "src/c.go", "sub/deep/d.md", "sub/d.md", "secret.txt", ".env", ".git/config", "sub/server.key",
		"comma,name", "x!{evil}y.md", "bang!", "empty/",
		"app/[id]/p.tsx", "app/(group)/q.tsx", "foo?bar.txt", "r\u00e9sum\u00e9.txt", "d\u0065\u0301j\u0061\u0300/vu.txt", "Makefile", "src/OverrideTest.java")
	other := project(t, "there.txt")
	outside := project(t, "out.txt")
	if runtime.GOOS != "windows" {
		os.Symlink(filepath.Join(outside, "out.txt"), filepath.Join(dir, "link"))
		os.Symlink("a.txt", filepath.Join(dir, "inner"))
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir, other}, RespectGemini: true})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		line string
		read []string // relative to dir
		told string   // in a notice; none if empty
	}{
		{line: "hi"},
		{line: "@a.txt", read: []string{"a.txt"}},
		{line: "(@a.txt)", read: []string{"a.txt"}},
		{line: `see (@my\ file.txt), and @src plus @nothere.`,
			read: []string{"my file.txt", "src"}},
		{line: `@"my file.txt"`, read: []string{"my file.txt"}},
		{line: "@src/", read: []string{"src"}},
		{line: "@src/**", read: []string{"src"}},
		{line: "@."}, // a dot at the end belongs to the sentence
		{line: "@./src", read: []string{"src"}},
		{line: "@a.txt @a.txt", read: []string{"a.txt"}},
		{line: "@" + filepath.ToSlash(dir) + "/a.txt", read: []string{"a.txt"}},
		{line: "@" + filepath.ToSlash(dir) + "/src/*.txt", read: []string{"src/b.txt"}},
		{line: "@" + filepath.ToSlash(dir) + "/app/[id]/*.tsx", read: []string{"app/[id]/p.tsx"}},
		{line: "@" + filepath.ToSlash(outside) + "/*.txt", told: "no such file"},
		{line: "@none[*"},
		{line: "@lin*"},
		{line: "@inn*", read: []string{"inner"}},
		{line: "@**", read: []string{"."}},
		{line: "@" + strings.Repeat("x/", 3000)},
		{line: "see @a.txt" + strings.Repeat(")", 30), read: []string{"a.txt"}},
		{line: "@there.txt", read: []string{filepath.Join(other, "there.txt")}},
		{line: "@src/*.txt", read: []string{"src/b.txt"}},
		{line: "@s*/*.*d", read: []string{"sub/d.md"}},
		{line: "@s*/?.*", read: []string{"src/b.txt", "src/c.go", "sub/d.md"}, told: "3 files"},
		{line: "@**/*.md", read: []string{"sub/d.md", "sub/deep/d.md", "x!{evil}y.md"}, told: "3 files"},
		{line: "@none*"},
		{line: "@none*.md", told: "no such file"},
		{line: "@deep/d", read: []string{"sub/deep/d.md"}, told: "taken to mean sub/deep/d.md"},
		{line: "@d.md", read: []string{"sub/d.md"}, told: "the last changed of 2 files"},
		{line: `@comma\,name`, read: []string{"comma,name"}},
		{line: `\@a.txt`},
		{line: "me@a.txt", read: []string{"a.txt"}},
		{line: "me@example.org"},
		{line: "see @a.txt: it", read: []string{"a.txt"}},
		{line: "see @a.txt:12", read: []string{"a.txt"}},
		{line: "see @a.txt#L3-L5", read: []string{"a.txt"}},
		{line: "see '@a.txt' and @'a.txt'", read: []string{"a.txt"}},
		{line: "看（@a.txt）", read: []string{"a.txt"}},
		{line: "看@a.txt。", read: []string{"a.txt"}},
		{line: "“@a.txt”, @a.txt’s", read: []string{"a.txt"}},
		{line: "`@a.txt`", read: []string{"a.txt"}},
		{line: "@secret.txt", told: "an ignore file names it"},
		{line: "@.env", read: []string{".env"}}, // named by the user
		{line: "@.git/config", told: "must not be read"},
		{line: "@.env*", told: "@.env*: 1 left out that may hold secrets"},
		{line: "@a*", read: []string{"a.txt"}},
		{line: "@x/env.y", told: "no such file"}, // what is guessed is not named
		{line: "@server.ke", told: "no such file"},
		{line: "@" + filepath.ToSlash(outside) + "/out.txt", told: "not in the workspace"},
		{line: "@../" + filepath.Base(outside), told: "not in the workspace"},
		{line: "@bang\\!", read: []string{"bang!"}},
		{line: "@evil"},
		{line: "@" + strings.Repeat("x", 300)},
		{line: "@a\\\x01b"},
		{line: "!{cat @a.txt}"},

		// Code and prose with an @ that means no file.
		{line: "class A { @Override public void f() {} }"},
		{line: "@Injectable() and @media and @types"},
		{line: "see @Makefile.", read: []string{"Makefile"}},
		{line: "use @angular/core and @nestjs/common", told: "@angular/core, @nestjs/common: there are no such files; sent as text"},
		{line: "import x from '@types/node'", told: "@types/node': there is no such file"},
		{line: "```java\n@a.txt @Override.java\n```\nsee @src/c.go", read: []string{"src/c.go"}},
		{line: "~~~~\n@a.txt\n~~~\n@a.txt\n~~~~\n@src/b.txt", read: []string{"src/b.txt"}},
		{line: "> ```\n> @a.txt\n> ```"},
		{line: "```\n@a.txt and no end"},
		{line: "fix\n--- a/a.txt\n+++ b/@a.txt\n@@ -1,2 +1,2 @@ @a.txt\n @a.txt\n-@src/b.txt\n+@src/c.go\nsee @sub/d.md", read: []string{"sub/d.md"}},
		{line: "@@ -1 +1 @@\n-@a.txt\n\\ No newline at end of file\n+@src/b.txt\n- @src/c.go", read: []string{"src/c.go"}},
		{line: "@@ -1,2 +1,2 @@\n-@a.txt\nno hunk: @src/c.go", read: []string{"src/c.go"}},
		{line: "```\n!{x}\n```\n@a.txt", read: []string{"a.txt"}},
		{line: "two lines\n@deep/d.md", told: "no such file"}, // pasted, most likely: no guess
		{line: "two lines\n@sub/d.md", read: []string{"sub/d.md"}},
		{line: "look at @a.x @b.x @c.x @d.x", told: "@a.x, @b.x, @c.x and 1 more: there are no such files"},

		// Names with what ends others, and in other spellings.
		{line: "read (@a.txt) and @app/[id]/p.tsx", read: []string{"a.txt", "app/[id]/p.tsx"}},
		{line: "(see @app/[id]/p.tsx), @app/(group)/q.tsx; and @foo?bar.txt?", read: []string{"app/[id]/p.tsx", "app/(group)/q.tsx", "foo?bar.txt"}},
		{line: "@app/[id]/*.tsx", read: []string{"app/[id]/p.tsx"}},
		{line: "@app/[id]/**", read: []string{"app/[id]"}},
		{line: "@app/[id]", read: []string{"app/[id]"}},
		{line: "@app/[none]/p.tsx", told: "@app/[none]/p.tsx: there is no such file"},
		{line: "[@a.txt](@src/b.txt)", read: []string{"a.txt", "src/b.txt"}},
		{line: "@src/*.{go,txt}", read: []string{"src/b.txt", "src/c.go"}, told: "2 files"},
		{line: "(@src/*.go)", read: []string{"src/c.go"}},
		{line: "see @re\u0301sume\u0301.txt", read: []string{"r\u00e9sum\u00e9.txt"}},
		{line: "see @d\u00e9j\u00e0/vu.txt", read: []string{"d\u0065\u0301j\u0061\u0300/vu.txt"}},
		{line: "@~/none.txt", told: "no such file"},
		{line: "@A.TXT", told: "@A.TXT: there is no such file; did you mean @a.txt? sent as text"},
		{line: "@SRC/b.txt", told: "no such file"},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, tests[0])
		tests[len(tests)-1].line, tests[len(tests)-1].told = "@link", "not in the workspace"
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			var notes []string
			f := Files{Workspace: ws, Search: true, Notify: func(s string) { notes = append(notes, s) },
				Contents: func(_ context.Context, paths []string) ([]*genai.Part, error) {
					var parts []*genai.Part
					for _, p := range paths {
						if rel, err := filepath.Rel(dir, p); err == nil && !strings.HasPrefix(rel, "..") {
							p = filepath.ToSlash(rel)
						}
						parts = append(parts, genai.NewPartFromText(p))
					}
					return parts, nil
				}}
			in := line(test.line)
			parts, err := Chain(step(f))(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{test.line}
			if test.read != nil {
				want = append(append(append(want, filesBegin), test.read...), filesEnd)
			}
			if diff := cmp.Diff(want, texts(parts)); diff != "" {
				t.Error(diff)
			}
			if got := strings.Join(notes, "\n"); !strings.Contains(got, test.told) || test.told == "" && got != "" {
				t.Errorf("told %q, want %q", got, test.told)
			}
			if in[0].Text != test.line {
				t.Error("the caller's part was changed")
			}
		})
	}
}

// step is the step that knows no other source than f.
func step(f Files) Step {
	return References{Sources: func() []Source { return []Source{f} }, Notify: f.Notify}.Step
}

// A server has what is named srv:NAME.
type server struct{ down bool }

func (s *server) Find(_ context.Context, r Ref) (Target, error) {
	name, ok := strings.CutPrefix(r.Name, "srv:")
	if !ok || s.down {
		return Target{}, nil
	}
	return Target{Names: []string{name}}, nil
}

func (s *server) Read(_ context.Context, names []string) ([]*genai.Part, error) {
	return line("from the server: " + strings.Join(names, ", ")), nil
}

// What an @ may refer to comes from several sources, as they are at the moment.
func TestSources(t *testing.T) {
	dir := project(t, "a.txt")
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	s := &server{down: true}
	f := Files{Workspace: ws, Contents: func(context.Context, []string) ([]*genai.Part, error) { return line("from the disk"), nil }}
	expand := Chain(References{Sources: func() []Source { return []Source{s, f} }, Notify: func(text string) { told = append(told, text) }}.Step)
	const said = "compare @a.txt with @srv:x/b, and @srv:x/c with @srv:x/b."
	for _, want := range [][]string{
		{said, filesBegin, "from the disk", filesEnd},
		{said, filesBegin, "from the server: x/b, x/c", "from the disk", filesEnd},
	} {
		parts, err := expand(t.Context(), line(said))
		if diff := cmp.Diff(want, texts(parts)); diff != "" || err != nil {
			t.Error(err, diff)
		}
		s.down = false
	}
	if want := []string{"@srv:x/b, @srv:x/c: there are no such files; sent as text"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

func TestFilesCheck(t *testing.T) {
	dir := project(t, ".geminiignore", "a.txt", "my file.txt", "src/b.txt", "secret.txt")
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}, RespectGemini: true})
	if err != nil {
		t.Fatal(err)
	}
	f := Files{Workspace: ws, Search: true, Notify: func(text string) { t.Errorf("told %q", text) }}
	for _, test := range []struct {
		path, want string
	}{
		{"a.txt", ""},
		{"my file.txt", ""},
		{"src", ""},
		{"b.txt", "there is no such file"}, // not even with a search
		{"*.txt", "there is no such file"},
		{"a\nb", "there is no such file"},
		{"", "there is no such file"},
		{"secret.txt", "an ignore file names it"},
		{"../a.txt", "there is no such file"},
	} {
		err := f.Check(t.Context(), []string{"a.txt", test.path})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v; want %q", test.path, err, test.want)
		}
		if err != nil && !errors.As(err, new(*Error)) {
			t.Errorf("%q: %T", test.path, err)
		}
	}
}

func TestFilesUnreadable(t *testing.T) {
	dir := project(t, "a.txt")
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	f := Files{Workspace: ws, Contents: func(context.Context, []string) ([]*genai.Part, error) { return nil, nil }}
	parts, err := Chain(step(f))(t.Context(), line("@a.txt"))
	if diff := cmp.Diff([]string{"@a.txt", filesBegin, filesNone, filesEnd}, texts(parts)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	f.Contents = func(context.Context, []string) ([]*genai.Part, error) { return nil, errors.New("boom") }
	var e *Error
	if _, err := Chain(step(f))(t.Context(), line("@a.txt")); !errors.As(err, &e) || !strings.Contains(err.Error(), "not sent: boom") {
		t.Error(err)
	}
}

// Files and commands beside each other, in either order of the steps: neither
// looks into what the other brings.
func TestFilesAndBraces(t *testing.T) {
	dir := project(t, "a.txt")
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	f := Files{Workspace: ws, Contents: func(context.Context, []string) ([]*genai.Part, error) {
		return line("!{evil} @a.txt"), nil
	}}
	b := ExpandCommands(func(_ context.Context, c string) (string, error) {
		if c != "ls @a.txt" {
			t.Errorf("%s ran", c)
		}
		return "@a.txt !{evil}", nil
	}, nil)
	parts, err := Chain(b, step(f))(t.Context(), line("see @a.txt !{ls @a.txt} there"))
	want := []string{"see @a.txt @a.txt !{evil} there", filesBegin, "!{evil} @a.txt", filesEnd}
	if diff := cmp.Diff(want, texts(parts)); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
