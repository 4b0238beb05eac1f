package consent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gemline/settings/consent"
)

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "guard.sh"), []byte("exit 2\n"), 0o600)
	files := consent.Files(dir, "bash guard.sh --strict")
	before := consent.Fingerprint(files, "bash guard.sh --strict")
	os.WriteFile(filepath.Join(dir, "guard.sh"), []byte("exit 0\n"), 0o600)
	fmt.Println(len(files), before == consent.Fingerprint(files, "bash guard.sh --strict"))
	// Output: 1 false
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.sh", "sub/b.py", "c d.sh"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), nil, 0o600)
	}
	for command, want := range map[string][]string{
		"./a.sh":                              {"a.sh"},
		"bash a.sh && python3 sub/b.py a.sh":  {"a.sh", "sub/b.py"},
		`"$ROOT/c d.sh" x`:                    {"c d.sh"},
		`"$ROOT"/a.sh`:                        {"a.sh"},
		"${ROOT}/sub/b.py --with=a.sh":        {"sub/b.py", "a.sh"},
		`sh -c 'exec ./a.sh; cat "sub/b.py"'`: {"a.sh", "sub/b.py"},
		dir + "/a.sh":                         {"a.sh"},
		"cat /etc/passwd ../x sub":            nil,
		"$(./a.sh)":                           {"a.sh"},
	} {
		var got []string
		for _, f := range consent.Files(dir, command, "ROOT") {
			rel, _ := filepath.Rel(dir, f)
			got = append(got, rel)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	r := consent.Record{Path: filepath.Join(t.TempDir(), "x", "consents.json")}
	for folder, given := range map[string]map[string]consent.Rights{"/a": {"1": consent.All},
		"/b": {"1": consent.None, "2": consent.Confined}} {
		if err := r.Keep(t.Context(), folder, given); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Of("/b"); err != nil || got["1"] != consent.None || got["2"] != consent.Confined ||
		got["3"] != "" {
		t.Error(got, err)
	}
	if info, err := os.Stat(r.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	os.Chmod(r.Path, 0o666)
	if got, err := r.Of("/a"); err == nil || got["1"] != "" {
		t.Error("a record that anybody may write counts")
	}
	os.Chmod(r.Path, 0o600)
	for _, broken := range []string{`{"/a": {"1": "all"}, `, "null", ""} {
		os.WriteFile(r.Path, []byte(broken), 0o600)
		if got, err := r.Of("/a"); err == nil || got["1"] != "" {
			t.Errorf("a broken record counts: %s", broken)
		}
		if err := r.Keep(t.Context(), "/a", nil); err == nil {
			t.Errorf("a broken record is replaced: %s", broken)
		}
	}
	if got, err := (consent.Record{}).Of("/a"); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
}
