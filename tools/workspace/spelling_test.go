package workspace

import (
	"path/filepath"
	"testing"
)

// Names are those of the files, however their letters are composed.
func TestSpelled(t *testing.T) {
	dir := tree(t, map[string]string{"r\u00e9sum\u00e9.txt": "", "d\u0065\u0301j\u0061\u0300/vu.txt": "", "README.md": "", "Keys.pem": "",
		"both/\u00e9": "", "both/e\u0301": "", "\ud55c\uae00.txt": "", "plain/a.txt": ""})
	home := tree(t, map[string]string{"x.txt": ""})
	t.Setenv("HOME", home)
	w := open(t, Config{Roots: []string{dir}})
	for name, want := range map[string]string{
		"README.md": "README.md", "readme.md": "readme.md", "nothing.txt": "nothing.txt",
		"re\u0301sume\u0301.txt": "r\u00e9sum\u00e9.txt", "./re\u0301sume\u0301.txt": "r\u00e9sum\u00e9.txt",
		"d\u00e9j\u00e0/vu.txt": "d\u0065\u0301j\u0061\u0300/vu.txt", "d\u00e9j\u00e0/new\u00e9.txt": "d\u0065\u0301j\u0061\u0300/new\u00e9.txt",
		"both/\u00e9": "both/\u00e9", "both/e\u0301": "both/e\u0301",
		"\u1112\u1161\u11ab\u1100\u1173\u11af.txt": "\ud55c\uae00.txt",
		"\u212aeys.pem":     "Keys.pem", // the sign of Kelvin is a K
		"none\u00e9/\u00e9": "none\u00e9/\u00e9",
		"~/x.txt":           filepath.Join(home, "x.txt"), "~": "~", "~x/y": "~x/y",
		dir + "/re\u0301sume\u0301.txt": dir + "/r\u00e9sum\u00e9.txt",
	} {
		if got := DiskSpelling(w, name); got != want {
			t.Errorf("%+q: got %+q; want %+q", name, got, want)
		}
	}
	grow(t, dir, map[string]string{"~/x.txt": ""})
	if got := DiskSpelling(w, "~/x.txt"); got != "~/x.txt" {
		t.Errorf("a directory called ~: got %q", got)
	}
	for name, want := range map[string]string{"readme.MD": "README.md", "plain/A.TXT": "plain/a.txt", "none": "", "no/readme.md": ""} {
		if got := Hint(w, name); got != want {
			t.Errorf("hint for %s: got %q; want %q", name, got, want)
		}
	}
}
