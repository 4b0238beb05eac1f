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

// What git makes of the diff of a session is the new files: their modes, links, and folders in
// the place of files.
func TestChangedApplies(t *testing.T) {
	const project = `echo x >f; echo m >m; ln -s f l; ln -s f l2; echo t >t; mkdir d; echo in >d/in; mkdir s; echo s >s/s; ln -s s sl; echo run >run; chmod 755 run
		printf 'no end' >end; echo zero >zero; echo gone >gone; echo '*.big' >.gitignore`
	for _, do := range []string{
		"ln -s f n", "ln -sfn m l", "rm l2; echo plain >l2", "rm f; ln -s m f", "chmod +x m", "chmod -x run; echo more >>run", "rm t; mkdir t; echo q >t/q", "rm -r d; echo file >d",
		"rm -r s sl; ln -s d s", "rm sl; mkdir sl; echo in >sl/in", "rm -r d; ln -s f d", "rm l gone; : >zero; mv end other; : >new", "mv run t",
	} {
		p := newPlace(t)
		p.run(project)
		p.run("git init -q copy; cp -a $(ls -A | grep -vx copy) copy; mv copy " + p.kept + ".copy")
		p.turn("do it", p.shell(do))
		list, patch, err := p.Changed(t.Context(), p.cfg.Workspace.Rel)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		p.write("../patch", patch)
		const all = `find . -name .git -prune -o -printf '%p %y %l %m\n' -type f -exec cat {} + | sort`
		want := p.run(all)
		if got := p.run("mv ../patch " + p.kept + ".patch; cd " + p.kept + ".copy; git apply " + p.kept + ".patch; " + all); got != want {
			t.Errorf("%s: git makes\n%s\nof\n%s\nwant\n%s", do, got, patch, want)
		}
	}
}
