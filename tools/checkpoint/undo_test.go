package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
)

// picture returns all that is in the folder, a line a path.
func (p *place) picture(but ...string) string {
	p.t.Helper()
	var lines []string
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(p.dir, path)
		if slices.Contains(but, rel) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		line := fmt.Sprintf("%s %v", rel, info.Mode())
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			line += " -> " + to
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", b)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// shell returns a call that runs a script in the folder.
func (p *place) shell(text string) func() {
	return func() {
		p.t.Helper()
		p.run(text)
	}
}

func (p *place) run(text string) string {
	p.t.Helper()
	cmd := exec.Command("bash", "-ec", text)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

// undo takes back turns, and returns what it has found to do.
func (p *place) undo(n int, others bool) (*Plan, Outcome) {
	p.t.Helper()
	list, err := p.Turns(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(d *ChangedTurn) bool { return d.Undone })
	plan, err := p.Undo(p.t.Context(), list[:n])
	if err != nil {
		p.t.Fatal(err)
	}
	done := *plan
	if others {
		done.Overwrite()
	}
	o, err := p.Apply(p.t.Context(), &done)
	if err != nil {
		p.t.Fatal(err)
	}
	return plan, o
}

// What is too large to be kept is not overwritten, even if the user says so: nothing would bring
// it back.
func TestUndoOverUnkept(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.MostBytes = 10 })
	p.write("a", "one")
	p.write("b", "one")
	p.turn("go", func() { p.write("a", "two"); p.write("b", "two") })
	large := strings.Repeat("mine", 10)
	p.write("a", large)
	p.write("b", "mine")
	_, o := p.undo(1, true)
	if b, err := os.ReadFile(filepath.Join(p.dir, "a")); err != nil || string(b) != large {
		t.Errorf("a is %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(p.dir, "b")); err != nil || string(b) != "one" {
		t.Errorf("b is %q, %v", b, err)
	}
	if len(o.Failed) != 1 || !strings.Contains(o.Failed[0], "/a: the present file can't be copied") || o.Done != 1 {
		t.Errorf("%+v", o)
	}
}

func (p *place) redo() {
	p.t.Helper()
	plan, err := p.Redo(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	if o, err := p.Apply(p.t.Context(), plan); err != nil || len(o.Failed) > 0 {
		p.t.Fatal(o, err)
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		var out []string
		for _, l := range g {
			if !slices.Contains(w, l) {
				out = append(out, "+ "+l)
			}
		}
		for _, l := range w {
			if !slices.Contains(g, l) {
				out = append(out, "- "+l)
			}
		}
		t.Fatalf("%s:\n%s", what, strings.Join(out[:min(20, len(out))], "\n"))
	}
}

// What commands do is taken back byte for byte, with modes, links and empty
// directories, and done again.
func TestUndo(t *testing.T) {
	const project = `
		mkdir -p src/deep/er empty lib; umask 022
		printf 'package a\r\nno end' >src/a.go; printf '\xff\xfe\x00binary' >src/deep/b.bin; echo c >src/deep/er/c
		echo run >run.sh; chmod 755 run.sh; echo s >secret; chmod 600 secret; echo r >read; chmod 444 read
		ln -s src/a.go link; ln -s nowhere dangling; ln -s src dirlink; chmod 700 lib; echo l >lib/l; chmod 555 lib
		: >zero; printf 'odd' >$'odd \n name'; echo '*.o' >.gitattributes; echo 'a text eol=crlf ident filter=x' >>.gitattributes; echo '$Id$' >id`
	for name, do := range map[string]string{
		"rm":         "chmod 755 lib; rm -rf src lib link run.sh empty secret",
		"everything": "chmod -R u+w .; rm -rf ./* .gitattributes",
		"sed":        "sed -i s/a/b/ src/a.go run.sh; sed -i s/r/x/ read",
		"mv":         "mv src gone; mv run.sh empty/; mv link dirlink2; mkdir src; echo new >src/a.go",
		"modes":      "chmod 600 src/a.go; chmod 755 secret; chmod 700 src; chmod u+s run.sh",
		"kinds":      "rm -rf src; echo file >src; rm zero; mkdir zero; echo in >zero/in; rm link; ln -s secret link; rm read; ln -s id read; rm dangling; echo there >dangling",
		"build":      "mkdir -p out/x; for i in 1 2 3; do echo $i >out/x/$i.o; done; ln -s x out/y; mkdir out/empty",
		"links":      "echo through >dirlink/new; rm dirlink; mkdir dirlink; echo in >dirlink/x",
		"nothing":    "true",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.run(project)
			before := p.picture()
			p.turn("do it", p.shell(do))
			after := p.picture()
			if name == "nothing" {
				if list, err := p.Turns(t.Context()); err != nil || len(list) > 0 {
					t.Fatal(list, err)
				}
				return
			}
			if plan, o := p.undo(1, false); len(plan.Conflicts)+len(plan.NotKept)+len(o.Failed)+len(o.Left) > 0 {
				t.Errorf("%+v %+v", plan, o)
			}
			same(t, "undo", p.picture(), before)
			p.redo()
			same(t, "redo", p.picture(), after)
			p.again("session-1") // which knows it from the disk
			p.undo(1, false)
			same(t, "undo again", p.picture(), before)
			if len(p.told) > 0 {
				t.Error(p.told)
			}
			p.turn("more", p.shell("echo more >more"))
			if _, err := p.Redo(t.Context()); err != ErrNoRedo {
				t.Errorf("after another turn: %v", err)
			}
		})
	}
}

