package files

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"gemline/engine"
)

const png = "\x89PNG\r\n\x1a\n0000"

func numbered(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "line %d\n", i+1)
	}
	return s.String()
}

func TestReadFile(t *testing.T) {
	long := strings.Repeat("x", 2500)
	p := newPlace(t, map[string]string{
		"a.txt": "one\r\ntwo\nthree\n", "big.txt": numbered(2500), "wide.txt": "a\n" + long + "\nb", "empty": "", "dir/f": "",
		"bin": "ab\x00c", "pic.svg": "<svg/>", "big.svg": "<svg>" + strings.Repeat(" ", 1<<20), "u16.txt": "\xff\xfeh\x00i\x00", "latin.txt": "caf\xe9",
		"pic.png": png, "doc.pdf": "%PDF-1.7", "noise.mp3": "ID3\x04\x00", "id3.md": "ID3 is a kind of tag", "film.mp4": "\x00\x00\x00\x18ftypisom", "voice.m4a": "\x00\x00\x00\x18ftypM4A ",
		"fake.png": "just text", "a.ts": "let x", ".gitignore": "*.o\n", "x.o": "obj", ".env": "KEY=1", "@scope/f": "at", "nul.txt": "n",
	})
	tool := p.ts.readFile()
	over := "IMPORTANT: The file content has been truncated.\n"
	action := "Action: To read more of the file, you can use the 'start_line' and 'end_line' parameters in a subsequent 'read_file' call. For example, to read the next section of the file, use start_line: "
	first := strings.TrimSuffix(numbered(2000), "\n")
	for _, test := range []struct{ args, want string }{
		{`{"file_path":"a.txt"}`, "one\ntwo\nthree\n"},
		{`{"file_path":"@a.txt"}`, "one\ntwo\nthree\n"},
		{`{"file_path":"@scope/f"}`, "at"},
		{`{"file_path":"nul\u0000.txt"}`, "n"},
		{`{"file_path":"empty"}`, ""},
		{`{"file_path":"a.txt","start_line":1,"end_line":99}`, "one\ntwo\nthree\n"},
		{`{"file_path":"a.txt","start_line":2,"end_line":2}`, "\nStatus: Showing lines 2-2 of 4 total lines.\n" + action + "3.\n\n--- FILE CONTENT ---\ntwo"},
		{`{"file_path":"a.txt","start_line":2}`, "\nStatus: Showing lines 2-4 of 4 total lines.\n\n--- FILE CONTENT ---\ntwo\nthree\n"},
		{`{"file_path":"a.txt","end_line":1}`, "\nStatus: Showing lines 1-1 of 4 total lines.\n" + action + "2.\n\n--- FILE CONTENT ---\none"},
		{`{"file_path":"a.txt","start_line":9}`, "\nStatus: Nothing to show: start_line 9 is beyond the last of 4 total lines.\n"},
		{`{"file_path":"a.txt","start_line":9,"end_line":9000000000000000}`, "\nStatus: Nothing to show: start_line 9 is beyond the last of 4 total lines.\n"},
		{`{"file_path":"big.txt"}`, "\n" + over + "Status: Showing lines 1-2000 of 2501 total lines.\n" + action + "2001.\n\n--- FILE CONTENT (truncated) ---\n" + first},
		{`{"file_path":"wide.txt"}`, "\n" + over + "Status: Showing lines 1-3 of 3 total lines. Lines longer than 2000 characters were cut.\n\n--- FILE CONTENT (truncated) ---\na\n" + long[:2000] + "... [truncated]\nb"},
		{`{"file_path":"bin"}`, "Cannot display content of binary file: bin"},
		{`{"file_path":"pic.svg"}`, "<svg/>"},
		{`{"file_path":"big.svg"}`, "Cannot display content of SVG file larger than 1MB: big.svg"},
		{`{"file_path":"u16.txt"}`, "hi"},
		{`{"file_path":"latin.txt"}`, "\nStatus: Showing lines 1-1 of 1 total lines.\nEncoding: the encoding is not known and was taken to be windows-1252.\n\n--- FILE CONTENT ---\ncafé"},
		{`{"file_path":"fake.png"}`, "just text"},
		{`{"file_path":"a.ts"}`, "let x"},
		{`{"file_path":"id3.md"}`, "ID3 is a kind of tag"},

		{`{"file_path":""}`, "invalid_tool_params: The 'file_path' parameter must be non-empty."},
		{`{"file_path":"\u0000"}`, "invalid_tool_params: The 'file_path' parameter must be non-empty."},
		{`{}`, "invalid_tool_params: params lacks \"file_path\""},
		{`{"file_path":"a.txt","start_line":0}`, "invalid_tool_params: params/start_line must be at least 1, not 0"},
		{`{"file_path":"a.txt","start_line":3,"end_line":2}`, "invalid_tool_params: start_line cannot be greater than end_line"},
		{`{"file_path":"none"}`, "file_not_found: File not found: $/none"},
		{`{"file_path":"a.txt/none"}`, "file_not_found: File not found: $/a.txt/none"},
		{`{"file_path":"dir"}`, "target_is_directory: Path is a directory, not a file: $/dir"},
		{`{"file_path":"x.o"}`, "invalid_tool_params: File path '$/x.o' is ignored by configured ignore patterns."},
		{`{"file_path":".git/config"}`, "path_not_in_workspace: Path not in workspace: Attempted path \"$/.git/config\" resolves outside the allowed workspace directories: $"},
		{`{"file_path":"voice.m4a"}`, "read_content_failure: Unsupported audio format audio/mp4: $/voice.m4a. MP3, WAV, AIFF, AAC, OGG and FLAC can be read."},
	} {
		p.Want(tool, test.args, test.want)
	}
	for name, mime := range map[string]string{"pic.png": "image/png", "doc.pdf": "application/pdf", "noise.mp3": "audio/mpeg", "film.mp4": "video/mp4"} {
		_, r, err := p.Do(tool, `{"file_path":"`+name+`"}`)
		if err != nil || r.Text != "" || len(r.Media) != 1 || r.Media[0].InlineData.MIMEType != mime {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestReadFileIsShown(t *testing.T) {
	p := newPlace(t, map[string]string{"src/a.go": "a\nb\nc", "pic.png": png, "doc.pdf": "%PDF-", "wide": strings.Repeat("x", 3000), "bin": "\x00"})
	tool := p.ts.readFile()
	for _, test := range []struct{ args, title, display string }{
		{`{"file_path":"src/a.go"}`, "read src/a.go", ""},
		{`{"file_path":"src/a.go","start_line":2,"end_line":2}`, "read src/a.go 2-2", "Read lines 2-2 of 3 from src/a.go"},
		{`{"file_path":"src/a.go","start_line":2}`, "read src/a.go 2-", "Read lines 2-3 of 3 from src/a.go"},
		{`{"file_path":"src/a.go","start_line":8}`, "read src/a.go 8-", "Read nothing: src/a.go has 3 lines"},
		{`{"file_path":"wide"}`, "read wide", "Read lines 1-1 of 1 from wide (some lines were shortened)"},
		{`{"file_path":"pic.png"}`, "read pic.png", "Read image file: pic.png"},
		{`{"file_path":"doc.pdf"}`, "read doc.pdf", "Read pdf file: doc.pdf"},
		{`{"file_path":"bin"}`, "read bin", "Skipped binary file: bin"},
	} {
		call, r, err := p.Do(tool, test.args)
		if err != nil || call.Intent.Title != test.title || r.Display != test.display {
			t.Errorf("%s: %q, %q, %v", test.args, call.Intent.Title, r.Display, err)
		}
		if len(call.Intent.Paths) != 1 || !strings.HasPrefix(call.Intent.Paths[0], p.Dir) {
			t.Errorf("%s: paths %v", test.args, call.Intent.Paths)
		}
	}
}

func TestReadFileMeanwhile(t *testing.T) {
	p := newPlace(t, map[string]string{"gone": "x", "swapped": "x", "../out/secret": "CANARY"})
	prepare := func(name string) engine.Call {
		call, err := p.ts.readFile().Prepare(t.Context(), map[string]any{"file_path": name})
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	gone, swapped := prepare("gone"), prepare("swapped")
	os.Remove(p.Path("gone"))
	os.Remove(p.Path("swapped"))
	if err := os.Symlink("../out/secret", p.Path("swapped")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := gone.Run(context.Background(), nil); engine.ErrorType(err) != "file_not_found" {
		t.Errorf("got %v", err)
	}
	if r, err := swapped.Run(context.Background(), nil); engine.ErrorType(err) != "path_not_in_workspace" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestReadFileThatCanNotBeRead(t *testing.T) {
	p := newPlace(t, map[string]string{"locked": "x"})
	if err := os.Symlink("loop", p.Path("loop")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Truncate(p.Path("locked"), 20<<20+1); err != nil {
		t.Fatal(err)
	}
	p.Want(p.ts.readFile(), `{"file_path":"locked"}`, "file_too_large: File size exceeds the 20MB limit: $/locked (20.00MB). Search it with grep_search, or run a command that prints a part of it.")
	if _, _, err := p.Do(p.ts.readFile(), `{"file_path":"loop"}`); engine.ErrorType(err) != "read_content_failure" {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("everything can be read")
	}
	os.Truncate(p.Path("locked"), 1)
	os.Chmod(p.Path("locked"), 0)
	p.Want(p.ts.readFile(), `{"file_path":"locked"}`, "read_content_failure: Error reading file $/locked: "+syscall.EACCES.Error())
}
