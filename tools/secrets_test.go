package tools

import (
	"slices"
	"strings"
	"testing"

	"gemline/engine"
)

// What may hold secrets is asked about when it is named, left out of searches,
// and said.
func TestSecretNames(t *testing.T) {
	p := newPlace(t, map[string]string{"server.key": "word KEY\n", "a.go": "word\n", "Credentials.JSON": "word\n", "credentials.go": "word\n", "env.example": "word\n", "deploy/id_rsa": "word\n", "prod.env": "word\n"})
	for name, want := range map[string]string{"server.key": "server.key", "./deploy/../server.key": "server.key", "Credentials.JSON": "Credentials.JSON", "deploy/id_rsa": "deploy/id_rsa", "a.go": "", "credentials.go": "", "env.example": ""} {
		for _, c := range []struct {
			tool engine.Tool
			args map[string]any
		}{{readFile(p.env), map[string]any{"file_path": name}}, {grepSearch(p.env), map[string]any{"pattern": "word", "dir_path": name}}} {
			call, err := c.tool.Prepare(t.Context(), c.args)
			if err != nil || call.Intent.Secret != want || (len(call.Intent.Grants) > 0) != (want != "") {
				t.Errorf("%s of %s: %q, %d grants, %v", c.tool.Name(), name, call.Intent.Secret, len(call.Intent.Grants), err)
			}
		}
	}
	const said = "(4 files that may hold secrets left out"
	for args, tool := range map[string]engine.Tool{`{"pattern":"word"}`: grepSearch(p.env), `{"pattern":"**/*"}`: glob(p.env)} {
		_, r, err := p.do(tool, args)
		if err != nil || !strings.Contains(r.Text, said) || !strings.Contains(r.Display, said) || strings.Contains(r.Text, "server.key") || !strings.Contains(r.Text, "credentials.go") {
			t.Errorf("%s: %v %q %q", tool.Name(), err, r.Display, r.Text)
		}
	}
	parts, skipped, err := ReadMany(t.Context(), p.env.Workspace, nil, []string{p.path("deploy"), p.path("server.key")}, nil)
	if err != nil || len(parts) != 2 || !strings.Contains(parts[1].Text, "word KEY") {
		t.Errorf("@ and a name: %v %v", parts, err)
	}
	if !slices.ContainsFunc(skipped, func(s Skipped) bool {
		return s.Path == p.path("deploy/id_rsa") && strings.Contains(s.Reason, "secrets")
	}) {
		t.Errorf("@ and a directory: %v", skipped)
	}
}
