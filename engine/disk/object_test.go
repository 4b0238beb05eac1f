package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"gemline/engine/disk"
)

func TestChangeObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	on := func(all map[string]bool) { all["on"] = true }
	if err := disk.ChangeObject(t.Context(), path, on); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ holds, want string }{
		{"", "{\n  \"on\": true\n}\n"},
		{" \n", "{\n  \"on\": true\n}\n"},
		{"\ufeff{\"<\":true}", "{\n  \"<\": true,\n  \"on\": true\n}\n"},
		{"null", ""},
		{"[]", ""},
		{"{", ""},
	} {
		if err := os.WriteFile(path, []byte(c.holds), 0o600); err != nil {
			t.Fatal(err)
		}
		err := disk.ChangeObject(t.Context(), path, on)
		b, _ := os.ReadFile(path)
		if c.want == "" && (err == nil || string(b) != c.holds) || c.want != "" && (err != nil || string(b) != c.want) {
			t.Errorf("%q: %q, %v", c.holds, b, err)
		}
	}
}
