package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemline/settings/flags"
	"gemline/settings/jsonc"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// trustful returns a world of a user with a project that brings something, and
// what is written into it.
func trustful(t *testing.T) (*world, *strings.Builder, *[]string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(home, "src", "clone")
	for path, text := range map[string]string{
		filepath.Join(cwd, ".git", "HEAD"): "", filepath.Join(cwd, "GEMINI.md"): "Hello.",
		filepath.Join(cwd, ".gemini", "settings.json"): `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "touch \u001b[2J\u202ex"}]}]}, "tools": {"callCommand": "x"}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	var notes []string
	return &world{Output: Output{Out: &out, Notify: func(s string) { notes = append(notes, s) }},
		Folder: Folder{Paths: project.New(home, "", cwd), Flags: &flags.Set{}, Lookup: func(string) (string, bool) { return "", false }}}, &out, &notes
}

func TestTrustCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	w, out, notes := trustful(t)
	home, cwd := w.Paths.Home, w.Paths.Cwd
	for _, step := range []struct{ words, want, note string }{
		{"status", "CWD: not trusted, since nobody has decided about it\n  hook SessionEnd: touch \\x1b[2J\\u{202e}x\n* setting tools.callCommand: \"x\" (runs a command)\n  context file GEMINI.md: 6 bytes\n", ""},
		{"list", "nothing was decided about any folder\n", ""},
		{"remove", "CWD: nothing was decided about it by name\n", ""},
		{"add", "CWD: trusted\nit is trusted by TRUST_FOLDER for CWD\n", ""},
		{"add .", "CWD: as before: TRUST_FOLDER\nit is trusted by TRUST_FOLDER for CWD\n", ""},
		{"status", "CWD: trusted, by TRUST_FOLDER for CWD\n  hook SessionEnd: touch \\x1b[2J\\u{202e}x\n* setting tools.callCommand: \"x\" (runs a command)\n  context file GEMINI.md: 6 bytes\n", ""},
		{"status sub", "CWD/sub: trusted, by TRUST_FOLDER for CWD\n  context file ../GEMINI.md: 6 bytes\n", ""},
		{"deny", "CWD: not trusted (was TRUST_FOLDER)\nit is not trusted by DO_NOT_TRUST for CWD\n", ""},
		{"add --parent ~/src/clone", "CWD: trusted: HOME/src and all in it (was DO_NOT_TRUST)\nit is trusted by TRUST_PARENT for CWD\n", ""},
		{"add", "CWD: already trusted, as all in HOME/src\nit is trusted by TRUST_PARENT for CWD\n", ""},
		{"deny sub", "CWD/sub: not trusted\nit is not trusted by DO_NOT_TRUST for CWD/sub\n", ""},
		{"list", "TRUST_PARENT  CWD\nDO_NOT_TRUST  CWD/sub\n", ""},
		{"remove ../clone/sub/", "CWD/sub: removed: DO_NOT_TRUST\nit is trusted by TRUST_PARENT for CWD\n", ""},
		{"remove", "CWD: removed: TRUST_PARENT\n", ""},
		{"add ~", "HOME: trusted\nit is trusted by TRUST_FOLDER for HOME\n", "HOME holds about everything you have, and all of it is trusted now"},
		{"remove ~", "HOME: removed: TRUST_FOLDER\n", ""},
		{"status /", "/: not needed\nnothing in it needs trust\n", ""},
	} {
		out.Reset()
		*notes = nil
		if err := w.run(t.Context(), strings.Fields("trust "+step.words)); err != nil {
			t.Errorf("%s: %v", step.words, err)
			continue
		}
		real := strings.NewReplacer("CWD", cwd, "HOME", home)
		if step.words == "status /" && strings.Contains(out.String(), "/.") {
			continue // this machine's own
		}
		if got := out.String(); got != real.Replace(step.want) {
			t.Errorf("%s: %s", step.words, got)
		}
		if got := strings.Join(*notes, "\n"); got != real.Replace(step.note) {
			t.Errorf("%s: told %q", step.words, got)
		}
	}
}

func TestTrustMistakes(t *testing.T) {
	w, _, _ := trustful(t)
	run := func(words ...string) error { return w.run(t.Context(), append([]string{"trust"}, words...)) }
	for _, words := range [][]string{{"add", "nowhere"}, {"add", "GEMINI.md"}} {
		if err := run(words...); err == nil || !strings.Contains(err.Error(), words[1]) {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, words := range [][]string{{"remove", "nowhere"}, {"deny", "nowhere"}, {"status", "nowhere"}, {"remove", "nowhere"}} {
		if err := run(words...); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	var ue *flags.UsageError
	for _, words := range [][]string{{"add", "a", "b"}, {"forget"}, {"deny", "--parent"}} {
		if err := run(words...); !errors.As(err, &ue) {
			t.Errorf("%q: %v", words, err)
		}
	}
	path := trust.Folders(w.Paths, w.Lookup).Path
	if err := os.WriteFile(path, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var fe *jsonc.Error
	for _, words := range [][]string{{"list"}, {"status"}, {"add"}, {"deny"}, {"remove"}} {
		if err := run(words...); !errors.As(err, &fe) || fe.Line != 2 {
			t.Errorf("%q: %v", words, err)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "{\n" {
		t.Errorf("the list is now %q", b)
	}
}

func TestTrustJSON(t *testing.T) {
	w, out, _ := trustful(t)
	var v struct {
		State, By, Done string
		Rule            *trust.Decision
		Brings          []trust.Item
		Folders         []trust.Decision
	}
	run := func(words string) {
		t.Helper()
		out.Reset()
		v.Rule = nil
		if err := w.run(t.Context(), strings.Fields("trust "+words+" --json")); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		if err := json.Unmarshal([]byte(out.String()), &v); err != nil {
			t.Fatalf("%s: %v: %s", words, err, out)
		}
	}
	if run("status"); v.State != "unknown" || v.Rule != nil || len(v.Brings) != 3 || v.Brings[0].Kind != "hook" {
		t.Errorf("%+v", v)
	}
	if run("list"); v.Folders == nil || len(v.Folders) != 0 {
		t.Errorf("%+v", v)
	}
	if run("add"); v.State != "trusted" || v.Done != "trusted" {
		t.Errorf("%+v", v)
	}
	if run("status"); v.State != "trusted" || v.Rule == nil || v.Rule.Rule != trust.Folder {
		t.Errorf("%+v", v)
	}
	if run("list"); len(v.Folders) != 1 || v.Folders[0].Path != w.Paths.Cwd {
		t.Errorf("%+v", v)
	}
}
