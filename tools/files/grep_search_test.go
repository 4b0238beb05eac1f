package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"gemline/engine"
)

func grepPlace(t testing.TB) place {
	return newPlace(t, map[string]string{
		"a.go": "package a\n\nfunc Needle() {}\n", "src/b.go": "// needle\nx\nneedle2\n", "src/c_test.go": "NEEDLE(\n", "n.txt": numbered(200), "crlf.txt": "one\r\ntwo end\r\n",
		"out/d.go": "needle", "dist/e.go": "needle", "x.log": "needle", ".hid/f.go": "thorn", ".g.go": "thorn", ".github/workflows/ci.yml": "on: push\n", ".vscode/s.json": "thorn", ".venv/x.py": "thorn", "app/[id]/p.tsx": "thorn", "app/i/p.tsx": "thorn", "node_modules/h.go": "needle", ".git/i": "needle",
		".gitignore": "out/\n", ".geminiignore": "hidden*\n", "hidden.go": "needle", "bin": "needle\x00", "wide.txt": strings.Repeat("w", 3000) + "\n", "sp.txt": "größe 10\n", "bad\nname": "odd\n",
	})
}

// Hidden files are searched, but for those that may hold secrets.
func TestGrepHiddenSecrets(t *testing.T) {
	p := newPlace(t, map[string]string{".env": "thorn", ".aws/credentials": "thorn", ".ssh/id_rsa": "thorn", ".docker/config.json": "thorn",
		".netrc": "thorn", "a/.env.local": "thorn", ".kube/config": "thorn", ".git-credentials": "thorn", ".eslintrc": "thorn"})
	for _, args := range []string{`{"pattern":"thorn","names_only":true}`, `{"pattern":"thorn","names_only":true,"no_ignore":true}`,
		`{"pattern":"thorn","names_only":true,"include_pattern":"**/.*"}`, `{"pattern":"thorn","names_only":true,"include_pattern":"{.env,.aws/*,.eslintrc}"}`} {
		_, r, err := p.Do(p.ts.grepSearch(), args)
		if err != nil || !strings.HasPrefix(r.Text, "Found 1 files") || !strings.Contains(r.Text, "\n.eslintrc\n(") {
			t.Errorf("%s: got %s, %v", args, r.Text, err)
		}
	}
}

