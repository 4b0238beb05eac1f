package files

import (
	"os"
	"strings"
	"testing"
	"time"

	"gemline/tools/workspace"
)

func TestGlob(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a.go": "", "B.go": "", "src/c.go": "", "src/deep/d.go": "", "src/x.ts": "", "src/x.tsx": "", "app/[id]/page.tsx": "", "app/i/page.tsx": "", ".hid/e.go": "",
		"out/f.go": "", "node_modules/g.go": "", ".git/h.go": "", "sub/node_modules/i.go": "", "bower_components/j.go": "", ".gitignore": "out/\n", ".geminiignore": "d.go\n", "{x}.md": "", ".env": "",
	})
	now := time.Now()
	age := func(name string, d time.Duration) {
		if err := os.Chtimes(p.Path(name), now.Add(-d), now.Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	age("B.go", 48*time.Hour)
	age("a.go", 72*time.Hour)
	age("src/c.go", time.Hour)
	age(".hid/e.go", time.Minute)
	tool := p.ts.glob()
	for _, test := range []struct{ args, want string }{
		{`{"pattern":"**/*.go"}`, `Found 4 file(s) matching "**/*.go" within $ (2 additional files were ignored), sorted by modification time (newest first):` + "\n$/.hid/e.go\n$/src/c.go\n$/B.go\n$/a.go"},
		{`{"pattern":"*.go"}`, `Found 2 file(s) matching "*.go" within $, sorted by modification time (newest first):` + "\n$/B.go\n$/a.go"},
		{`{"pattern":"b.GO"}`, `Found 1 file(s) matching "b.GO" within $, sorted by modification time (newest first):` + "\n$/B.go"},
		{`{"pattern":"b.go","case_sensitive":true}`, `No files found matching pattern "b.go" within $`},
		{`{"pattern":"./src/*.{ts,tsx}"}`, `Found 2 file(s) matching "./src/*.{ts,tsx}" within $, sorted by modification time (newest first):` + "\n?"},
		{`{"pattern":"*.ts","dir_path":"src"}`, `Found 1 file(s) matching "*.ts" within $/src, sorted by modification time (newest first):` + "\n$/src/x.ts"},
		{`{"pattern":"app/[id]/page.tsx"}`, `Found 1 file(s) matching "app/[id]/page.tsx" within $, sorted by modification time (newest first):` + "\n$/app/[id]/page.tsx"},
		{`{"pattern":"app/[ij]/*"}`, `Found 1 file(s) matching "app/[ij]/*" within $, sorted by modification time (newest first):` + "\n$/app/i/page.tsx"},
		{`{"pattern":"` + p.Dir + `/src/c.go"}`, `Found 1 file(s) matching "$/src/c.go" within $, sorted by modification time (newest first):` + "\n$/src/c.go"},
		{`{"pattern":"app/[id]/**"}`, `Found 1 file(s) matching "app/[id]/**" within $, sorted by modification time (newest first):` + "\n$/app/[id]/page.tsx"},
		{`{"pattern":"app/[id]/[op]*.tsx"}`, `Found 1 file(s) matching "app/[id]/[op]*.tsx" within $, sorted by modification time (newest first):` + "\n$/app/[id]/page.tsx"},
		{`{"pattern":"**/[id]/*"}`, `Found 1 file(s) matching "**/[id]/*" within $, sorted by modification time (newest first):` + "\n$/app/[id]/page.tsx"},
		{`{"pattern":"[ij]/*","dir_path":"app"}`, `Found 1 file(s) matching "[ij]/*" within $/app, sorted by modification time (newest first):` + "\n$/app/i/page.tsx"},
		{`{"pattern":"[id]/*","dir_path":"app"}`, `Found 1 file(s) matching "[id]/*" within $/app, sorted by modification time (newest first):` + "\n$/app/[id]/page.tsx"},
		{`{"pattern":"out/**"}`, `No files found matching pattern "out/**" within $ (1 files were ignored)`},
		{`{"pattern":"out/**","respect_git_ignore":false}`, `Found 1 file(s) matching "out/**" within $, sorted by modification time (newest first):` + "\n$/out/f.go"},
		{`{"pattern":"**/d.go","respect_gemini_ignore":false}`, `Found 1 file(s) matching "**/d.go" within $, sorted by modification time (newest first):` + "\n$/src/deep/d.go"},
		{`{"pattern":"**/{i,j,g,h}.go"}`, `No files found matching pattern "**/{i,j,g,h}.go" within $`},
		{`{"pattern":"**/.env"}`, `No files found matching pattern "**/.env" within $` + "\n(1 file that may hold secrets left out. If one is needed, name it to read_file; the user is asked.)"},
		{`{"pattern":"src"}`, `No files found matching pattern "src" within $`},
		{`{"pattern":"../out/*"}`, `No files found matching pattern "../out/*" within $`},
		{`{"pattern":""}`, "invalid_tool_params: The 'pattern' parameter cannot be empty."},
		{`{"pattern":"  "}`, "invalid_tool_params: The 'pattern' parameter cannot be empty."},
		{`{"pattern":"a["}`, `glob_execution_error: Error during glob search operation: "a[" is not a glob`},
		{`{"pattern":"*","dir_path":"none"}`, "search_path_not_found: Search path does not exist $/none"},
		{`{"pattern":"*","dir_path":"a.go"}`, "search_path_not_a_directory: Search path is not a directory: $/a.go"},
		{`{"pattern":"*","dir_path":"../out"}`, "path_not_in_workspace: Path not in workspace: Attempted path \"" + strings.TrimSuffix(p.Dir, "ws") + "out\" resolves outside the allowed workspace directories: $"},
	} {
		if head, ok := strings.CutSuffix(test.want, "?"); ok { // the order is that of the times
			_, r, err := p.Do(tool, test.args)
			if got := p.Short(r.Text); err != nil || !strings.HasPrefix(got, head) || strings.Count(got, "\n") != 2 {
				t.Errorf("%s: got %s, %v", test.args, got, err)
			}
			continue
		}
		p.Want(tool, test.args, test.want)
	}
	call, r, err := p.Do(tool, `{"pattern":"**/*.go","dir_path":"src"}`)
	if err != nil || call.Intent.Title != "find **/*.go in src" || r.Display != "Found 1 matching file(s) (1 ignored)" {
		t.Errorf("got %q, %q, %v", call.Intent.Title, r.Display, err)
	}
}

// Letters match however they are composed.
func TestGlobComposed(t *testing.T) {
	p := newPlace(t, map[string]string{"r\u00e9sum\u00e9.txt": "needle", "d/e\u0301tude.md": "needle"})
	for pattern, want := range map[string]string{"re\u0301s*": "r\u00e9sum\u00e9.txt", "**/\u00e9tude.md": "d/e\u0301tude.md"} {
		_, r, err := p.Do(p.ts.glob(), `{"pattern":"`+pattern+`"}`)
		if err != nil || !strings.HasSuffix(r.Text, "\n"+p.Path(want)) {
			t.Errorf("%s: %s, %v", pattern, r.Text, err)
		}
		_, r, err = p.Do(p.ts.grepSearch(), `{"pattern":"needle","names_only":true,"include_pattern":"`+pattern+`"}`)
		if err != nil || !strings.HasSuffix(r.Text, "\n"+want) {
			t.Errorf("%s: %s, %v", pattern, r.Text, err)
		}
	}
}

func TestGlobInSeveralRoots(t *testing.T) {
	p := newPlace(t, map[string]string{"a.go": "", "sub/b.go": "", "../out/c.go": ""})
	for _, dir := range []string{p.Path("../out"), p.Path("sub")} {
		if err := p.ts.Workspace.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	_, r, err := p.Do(p.ts.glob(), `{"pattern":"**/*.go"}`)
	if err != nil || !strings.HasPrefix(r.Text, `Found 3 file(s) matching "**/*.go" across 3 workspace directories, sorted`) {
		t.Errorf("got %s, %v", r.Text, err)
	}
}

func TestGlobAndLinks(t *testing.T) {
	p := newPlace(t, map[string]string{"in.go": "", "../out/secret.go": "", "d/x.go": "", "e\nvil.go": ""})
	for name, to := range map[string]string{"a.go": "in.go", "b.go": "../out/secret.go", "c.go": "nothing", "d.go": "d", "dl": "../out", "el": "d"} {
		if err := os.Symlink(to, p.Path(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	_, r, err := p.Do(p.ts.glob(), `{"pattern":"**/*.go"}`)
	for _, name := range []string{"$/a.go", "$/in.go", "$/d/x.go", `"$/e\nvil.go"`} {
		if !strings.Contains(p.Short(r.Text), "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
	if err != nil || strings.Count(r.Text, "\n") != 4 {
		t.Errorf("got %s, %v", p.Short(r.Text), err)
	}
}

// leads must be true of every directory above a match.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"**/*.go", "src/*/x", "a/{b,c/d}/e", "[a/b]/c", "*", "\\*/a", "a/**", "./a//b", "{", "!(a)"} {
		f.Add(s, "src/deep/x", true)
		f.Add(s, "a/c/d/e", false)
	}
	dir := f.TempDir()
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, pattern, rel string, exact bool) {
		if strings.ContainsRune(pattern+rel, 0) {
			return
		}
		g, err := compileGlob(ws, pattern, dir, exact, false)
		if err != nil || !g.match(g.prefix+rel) {
			return
		}
		for i := range rel {
			if rel[i] == '/' && i > 0 && rel[i-1] != '/' && !g.leads(g.prefix+rel[:i]) {
				t.Errorf("%q matches %q, but %q does not lead there", pattern, rel, rel[:i])
			}
		}
	})
}

func BenchmarkGlob(b *testing.B) {
	dir := os.Getenv("GEMLINE_BENCH_TREE")
	if dir == "" {
		b.Skip("set GEMLINE_BENCH_TREE to a large directory")
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}, RespectGit: true})
	if err != nil {
		b.Fatal(err)
	}
	tool := Tools{Workspace: ws}.glob()
	for _, pattern := range []string{"**/f77.go", "d1/**/*7.go", "**/*.go"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				call, err := tool.Prepare(b.Context(), map[string]any{"pattern": pattern})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := call.Run(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
