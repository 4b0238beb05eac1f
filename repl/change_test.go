package repl

import (
	stdcmp "cmp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
)

// put is a diff of a function in Go, with a change at its end far below.
const put = `--- store.go	Current
+++ store.go	Proposed
@@ -10,7 +10,9 @@ func (s *Store) Put(k string) {
 	s.mu.Lock()
 	defer s.mu.Unlock()
 
-	s.m[k] = 1
+	if k != "" {
+		s.m[k]++
+	}
 }
 
 // Get.
`

func editing(diff string) engine.Proposal {
	return engine.Proposal{ID: "1", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "replace"}, Kind: engine.Edit},
		Intent: engine.Intent{Title: "edit store.go", Detail: diff, Grants: []engine.Grant{
			{Label: "always for store.go", Tool: "edit", Target: "/store.go"}, {Label: "all edits this session", Tool: "edit"}}}}
}

// A question about a change names the file and counts the lines before the
// change is shown. Who listens hears each line in words, with its number; who
// wants little is shown nothing that stays as it is.
func TestProposedChange(t *testing.T) {
	const choices = "y n a b ? (a = always for store.go, b = all edits this session): n\n"
	for name, tt := range map[string]struct {
		spoken, short bool
		want, choices string
	}{
		"normal": {want: `permission: edit store.go: 3 lines added, 1 removed
@@ -10,7 +10,9 @@ func (s *Store) Put(k string) {
 	s.mu.Lock()
 	defer s.mu.Unlock()
 
-	s.m[k] = 1
+	if k != "" {
+		s.m[k]++
+	}
 }
 
 // Get.
`},
		"short": {short: true, want: `permission: edit store.go: 3 lines added, 1 removed, from line 13
-	s.m[k] = 1
+	if k != "" {
+		s.m[k]++
+	}
`},
		"spoken": {spoken: true, want: `permission: edit store.go: 3 lines added, 1 removed, in function Put
removed: 13: 	s.m[k] = 1
added: 13: 	if k != "" {
added: 14: 		s.m[k]++
added: 15: 	}
`, choices: "y, n, a = always for store.go, ? = more: n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, shown := console("n")
			c.Spoken, c.Short = tt.spoken, tt.short
			(&Asker{Console: c}).Approve(t.Context(), editing(put))
			if diff := cmp.Diff(tt.want+stdcmp.Or(tt.choices, choices), shown.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A change that may not fit on a screen is named once more behind it.
func TestLongChange(t *testing.T) {
	c, shown := console("n")
	diff := "--- a\tCurrent\n+++ a\tProposed\n@@ -0,0 +1,17 @@\n" + strings.Repeat("+x\n", 17)
	(&Asker{Console: c}).Approve(t.Context(), editing(diff))
	got := shown.String()
	if !strings.HasPrefix(got, "tool: proposed: edit store.go: 17 lines added\n") || !strings.Contains(got, "+x\npermission: edit store.go\ny n a b ?") {
		t.Errorf("shows\n%s", got)
	}
}