// In a repository, with something staged and a rebase that waits, nothing of git's
// is touched, and what commands move there is said.
func TestUndoInRepository(t *testing.T) {
	p := newPlace(t)
	p.run(`git init -q -b main .; git config core.autocrlf true; git config filter.x.clean 'sed s/./X/'; echo '* text=auto filter=x ident' >.gitattributes
		printf '1\n' >a; printf '\x24Id\x24\r\n' >b; echo 'ign/
*.log' >.gitignore; git add .; git commit -qm one; git checkout -qb side; echo side >a; git commit -qam side; git checkout -q main; echo main >a; git commit -qam main
		echo staged >c; git add c; git stash -q; git rebase side || true; git stash list; echo dirty >>a; echo untracked >u; mkdir ign; echo i >ign/i; echo log >x.log`)
	status := func() string {
		return p.run("git status --porcelain=v2 --branch; git rev-parse HEAD; git config -l --local; cat .git/HEAD; git for-each-ref; sha256sum .git/index .git/config .git/rebase-merge/*; ls -l .git/hooks | sha256sum; ls .git")
	}
	if !strings.Contains(p.run("git status"), "rebase in progress") {
		t.Fatal("no rebase is in progress")
	}
	was, before := status(), p.picture(".git")
	p.turn("look", func() {})
	same(t, "a checkpoint", status(), was)
	p.turn("do", p.shell("rm -rf a b; sed -i s/u/x/ u; echo new >n; rm -rf ign; echo more >>x.log"), p.shell("git checkout -f -q --detach main; git branch new"))
	moved := status()
	plan, _ := p.undo(1, false)
	same(t, "undo", p.run("find . -path ./.git -prune -o -path ./ign -prune -o -type f ! -name x.log -print0 | sort -z | xargs -0 sha256sum"), func() string {
		q := newPlace(t)
		q.run("true")
		return expected(p, before)
	}())
	for _, want := range []string{"HEAD", "branch new"} {
		if !slices.Contains(plan.GitMoved, want) {
			t.Errorf("moved is %q, and %s is not said", plan.GitMoved, want)
		}
	}
	lost := strings.Join(plan.NotKept, "\n")
	for _, want := range []string{"ign/: deleted", "x.log: changed"} {
		if !strings.Contains(lost, want) {
			t.Errorf("lost is %q, and %s is not said", plan.NotKept, want)
		}
	}
	if git := p.run("git rev-parse HEAD"); !strings.Contains(moved, strings.TrimSpace(git)) {
		t.Error("undo has moved HEAD")
	}
}

// expected returns the checksums that the files of a picture have.
func expected(p *place, picture string) string {
	p.t.Helper()
	dir := p.t.TempDir()
	var names []string
	for line := range strings.SplitSeq(picture, "\n") {
		var content string
		name, rest, _ := strings.Cut(line, " ")
		_, quoted, ok := strings.Cut(rest, " ")
		if !ok || strings.HasPrefix(name, "ign") || name == "x.log" {
			continue
		}
		if _, err := fmt.Sscanf(quoted, "%q", &content); err != nil {
			p.t.Fatal(line, err)
		}
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-ec", "find . -type f -print0 | sort -z | xargs -0 sha256sum")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil || len(names) < 4 {
		p.t.Fatal(names, err)
	}
	return string(out)
}

