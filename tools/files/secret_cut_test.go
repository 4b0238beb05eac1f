package files

import (
	"fmt"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/redact"
	"gemline/tools/toolstest"
)

// A secret is taken out before a line is cut within it, or lines are left out
// that begin it.
func TestSecretsCut(t *testing.T) {
	const secret, lines = "correct-horse-battery-staple", "first-of-two\nsecond-of-two"
	var files = map[string]string{"two.txt": "a\r\nfirst-of-two\r\nsecond-of-two\r\n"}
	for _, before := range []int{0, maxLineChars - len(secret) - 1, maxLineChars - len(secret), maxLineChars - len(secret)/2, maxLineChars - 1, maxLineChars} {
		files[fmt.Sprintf("%d.txt", before)] = strings.Repeat("x", before) + secret + " needle"
	}
	p := newPlace(t, files)
	p.ts.Secrets = &redact.Redactor{}
	p.ts.Secrets.Add("API key", secret)
	p.ts.Secrets.Add("other key", lines)
	for name := range files {
		call := func(tool engine.Tool, args map[string]any) string {
			t.Helper()
			c, err := tool.Prepare(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(t.Context(), &toolstest.Desk{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Text
		}
		parts, _, err := p.ts.ReadMany(t.Context(), []string{p.Path(name)}, nil)
		if err != nil || len(parts) != 2 {
			t.Fatal(parts, err)
		}
		for by, got := range map[string]string{
			"read_file":      call(p.ts.readFile(), map[string]any{"file_path": name}),
			"read_file part": call(p.ts.readFile(), map[string]any{"file_path": name, "start_line": 3.0}),
			"grep_search":    call(p.ts.grepSearch(), map[string]any{"pattern": "needle", "include_pattern": name}),
			"@path":          parts[1].Text,
		} {
			for _, piece := range []string{secret[:4], secret[len(secret)-5:], "of-two"} {
				if strings.Contains(got, piece) {
					t.Errorf("%s of %s shows %q: ...%s", by, name, piece, got[max(0, len(got)-200):])
				}
			}
		}
	}
}
