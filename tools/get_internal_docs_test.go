package tools

import (
	"strings"
	"testing"

	"gemline/tools/toolstest"
)

// A page is found by each of its names; where there is none, the list is told.
func TestGetInternalDocs(t *testing.T) {
	for args, want := range map[string]string{
		`{}`:                       "The pages:\n- usage.md: ",
		`{"path":"hooks"}`:         "# Hooks",
		`{"path":"hooks.md"}`:      "# Hooks",
		`{"path":"docs/hooks.md"}`: "# Hooks",
	} {
		call, err := toolstest.Prepare(t, getInternalDocs(), args)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := call.Run(t.Context(), &toolstest.Desk{}); err != nil || !strings.HasPrefix(r.Text, want) {
			t.Errorf("%s: %.80q, %v", args, r.Text, err)
		}
	}
	for _, path := range []string{"nope", "../tools/doc/glob.md", "/etc/passwd"} {
		if _, err := toolstest.Prepare(t, getInternalDocs(), `{"path":"`+path+`"}`); err == nil || !strings.Contains(err.Error(), "- hooks.md: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