func TestGrepSearch(t *testing.T) {
	p := grepPlace(t)
	tool := p.ts.grepSearch()
	around := func(from, to, match int) string {
		var s strings.Builder
		for n := from; n <= to; n++ {
			mark := "-"
			if n == match {
				mark = ":"
			}
			fmt.Fprintf(&s, "L%d%s line %d\n", n, mark, n)
		}
		return s.String()
	}
	for _, test := range []struct{ args, want string }{
		{`{"pattern":"needle","context":0}`, `Found 4 matches for pattern "needle" in path ".":` + "\n---\nFile: a.go\nL3: func Needle() {}\n---\nFile: src/b.go\nL1: // needle\nL3: needle2\n---\nFile: src/c_test.go\nL1: NEEDLE(\n---"},
		{`{"pattern":"needle","case_sensitive":true}`, `Found 2 matches for pattern "needle" in path ".":` + "\n---\nFile: src/b.go\nL1: // needle\nL2- x\nL3: needle2\n---"},
		{`{"pattern":"Needle","case_sensitive":true}`, `Found 1 match for pattern "Needle" in path ".":` + "\n---\nFile: a.go\nL1- package a\nL2- \nL3: func Needle() {}\n---"},
		{`{"pattern":"needle","include_pattern":"*_test.go"}`, `Found 1 match for pattern "needle" in path "." (filter: "*_test.go"):` + "\n---\nFile: src/c_test.go\nL1: NEEDLE(\n---"},
		{`{"pattern":"needle","include_pattern":"src/*.{go,ts}","names_only":true}`, `Found 2 files with matches for pattern "needle" in path "." (filter: "src/*.{go,ts}"):` + "\nsrc/b.go\nsrc/c_test.go"},
		{`{"pattern":"needle","include_pattern":"!**/*_test.go","names_only":true}`, `Found 2 files with matches for pattern "needle" in path "." (filter: "!**/*_test.go"):` + "\na.go\nsrc/b.go"},
		{`{"pattern":"needle","exclude_pattern":"^//|\\(","dir_path":"src"}`, `Found 1 match for pattern "needle" in path "src":` + "\n---\nFile: src/b.go\nL1- // needle\nL2- x\nL3: needle2\n---"},
		{`{"pattern":"needle","dir_path":"src/b.go","before":0}`, `Found 2 matches for pattern "needle" in path "src/b.go":` + "\n---\nFile: src/b.go\nL1: // needle\nL3: needle2\n---"},
		{`{"pattern":"needle","max_matches_per_file":1,"context":0,"dir_path":"src"}`, `Found 2 matches for pattern "needle" in path "src":` + "\n---\nFile: src/b.go\nL1: // needle\n---\nFile: src/c_test.go\nL1: NEEDLE(\n---"},
		{`{"pattern":"needle","total_max_matches":2,"context":0}`, `Found 2 matches for pattern "needle" in path "." (results limited to 2 matches for performance):` + "\n---\nFile: a.go\nL3: func Needle() {}\n---\nFile: src/b.go\nL1: // needle\n---"},
		{`{"pattern":"needle","no_ignore":true,"names_only":true}`, `Found 6 files with matches for pattern "needle" in path ".":` + "\na.go\ndist/e.go\nout/d.go\nsrc/b.go\nsrc/c_test.go\nx.log"},
		{`{"pattern":"NEEDLE(","fixed_strings":true,"case_sensitive":true}`, `Found 1 match for pattern "NEEDLE(" in path ".":` + "\n---\nFile: src/c_test.go\nL1: NEEDLE(\n---"},
		{`{"pattern":"thorn","names_only":true}`, `Found 4 files with matches for pattern "thorn" in path ".":` + "\n.g.go\n.hid/f.go\napp/[id]/p.tsx\napp/i/p.tsx"},
		{`{"pattern":"on:","include_pattern":".github/**","names_only":true}`, `Found 1 files with matches for pattern "on:" in path "." (filter: ".github/**"):` + "\n.github/workflows/ci.yml"},
		{`{"pattern":"on:","include_pattern":".github","names_only":true}`, `Found 1 files with matches for pattern "on:" in path "." (filter: ".github"):` + "\n.github/workflows/ci.yml"},
		{`{"pattern":"on:","include_pattern":".github/","names_only":true}`, `Found 1 files with matches for pattern "on:" in path "." (filter: ".github/"):` + "\n.github/workflows/ci.yml"},
		{`{"pattern":"on:","include_pattern":"*.ts, .github/**/*.{yml,yaml}","names_only":true}`, `Found 1 files with matches for pattern "on:" in path "." (filter: "*.ts, .github/**/*.{yml,yaml}"):` + "\n.github/workflows/ci.yml"},
		{`{"pattern":"on:","include_pattern":"*.yml","dir_path":".github","names_only":true}`, `Found 1 files with matches for pattern "on:" in path ".github" (filter: "*.yml"):` + "\n.github/workflows/ci.yml"},
		{`{"pattern":"thorn","include_pattern":".vscode/*","names_only":true}`, `Found 1 files with matches for pattern "thorn" in path "." (filter: ".vscode/*"):` + "\n.vscode/s.json"},
		{`{"pattern":"needle","include_pattern":"*.log","names_only":true}`, `Found 1 files with matches for pattern "needle" in path "." (filter: "*.log"):` + "\nx.log"},
		{`{"pattern":"thorn","include_pattern":"app/[id]/**","names_only":true}`, `Found 1 files with matches for pattern "thorn" in path "." (filter: "app/[id]/**"):` + "\napp/[id]/p.tsx"},
		{`{"pattern":"thorn","include_pattern":"**/[id]/*.tsx","names_only":true}`, `Found 2 files with matches for pattern "thorn" in path "." (filter: "**/[id]/*.tsx"):` + "\napp/[id]/p.tsx\napp/i/p.tsx"},
		{`{"pattern":"needle","dir_path":"hidden.go","no_ignore":true}`, "invalid_tool_params: File path '$/hidden.go' is ignored by configured ignore patterns."},
		{`{"pattern":"needle","dir_path":"out/d.go"}`, "invalid_tool_params: File path '$/out/d.go' is ignored by configured ignore patterns."},
		{`{"pattern":"needle","dir_path":"out/d.go","no_ignore":true,"names_only":true}`, `Found 1 files with matches for pattern "needle" in path "out/d.go":` + "\nout/d.go"},
		{`{"pattern":"^line 100$"}`, `Found 1 match for pattern "^line 100$" in path ".":` + "\n---\nFile: n.txt\n" + around(50, 150, 100) + "---"},
		{`{"pattern":"^line (100|110)$","after":1}`, `Found 2 matches for pattern "^line (100|110)$" in path ".":` + "\n---\nFile: n.txt\nL100: line 100\nL101- line 101\nL110: line 110\nL111- line 111\n---"},
		{`{"pattern":"^line 5$","context":2,"before":1}`, `Found 1 match for pattern "^line 5$" in path ".":` + "\n---\nFile: n.txt\n" + around(4, 7, 5) + "---"},
		{`{"pattern":"^line 200$","after":9007199254740000,"before":0}`, `Found 1 match for pattern "^line 200$" in path ".":` + "\n---\nFile: n.txt\nL200: line 200\n---"},
		{`{"pattern":"end$"}`, `Found 1 match for pattern "end$" in path ".":` + "\n---\nFile: crlf.txt\nL1- one\nL2: two end\n---"},
		{`{"pattern":"gr\\u00f6\\u00dfe"}`, `Found 1 match for pattern "gr\u00f6\u00dfe" in path ".":` + "\n---\nFile: sp.txt\nL1: größe 10\n---"},
		{`{"pattern":"w{9}"}`, `Found 1 match for pattern "w{9}" in path ".":` + "\n---\nFile: wide.txt\nL1: " + strings.Repeat("w", 2000) + "... [truncated]\n---"},
		{`{"pattern":"odd"}`, `Found 1 match for pattern "odd" in path ".":` + "\n---\nFile: \"bad\\nname\"\nL1: odd\n---"},
		{`{"pattern":"nowhere","include_pattern":"*.go"}`, `No matches found for pattern "nowhere" in path "." (filter: "*.go").`},
		{`{"pattern":"--pre=./evil"}`, `No matches found for pattern "--pre=./evil" in path ".".`},
		{`{"pattern":"CANARY","include_pattern":"../out/*"}`, `No matches found for pattern "CANARY" in path "." (filter: "../out/*").`},

		{`{"pattern":"a(?=b)"}`, "invalid_tool_params: Invalid regular expression pattern provided: a(?=b). Error: look-ahead and look-behind are not supported; search for more and leave lines out with exclude_pattern"},
		{`{"pattern":"(?<!a)b"}`, "invalid_tool_params: Invalid regular expression pattern provided: (?<!a)b. Error: look-ahead and look-behind are not supported; search for more and leave lines out with exclude_pattern"},
		{`{"pattern":"(a)\\1"}`, `invalid_tool_params: Invalid regular expression pattern provided: (a)\1. Error: back-references are not supported`},
		{`{"pattern":"func("}`, "invalid_tool_params: Invalid regular expression pattern provided: func(. Error: missing closing ): (?i)func( (to search for the text as it is, set fixed_strings)"},
		{`{"pattern":"a","exclude_pattern":"["}`, "invalid_tool_params: Invalid regular expression pattern provided: [. Error: missing closing ]: [ (to search for the text as it is, set fixed_strings)"},
		{`{"pattern":"a","dir_path":"none"}`, "search_path_not_found: Path does not exist: $/none"},
		{`{"pattern":"a","dir_path":".git"}`, "path_not_in_workspace: Path not in workspace: Attempted path \"$/.git\" resolves outside the allowed workspace directories: $"},
		{`{"pattern":"a","context":-1}`, "invalid_tool_params: params/context must be at least 0, not -1"},
		{`{"pattern":"a","total_max_matches":0}`, "invalid_tool_params: params/total_max_matches must be at least 1, not 0"},
	} {
		p.Want(tool, test.args, test.want)
	}
	call, r, err := p.Do(tool, `{"pattern":"needle","dir_path":"src","include_pattern":"*.go","total_max_matches":2}`)
	if err != nil || call.Intent.Title != `search "needle" in src (*.go)` || r.Display != "Found 2 matches (limited)" {
		t.Errorf("got %q, %q, %v", call.Intent.Title, r.Display, err)
	}
}

