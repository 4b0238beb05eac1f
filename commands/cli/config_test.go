package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

// write puts a text into a file below the home or the project of a desk.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestConfigReads(t *testing.T) {
	w, out, _ := desk(t)
	user, project := w.Paths.User("settings.json"), w.Paths.Workspace("settings.json")
	write(t, user, `{"model": {"name": "$NAME"}, "mcpServers": {"a": {"env": {"KEY": "hunter2"}}}}`)
	write(t, project, `{"output": {"format": "json"}, "modle": 1}`)
	lookup := w.Lookup
	w.Lookup = func(name string) (string, bool) {
		v, ok := map[string]string{"NAME": "from-env-file", "GEMINI_MODEL": "x"}[name]
		if ok {
			return v, true
		}
		return lookup(name)
	}
	w.DotEnv.User = map[string]settings.EnvValue{"NAME": {Value: "from-env-file"}, "GEMINI_MODEL": {Value: "x", File: ".env"}}
	real := strings.NewReplacer("USER", user, "PROJECT", project, "SYSTEM", filepath.Dir(w.Paths.Home))
	for _, c := range []struct {
		name, args, want string
		trusted          bool
	}{
		{"list", "config list", "mcpServers.a.env.KEY = \"********\"\nmodel.name = \"x\"\noutput.format = \"json\"\n", true},
		{"not trusted", "config list", "mcpServers.a.env.KEY = \"********\"\nmodel.name = \"x\"\n", false},
		{"a file is not filled in from .env", "config get model.name --origin", "model.name = \"x\"\n  from environment GEMINI_MODEL in .env\n  over user USER:1 = \"$NAME\", written \"$NAME\"\n", true},
		{"an unset key", "config get general.preferredEditor", "null\n", true},
		{"explained", "config get general.preferredEditor --origin", "general.preferredEditor = (not set)\n", true},
		{"a mistake", "config get modle --origin", "modle = (not set)\n  over workspace PROJECT:1 = 1; \"modle\" is not a setting; did you mean model?\n", true},
		{"an object", "config get output --json", "{\n  \"schema_version\": 1,\n  \"key\": \"output\",\n  \"value\": {\n    \"format\": \"json\"\n  }\n}\n", true},
		{"all files", "config validate", "SYSTEM/system-defaults.json: not there\nUSER: 1 to look at\nUSER:1: model.name: NAME is not set in the environment, so it stays as written\nPROJECT: not used, since the folder is not trusted\nSYSTEM/system.json: not there\n", false},
		{"a file", "config validate PROJECT", "PROJECT: 1 to look at\nPROJECT:1: \"modle\" is not a setting; did you mean model?\n", false},
	} {
		out.Reset()
		w.Trusted = c.trusted
		if err := w.run(t.Context(), strings.Fields(real.Replace(c.args))); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := out.String(); got != real.Replace(c.want) {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
	out.Reset()
	err := w.run(t.Context(), []string{"config", "get", "modle.x"})
	if u := (*flags.UsageError)(nil); !errors.As(err, &u) || out.Len() > 0 {
		t.Errorf("%v, %s", err, out)
	}
	if err := w.run(t.Context(), []string{"schema", "settings"}); err != nil || !json.Valid(out.Bytes()) {
		t.Error(err)
	}
}

// Every file that can't be used is told by the commands that say what is wrong,
// and keeps the others from guessing.
func TestConfigBroken(t *testing.T) {
	w, out, _ := desk(t)
	user := w.Paths.User("settings.json")
	large := filepath.Join(t.TempDir(), "large.json")
	write(t, large, "")
	if err := os.Truncate(large, 100<<20); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"not JSON", `{"a" 1}`, ":1:6: "},
		{"a byte", "{\"a\": \"\xff\"}", ":1:8: is not UTF-8"},
		{"deep", strings.Repeat(`{"a":`, 10_000), "nested too deep"},
		{"a directory", "", "is a directory"},
		{"large", "", "is larger than 4 MiB"},
	} {
		os.RemoveAll(user)
		switch c.name {
		case "a directory":
			write(t, filepath.Join(user, "x"), "")
		case "large":
			if err := os.Symlink(large, user); err != nil {
				t.Skip(err)
			}
		default:
			write(t, user, c.text)
		}
		for _, args := range []string{"list", "list --all --origin --json", "get model.name", "validate", "validate --json"} {
			out.Reset()
			err := w.run(t.Context(), append([]string{"config"}, strings.Fields(args)...))
			fe := (*jsonc.Error)(nil)
			if !errors.As(err, &fe) || !strings.Contains(err.Error(), user+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: config %s: %v", c.name, args, err)
			}
			if strings.HasPrefix(args, "validate") != (out.Len() > 0) {
				t.Errorf("%s: config %s prints %q", c.name, args, out)
			}
		}
		out.Reset()
		if err := w.run(t.Context(), []string{"config", "path"}); err != nil || !strings.Contains(out.String(), "user "+user+": can't be used: ") {
			t.Errorf("%s: %v, %s", c.name, err, out)
		}
	}
}

// Without a home directory there is no file to name, and in a session there is
// always an answer.
func TestConfigWithoutAnything(t *testing.T) {
	w, out, _ := desk(t)
	w.Paths.Home, w.In = "", nil
	for args, want := range map[string]string{"list": "nothing is set\n", "path": "user: not there: no home directory\n", "validate": "user: not there\n"} {
		out.Reset()
		if err := w.run(t.Context(), []string{"config", args}); err != nil || !strings.Contains("\n"+out.String(), "\n"+want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}

// A value of a .env file names the file, of which there may be many.
func TestConfigNamesEnvFile(t *testing.T) {
	w, out, _ := desk(t)
	at := filepath.Join(filepath.Dir(w.Paths.Cwd), ".env")
	write(t, at, "GEMINI_MODEL=x\n")
	lookup := w.Lookup
	w.DotEnv.Project = map[string]settings.EnvValue{"GEMINI_MODEL": {Value: "x", File: at}}
	w.Lookup = func(name string) (string, bool) {
		if v, ok := w.DotEnv.Lookup(name); ok {
			return v.Value, true
		}
		return lookup(name)
	}
	want := "model.name = \"x\"\n  from environment GEMINI_MODEL in " + at + "\n"
	if err := w.run(t.Context(), []string{"config", "get", "model.name", "--origin"}); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out)
	}
}
