package auth_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemline/engine/auth"
)

func TestReadKey(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		key, err   string
		warns      bool
	}{
		{"a line", "abc-123\n", 0o600, "abc-123", "", false},
		{"no line end", "abc-123", 0o400, "abc-123", "", false},
		{"of another system", "\ufeffabc-123\r\n", 0o600, "abc-123", "", false},
		{"others may read it", "abc-123\n", 0o640, "abc-123", "", true},
		{"empty", "\n", 0o600, "", "the key is empty", false},
		{"more than a key", "key: abc\n", 0o600, "", "characters that no key has", false},
		{"long", strings.Repeat("x", 100_000), 0o600, "", "too many for a key", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := errors.Join(os.WriteFile(path, []byte(c.text), c.mode), os.Chmod(path, c.mode)); err != nil { // whatever the umask
				t.Fatal(err)
			}
			key, warning, err := auth.ReadKey(path)
			var e *auth.Error
			if key != c.key || errors.As(err, &e) != (c.err != "") || err != nil && (!strings.Contains(err.Error(), c.err) || e.Advice == "") {
				t.Errorf("%q, %v", key, err)
			}
			if err != nil && strings.Contains(err.Error(), "abc") {
				t.Errorf("the error shows what is in the file: %v", err)
			}
			if (warning != "") != (c.warns && runtime.GOOS != "windows") {
				t.Errorf("warning %q", warning)
			}
		})
	}
	for _, name := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, _, err := auth.ReadKey(name); err == nil || !strings.HasPrefix(err.Error(), "the key can't be read from "+name+": ") {
			t.Error(err)
		}
	}
	if key, warning, err := auth.ReadKey(""); key+warning != "" || err != nil {
		t.Error(key, warning, err)
	}
}

// A key that is given beats those of variables, whatever takes one.
func TestChooseGivenKey(t *testing.T) {
	for _, c := range []struct {
		name, selected string
		env            map[string]string
		method         auth.Method
		err            string
	}{
		{"alone", "", nil, auth.APIKey, ""},
		{"beside a variable", "", map[string]string{"GEMINI_API_KEY": "other"}, auth.APIKey, ""},
		{"express", "", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_API_KEY": "other"}, auth.Vertex, ""},
		{"gateway", "gateway", map[string]string{"GOOGLE_GEMINI_BASE_URL": "http://localhost:1", "GEMINI_API_KEY": "other"}, auth.Gateway, ""},
		{"no key wanted", "compute-default-credentials", nil, auth.Compute, "--key-file gives a key, but security.auth.selectedType says compute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := auth.Choose(auth.Config{Selected: c.selected, Key: auth.Setting{Value: "abc", From: "--key-file"},
				Getenv: func(name string) string { return c.env[name] }})
			if c.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.err) {
					t.Error(err)
				}
				return
			}
			if err != nil || got.Method != c.method || got.Key.Value != "abc" || got.Key.From != "--key-file" || got.Stored {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
