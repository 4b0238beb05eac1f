package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A project may add protection and not take any away.
func TestTighten(t *testing.T) {
	const loose = `{"general": {"notificationCommand": "say"}, "ui": {"labels": {"gemini": "answer"}}, "tools": {"shell": {"pager": "less"}}, "security": {"folderTrust": {"enabled": false}, "disableYoloMode": false, "enablePermanentToolApproval": true, "toolSandboxing": false,
		"environmentVariableRedaction": {"enabled": false, "allowed": ["TOKEN"], "blocked": ["A"]}}}`
	const tight = `{"security": {"disableYoloMode": true, "enablePermanentToolApproval": false, "toolSandboxing": true,
		"environmentVariableRedaction": {"enabled": true, "blocked": ["B"]}}}`
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	user, project := Source{Path: path("user", tight), Scope: User}, Source{Path: path("project", loose), Scope: Workspace}
	got, warnings, err := Load([]Source{user, project}, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if !got.FolderTrust || !got.NoYolo || !got.Redact || got.AllowedVars != nil {
		t.Errorf("yolo off %v, redaction %v, allowed %v", got.NoYolo, got.Redact, got.AllowedVars)
	}
	if !reflect.DeepEqual(got.BlockedVars, []string{"B", "A"}) {
		t.Errorf("blocked: %q", got.BlockedVars)
	}
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, "security.disableYoloMode: a project can only set it to true") {
		t.Errorf("warnings: %s", text)
	}
	if got.NotifyCommand != "" || got.Pager != "cat" || len(got.Labels()) > 0 {
		t.Errorf("a project's commands %q and %q, and labels %q", got.NotifyCommand, got.Pager, got.Labels())
	}
	// The user may do all that.
	user.Path, project.Path = project.Path, user.Path
	if got, warnings, err = Load([]Source{user, project}, os.LookupEnv); err != nil || len(warnings) > 0 || !got.NoYolo || got.AllowedVars == nil || got.NotifyCommand != "say" || got.Pager != "less" || got.Labels()["gemini"] != "answer" {
		t.Errorf("%v, %q, %+v", err, warnings, got)
	}
}
