package files

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
)

// What may hold secrets is asked about when it is named, left out of searches,
// and said.
func TestSecretNames(t *testing.T) {
	p := newPlace(t, map[string]string{"server.key": "word KEY\n", "a.go": "word\n", "Credentials.JSON": "word\n", "credentials.go": "word\n", "env.example": "word\n", "deploy/id_rsa": "word\n", "prod.env": "word\n",
		".env": "word\n", "gha-creds-1f.json": "word\n", "vault/my.env/x": "word\n", "secrets/db": "word\n"})
	link(t, p, map[string]string{"notes": ".env", "docs": "secrets"})
	for name, want := range map[string]string{"server.key": "server.key", "./deploy/../server.key": "server.key", "Credentials.JSON": "Credentials.JSON", "deploy/id_rsa": "deploy/id_rsa", ".env": ".env", "./.ENV": ".ENV", ".env::$DATA": ".env::$DATA", "ENV~1": "ENV~1", "\uff0eenv": "\uff0eenv", "notes": "notes", "docs/db": "docs/db",
		"gha-creds-1f.json": "gha-creds-1f.json", "vault/my.env/x": "vault/my.env/x", "a.go": "", "credentials.go": "", "env.example": ""} {
		for _, c := range []struct {
			tool engine.Tool
			args map[string]any
		}{{p.ts.readFile(), map[string]any{"file_path": name}}, {p.ts.grepSearch(), map[string]any{"pattern": "word", "dir_path": name}}} {
			call, err := c.tool.Prepare(t.Context(), c.args)
			if engine.ErrorType(err) == "search_path_not_found" {
				continue
			}
			if err != nil || call.Intent.Secret != want || (len(call.Intent.Grants) > 0) != (want != "") {
				t.Errorf("%s of %s: %q, %d grants, %v", c.tool.Name(), name, call.Intent.Secret, len(call.Intent.Grants), err)
			}
		}
	}
	const said = "(8 files that may hold secrets left out"
	for args, tool := range map[string]engine.Tool{`{"pattern":"word"}`: p.ts.grepSearch(), `{"pattern":"**/*"}`: p.ts.glob()} {
		_, r, err := p.Do(tool, args)
		if err != nil || !strings.Contains(r.Text, said) || !strings.Contains(r.Display, said) || strings.Contains(r.Text, "server.key") || !strings.Contains(r.Text, "credentials.go") {
			t.Errorf("%s: %v %q %q", tool.Name(), err, r.Display, r.Text)
		}
	}
	for _, dir := range []string{"docs", "secrets"} { // a link is no way around
		_, r, err := p.Do(p.ts.grepSearch(), `{"pattern":"word","dir_path":"`+dir+`"}`)
		if err != nil || !strings.Contains(r.Text, "No matches") || !strings.Contains(r.Text, "(1 file that may") {
			t.Errorf("below %s: %v %q", dir, err, r.Text)
		}
	}
	parts, skipped, err := p.ts.ReadMany(t.Context(), []string{p.Path("deploy"), p.Path("server.key")}, nil)
	if err != nil || len(parts) != 2 || !strings.Contains(parts[1].Text, "word KEY") {
		t.Errorf("@ and a name: %v %v", parts, err)
	}
	if !slices.ContainsFunc(skipped, func(s SkippedFile) bool {
		return s.Path == p.Path("deploy/id_rsa") && strings.Contains(s.Reason, "secrets")
	}) {
		t.Errorf("@ and a directory: %v", skipped)
	}
}

func link(t *testing.T, p place, links map[string]string) {
	t.Helper()
	for name, to := range links {
		if err := os.Symlink(to, p.Path(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
}

// An edit of what may hold secrets is asked about as reading it is, since its
// result, and why it fails, tell what the file holds.
func TestSecretEdits(t *testing.T) {
	b := newEditBench(t, map[string]string{".env": "KEY=1\nOTHER=2\n", "a.txt": "KEY=1\n"})
	for _, c := range []struct {
		tool   engine.Tool
		args   map[string]any
		secret string
		fails  string
	}{
		{b.ts.replace(), replaceCall(".env", "KEY=1", "KEY=3"), ".env", ""},
		{b.ts.replace(), replaceCall(".env", "KEY=7", "KEY=3"), ".env", "edit_no_occurrence_found"},
		{b.ts.replace(), replaceCall(".env", "=", "!"), ".env", "edit_expected_occurrence_mismatch"},
		{b.ts.replace(), replaceCall(".env", "KEY=1", "KEY=1"), ".env", "edit_no_change"},
		{b.ts.replace(), replaceCall("a.txt", "KEY=1", "KEY=3"), "", ""},
		{b.ts.writeFile(), writeCall(".env", "x"), ".env", ""},
		{b.ts.writeFile(), writeCall("new/.env", "x"), "", ""}, // which guarded names have asked about
	} {
		call, err := c.tool.Prepare(t.Context(), c.args)
		if err != nil {
			t.Errorf("%s %v: %v", c.tool.Name(), c.args, err)
			continue
		}
		if in := call.Intent; in.Secret != c.secret || c.secret != "" && len(in.Grants) != 1 {
			t.Errorf("%s %v: %q, %d grants", c.tool.Name(), c.args, in.Secret, len(in.Grants))
		}
		if c.fails != "" {
			if _, err := call.Run(t.Context(), nil); engine.ErrorType(err) != c.fails || !strings.Contains(call.Intent.Detail, "it will fail: ") {
				t.Errorf("%v: %v, asked %q", c.args, err, call.Intent.Detail)
			}
		}
	}
}
