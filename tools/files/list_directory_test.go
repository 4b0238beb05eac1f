package files

import (
	"os"
	"testing"
)

func TestListDirectory(t *testing.T) {
	p := newPlace(t, map[string]string{
		"b.txt": "12345", "A.txt": "", "c/x": "", "Dir/y": "", ".hidden": "h", ".env": "", ".git/HEAD": "", "node_modules/m": "", "x.o": "", "y.o": "", ".gitignore": "*.o\n",
		".geminiignore": "b*\n", "only/z.o": "",
	})
	if err := os.Mkdir(p.Path("nothing"), 0o777); err != nil {
		t.Fatal(err)
	}
	tool := p.ts.listDirectory()
	for _, test := range []struct{ args, want string }{
		{`{"dir_path":"."}`, "Directory listing for $:\n[DIR] c\n[DIR] Dir\n[DIR] nothing\n[DIR] only\n.env (0 bytes)\n.geminiignore (3 bytes)\n.gitignore (4 bytes)\n.hidden (1 bytes)\nA.txt (0 bytes)\n\n(3 ignored)"},
		{`{"dir_path":".","ignore":["?","Dir*","*.[t]xt","*ignore","o*"],"file_filtering_options":{"respect_git_ignore":false}}`,
			"Directory listing for $:\n[DIR] nothing\n.env (0 bytes)\n.hidden (1 bytes)\nA.txt (0 bytes)\nx.o (0 bytes)\ny.o (0 bytes)\n\n(1 ignored)"},
		{`{"dir_path":".","ignore":["*o*","*i*","c"],"file_filtering_options":{"respect_gemini_ignore":false}}`, "Directory listing for $:\n.env (0 bytes)\nA.txt (0 bytes)\nb.txt (5 bytes)"},
		{`{"dir_path":"nothing"}`, "Directory $/nothing is empty."},
		{`{"dir_path":"only"}`, "Directory listing for $/only:\n\n(1 ignored)"},
		{`{"dir_path":"b.txt"}`, "path_is_not_a_directory: Error: Path is not a directory: $/b.txt"},
		{`{"dir_path":"none"}`, "ls_execution_error: Error listing directory: stat $/none: no such file or directory"},
		{`{"dir_path":".git"}`, "path_not_in_workspace: Path not in workspace: Attempted path \"$/.git\" resolves outside the allowed workspace directories: $"},
		{`{"dir_path":".","ignore":{}}`, "invalid_tool_params: params/ignore must be of type array, not object"},
		{`{"dir_path":"only","file_filtering_options":{"x":1}}`, "Directory listing for $/only:\n\n(1 ignored)"},
	} {
		p.Want(tool, test.args, test.want)
	}
	call, r, err := p.Do(tool, `{"dir_path":"."}`)
	if err != nil || call.Intent.Title != "list ." || r.Display != "Found 9 item(s). (3 ignored)" {
		t.Errorf("got %q, %q, %v", call.Intent.Title, r.Display, err)
	}
}

func TestListDirectoryWithOddNames(t *testing.T) {
	p := newPlace(t, map[string]string{"a\nb (9 bytes)": "", "\xff": "x", "../out/secret": "", "sub/f": "1"})
	for name, to := range map[string]string{"l-dir": "sub", "l-file": "sub/f", "l-none": "nothing", "l-out": "../out", "l-loop": "l-loop"} {
		if err := os.Symlink(to, p.Path(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	p.Want(p.ts.listDirectory(), `{"dir_path":"."}`,
		"Directory listing for $:\n[DIR] l-dir\n[DIR] sub\n\"a\\nb (9 bytes)\" (0 bytes)\nl-file (1 bytes)\nl-none (broken link)\n\"\\xff\" (1 bytes)")
}
