package settings

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

func TestSetKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	src := Source{Scope: User, Path: path}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{\n\t\"model\": {\"name\": \"a\"}, // mine\n\t\"tools\": {\"approvalMode\": \"plan\"},\n\t\"contextFileName\": \"X.md\",\n}\n")
	c, err := src.SetKey(t.Context(), "model.name", "b")
	if err != nil || !c.HadValue || c.Before != "a" || c.Unchanged || c.Older != nil {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = src.SetKey(t.Context(), "model.name", "b"); err != nil || !c.Unchanged || c.Before != "b" {
		t.Errorf("again: %+v, %v", c, err)
	}
	if c, err = src.SetKey(t.Context(), "general.defaultApprovalMode", "default"); err != nil || c.HadValue || !slices.Equal(c.Older, []string{"tools.approvalMode"}) {
		t.Errorf("an older name: %+v, %v", c, err)
	}
	if c, err = src.UnsetKey(t.Context(), "context.fileName"); err != nil || c.HadValue || !c.Unchanged || !slices.Equal(c.Older, []string{"contextFileName"}) {
		t.Errorf("only by its older name: %+v, %v", c, err)
	}
	if c, err = src.SetKey(t.Context(), `mcpServers."a.b".args`, json.RawMessage(`["x"]`)); err != nil || c.HadValue {
		t.Errorf("a name with a dot: %+v, %v", c, err)
	}
	if c, err = src.UnsetKey(t.Context(), "model"); err != nil || c.Before.(map[string]any)["name"] != "b" {
		t.Errorf("an object: %+v, %v", c, err)
	}
	want := "{\n\t\"tools\": {\"approvalMode\": \"plan\"},\n\t\"contextFileName\": \"X.md\",\n\t\"general\": {\n\t\t\"defaultApprovalMode\": \"default\"\n\t},\n" +
		"\t\"mcpServers\": {\n\t\t\"a.b\": {\n\t\t\t\"args\": [\n\t\t\t\t\"x\"\n\t\t\t]\n\t\t}\n\t},\n}\n"
	if got := textOf(t, path); got != want {
		t.Errorf("it holds\n%s, want\n%s", got, want)
	}

	absent := Source{Scope: Workspace, Path: filepath.Join(t.TempDir(), ".gemini", "settings.json")}
	if c, err = absent.UnsetKey(t.Context(), "model.name"); err != nil || !c.Unchanged || names(t, filepath.Dir(filepath.Dir(absent.Path))) != "" {
		t.Errorf("no file: %+v, %v", c, err)
	}

	var fe *jsonc.Error
	write(`{"model": "a"}`)
	if _, err := src.SetKey(t.Context(), "model.name", "b"); !errors.As(err, &fe) || !strings.Contains(err.Error(), "model is a string, not an object") {
		t.Errorf("something in the way: %v", err)
	}
	var ue *flags.UsageError
	if _, err := src.SetKey(t.Context(), "model..name", "b"); !errors.As(err, &ue) {
		t.Errorf("an empty name: %v", err)
	}
	if _, err := (Source{}).SetKey(t.Context(), "model.name", "b"); err == nil || !strings.Contains(err.Error(), "home") {
		t.Errorf("no home: %v", err)
	}
}

// A project can't have a file outside of it written.
func TestSetKeyOfALink(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(in("p/.gemini"), 0o700), os.WriteFile(in("own.json"), []byte("{}"), 0o600), os.Symlink(in("own.json"), in("p/.gemini/settings.json"))); err != nil {
		t.Skip("no links here:", err)
	}
	src := Source{Scope: Workspace, Path: in("p/.gemini/settings.json")}
	for _, there := range []bool{true, false} {
		if !there {
			os.Remove(in("own.json"))
		}
		if _, err := src.SetKey(t.Context(), "model.name", "b"); err == nil || !strings.Contains(err.Error(), "leads out of the folder") {
			t.Errorf("the target is there %v: %v", there, err)
		}
	}
	if _, err := os.Stat(in("own.json")); err == nil {
		t.Error("the target was made")
	}
	if err := errors.Join(os.Remove(src.Path), os.Symlink("other.json", src.Path)); err != nil {
		t.Fatal(err)
	}
	if c, err := src.SetKey(t.Context(), "model.name", "b"); err != nil || filepath.Base(c.Path) != "other.json" {
		t.Errorf("a link within: %+v, %v", c, err)
	}
}

// The file of all users can be read by them.
func TestSetKeyForAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean something else here")
	}
	path := filepath.Join(t.TempDir(), "etc", "settings.json")
	c, err := Source{Scope: System, Path: path, Guarded: true}.SetKey(t.Context(), "model.name", "b")
	if err != nil || modeOf(t, path) != 0o644 {
		t.Errorf("mode %v: %v", modeOf(t, path), err)
	}
	if c.PassedOver == "" {
		t.Error("a directory of temporary files is no place for it") // anybody may write there
	}
}

func TestToday(t *testing.T) {
	for older, want := range map[string]string{
		"tools.approvalMode": "general.defaultApprovalMode", "contextFileName": "context.fileName", "disableAutoUpdate": "general.enableAutoUpdate",
		"hooks.disabled": "hooksConfig.disabled", "model.name": "", "nothing": "", "a..b": "",
	} {
		if got, ok := CurrentName(older); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", older, got, ok, want)
		}
	}
}