// With rg or without, the answer is the same.
func TestGrepSearchWithRipgrep(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip("rg is needed:", err)
	}
	for _, ignores := range []string{"hidden*\n", "hidden*\n!x\n"} { // with which git's ignore files don't count for rg
		p := grepPlace(t)
		if err := os.WriteFile(p.Path(".geminiignore"), []byte(ignores), 0o600); err != nil {
			t.Fatal(err)
		}
		withRipgrep(t, p)
	}
}

func withRipgrep(t *testing.T, p place) {
	alone := p.ts.grepSearch()
	p.ts.Ripgrep = true
	helped := p.ts.grepSearch()
	for _, args := range []string{
		`{"pattern":"[a-z]{6}","dir_path":"dist"}`, `{"pattern":"[a-z]{6}","include_pattern":"dist/**"}`, `{"pattern":"ß","fixed_strings":true}`, `{"pattern":"[xyz]{9}"}`,
		`{"pattern":"[a-z]{6}"}`, `{"pattern":"\\w+\\d"}`, `{"pattern":"^.$"}`, `{"pattern":"[A-Z]","case_sensitive":true}`, `{"pattern":".d$"}`, `{"pattern":"\\S{5}","no_ignore":true}`,
		`{"pattern":"^$"}`, `{"pattern":"[^\\x00-\\x7f]"}`, `{"pattern":"[0-9]+","include_pattern":"*.go"}`, `{"pattern":".","names_only":true,"total_max_matches":1000}`,
	} {
		_, want, err1 := p.Do(alone, args)
		_, got, err2 := p.Do(helped, args)
		if err1 != nil || err2 != nil || got.Text != want.Text {
			t.Errorf("%s:\n%s, %v\n%s, %v", args, got.Text, err2, want.Text, err1)
		}
	}
	g := &grep{args: grepArgs{Pattern: `[a-z]{6}\w`}, ws: p.ts.Workspace, path: p.Dir, dir: true}
	if only := g.candidates(t.Context()); !only[p.Path("src/b.go")] || only[p.Path("n.txt")] {
		t.Errorf("rg was no help: %v", only)
	}
}

func TestGrepSearchEnds(t *testing.T) {
	p := grepPlace(t)
	call, err := p.ts.grepSearch().Prepare(t.Context(), map[string]any{"pattern": "needle"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Run(ctx, nil); engine.ErrorType(err) != "grep_execution_error" {
		t.Errorf("got %v", err)
	}
}

func FuzzEcma(f *testing.F) {
	for _, s := range []string{`\u00e9`, `\\u00e9`, `\u12`, `\`, `a\/b`, `[\u0041-\u005a]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // no JSON string is
		}
		if got := ecma(s); !strings.Contains(s, `\u`) && got != s {
			t.Errorf("%q became %q", s, got)
		}
		a := grepArgs{Pattern: s}
		if q, err := a.query(); err == nil {
			q.Pattern.MatchString("some text")
		}
		a.Fixed = true
		if q, err := a.query(); err != nil || !regexp.MustCompile(q.Pattern.String()).MatchString(s) {
			t.Errorf("%q as it is: %v", s, err)
		}
	})
}
