package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a session has changed, applied by git to what was there, is what is there.
func TestChanged(t *testing.T) {
	p := newPlace(t)
	p.write("text", "one\ntwo\n")
	p.write("gone", "a\nb\n")
	p.write("empty", "")
	p.write("d/binary", "\x00\xff")
	p.run("chmod 755 gone")
	was := newPlace(t)
	was.run("cp -a " + p.dir + "/. .")
	p.turn("do", p.shell("sed -i s/two/three/ text; rm -r gone empty d; echo new >made; : >void; chmod 755 made"))
	list, patch, err := p.Changed(t.Context(), func(path string) string { return strings.TrimPrefix(path, p.dir+"/") })
	if err != nil || len(list) != 6 {
		t.Fatal(list, err)
	}
	path := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(path, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	was.run("git apply " + path + "; rm -rf .git")
	same(t, patch, was.picture(), p.picture())
}