// What is not kept is named when it is made, changed or deleted, alone or with all that
// it lies in. Pipes and sockets that were made go again.
func TestUndoUnkept(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.MostBytes = 10 })
	p.write("big", "more than that")
	p.write("d/e/big", "more than that")
	p.write("d/e/.env", "KEY=x")
	p.write("stays", "more than that")
	p.run("mkfifo old d/old")
	before := p.picture()
	p.turn("look", func() {})
	p.turn("do", p.shell("rm -rf d; mkdir -p d/e; echo more than that >d/e/.env.local; mkfifo d/new; rm big; echo or that what there was >other; echo and more >>stays; echo a >a; rm old"))
	plan, o := p.undo(1, false)
	if len(o.Failed)+len(plan.Conflicts) > 0 {
		t.Errorf("%+v %+v", plan, o)
	}
	var got []string
	for _, l := range plan.NotKept {
		got = append(got, strings.TrimPrefix(l, p.dir+"/"))
	}
	if want := []string{"big: deleted", "d/e/.env.local: made", "d/e/.env: deleted", "d/e/big: deleted", "d/old: deleted", "old: deleted", "other: made", "stays: changed"}; !slices.Equal(got, want) {
		t.Errorf("lost %q", got)
	}
	said := strings.Join(plan.Lines(func(s string) string { return s }), "\n")
	if !strings.Contains(said, "and stays: "+p.dir+"/other (made)") || !strings.Contains(said, "can't be brought back: "+p.dir+"/big (deleted)") || !strings.Contains(said, "delete "+p.dir+"/d/new") {
		t.Error(said)
	}
	for _, line := range strings.Split(p.picture(), "\n") {
		if name, _, _ := strings.Cut(line, " "); !strings.Contains(before, line) && !slices.Contains([]string{"other", "stays", "d/e/.env.local"}, name) {
			t.Errorf("there is %s", line)
		}
	}
}

// What others have changed since stays, unless that is wanted too, and nothing is
// lost then either.
func TestUndoOthers(t *testing.T) {
	p := newPlace(t)
	p.write("mine", "1")
	p.write("ours", "1")
	p.write("between", "1")
	p.turn("first", func() { p.write("mine", "2"); p.write("ours", "2"); p.write("made", "2") },
		func() { p.write("between", "2") })
	p.write("mine", "3")
	p.write("own", "3")
	plan, o := p.undo(1, false)
	if len(plan.Conflicts) != 1 || filepath.Base(plan.Conflicts[0].Path) != "mine" || o.Done != 3 {
		t.Errorf("%+v %+v", plan, o)
	}
	want := func(name, text string) {
		t.Helper()
		if b, _ := os.ReadFile(filepath.Join(p.dir, name)); string(b) != text {
			t.Errorf("%s holds %q, want %q", name, b, text)
		}
	}
	want("mine", "3")
	want("ours", "1")
	want("made", "")
	want("own", "3")

	p.write("x", "1")
	p.turn("second", func() { p.write("x", "2") }, func() { p.write("y", "2") })
	p.turnOf("third", engine.Execute, engine.Intent{}, func() { p.write("x", "3") })
	p.write("x", "mine")
	plan, _ = p.undo(2, true)
	if len(plan.Conflicts) != 1 {
		t.Errorf("%+v", plan)
	}
	want("x", "1")
	want("y", "")
	p.redo()
	want("x", "mine")

	// Something of others between two calls of a turn.
	p.turn("fourth", func() { p.write("z", "1") }, func() {})
	n := 0
	p.turn("fifth", func() { p.write("w", "1") }, func() { p.write("w", "2") })
	_ = n
	p.undo(1, false)
	want("w", "")
}

// Random commands, taken back in random numbers, leave what was there.
func TestUndoRandom(t *testing.T) {
	rounds := 30
	if enginetest.Soak() {
		rounds = 2000
	}
	r := enginetest.Random(t, 16)
	for range rounds {
		p := newPlace(t)
		scramble(p, r, 30)
		pictures := []string{p.picture()}
		for range 1 + r.IntN(4) {
			was := pictures[len(pictures)-1]
			for p.picture() == was { // a turn that changes nothing is none
				p.turn("turn", func() { scramble(p, r, 1+r.IntN(10)) }, func() { scramble(p, r, r.IntN(3)) })
			}
			pictures = append(pictures, p.picture())
		}
		if r.IntN(2) == 0 {
			p.again("session-1")
		}
		list, err := p.Turns(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != len(pictures)-1 { // one came back to where it was, on a detour
			p.Keeper.Close()
			continue
		}
		n := 1 + r.IntN(len(list))
		if plan, o := p.undo(n, false); len(plan.Conflicts)+len(o.Failed) > 0 {
			t.Fatalf("%+v %+v", plan, o)
		}
		same(t, fmt.Sprintf("undo %d of %d", n, len(list)), p.picture(), pictures[len(pictures)-1-n])
		p.redo()
		same(t, "redo", p.picture(), pictures[len(pictures)-1])
		p.Keeper.Close() // here, lest two thousand rounds open too many files
	}
}

// scramble changes something at random.
func scramble(p *place, r *rand.Rand, n int) {
	p.t.Helper()
	name := func() string {
		parts := []string{p.dir}
		for range 1 + r.IntN(3) {
			parts = append(parts, string(rune('a'+r.IntN(4))))
		}
		return filepath.Join(parts...)
	}
	for range n {
		path := name()
		switch r.IntN(8) {
		case 0, 1, 2:
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
				os.WriteFile(path, []byte(strings.Repeat(string(rune('0'+r.IntN(10))), r.IntN(5))), 0o644)
			}
		case 3:
			os.RemoveAll(path)
		case 4:
			os.MkdirAll(path, 0o755)
		case 5:
			os.Symlink(string(rune('a'+r.IntN(4))), path)
		case 6:
			os.Rename(path, name())
		case 7:
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
				mode := fs.FileMode(0o600 | r.IntN(2)*0o111 | r.IntN(2)*0o44)
				if info.IsDir() {
					mode |= 0o700
				}
				os.Chmod(path, mode)
			}
		}
	}
}

