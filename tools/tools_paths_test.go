package tools

import (
	"context"
	"strings"
	"testing"

	"gemline/engine"
)

// A policy that notes what it is asked about.
type notingPolicy struct{ seen []engine.Proposal }

func (n *notingPolicy) Offers(engine.Tool) bool                { return true }
func (n *notingPolicy) Learn(engine.Grant, engine.Scope) error { return nil }
func (n *notingPolicy) Judge(_ context.Context, p engine.Proposal) (engine.Verdict, engine.Reason) {
	n.seen = append(n.seen, p)
	return engine.Allow, engine.Reason{}
}

// Rules, secrets and protected names are held against the file that a call touches, in
// whatever way its name is written.
func TestPolicySeesTheFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	p := newPlace(t, map[string]string{"r\u00e9sum\u00e9.txt": "a\n", "\u00e9/.env": "KEY=1\n", "\u00e9/Keys.pem": "x\n"})
	for _, test := range []struct {
		tool, args, path string
		secret           bool
	}{
		{"read_file", "re\u0301sume\u0301.txt", "r\u00e9sum\u00e9.txt", false},
		{"read_file", "e\u0301/.env", "\u00e9/.env", true},
		{"read_file", "e\u0301/\u212aeys.pem", "\u00e9/Keys.pem", true},
		{"write_file", "e\u0301/.env", "\u00e9/.env", true},
		{"write_file", "e\u0301/.git/hooks/x", "\u00e9/.git/hooks/x", false},
	} {
		for _, tool := range New(p.families) {
			if tool.Name() != test.tool {
				continue
			}
			policy := &notingPolicy{}
			s, err := engine.Authorize(t.Context(), engine.Proposal{Tool: tool,
				Args: map[string]any{"file_path": test.args, "content": "b\n"}}, policy, nil, nil)
			if err != nil || s.Err != nil {
				if strings.Contains(test.path, ".git/") {
					continue // refused before anybody is asked
				}
				t.Errorf("%+q: %v, %v", test.args, err, s.Err)
				continue
			}
			q := policy.seen[0]
			if q.Args["file_path"] != test.path || q.Intent.Paths[0] != p.Path(test.path) || (q.Intent.Secret != "") != test.secret {
				t.Errorf("%+q: the policy sees %+q, %+q, secret %q", test.args, q.Args["file_path"], q.Intent.Paths, q.Intent.Secret)
			}
		}
	}
	for _, tool := range New(p.families) {
		if tool.Name() == "read_file" {
			_, err := tool.Prepare(t.Context(), first(tool.Fitted(map[string]any{"file_path": "~/.ssh/id_rsa"})))
			if engine.ErrorType(err) != "path_not_in_workspace" {
				t.Errorf("home: %v", err)
			}
			call, err := tool.Prepare(t.Context(), map[string]any{"file_path": "R\u00e9sum\u00e9.TXT"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := call.Run(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "Did you mean r\u00e9sum\u00e9.txt?") {
				t.Errorf("another case: %v", err)
			}
		}
	}
}

func first(args map[string]any, _ string) map[string]any { return args }
