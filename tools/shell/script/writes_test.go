//go:build linux

package script

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What programs write that are there to write is told: they are run for real,
// and every file that is another one afterwards was named, or lies in a
// directory that was.
func TestWrites(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, script := range []string{
		"cp a b", "cp -f -- -x b", "cp a b dir", "cp a sub/b dir/", "cp a new", "cp a dir", "cp a ..", "cp -r sub/. .", "cp sub/b .", "cp sub/b ./",
		"cp -t dir a sub/b", "cp --target-directory=dir a", "cp --target-directory dir a", "cp -rtdir a sub", "cp a -t dir b", "cp -T a new",
		"cp --parents sub/b dir", "cp -S .bak a new", "cp --suffix .bak a new", "cp -r sub new", "cp -r sub/ dir", "cp ./[ab] dir", "cp -- [ab] dir",
		"mv a b", "mv -f -- a dir/", "mv a b dir", "mv a new", "mv sub dir", "mv -t dir a b", "mv -T sub empty", "mv -n a new",
		"ln a new", "ln -s ../c", "ln -s /x/y/ dir/", "ln -sfn a b", "ln -sT a new", "ln -st dir a b", "ln -s a dir",
		"install a new", "install -m 755 a b", "install -Dm755 a new/b", "install -d new new2/c", "install --directory new", "install --mode 600 a new", "install a b dir", "install -t dir a",
		"touch new b", "touch -t 202601010000 a", "touch -r a new", "touch -cd now b", "touch --date=now b", "touch --date now -- -x",
		"tee new b", "dd if=a of=new", "dd of=b if=a bs=1",
		"cd sub && cp b new && touch b", "env cp a new", "timeout 9 mv a new",
	} {
		base := t.TempDir()
		at := func(name string) string { return filepath.Join(base, "work", name) }
		err := errors.Join(os.MkdirAll(at("sub"), 0o700), os.Mkdir(at("dir"), 0o700), os.Mkdir(at("empty"), 0o700), os.WriteFile(at("-x"), []byte("x"), 0o600))
		for _, name := range []string{"a", "b", "sub/b", "dir/x"} {
			err = errors.Join(err, os.WriteFile(at(name), []byte(name), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		before := files(t, base)
		cmd := exec.Command(bash, "-c", "--", script)
		cmd.Dir, cmd.Env = at("."), []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
		told := Read(script).Writes
		for path, now := range files(t, base) {
			if before[path] == now {
				continue
			}
			named := func(to string) bool {
				rel, err := filepath.Rel(filepath.Join("work", to), path)
				return err == nil && filepath.IsLocal(rel)
			}
			if !slices.ContainsFunc(told, named) {
				t.Errorf("%s: it wrote %s, and %q are told", script, path, told)
			}
		}
		if len(told) == 0 {
			t.Errorf("%s: nothing is told", script)
		}
	}
}

// files returns what identifies the files below dir, and what they hold.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path) // a link may lead nowhere
		rel, err := filepath.Rel(dir, path)
		all[rel] = strings.Join([]string{info.Mode().String(), info.ModTime().String(), string(text)}, " ")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