// A new file in an empty folder goes when it is taken back, and the folder stays, which no
// state had seen before.
func TestUndoInAnEmptyFolder(t *testing.T) {
	p := newPlace(t)
	p.turnOf("make it", engine.Edit, engine.Intent{Title: "write a", Paths: []string{filepath.Join(p.dir, "a")}}, func() { p.write("a", "1") })
	plan, o := p.undo(1, false)
	if len(plan.Changes) != 1 || len(plan.Outside) > 0 || o.Done != 1 {
		t.Errorf("%+v, %+v", plan, o)
	}
	if list, err := os.ReadDir(p.dir); err != nil || len(list) > 0 {
		t.Errorf("in the folder: %v, %v", list, err)
	}
	again, err := p.Redo(t.Context())
	if err != nil || len(again.Changes) != 1 || len(again.Outside) > 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

// An ignored file that a call has named is kept from then on, also when it was gone meanwhile.
func TestUndoNamedAgain(t *testing.T) {
	for _, first := range []bool{false, true} {
		p := newPlace(t)
		p.write(".gitignore", "*.db\n")
		p.write("a.db", "precious")
		p.write("own.db", "mine")
		if first {
			p.turn("look", func() {})
		}
		names := engine.Intent{Plan: engine.Plan{Writes: []string{filepath.Join(p.dir, "a.db")}, Dir: p.dir}}
		run := p.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(func(engine.Event, error) bool) {
				p.calls(engine.Execute, names, p.shell("rm a.db"))
				p.calls(engine.Execute, engine.Intent{}, p.shell("echo new >a.db; echo new >b.db"))
				p.calls(engine.Execute, engine.Intent{}, p.shell("rm a.db"))
				p.calls(engine.Execute, engine.Intent{}, p.shell("echo newer >a.db"))
			}
		})
		for range run(t.Context(), genai.NewPartFromText("do")) {
		}
		plan, _ := p.undo(1, false)
		if b, _ := os.ReadFile(filepath.Join(p.dir, "a.db")); string(b) != "precious" || len(plan.Conflicts) > 0 {
			t.Errorf("looked at first: %v; a.db holds %q, %+v", first, b, plan)
		}
		if b, _ := os.ReadFile(filepath.Join(p.dir, "own.db")); string(b) != "mine" {
			t.Errorf("own.db holds %q", b)
		}
	}
}

// If a call finds a file in another state than the call before has left it, somebody else has
// changed it, and the user decides about that. A file that they have put back is no such change.
func TestUndoBetween(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.write("b", "1")
	p.turn("one", func() { p.write("a", "2"); p.write("b", "2") })
	p.turn("two", func() { p.write("a", "3") })
	p.undo(1, false)
	p.write("b", "mine")
	p.turn("three", func() { p.write("a", "4"); p.write("b", "4") })
	plan, _ := p.undo(2, false)
	if len(plan.Changes) != 1 || len(plan.Conflicts) != 1 || filepath.Base(plan.Conflicts[0].Path) != "b" {
		t.Errorf("%+v", plan)
	}
	if got := p.run("cat a b"); got != "14" {
		t.Errorf("%q", got)
	}
}

// A turn counts as undone if a directory stays because somebody else has put a file there.
func TestUndoDirectoryInUse(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.turn("one", func() { p.write("a", "2") })
	p.turnOf("two", engine.Execute, engine.Intent{}, p.shell("mkdir out; echo o >out/o"))
	p.write("out/mine", "mine")
	_, o := p.undo(1, false)
	if len(o.Failed) > 0 || len(o.Left) != 1 {
		t.Errorf("%+v", o)
	}
	p.undo(1, false)
	if got := p.run("cat a out/*"); got != "1mine" {
		t.Errorf("%q", got)
	}
	p.redo()
	p.redo()
	if got := p.run("cat a out/*"); got != "2mineo\n" {
		t.Errorf("%q", got)
	}
}
