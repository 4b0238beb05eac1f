package consent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gemline/settings/consent"
	"gemline/settings/project"
)

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "guard.sh"), []byte("exit 2\n"), 0o600)
	start := consent.Start{Texts: []string{"bash guard.sh --strict"}, Dir: dir, Roots: []string{dir}}
	before := start.Find()
	print := before.Fingerprint()
	os.WriteFile(filepath.Join(dir, "guard.sh"), []byte("exit 0\n"), 0o600)
	fmt.Println(len(before.Files), before.Unsure == "", print == start.Find().Fingerprint())
	// Output: 1 true false
}

func TestRecord(t *testing.T) {
	t.Parallel()
	r := consent.Record{Path: filepath.Join(t.TempDir(), "x", "consents.json")}
	for folder, given := range map[string]map[string]consent.Rights{"/a": {"2-1": consent.All},
		"/b": {"2-1": consent.None, "2-2": consent.Confined}} {
		if err := r.Store(t.Context(), folder, given); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := r.Rights("/b"); err != nil || got["2-1"] != consent.None || got["2-2"] != consent.Confined ||
		got["2-3"] != "" {
		t.Error(got, err)
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	os.Chmod(r.Path, 0o666)
	if got, _, err := r.Rights("/a"); err == nil || got["2-1"] != "" {
		t.Error("a record that anybody may write counts")
	}
	os.Chmod(r.Path, 0o600)
	for _, broken := range []string{`{"/a": {"2-1": "all"}, `, "null", ""} {
		os.WriteFile(r.Path, []byte(broken), 0o600)
		if got, _, err := r.Rights("/a"); err == nil || got["2-1"] != "" {
			t.Errorf("a broken record counts: %s", broken)
		}
		if err := r.Store(t.Context(), "/a", nil); err == nil {
			t.Errorf("a broken record is replaced: %s", broken)
		}
	}
	os.WriteFile(r.Path, []byte(`{"/a": {"1234": "all", "2-1": "confined"}}`), 0o600)
	if got, before, err := r.Rights("/a"); err != nil || !before || len(got) != 1 {
		t.Errorf("%v, %v, %v of an earlier form", got, before, err)
	}
	if err := r.Store(t.Context(), "/a", nil); err != nil {
		t.Error(err)
	}
	if _, before, _ := r.Rights("/a"); before {
		t.Error("an earlier form is kept")
	}
	if got, _, err := (consent.Record{}).Rights("/a"); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
	if err := (consent.Record{}).Store(t.Context(), "/a", nil); err == nil {
		t.Error("an agreement is said to be kept that is not")
	}
	dir := t.TempDir()
	r = consent.RecordOf(project.Paths{Home: dir})
	if want := filepath.Join(dir, ".gemini", "gemline", "consents.json"); r.Path != want {
		t.Errorf("%s, not %s", r.Path, want)
	}
	os.MkdirAll(r.Path, 0o700)
	if _, _, err := r.Rights("/a"); err == nil {
		t.Error("a record that can't be read is empty")
	}
	r.Path = filepath.Join(dir, "file", "consents.json")
	os.WriteFile(filepath.Dir(r.Path), nil, 0o600)
	if err := r.Store(t.Context(), "/a", nil); err == nil {
		t.Error("an agreement is said to be kept that can't be")
	}
}
