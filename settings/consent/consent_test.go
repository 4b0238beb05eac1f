package consent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	outside := filepath.Join(t.TempDir(), "outside.sh")
	os.WriteFile(outside, []byte("exit 2"), 0o600)
	os.Symlink(outside, filepath.Join(dir, "link.sh"))
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
		`bash "$PWD/a.sh" ${X:-.}/sub/b.py`:   {"a.sh", "sub/b.py"},
		"cd sub && python3 b.py":              {"sub/b.py"},
		`"$(git rev-parse --show-cdup)/a.sh"`: {"a.sh"},
		"$HOME/a.sh ~/a.sh /a.sh.x":           nil,
		"./link.sh":                           {"link.sh"},
	} {
		var got []string
		for _, f := range consent.Files(dir, command) {
			rel, _ := filepath.Rel(dir, f)
			got = append(got, rel)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}

// A file that stands in a command as the shell would find it is among those that are
// looked at, whatever stands around it, and none is that lies elsewhere.
func FuzzFiles(f *testing.F) {
	dir := f.TempDir()
	script := filepath.Join(dir, "a.sh")
	os.WriteFile(script, nil, 0o600)
	for _, around := range []string{"bash ", `"$X"/`, "cd ..; ", "'", "${", "$(pwd)/", "../../", dir} {
		f.Add(around, " && true")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, command := range []string{before + "a.sh" + after, before + " ./a.sh " + after} {
			files := consent.Files(dir, command)
			if len(files) > 1 || len(files) == 1 && files[0] != script {
				t.Errorf("%q: %q", command, files)
			}
		}
		if quotes := strings.Count(before, "'") + strings.Count(before, `"`); quotes == 0 && consent.Files(dir, before+" ./a.sh "+after) == nil {
			t.Errorf("nothing of %q", before)
		}
	})
}

// What a link leads to is part of the fingerprint, wherever it is.
func TestLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside.sh")
	os.WriteFile(outside, []byte("exit 2"), 0o600)
	os.Symlink(outside, filepath.Join(dir, "link.sh"))
	files := consent.Files(dir, "./link.sh")
	before := consent.Fingerprint(files)
	os.WriteFile(outside, []byte("exit 0"), 0o600)
	if len(files) != 1 || consent.Fingerprint(files) == before {
		t.Errorf("%q have the same fingerprint", files)
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
