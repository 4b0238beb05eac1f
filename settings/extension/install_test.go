package extension

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What was added to an extension is in its new version, too, but nowhere else: not where a
// link of the new version leads, and not in the place of what that has itself.
func TestCarry(t *testing.T) {
	files := map[string]string{"new/own/x": "", "new/file": "new", "new/same": "new", "elsewhere/x": "",
		"new/out": "->TOP/elsewhere", "new/in": "->own"}
	added := []string{"cache/deep/a", "cache/b", "own/c", "own/more/d", "file/e", "out/f", "in/g", "same"}
	for _, name := range added {
		files["old/"+name] = "old"
	}
	dir := plant(t, files)
	kept, err := KeepAdded(filepath.Join(dir, "old"), filepath.Join(dir, "new"), added)
	if want := []string{"cache", "own/c", "own/more"}; err != nil || !slices.Equal(kept, want) {
		t.Errorf("kept %q, %v; want %q", kept, err, want)
	}
	for name, want := range map[string]string{"new/cache/deep/a": "old", "new/cache/b": "old", "new/own/c": "old",
		"new/own/more/d": "old", "new/same": "new", "new/file": "new", "elsewhere/f": "", "new/own/g": ""} {
		if b, _ := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); string(b) != want {
			t.Errorf("%s holds %q, want %q", name, b, want)
		}
	}
}
