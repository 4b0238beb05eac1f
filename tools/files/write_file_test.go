package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// A editBench is a workspace with files to edit.
type editBench struct {
	*testing.T
	dir string
	ts  Tools
}

// newEditBench returns a editBench with files by name; a name that ends in a slash is
// a directory.
func newEditBench(t *testing.T, files map[string]string) editBench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	return editBench{t, dir, Tools{Workspace: ws}}
}

func (b editBench) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b editBench) read(name string) string {
	b.Helper()
	text, err := os.ReadFile(b.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func (b editBench) put(name, content string) {
	b.Helper()
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

// all returns what is in the workspace, by name.
func (b editBench) all() map[string]string {
	b.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(b.dir, path)
		if rel = filepath.ToSlash(rel); e.Type().IsRegular() {
			files[rel] = b.read(rel)
		} else {
			files[rel] = e.Type().String()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

type editArgs = map[string]any

func writeCall(path, content string) editArgs { return editArgs{"file_path": path, "content": content} }

// prepare prepares a call that must be fit.
func (b editBench) prepare(tool engine.Tool, a editArgs) engine.Call {
	b.Helper()
	call, err := tool.Prepare(b.Context(), a)
	if err != nil {
		b.Fatalf("prepare: %v", err)
	}
	return call
}

// do prepares and runs a call. Whatever goes wrong must leave no trace.
func (b editBench) do(tool engine.Tool, a editArgs) (engine.Result, error) {
	b.Helper()
	before := b.all()
	call, err := tool.Prepare(b.Context(), a)
	if d := cmp.Diff(before, b.all()); d != "" {
		b.Errorf("prepare changed files: %s", d)
	}
	var r engine.Result
	if err == nil {
		r, err = call.Run(b.Context(), nil)
	}
	if d := cmp.Diff(before, b.all()); err != nil && d != "" {
		b.Errorf("a failed call changed files: %s", d)
	}
	return r, err
}

// fails checks that a call fails in a certain way.
func (b editBench) fails(err error, class, message string) {
	b.Helper()
	ce := (*engine.CallError)(nil)
	if !errors.As(err, &ce) {
		b.Fatalf("got %v; want %s", err, message)
	}
	if message = strings.ReplaceAll(message, "DIR", b.dir); ce.Type != class || ce.Message != message {
		b.Errorf("got %s: %s\nwant %s: %s", ce.Type, ce.Message, class, message)
	}
}

func TestWriteFile(t *testing.T) {
	const windows = "cannot be so on Windows"
	b := newEditBench(t, map[string]string{"a.go": "one\ntwo\n"})
	tool := b.ts.writeFile()

	t.Run("created", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip(windows)
		}
		r, err := b.do(tool, writeCall("sub/dir/new.txt", "a\nb\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		want := engine.Result{
			Text:    "Successfully created and wrote to new file: " + b.path("sub/dir/new.txt") + ". Here is the updated code:\na\nb\n",
			Display: "+2 -0",
			Changes: []engine.Change{{Path: b.path("sub/dir/new.txt"), Created: true, Added: 2}},
		}
		if d := cmp.Diff(want, r); d != "" {
			t.Error(d)
		}
		if got := b.read("sub/dir/new.txt"); got != "a\nb\r\n" {
			t.Errorf("wrote %q", got)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		r, err := b.do(tool, writeCall(b.path("a.go"), "one\n2\n3"))
		if err != nil {
			t.Fatal(err)
		}
		want := engine.Result{
			Text:    "Successfully overwrote file: " + b.path("a.go") + ". Here is the updated code:\none\n2\n3",
			Display: "+2 -1",
			Changes: []engine.Change{{Path: b.path("a.go"), Added: 2, Removed: 1}},
		}
		if d := cmp.Diff(want, r); d != "" {
			t.Error(d)
		}
		if got := b.read("a.go"); got != "one\n2\n3" {
			t.Errorf("wrote %q", got)
		}
	})
	t.Run("empty", func(t *testing.T) {
		r, err := b.do(tool, writeCall("empty", ""))
		if err != nil || r.Text != "Successfully created and wrote to new file: "+b.path("empty")+"." || b.read("empty") != "" {
			t.Errorf("%v, %q", err, r.Text)
		}
	})
	t.Run("same again", func(t *testing.T) {
		if _, err := b.do(tool, writeCall("a.go", "one\n2\n3")); err != nil {
			t.Error(err)
		}
	})
	t.Run("changed by the user", func(t *testing.T) {
		a := writeCall("a.go", "x\n// rest of code ...\n")
		a["modified_by_user"], a["ai_proposed_content"] = true, "y\n"
		r, err := b.do(tool, a)
		if err != nil || !strings.Contains(r.Text, ". User modified the `content` to be: x\n// rest of code ...\n Here is the updated code:\n") {
			t.Errorf("%v, %q", err, r.Text)
		}
	})
}

func TestWriteFileIntent(t *testing.T) {
	b := newEditBench(t, map[string]string{"src/a.go": "one\r\ntwo\r\n"})
	tool := b.ts.writeFile()
	call := b.prepare(tool, writeCall("src/a.go", "one\n2\n"))
	in := call.Intent
	draft := in.Draft
	in.Draft = nil
	want := engine.Intent{
		Title:  "edit src/a.go",
		Detail: "--- src/a.go\tCurrent\n+++ src/a.go\tProposed\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
		Paths:  []string{b.path("src/a.go")},
		Grants: []engine.Grant{{Label: "always for src/a.go", Tool: "edit", Target: b.path("src/a.go")}, {Label: "all edits this session", Tool: "edit"}},
		Edit:   &engine.TextEdit{Path: b.path("src/a.go"), Before: "one\r\ntwo\r\n", After: "one\r\n2\r\n"},
	}
	if d := cmp.Diff(want, in); d != "" {
		t.Error(d)
	}
	if draft.Name != "a.go" || draft.Text != "one\n2\n" {
		t.Errorf("draft %+v", draft)
	}
	if d := cmp.Diff(writeCall("src/a.go", "one\n2\n"), draft.Args(draft.Text)); d != "" {
		t.Errorf("unchanged by the user: %s", d)
	}
	r, err := b.do(tool, draft.Args("one\n2\nthree\n"))
	if err != nil || b.read("src/a.go") != "one\r\n2\r\nthree\r\n" || !strings.Contains(r.Text, "User modified") {
		t.Errorf("%v, %q, %q", err, r.Text, b.read("src/a.go"))
	}

	in = b.prepare(tool, writeCall("src/b.go", "x\n")).Intent
	if in.Title != "create src/b.go" || in.Detail != "--- src/b.go\tCurrent\n+++ src/b.go\tProposed\n@@ -0,0 +1 @@\n+x\n" {
		t.Errorf("%s\n%s", in.Title, in.Detail)
	}
	if in = b.prepare(tool, writeCall("src/b.go", "")).Intent; in.Detail != "an empty file" {
		t.Errorf("%s", in.Detail)
	}
	if in = b.prepare(tool, writeCall("src/a.go", "one\n2\nthree\n")).Intent; in.Detail != "no line changes" {
		t.Errorf("%s", in.Detail)
	}
	if runtime.GOOS != "windows" {
		if in = b.prepare(tool, writeCall("a\nallow: y", "x")).Intent; strings.Contains(in.Title+in.Grants[0].Label, "\n") {
			t.Errorf("%q", in.Title)
		}
	}
}

func TestWriteFileRefusals(t *testing.T) {
	b := newEditBench(t, map[string]string{
		"a.txt": "a\n", "dir/": "", "bin": "\x00\x01\x02\xff\x00", "sjis.txt": "\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81\x42\n", ".env": "KEY=1\n",
	})
	for _, test := range []struct{ name, path, content, class, message string }{
		{"no name", "", "x", engine.InvalidToolParams, `Missing or empty "file_path"`},
		{"no name but NUL", "\x00", "x", engine.InvalidToolParams, `Missing or empty "file_path"`},
		{"placeholder", "a.txt", "a\n// rest of code ...\n", engine.InvalidToolParams,
			"`content` contains an omission placeholder (for example 'rest of methods ...'). Provide complete file content."},
		{"directory", "dir", "x", "target_is_directory", "Path is a directory, not a file: DIR/dir"},
		{"binary", "bin", "x", "read_content_failure", "Cannot edit binary file: DIR/bin"},
		{"outside", "../x", "x", "path_not_in_workspace", ""},
		{"withheld", ".git/config", "x", "path_not_in_workspace", ""},
		{"in a file", "a.txt/b/c", "x", "file_write_failure", "Error writing to file 'DIR/a.txt/b/c': DIR/a.txt is not a directory"},
		{"not in the charset", "sjis.txt", "これは日本語の文章です。\nГрюße 🙂\n", "file_write_failure", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := editBench{t, b.dir, b.ts}
			_, err := b.do(b.ts.writeFile(), writeCall(test.path, test.content))
			switch {
			case test.name == "not in the charset":
				if err == nil || engine.ErrorType(err) != test.class || !strings.Contains(err.Error(), `no character 'ß' (U+00DF)`) {
					t.Errorf("got %v", err)
				}
			case test.class == "path_not_in_workspace":
				outside := filepath.Clean(filepath.Join(b.dir, test.path))
				b.fails(err, test.class, `Path not in workspace: Attempted path "`+outside+`" resolves outside the allowed workspace directories: DIR`)
				want := "it is outside of the folders that this session works in"
				if test.name == "withheld" {
					want = "the tools do not see it, nor .git and node_modules"
				}
				if engine.DisplayError(err) != want {
					t.Errorf("shown as %s", engine.DisplayError(err))
				}
			case runtime.GOOS != "windows":
				b.fails(err, test.class, test.message)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		b := editBench{t, b.dir, b.ts}
		_, err := b.do(b.ts.writeFile(), writeCall("big", strings.Repeat("x", workspace.MaxFile+1)))
		b.fails(err, "file_too_large", "The proposed content exceeds the 20MB limit: "+b.path("big")+" (20.00MB)")
		if err := os.Truncate(b.path("a.txt"), workspace.MaxFile+1); err != nil {
			t.Fatal(err)
		}
		_, err = b.ts.writeFile().Prepare(t.Context(), writeCall("a.txt", "x"))
		b.fails(err, "file_too_large", "File size exceeds the 20MB limit: "+b.path("a.txt")+" (20.00MB). Search it with grep_search, or run a command that prints a part of it.")
	})
}

// What the file system refuses is refused without a trace. Root may do it all.
func TestWriteFileWithoutPermission(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("root and Windows have no such directories")
	}
	b := newEditBench(t, map[string]string{"dir/a.txt": "a\n", "secret": "s\n"})
	for name, mode := range map[string]fs.FileMode{"dir": 0o555, "dir/a.txt": 0o444, "secret": 0o200} {
		if err := os.Chmod(b.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(b.path("dir"), 0o755); os.Chmod(b.path("secret"), 0o644) })
	_, err := b.ts.writeFile().Prepare(t.Context(), writeCall("secret", "x"))
	b.fails(err, "permission_denied", "Permission denied reading file: DIR/secret (EACCES)")
	os.Chmod(b.path("secret"), 0o644)
	for _, name := range []string{"dir/a.txt", "dir/b.txt", "dir/c/d.txt"} {
		_, err := b.do(b.ts.writeFile(), writeCall(name, "x\n"))
		b.fails(err, "permission_denied", "Permission denied writing to file: DIR/"+name+" (EACCES)")
	}
}

func TestWriteFailures(t *testing.T) {
	r := &Revision{Path: "/w/a", class: "file_write_failure"}
	pathError := func(err error) error { return &fs.PathError{Op: "write", Path: "/w/a", Err: err} }
	for _, test := range []struct {
		err            error
		class, message string
	}{
		{pathError(disk.ErrFull), engine.NoSpaceLeft, "No space left on device: /w/a"},
		{pathError(workspace.ErrDirectory), "target_is_directory", "Target is a directory, not a file: /w/a"},
		{pathError(fs.ErrPermission), "permission_denied", "Permission denied writing to file: /w/a (EACCES)"},
		{pathError(errors.New("input/output error")), "file_write_failure", "Error writing to file '/w/a': input/output error"},
		{&workspace.OutsideError{Path: "/w/a"}, "path_not_in_workspace", (&workspace.OutsideError{Path: "/w/a"}).Error()},
	} {
		editBench{T: t}.fails(r.unwritable(test.err), test.class, test.message)
	}
}

// TestFilesKeepTheirForm edits files of all sorts with both tools: everything
// but the line that is edited comes out as it was.
func TestFilesKeepTheirForm(t *testing.T) {
	utf16 := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			b.WriteByte(byte(c))
			b.WriteByte(byte(c >> 8))
		}
		return b.String()
	}
	japanese := "\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81\x42"
	for _, test := range []struct{ name, before, old, with, after string }{
		{"UTF-8", "größe\nb\n", "b", "ü", "größe\nü\n"},
		{"UTF-8 with BOM", "\xef\xbb\xbfa\nb\n", "a", "ä", "\xef\xbb\xbfä\nb\n"},
		{"CRLF with BOM", "\xef\xbb\xbfa\r\nb\r\n", "a\nb", "c\nd", "\xef\xbb\xbfc\r\nd\r\n"},
		{"UTF-16 with BOM", utf16("\ufeffa\r\nb\r\n"), "b", "日\nc", utf16("\ufeffa\r\n日\r\nc\r\n")},
		{"UTF-16 without BOM", utf16("hello world\nhello there\n"), "there", "you", utf16("hello world\nhello you\n")},
		{"Shift JIS", japanese + "\nx\n", "x", "です", japanese + "\n\x82\xc5\x82\xb7\n"},
		{"mixed endings", "a\r\nb\nc\r\nd\n", "b", "B", "a\r\nB\nc\r\nd\n"},
		{"no final newline", "a\nb", "a", "A", "A\nb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newEditBench(t, map[string]string{"f": test.before, "g": test.before})
			if _, err := b.do(b.ts.replace(), replaceCall("f", test.old, test.with)); err != nil {
				t.Fatal(err)
			}
			if got := b.read("f"); got != test.after {
				t.Errorf("replace: got %q; want %q", got, test.after)
			}
			place, err := b.ts.Workspace.Locate(b.path("f"))
			if err != nil {
				t.Fatal(err)
			}
			file, err := place.ReadText()
			if err != nil {
				t.Fatal(err)
			}
			bom := ""
			if file.Format.BOM {
				bom = "\ufeff" // as a model may copy it
			}
			if _, err := b.do(b.ts.writeFile(), writeCall("g", bom+strings.ReplaceAll(file.Text, "\r\n", "\n"))); err != nil {
				t.Fatal(err)
			}
			if got := b.read("g"); got != test.after {
				t.Errorf("write_file: got %q; want %q", got, test.after)
			}
		})
	}
}

func TestModeAndLinksStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	b := newEditBench(t, map[string]string{"bin/run.sh": "#!/bin/sh\necho a\n", "other/": ""})
	if err := os.Chmod(b.path("bin/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "bin/run.sh", "dangling": "other/made"} {
		if err := os.Symlink(target, b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	call := b.prepare(b.ts.replace(), replaceCall("link", "echo a", "echo b"))
	if d := cmp.Diff([]string{b.path("link"), b.path("bin/run.sh")}, call.Intent.Paths); d != "" {
		t.Error(d)
	}
	if got := call.Intent.Grants[0].Target; got != b.path("bin/run.sh") {
		t.Errorf("grant of %s", got)
	}
	if _, err := call.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.do(b.ts.writeFile(), writeCall("bin/run.sh", "#!/bin/sh\necho c\n")); err != nil {
		t.Fatal(err)
	}
	call = b.prepare(b.ts.writeFile(), writeCall("dangling", "x\n"))
	if got := call.Intent.Paths; len(got) != 2 || got[1] != b.path("other/made") {
		t.Errorf("paths %v", got)
	}
	if _, err := call.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.path("bin/run.sh"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	all := b.all()
	if all["link"] != fs.ModeSymlink.String() || all["dangling"] != fs.ModeSymlink.String() || all["bin/run.sh"] != "#!/bin/sh\necho c\n" || all["other/made"] != "x\n" {
		t.Errorf("%q", all)
	}
}

func TestDestination(t *testing.T) {
	b := newEditBench(t, map[string]string{"dir/f": "a\n"})
	for link, target := range map[string]string{
		"link": "dir", "dir/up": "../link/none", "chain": "link/up", "loop": "loop/x", "ping": "pong", "pong": "ping",
	} {
		if err := os.Symlink(filepath.FromSlash(target), b.path(link)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{
		"dir/f": "dir/f", "link/f": "dir/f", "none": "none", "link/none/x": "dir/none/x", "link/up": "dir/none", "chain": "dir/none",
	} {
		if got, err := b.ts.Workspace.Locate(b.path(name)); err != nil || got.Path() != b.path(want) {
			t.Errorf("%s leads to %s, %v; want %s", name, got.Path(), err, want)
		}
	}
	for _, name := range []string{"loop", "loop/a/b", "ping"} {
		if _, err := b.do(b.ts.writeFile(), writeCall(name, "x")); err == nil {
			t.Errorf("%s written", name)
		}
	}
}

// Between the question and the answer minutes may pass.
func TestFileChangedMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name, what string
		meanwhile  func(b editBench)
	}{
		{"changed", "was changed", func(b editBench) { b.put("f", "a\nz\n") }},
		{"endings changed", "was changed", func(b editBench) { b.put("f", "a\r\nb\r\n") }},
		{"BOM added", "was changed", func(b editBench) { b.put("f", "\xef\xbb\xbfa\nb\n") }},
		{"removed", "was removed", func(b editBench) { os.Remove(b.path("f")) }},
		{"moved", "was moved", func(b editBench) {
			os.Rename(b.path("f"), b.path("other"))
			if err := os.Symlink("other", b.path("f")); err != nil {
				b.Skip(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, tool := range []struct {
				make  func(Tools) engine.Tool
				args  editArgs
				class string
			}{
				{Tools.writeFile, writeCall("f", "x\n"), "file_write_failure"},
				{Tools.replace, replaceCall("f", "a", "x"), "edit_preparation_failure"},
			} {
				b := newEditBench(t, map[string]string{"f": "a\nb\n"})
				call := b.prepare(tool.make(b.ts), tool.args)
				test.meanwhile(b)
				before := b.all()
				_, err := call.Run(t.Context(), nil)
				b.fails(err, tool.class, "File "+test.what+" by someone else after this call was prepared, so nothing was written: "+
					b.path("f")+". Read it again before changing it.")
				if d := cmp.Diff(before, b.all()); d != "" {
					t.Error(d)
				}
			}
		})
	}
	t.Run("created", func(t *testing.T) {
		b := newEditBench(t, nil)
		call := b.prepare(b.ts.writeFile(), writeCall("f", "x\n"))
		b.put("f", "someone else's\n")
		_, err := call.Run(t.Context(), nil)
		b.fails(err, "file_write_failure", "File was created by someone else after this call was prepared, so nothing was written: "+
			b.path("f")+". Read it again before changing it.")
	})
	t.Run("made a directory", func(t *testing.T) {
		b := newEditBench(t, nil)
		call := b.prepare(b.ts.writeFile(), writeCall("f", "x\n"))
		if err := os.Mkdir(b.path("f"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := call.Run(t.Context(), nil)
		b.fails(err, "target_is_directory", "Path is a directory, not a file: "+b.path("f"))
	})
	t.Run("leads outside", func(t *testing.T) {
		b := newEditBench(t, map[string]string{"dir/f": "a\n"})
		outside := t.TempDir()
		call := b.prepare(b.ts.writeFile(), writeCall("dir/f", "x\n"))
		os.Rename(b.path("dir"), b.path("dir2"))
		if err := os.Symlink(outside, b.path("dir")); err != nil {
			t.Skip(err)
		}
		if _, err := call.Run(t.Context(), nil); engine.ErrorType(err) != "path_not_in_workspace" {
			t.Errorf("got %v", err)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("wrote %v outside", left)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		b := newEditBench(t, nil)
		call := b.prepare(b.ts.writeFile(), writeCall("f", "x\n"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := call.Run(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(b.path("f")); err == nil {
			t.Error("written")
		}
	})
}

// A file that somebody else has changed since the model saw it is not replaced unread.
func TestWriteFileThatWasChanged(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "b\n", "new.txt": "n\n", ".env": "KEY=1\n"})
	p.ts.Known = &KnownFiles{}
	tools := map[string]engine.Tool{}
	for _, tool := range p.ts.List() {
		tools[tool.Name()] = tool
	}
	change := func(name, text string) {
		if err := os.WriteFile(p.Path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	do := func(tool, args, want string) {
		t.Helper()
		_, r, err := p.Do(tools[tool], args)
		if got := fmt.Sprint(r.Text, err); !strings.Contains(p.Short(got), want) {
			t.Errorf("%s %s: got %s; want %s", tool, args, p.Short(got), want)
		}
	}
	write := func(name, text string) string { return `{"file_path":"` + name + `","content":"` + text + `"}` }

	do("write_file", write("new.txt", "x"), "Successfully overwrote") // which it never saw
	do("read_file", `{"file_path":"a.txt"}`, "one\ntwo")
	change("a.txt", "one\ntwo\nmine\n")
	do("write_file", write("a.txt", "1\\n2\\n"), "changed since you last saw it, so nothing was written: $/a.txt. Keep these changes, unless they are to go:\n--- when you saw it\n+++ now\n@@ -1,2 +1,3 @@\n one\n two\n+mine\n")
	do("write_file", write("a.txt", "1\\n2\\nmine\\n"), "Successfully overwrote") // it was told
	do("write_file", write("a.txt", "3\\n"), "Successfully overwrote")            // it wrote the last one
	do("replace", `{"file_path":"a.txt","instruction":"i","old_string":"3","new_string":"4"}`, "Successfully modified")
	do("write_file", write("a.txt", "5\\n"), "Successfully overwrote")
	change("a.txt", "6\n")
	do("replace", `{"file_path":"a.txt","instruction":"i","old_string":"6","new_string":"7"}`, "Successfully modified") // of what is there
	change("a.txt", "5\n")
	do("write_file", write("./a.txt", "8\\n"), "changed since you last saw it")
	if _, _, err := p.ts.ReadMany(t.Context(), []string{p.Dir}, nil); err != nil { // as files beside a prompt
		t.Fatal(err)
	}
	do("write_file", write("a.txt", "9\\n"), "Successfully overwrote")
	change("a.txt", "10\n")
	do("write_file", write("a.txt", "11\\n"), "changed since you last saw it")
	do("read_file", `{"file_path":"b.txt","start_line":1,"end_line":1}`, "b")
	change("b.txt", strings.Repeat("long\n", 20_000))
	do("write_file", write("b.txt", "8\\n"), "Read it again before you replace it.")
	if err := os.Remove(p.Path("b.txt")); err != nil {
		t.Fatal(err)
	}
	do("write_file", write("b.txt", "8\\n"), "Successfully created")

	// What was not there when the model looked, and is now.
	const made = "There was no such file when you last looked, and somebody has made it since, so nothing was written: $/"
	do("read_file", `{"file_path":"c.txt"}`, "File not found")
	do("write_file", write("c.txt", "c\\n"), "Successfully created") // which is still so
	do("write_file", write("c.txt", "d\\n"), "Successfully overwrote")
	do("read_file", `{"file_path":"./d.txt"}`, "File not found")
	change("d.txt", "mine\n")
	do("write_file", write("d.txt", "d\\n"), made+"d.txt. Keep these changes, unless they are to go:\n--- when you saw it\n+++ now\n@@ -0,0 +1 @@\n+mine\n")
	do("write_file", write("d.txt", "d\\n"), "Successfully overwrote") // it was told
	do("replace", `{"file_path":"e.txt","instruction":"i","old_string":"3","new_string":"4"}`, "File not found")
	change("e.txt", strings.Repeat("long\n", 20_000))
	do("write_file", write("e.txt", "e\\n"), made+"e.txt. Read it again before")
	do("read_file", `{"file_path":"f.txt"}`, "File not found")
	change("f.txt", "")
	do("write_file", write("f.txt", "f\\n"), made+"f.txt.")
	do("read_file", `{"file_path":"g.txt"}`, "File not found")
	change("g.txt", "mine\n")
	do("read_file", `{"file_path":"g.txt"}`, "mine")
	do("write_file", write("g.txt", "g\\n"), "Successfully overwrote") // it has read it
}

// What a file holds already is not written, and nobody is asked about it.
func TestWriteFileThatIsSo(t *testing.T) {
	p := newPlace(t, map[string]string{"a.txt": "one\r\ntwo\r\n", ".env": "KEY=1\n"})
	for _, test := range []struct {
		name, text, verdict string
		idle                bool
	}{
		{"a.txt", `one\ntwo\n`, "already so", true}, // with the line ends of the file
		{"a.txt", `one\ntwo`, "", false},
		{"none.txt", "", "", false},
		{".env", `KEY=1\n`, "", false}, // that would tell what is in it
	} {
		before, err := os.Stat(p.Path(test.name))
		call, r, rerr := p.Do(p.ts.writeFile(), `{"file_path":"`+test.name+`","content":"`+test.text+`"}`)
		if rerr != nil || call.Idle != test.idle || r.Verdict != test.verdict || (len(r.Changes) == 0) != test.idle {
			t.Errorf("%s: %v, %+v, %v", test.name, call.Idle, r, rerr)
		}
		if after, aerr := os.Stat(p.Path(test.name)); test.idle && (err != nil || aerr != nil || !after.ModTime().Equal(before.ModTime())) {
			t.Errorf("%s was written", test.name)
		}
	}
}

// Words that stand for what was left out are no content; those that were there before are.
func TestOmissions(t *testing.T) {
	const left = `function a() {}\n// ... existing code ...\n`
	p := newPlace(t, map[string]string{"a.js": "function a() {}\nfunction b() {}\n", "has.js": "// ... existing code ...\n", "README.md": "x\n"})
	for _, test := range []struct{ name, text, want string }{
		{"a.js", left, "omission placeholder"},
		{"new.js", left, "omission placeholder"},
		{"has.js", left, ""},
		{"README.md", "# A\\n```js\\n// ... existing code ...\\n```\\n", ""},
		{"README.md", "# Unchanged\\n* ...\\n...\\n", ""},
		{"README.md", "# A\\n\\n<!-- rest of file -->\\n", "omission placeholder"},
		{"a.js", `function a() {}\n/* unchanged */\n`, "omission placeholder"},
		{"new.js", `function a() {}\n// ...\n`, ""},
		{"README.md", "# A\\n\\n<!-- ... rest of the document ... -->\\n", "omission placeholder"},
	} {
		test.text = strings.ReplaceAll(test.text, `\\n`, `\n`)
		_, _, err := p.Do(p.ts.writeFile(), `{"file_path":"`+test.name+`","content":"`+test.text+`"}`)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v", test.name, test.text, err)
		}
	}
	_, _, err := p.Do(p.ts.replace(), `{"file_path":"a.js","instruction":"i","old_string":"function b() {}","new_string":"// ... existing code ..."}`)
	if err == nil || !strings.Contains(err.Error(), "omission placeholder") {
		t.Errorf("replace: %v", err)
	}
	_, _, err = p.Do(p.ts.replace(), `{"file_path":"a.js","instruction":"i","old_string":"function b() {}","new_string":"function b() {\n  // ...\n}"}`)
	if err == nil || !strings.Contains(err.Error(), "omission placeholder") {
		t.Errorf("replace by dots: %v", err)
	}
}

// Bytes that are no text survive edits elsewhere, and are not written as something else.
func TestBytesThatAreNoText(t *testing.T) {
	const is = "/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* Andr\xe9 */\nx = 1\n"
	for _, test := range []struct{ name, tool, args, want string }{
		{"elsewhere", "replace", `"old_string":"x = 1","new_string":"x = 2"`, "/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* Andr\xe9 */\nx = 2\n"},
		{"around it", "replace", `"old_string":"/* Andr\ufffd */\nx = 1","new_string":"/* by Andr\ufffd */\nx = 2"`, "/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* by Andr\xe9 */\nx = 2\n"},
		{"in its place", "replace", `"old_string":"Andr\ufffd","new_string":"Andr\u00e9"`, "/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* Andr\u00e9 */\nx = 1\n"},
		{"the whole", "write_file", `"content":"/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* Andr\ufffd */\nx = 3\n"`, "/* Gr\u00f6\u00dfe \u4f60\u597d */\n/* Andr\xe9 */\nx = 3\n"},
		{"the whole, in a line that changes", "write_file", `"content":"/* Gr\u00f6\u00dfe */\n/* by Andr\ufffd */\nx = 1\n"`, "/* Gr\u00f6\u00dfe */\n/* by Andr\xe9 */\nx = 1\n"},
		{"lost", "write_file", `"content":"new\n\nelse Ren\ufffd\n"`, ""},
		{"gone", "write_file", `"content":"new\n"`, "new\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, map[string]string{"a.c": is})
			tool := p.ts.replace()
			if test.tool == "write_file" {
				tool = p.ts.writeFile()
			}
			call, r, err := p.Do(tool, `{"file_path":"a.c","instruction":"i",`+test.args+`}`)
			if (err == nil) != (test.want != "") {
				t.Fatal(r.Text, err)
			}
			got, rerr := os.ReadFile(p.Path("a.c"))
			want := test.want
			if want == "" {
				want = is
			}
			if rerr != nil || string(got) != want {
				t.Errorf("got %q; want %q", got, want)
			}
			if shown := call.Intent.Detail + r.Text + fmt.Sprint(call.Intent.Edit); strings.ContainsFunc(shown, func(r rune) bool { return r >= 0x10ff00 }) {
				t.Errorf("private characters are shown: %q", shown)
			}
		})
	}
	p := newPlace(t, map[string]string{"a.c": is, "latin": "caf\xe9\n", "utf8": "caf\u00e9\n"})
	for name, want := range map[string]string{"a.c": "some bytes are not valid utf-8 and show as \ufffd", "latin": "the encoding is not known and was taken to be windows-1252", "utf8": ""} {
		_, r, err := p.Do(p.ts.readFile(), `{"file_path":"`+name+`"}`)
		if err != nil || r.Display != want || strings.Contains(r.Text, "Encoding: "+want) != (want != "") {
			t.Errorf("%s: %q, %q, %v", name, r.Text, r.Display, err)
		}
		_, r, err = p.Do(p.ts.readFile(), `{"file_path":"`+name+`","end_line":1}`)
		if err != nil || strings.Contains(r.Text, "Encoding: "+want) != (want != "") {
			t.Errorf("%s: %s, %v", name, r.Text, err)
		}
	}
}
