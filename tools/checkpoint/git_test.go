package checkpoint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gemline/tools/gitconfig"
)

// What commands have moved in a repository is said, in every form of its index, and what
// git only writes anew is not.
func TestMoved(t *testing.T) {
	for _, form := range []string{"2 sha1", "4 sha1", "2 sha256", "4 sha256", "split sha1"} {
		t.Run(form, func(t *testing.T) {
			version, format, _ := strings.Cut(form, " ")
			p := newPlace(t)
			set := "git config index.version " + version
			if version == "split" {
				set = "git config core.splitIndex true"
			}
			p.run("git init -q -b main --object-format=" + format + " .; " + set)
			empty := p.git.see(t.Context())
			p.run("mkdir -p d/with; echo a >a; echo b >d/b; echo b >d/with/bb; git add .; echo i >i; git add -N i; git commit -qm one; git branch side; git tag t; git pack-refs --all; git reset -q")
			if got := movedRefs(empty, p.git.see(t.Context())); strings.Join(got, ", ") != "branch main, branch side, tags/t, what is staged" {
				t.Errorf("the first commit: %q moved", got)
			}
			for _, tt := range []struct{ do, want string }{
				{"touch a d/b; git status", ""},
				{"git update-index --really-refresh; git gc -q; git reset -q", ""},
				{"git pack-refs --all", ""},
				{"echo c >>a; git add a", "what is staged"},
				{"chmod +x a; git update-index --chmod=+x a", "what is staged"},
				{"git update-index --skip-worktree d/b", "what is staged"},
				{"git rm -q --cached d/with/bb", "what is staged"},
				{"git commit -qm two", "branch main"},
				{"git branch -q -D side", "branch side"},
				{"git checkout -q --detach", "HEAD"},
				{"git reset -q --hard HEAD~1", "HEAD what is staged"},
				{"git update-ref refs/stash HEAD", "stash"},
				{"git tag -f t main; git checkout -q main; git checkout -q -b other HEAD~1; echo x >a; git commit -qam x; git rebase main || true", "HEAD a rebase in progress branch other tags/t what is staged"},
				{"git rebase --abort", "HEAD a rebase in progress what is staged"},
				{"git checkout -q -b third HEAD~1; echo y >a; git commit -qam y; git cherry-pick other || true", "HEAD a cherry-pick in progress branch third what is staged"},
			} {
				before := p.git.see(t.Context())
				p.run(tt.do)
				got := movedRefs(before, p.git.see(t.Context()))
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%s: %q moved, want %q", tt.do, got, tt.want)
				}
			}
		})
	}
}

// Where git waits for a pipe it is waited for once, and nothing is said to have moved.
func TestSilentGit(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.LongestGit = 300 * time.Millisecond })
	p.run("git init -q .; mkfifo .git/refs/heads/pipe")
	for range 2 {
		p.turn("do", p.shell("echo x >>a; git symbolic-ref HEAD refs/heads/other"))
	}
	list, err := p.Turns(t.Context())
	if err != nil || len(list) != 2 || len(list[0].Calls[0].GitMoved)+len(list[1].Calls[0].GitMoved) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if !slices.Equal(p.told, []string{gitSilent}) {
		t.Errorf("told %q", p.told)
	}
}

// What git warns of, however long, does not keep what it says from being read, which has a limit.
func TestGitWarns(t *testing.T) {
	p := newPlace(t)
	p.run("git init -q -b main .; git commit -q --allow-empty -m one; for i in $(seq 100); do echo broken >.git/refs/heads/this-branch-is-broken-$i; done")
	before := p.git.see(t.Context())
	p.run("git branch other")
	if got := movedRefs(before, p.git.see(t.Context())); !slices.Equal(got, []string{"branch other"}) {
		t.Errorf("%q moved", got)
	}
	dir := p.dir + "/.git"
	for most, want := range map[int]bool{40: false, 41: true} { // a hash and the end of its line
		if _, err := gitconfig.Output(t.Context(), dir, most, nil, "rev-parse", "HEAD"); (err == nil) != want {
			t.Errorf("%d bytes: %v", most, err)
		}
	}
}

// A repository that a command deletes or moves is named by the undo, in this session and the next.
func TestLostRepository(t *testing.T) {
	for _, tt := range []struct{ do, lost, moved string }{
		{"rm -rf nested", "nested/.git", ""},
		{"rm -rf nested/.git", "nested/.git", ""},
		{"mv nested other", "nested/.git", ""},
		{"rm -rf tree", "tree/.git", ""},
		{"rm -rf .git", ".git", ""},
		{"rm -rf .git nested; git init -q -b main .", "nested/.git", "branch main, branch tree, what is staged"},
		{"rm -rf deps", "deps/", ""},
		{"rm -rf deps/mod/.git", "deps/mod/.git", ""},
		{"git init -q made; rm -rf made", "", ""},
	} {
		for _, later := range []bool{false, true} {
			p := newPlace(t)
			p.run(`git init -q -b main .; echo deps >.gitignore; git add .; git commit -qm one; git init -q nested; echo n >nested/n
				git worktree add -q tree; git init -q deps/mod; echo d >deps/mod/d`)
			if later {
				p.turn("look", p.shell("true"))
				p.again("session-2")
			}
			p.turn("do it", p.shell(tt.do))
			if tt.lost+tt.moved == "" {
				continue
			}
			plan, _ := p.undo(1, false)
			if got := strings.Join(plan.NotKept, ", "); got != p.dir+"/"+tt.lost+": deleted" {
				t.Errorf("%s, later %v: %q is lost", tt.do, later, got)
			}
			if got := strings.Join(plan.GitMoved, ", "); got != tt.moved {
				t.Errorf("%s, later %v: %q moved", tt.do, later, got)
			}
		}
	}
}
