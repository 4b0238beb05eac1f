package checkpoint

import (
	"os/exec"
	"strings"
	"testing"
)

// The files go back to a commit of the Gemini CLI's repository, packed or not: what it
// does not have is deleted, but not what is ignored or may hold secrets. That can be
// taken back.
func TestOriginal(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	for _, pack := range []string{"", "git --git-dir ../.git --work-tree . gc -q --aggressive"} {
		p := newPlace(t, func(c *Config) { c.Dir += "/gemline" })
		p.run(`mkdir -p d/e; echo one >a; echo x >d/e/x; printf 'b\r\n' >b.sh; chmod 755 b.sh; ln -s a link; echo '*.o' >.gitignore
			for i in $(seq 400); do echo line $i >>big; done; echo S=1 >.env`)
		theirs := strings.ReplaceAll(`git init -q --bare KEPT; git --git-dir KEPT config core.bare false
			g() { git --git-dir KEPT --work-tree . "$@"; }; g add .; g commit -qm "Snapshot for write_file"
			echo more >>big; g commit -qam next; `+strings.ReplaceAll(pack, "../.git", "KEPT")+`
			g rev-parse HEAD^; head -n 400 big >big.old; mv big.old big`, "KEPT", p.kept+"/.git")
		commit := strings.TrimSpace(p.run(theirs))
		before := p.picture()
		p.run(`rm -rf d; echo two >a; chmod 644 b.sh; rm link; mkdir link; echo new >link/new; echo more >>big; echo S=2 >.env; echo o >a.o`)
		after := p.picture()
		plan, err := p.RestoreCommit(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Changes) > 0 {
			t.Errorf("done unasked: %v", plan.Changes)
		}
		plan.Overwrite()
		o, err := p.Apply(t.Context(), plan)
		if err != nil || len(o.Failed) > 0 {
			t.Fatal(o, err)
		}
		p.run("rm a.o; echo S=1 >.env")
		same(t, "restored", p.picture(), before)
		p.run("echo o >a.o; echo S=2 >.env")
		p.redo()
		same(t, "taken back", p.picture(), after)
		if _, err := p.RestoreCommit(t.Context(), strings.Repeat("0", 40)); err == nil {
			t.Error("there is no such commit")
		}
	}
}

// What /restore has taken back is done again.
func TestBack(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.turn("both", p.shell("echo 2 >a"), p.shell("echo 3 >a; echo b >b"))
	after := p.picture()
	list, err := p.Turns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.UndoCalls(t.Context(), Calls(list)[:1])
	if err == nil {
		_, err = p.Apply(t.Context(), plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := p.run("cat a; ls"); got != "2\na\n" {
		t.Errorf("%q", got)
	}
	p.redo()
	same(t, "done again", p.picture(), after)
}
