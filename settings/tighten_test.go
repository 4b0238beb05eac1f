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

// A value that a project can't set is no mistake where it is the user's own.
func TestSameValueAsTheUsers(t *testing.T) {
	user := `{"telemetry": {"enabled": true, "outfile": "/t"}, "security": {"auth": {"selectedType": "gemini-api-key"}}}`
	for project, want := range map[string]int{
		user:                               0,
		`{"telemetry": {"outfile": "/u"}}`: 1,
		`{"telemetry": {"useCollector": true, "enabled": true}}`: 1,
	} {
		list := files(t, user, project)
		list[0].Scope, list[1].Scope = User, Workspace
		s, warnings, err := Load(list, env())
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := at(s.Merged, []string{"telemetry", "outfile"}); len(warnings) != want || out != "/t" {
			t.Errorf("%s: %q, %v", project, warnings, out)
		}
	}
}

// A project's approval mode is never looser than the user's and the machine's.
func TestTemper(t *testing.T) {
	const none = ""
	for _, c := range []struct {
		defaults, user, project, system string
		want                            string
		warned                          bool
	}{
		{none, none, "plan", none, "plan", false},
		{none, none, "default", none, "default", false},
		{none, none, "auto_edit", none, "default", true},
		{none, "plan", "default", none, "plan", true},
		{none, "plan", "auto_edit", none, "plan", true},
		{none, "plan", "plan", none, "plan", false},
		{none, "default", "auto_edit", none, "default", true},
		{none, "default", "plan", none, "plan", false},
		{none, "auto_edit", "auto_edit", none, "auto_edit", false},
		{none, "auto_edit", "default", none, "default", false},
		{none, "auto_edit", "plan", none, "plan", false},
		{"plan", none, "default", none, "plan", true},
		{"plan", "auto_edit", "auto_edit", none, "auto_edit", false},
		{"auto_edit", none, "auto_edit", none, "auto_edit", false},
		{none, none, "auto_edit", "plan", "plan", true},
		{none, none, "plan", "auto_edit", "auto_edit", false}, // what the machine's administrator says is the last word
		{none, none, "yolo", none, "default", true},           // which no file can say
		{none, "auto_edit", "yolo", none, "auto_edit", true},
	} {
		dir := t.TempDir()
		var sources []Source
		for _, f := range []struct {
			scope Scope
			mode  string
		}{{SystemDefaults, c.defaults}, {User, c.user}, {Workspace, c.project}, {System, c.system}} {
			if f.mode == none {
				continue
			}
			// As in a project's directory, so that none leads astray.
			path := filepath.Join(dir, string(f.scope), ".gemini", "settings.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"general": {"defaultApprovalMode": "`+f.mode+`", "vimMode": true}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			sources = append(sources, Source{Path: path, Scope: f.scope})
		}
		got, warnings, err := Load(sources, os.LookupEnv)
		if err != nil || got.ApprovalMode != c.want || len(warnings) > 0 != c.warned {
			t.Errorf("%+v: %s, %q, %v", c, got.ApprovalMode, warnings, err)
		}
	}
}
