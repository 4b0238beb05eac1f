package files

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/engine/policy"
)

func replaceCall(path, old, with string) editArgs {
	return editArgs{"file_path": path, "instruction": "because", "old_string": old, "new_string": with}
}

func TestReplaceTool(t *testing.T) {
	const code = "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n"
	multiple := func(a editArgs) editArgs { a["allow_multiple"] = true; return a }
	modified := func(a editArgs) editArgs { a["modified_by_user"] = true; return a }
	for _, test := range []struct {
		name, file  string
		args        editArgs
		after, said string
		stat        string
	}{
		{"exact", code, replaceCall("f", "y()", "z()"), strings.Replace(code, "y()", "z()", 1),
			"Successfully modified file: DIR/f (1 replacements). Here is the updated code:\nfunc f() {\n\tif x {\n\t\tz()\n\t}\n}", "+1 -1"},
		{"all", "a\nb\na\n", multiple(replaceCall("f", "a", "c")), "c\nb\nc\n",
			"Successfully modified file: DIR/f (2 replacements). Here is the updated code:\nc\nb\nc", "+2 -2"},
		{"fuzzy", "alpha beta gamma\ndelta\n", replaceCall("f", "alpha beta gama\n", "one\n"), "one\ndelta\n",
			"Successfully modified file: DIR/f (1 replacements). Here is the updated code:\none\ndelta Applied fuzzy match at line(s) 1-1.", "+1 -1"},
		{"emptied", "a\n", replaceCall("f", "a\n", ""), "",
			"Successfully modified file: DIR/f (1 replacements).", "+0 -1"},
		{"dollar", "a\n", replaceCall("f", "a", "$&$1"), "$&$1\n",
			"Successfully modified file: DIR/f (1 replacements). Here is the updated code:\n$&$1", "+1 -1"},
		{"created", "", replaceCall("sub/g", "", "a\nb"), "a\nb",
			"Created new file: DIR/sub/g with provided content. Here is the updated code:\na\nb", "+2 -0"},
		{"changed by the user", "a\nb\n", modified(replaceCall("f", "a\nb\n", "c\n")), "c\n",
			"Successfully modified file: DIR/f (1 replacements). Here is the updated code:\nc The confirmation step modified the `new_string` content to be: c\n.", "+1 -2"},
		{"placeholder that was there", "// rest of code ...\na\n", replaceCall("f", "// rest of code ...\na", "// rest of code ...\nb"), "// rest of code ...\nb\n",
			"Successfully modified file: DIR/f (1 replacements). Here is the updated code:\n// rest of code ...\nb", "+1 -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newEditBench(t, map[string]string{"f": test.file})
			name := test.args["file_path"].(string)
			if runtime.GOOS == "windows" && name != "f" {
				t.Skip("other line endings")
			}
			r, err := b.do(b.ts.replace(), test.args)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.read(name); got != test.after {
				t.Errorf("file: got %q; want %q", got, test.after)
			}
			if got := strings.ReplaceAll(strings.ReplaceAll(r.Text, b.dir, "DIR"), `\`, "/"); got != test.said {
				t.Errorf("said: got %q\nwant %q", got, test.said)
			}
			if r.Display != test.stat || len(r.Changes) != 1 || r.Changes[0].Path != b.path(name) {
				t.Errorf("%s, %v", r.Display, r.Changes)
			}
		})
	}
}

func TestReplaceRefusals(t *testing.T) {
	b := newEditBench(t, map[string]string{
		"f": "a\na\nb", "crlf": "a\r\n", "dir/": "", "bin": "\x00\x01\x02\xff\x00",
		"x/same.go": "a\n", "y/same.go": "a\n",
	})
	for _, test := range []struct {
		name                    string
		args                    editArgs
		class, message, display string
	}{
		{"no name", replaceCall("", "a", "b"), engine.InvalidToolParams, "The 'file_path' parameter must be non-empty.", ""},
		{"placeholder", replaceCall("f", "b", "c\n// rest of methods ...\n"), engine.InvalidToolParams,
			"`new_string` contains an omission placeholder (for example 'rest of methods ...'). Provide exact literal replacement text.", ""},
		{"missing", replaceCall("none", "a", "b"), "file_not_found", "File not found: DIR/none",
			"no such file or directory"},
		{"missing, absolute", replaceCall("DIR/same.go", "a", "b"), "file_not_found", "File not found: DIR/same.go",
			"no such file or directory"},
		{"several of that name", replaceCall("same.go", "a", "b"), "file_not_found", "File not found: DIR/same.go. It may be one of: DIR/x/same.go, DIR/y/same.go",
			"no such file or directory"},
		{"exists", replaceCall("f", "", "b"), "attempt_to_create_existing_file", "File already exists, cannot create: DIR/f",
			"the file exists already"},
		{"not there", replaceCall("f", "zzz", "b"), "edit_no_occurrence_found",
			"Could not find an exact match for 'old_string' in 'f'. If previous edits modified the file, your copy of it may be outdated: " +
				"please use ReadFile to inspect the target lines before retrying with an exact 'old_string'.",
			"the text to be replaced is not in the file"},
		{"blank", replaceCall("f", "  ", "b"), "edit_no_occurrence_found",
			"Could not find an exact match for 'old_string' in 'f'. If previous edits modified the file, your copy of it may be outdated: " +
				"please use ReadFile to inspect the target lines before retrying with an exact 'old_string'.",
			"the text to be replaced is not in the file"},
		{"more than one", replaceCall("f", "a", "b"), "edit_expected_occurrence_mismatch",
			"Failed to edit, Expected 1 occurrence but found 2 for old_string in file: f. If you intended to replace multiple occurrences, set 'allow_multiple' to true.",
			"the text to be replaced is in the file 2 times"},
		{"identical", replaceCall("f", "b", "b"), "edit_no_change", "No changes to apply. The old_string and new_string are identical in file: f",
			"the edit changes nothing"},
		{"identical but not there", replaceCall("f", "zzz", "zzz"), "edit_no_occurrence_found",
			"Could not find an exact match for 'old_string' in 'f'. If previous edits modified the file, your copy of it may be outdated: " +
				"please use ReadFile to inspect the target lines before retrying with an exact 'old_string'.",
			"the text to be replaced is not in the file"},
		{"only the final newline", replaceCall("f", "b", "b\n"), "edit_no_change",
			"No changes to apply. The edit leaves the file as it is (line endings and the final newline are kept): f", "the edit changes nothing"},
		{"only line endings", replaceCall("crlf", "a\n", "a\r\n"), "edit_no_change",
			"No changes to apply. The edit leaves the file as it is (line endings and the final newline are kept): crlf", "the edit changes nothing"},
		{"directory", replaceCall("dir", "a", "b"), "target_is_directory", "Path is a directory, not a file: DIR/dir", ""},
		{"binary", replaceCall("bin", "a", "b"), "read_content_failure", "Cannot edit binary file: DIR/bin", ""},
		{"outside", replaceCall("/nowhere/f", "a", "b"), "path_not_in_workspace",
			`Path not in workspace: Attempted path "/nowhere/f" resolves outside the allowed workspace directories: DIR`, "it is outside of the folders that this session works in"},
		{"grows too large", func() editArgs {
			a := replaceCall("f", "a", strings.Repeat("x", 40<<20))
			a["allow_multiple"] = true
			return a
		}(), "file_too_large", "Cannot edit DIR/f: the edited text would be larger than 64 MB", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("the paths in the messages are others")
			}
			b := editBench{t, b.dir, b.ts}
			test.args["file_path"] = strings.Replace(test.args["file_path"].(string), "DIR", b.dir, 1)
			_, err := b.do(b.ts.replace(), test.args)
			b.fails(err, test.class, test.message)
			if want := test.display; want != "" && engine.DisplayError(err) != want {
				t.Errorf("shown as %q; want %q", engine.DisplayError(err), want)
			}
		})
	}
}

func TestReplaceFindsTheFile(t *testing.T) {
	b := newEditBench(t, map[string]string{"deep/down/a.go": "a\n", "deep/b.go": "b\n", "other/b.go/x": "", "deep/aa.go": "n\n"})
	for name, want := range map[string]string{"a.go": "deep/down/a.go", "down/a.go": "deep/down/a.go", "@down/a.go": "deep/down/a.go", "b.go": "deep/b.go"} {
		in := b.prepare(b.ts.replace(), replaceCall(name, strings.TrimSuffix(want[strings.LastIndex(want, "/")+1:], ".go"), "z")).Intent
		if in.Title != "edit "+want || in.Paths[0] != b.path(want) {
			t.Errorf("%s: %s, %v", name, in.Title, in.Paths)
		}
	}
	if in := b.prepare(b.ts.replace(), replaceCall("a.go", "", "z")).Intent; in.Title != "create a.go" {
		t.Errorf("a file to create is searched for: %s", in.Title)
	}
}

func TestReplaceDraft(t *testing.T) {
	b := newEditBench(t, map[string]string{"f": "a\r\nb\r\nc"})
	tool := b.ts.replace()
	a := replaceCall("f", "b", "B")
	a["allow_multiple"] = true
	draft := b.prepare(tool, a).Intent.Draft
	if draft.Name != "f" || draft.Text != "a\nB\nc" {
		t.Errorf("%+v", draft)
	}
	same := replaceCall(b.path("f"), "b", "B")
	same["allow_multiple"] = true
	if d := cmp.Diff(same, draft.Args(draft.Text)); d != "" {
		t.Errorf("unchanged by the user: %s", d)
	}
	mine := draft.Args("a\nmine\n// rest of code ...\nc\n")
	want := replaceCall(b.path("f"), "a\r\nb\r\nc", "a\nmine\n// rest of code ...\nc\n")
	want["modified_by_user"] = true
	if d := cmp.Diff(want, mine); d != "" {
		t.Error(d)
	}
	r, err := b.do(tool, mine)
	if err != nil || b.read("f") != "a\r\nmine\r\n// rest of code ...\r\nc" || !strings.Contains(r.Text, "The confirmation step modified") {
		t.Errorf("%v, %q, %q", err, b.read("f"), r.Text)
	}
	draft = b.prepare(tool, replaceCall("new", "", "x\n")).Intent.Draft
	if _, err := b.do(tool, draft.Args("y\n")); err != nil || b.read("new") != "y\n" {
		t.Errorf("%v, %q", err, b.read("new"))
	}
}

// Both tools ask for the same grant, so that one "always" covers the file.
func TestEditsShareTheirGrant(t *testing.T) {
	b := newEditBench(t, map[string]string{"f": "a\n"})
	one := b.prepare(b.ts.writeFile(), writeCall("f", "b\n")).Intent.Grants
	two := b.prepare(b.ts.replace(), replaceCall(b.path("f"), "a", "b")).Intent.Grants
	if d := cmp.Diff(one, two); d != "" {
		t.Error(d)
	}
}

// An approver who edits the first proposal and then allows the file for good.
type editor struct {
	text string
	seen []engine.Proposal
}

func (e *editor) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	e.seen = append(e.seen, p)
	if len(e.seen) == 1 {
		return engine.Changed{Args: p.Intent.Draft.Args(e.text)}, nil
	}
	return engine.Allowed{Scope: engine.Session, Grant: p.Intent.Grants[0]}, nil
}

func TestEditConversation(t *testing.T) {
	b := newEditBench(t, map[string]string{"f": "a\r\nb\r\n"})
	model := enginetest.NewScript(
		enginetest.Says("", &genai.FunctionCall{Name: "replace", Args: replaceCall("f", "b", "c")}),
		enginetest.Says("", &genai.FunctionCall{Name: "write_file", Args: writeCall("f", "a\nmine\nd\n")}),
		enginetest.Says("Done."),
	)
	user := &editor{text: "a\nmine\n"}
	e := engine.New(engine.Config{Model: "m", Generator: model, Approver: user, Policy: policy.New(policy.Default),
		Tools: engine.Tools{b.ts.replace(), b.ts.writeFile()}})
	for _, err := range e.Run(t.Context(), genai.NewPartFromText("edit")) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := b.read("f"); got != "a\r\nmine\r\nd\r\n" {
		t.Errorf("file: %q", got)
	}
	if len(user.seen) != 2 || !strings.Contains(user.seen[0].Intent.Detail, "\n-b\n+c\n") || !strings.Contains(user.seen[1].Intent.Detail, "\n-b\n+mine\n") {
		t.Errorf("asked about %d calls", len(user.seen))
	}
	enginetest.CheckHistory(t, e.History())
	var said []string
	for _, c := range e.History() {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				said = append(said, strings.ReplaceAll(fmt.Sprint(p.FunctionResponse.Response["output"]), b.path("f"), "F"))
			}
		}
	}
	want := []string{
		"Successfully modified file: F (1 replacements). Here is the updated code:\na\nmine The confirmation step modified the `new_string` content to be: a\nmine\n.",
		"Successfully overwrote file: F. Here is the updated code:\na\nmine\nd",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}
