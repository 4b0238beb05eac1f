package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A scene is a directory with repositories made by git itself: src, with two
// commits on two branches, and sup, of which one is a module; all of what git
// may lack here is by whoever runs it, so nothing of it is in a configuration.
func scene(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scene") // the name of the test may not stand in a script
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	setup := exec.Command("bash", "-ec", gitUser+`
		commit() { git add -A && git commit -qm "$1"; }
		git init -q -b main src; cd src; echo a > a; mkdir d; echo b > d/b; commit one; git tag v1
		git branch other; echo c > c; echo c > a; commit two; git checkout -q other; echo d > a; commit three; git checkout -q main
		git config uploadpack.allowFilter true; cd ..
		git init -q -b main --object-format=sha256 long; cd long; echo a > a; commit one; cd ..
		git init -q -b main sup; cd sup; git submodule --quiet add ../src sub/m; commit one; cd ..
		true`)
	setup.Dir = dir
	if out, err := setup.CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	return dir
}

const gitUser = `export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ALLOW_PROTOCOL=file
	export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
`

// TestClones has commands clone with the options that people use: the clones
// stay.
func TestClones(t *testing.T) {
	for at, step := range steps {
		k := kernel(t, Options{Without: step.without})
		dir := scene(t)
		for i, options := range []string{
			"URL", "--no-tags URL", "-c core.autocrlf=input URL", "--filter=blob:none URL", "--filter=blob:none --sparse URL", "--filter=tree:0 URL", "--depth=1 URL",
			"--depth=1 --no-single-branch URL", "--shallow-since=2000-01-01 URL", "--single-branch -b other URL", "-o upstream URL", "--sparse URL", "-n URL", "--template= URL",
			"--shared DIR/src", "--reference DIR/src URL", "--reference DIR/src --dissociate URL", "--no-local -j2 DIR/src", "--no-hardlinks DIR/src", "file://DIR/long", "--config remote.origin.prune=true URL",
			"-c user.name='a # b' -c branch.x.description='a\"b' URL", "-c core.eol=lf -c pull.rebase=true -c fetch.prune=true URL", "--recurse-submodules file://DIR/sup",
			"--recurse-submodules --shallow-submodules --filter=blob:none --also-filter-submodules file://DIR/sup", "--reject-shallow -v URL",
		} {
			if i%4 != at%4 && os.Getenv("SOAK") == "" {
				continue
			}
			line := "git clone -q " + strings.NewReplacer("URL", "file://"+dir+"/src", "DIR", dir).Replace(options) + " c"
			// What gh repo clone and git-lfs say in a clone.
			line += ` && cd c && git config remote.origin.gh-resolved base && git remote add fork https://github.com/a/b.git && git config lfs.repositoryformatversion 0 &&
				git config filter.lfs.clean 'git-lfs clean -- %f' && git config filter.lfs.required true && git config lfs.https://github.com/a/b.git/info/lfs.access basic`
			t.Run(step.name+"/"+options, func(t *testing.T) {
				if out, err := bash(t, k, Profile{Root: dir}, gitUser+line); err != nil || strings.Contains(out, "sandbox") {
					t.Errorf("%v\n%s", err, out)
				}
				if _, err := os.Lstat(filepath.Join(dir, "c/.git")); err != nil {
					t.Error(err)
				}
				if strings.Contains(options, "submodules") {
					if out, err := git("-C", filepath.Join(dir, "c/sub/m"), "status").CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				}
			})
			if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMadeRepositories has commands make repositories by other means, and work in
// them: they stay where they are.
func TestMadeRepositories(t *testing.T) {
	for _, step := range steps {
		k, dir := kernel(t, Options{Without: step.without}), scene(t)
		for _, script := range []string{
			"git clone -q --bare SRC c.git && git clone -q c.git c",
			"git clone -q --mirror SRC c.git && cd c.git && git remote update",
			"git clone -q --mirror SRC c/.git && cd c && git config --bool core.bare false && git reset -q --hard",
			"git clone -q --separate-git-dir=store SRC c && cd c && git pull -q",
			"mkdir store && git clone -q --separate-git-dir=store/.git SRC c",
			"git clone -q --separate-git-dir=store --recurse-submodules file://DIR/sup c && git -C c submodule update --remote",
			"git init -q -b trunk --separate-git-dir=store c && cd c && date >a && git add . && git commit -qm one",
			"git init -q -b trunk c && cd c && date >a && git add . && git commit -qm one && git gc -q",
			"git init -q --object-format=sha256 c && cd c && date >a && git add . && git commit -qm one",
			"git init -q --bare --shared c.git && git clone -q c.git c",
			"git clone -q SRC c && git -C c worktree add -q ../tree other && cd tree && date >new && git add . && git commit -qm new && git -C ../c worktree list",
			"git clone -q SRC c && git -C c worktree add -q -b x ../tree && git -C c worktree move ../tree ../moved && git -C c worktree lock ../moved",
			"git clone -q --bare SRC c.git && git -C c.git worktree add -q ../tree other && date >tree/new && git -C tree add . && git -C tree commit -qm new",
			"git clone -q --bare SRC c/.bare && echo 'gitdir: ./.bare' >c/.git && git -C c worktree add -q other",
			"git init -q c && cd c && git submodule --quiet add SRC m && git commit -qm one && git submodule --quiet update --init && git submodule --quiet sync",
			"git init -q c && cd c && git submodule --quiet add --name x/y --depth 1 SRC d/m && git commit -qm one && git mv d/m e && git submodule deinit -f e && git submodule --quiet update --init",
			"git clone -q SRC c && git clone -q SRC c/inner && git -C c submodule --quiet add ./inner && git -C c submodule --quiet absorbgitdirs && git -C c/inner status",
			"git clone -q file://DIR/sup c && cd c && git submodule --quiet update --init --recursive --depth 1 && git submodule foreach -q 'git checkout -q -b mine'",
			"git clone -q --no-checkout --filter=blob:none SRC c && cd c && git sparse-checkout set d && git checkout -q && git fetch -q --unshallow 2>/dev/null || git fetch -q",
			"git clone -q SRC c && cd c && git checkout -q -b mine && date >new && git add . && git commit -qm new && git rebase -q origin/other || git rebase --abort",
			"git clone -q SRC c && git clone -q --shared c d && git clone -q --reference c SRC e && git clone -q --local c f",
			"git clone -q SRC c && mv c renamed && git -C renamed pull -q && cp -r renamed copied && git -C copied status -s",
			"git clone -q --template=/usr/share/git-core/templates SRC c && git -C c bundle create -q ../all.bundle --all && git clone -q all.bundle d",
			"git clone -q --depth 1 SRC c && cd c && git fetch -q --unshallow && git remote set-branches --add origin other && git fetch -q && git checkout -q other",
			"git clone -q SRC c && cd c && git maintenance run && git config user.name x && git config --worktree core.sparseCheckout false",
			"git clone -q SRC c && cd c && git config extensions.worktreeConfig true && git worktree add -q ../tree && git -C ../tree sparse-checkout set d",
		} {
			if !step.tries(script) {
				continue
			}
			t.Run(step.name+"/"+script, func(t *testing.T) {
				made := filepath.Join(dir, "made")
				if err := os.Mkdir(made, 0o700); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(made)
				script := strings.NewReplacer("SRC", "file://"+dir+"/src", "DIR", dir).Replace(script)
				out, err := bash(t, k, Profile{Root: made, Write: []string{dir}}, gitUser+"set -e; "+script)
				if err != nil || strings.Contains(out, "sandbox") {
					t.Errorf("%v\n%s", err, out)
				}
				filepath.WalkDir(made, func(path string, _ os.DirEntry, _ error) error {
					if strings.Contains(path, "put-aside") {
						t.Error(path)
					}
					return nil
				})
			})
		}
	}
}

// TestLargeFileClone has a repository cloned whose large files git-lfs holds,
// which puts hooks into the clone; and what people do in it. Then it does so in a
// workspace that has none of these hooks.
func TestLargeFileClone(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip("git-lfs is not installed")
	}
	const user = gitUser + `export GIT_CONFIG_COUNT=4 GIT_CONFIG_KEY_0=filter.lfs.clean GIT_CONFIG_VALUE_0='git-lfs clean -- %f' GIT_CONFIG_KEY_1=filter.lfs.smudge GIT_CONFIG_VALUE_1='git-lfs smudge -- %f'
		export GIT_CONFIG_KEY_2=filter.lfs.process GIT_CONFIG_VALUE_2='git-lfs filter-process' GIT_CONFIG_KEY_3=filter.lfs.required GIT_CONFIG_VALUE_3=true
	`
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		dir := scene(t)
		setup := exec.Command("bash", "-ec", user+`git init -q -b main lfs; cd lfs; git lfs track '*.bin'; printf '%5000s' x >x.bin; git add .; git commit -qm one; cd ..
			git init -q bare --bare; git clone -q lfs work; rm work/.git/hooks/*`)
		setup.Dir = dir
		if out, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for script, in := range map[string]string{
			"git clone -q file://DIR/lfs c && cd c && test -s .git/hooks/pre-push && cmp x.bin ../lfs/x.bin && git lfs ls-files && date >y.bin && git add . && git commit -qm two && git push -q file://DIR/bare HEAD:two": "",
			"GIT_LFS_SKIP_SMUDGE=1 git clone -q file://DIR/lfs d && cd d && git lfs pull && cmp x.bin ../lfs/x.bin && git lfs install --local && git lfs pull && git lfs fetch --all":                                      "",
			"git lfs track '*.dat' && date >y.dat && git add . && git commit -qm two && git checkout -q HEAD~1 && git lfs status":                                                                                          "work",
		} {
			t.Run(step.name+"/"+script, func(t *testing.T) {
				out, err := bash(t, k, Profile{Root: filepath.Join(dir, in)}, "set -e; "+user+strings.ReplaceAll(script, "DIR", dir))
				if err != nil || strings.Contains(out, "sandbox") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestTemplateHooks has git give new repositories the hooks of the user's. They
// stay as they are there, unless a command could have written them.
func TestTemplateHooks(t *testing.T) {
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		outside, err := os.MkdirTemp(".", "template") // not where a command has directories of its own
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(outside) })
		if outside, err = filepath.Abs(outside); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(outside, "/tmp/") || strings.HasPrefix(outside, "/var/tmp/") {
			t.Skip("commands don't see what is below the temporary directory, where this is")
		}
		dir := scene(t)
		for _, c := range []struct {
			name, template, then string
			stays                bool
		}{
			{"as they are", outside, "", true},
			{"changed", outside, "echo id >>c/.git/hooks/pre-commit", false},
			{"another", outside, "cp c/.git/hooks/pre-commit c/.git/hooks/post-checkout", false},
			{"unreadable", outside, "rm c/.git/hooks/empty; ln -s ../../x c/.git/hooks/empty", false},
			{"where commands write", filepath.Join(dir, "template"), "", false},
		} {
			t.Run(step.name+"/"+c.name, func(t *testing.T) {
				hooks := filepath.Join(c.template, "hooks")
				if err := errors.Join(os.MkdirAll(hooks, 0o700), os.WriteFile(filepath.Join(hooks, "pre-commit"), []byte("#!/bin/sh\ntrue\n"), 0o700), os.WriteFile(filepath.Join(hooks, "empty"), nil, 0o700)); err != nil {
					t.Fatal(err)
				}
				out, _ := bash(t, k, Profile{Root: dir, Hooks: hooks}, gitUser+"git clone -q --template="+c.template+" file://"+dir+"/src c\n"+c.then)
				if _, err := os.Lstat(filepath.Join(dir, "c/.git/hooks/pre-commit")); (err == nil) != c.stays {
					t.Errorf("%v\n%s", err, out)
				}
				os.RemoveAll(filepath.Join(dir, "c"))
			})
		}
	}
}

// TestHarmfulClones has commands make what would make git run something. It is
// said what that is.
func TestHarmfulClones(t *testing.T) {
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		dir := scene(t)
		for script, want := range map[string]string{
			"git clone -q -c core.fsmonitor=id URL c":                                                                       `config sets core.fsmonitor); it is now called "c/git.put-aside-1"`,
			"git clone -q -c core.sshCommand=id URL c":                                                                      "config sets core.sshcommand",
			"git clone -q -c filter.lfs.clean='id; git-lfs clean -- %f' URL c":                                              "config sets filter.lfs.clean",
			"git clone -q --sparse URL c && git -C c config --worktree core.fsmonitor id":                                   "config.worktree sets core.fsmonitor",
			"git clone -q URL c && echo id > c/.git/hooks/post-checkout":                                                    `it has the hook "post-checkout"`,
			"git clone -q URL c && printf 'git lfs post-checkout \"$@\"; id' > c/.git/hooks/post-checkout":                  `it has the hook "post-checkout"`,
			"git clone -q URL c && ln c/.git/config x":                                                                      "its config can't be read, or is written to elsewhere",
			"git clone -q URL c && echo ../../x > c/.git/commondir":                                                         "it has a file commondir",
			"git clone -q --separate-git-dir=sep -c core.fsmonitor=id URL c":                                                "config sets core.fsmonitor",
			"git clone -q --separate-git-dir=sep URL c && echo id > sep/hooks/post-checkout":                                `it has the hook "post-checkout"`,
			"git clone -q --bare URL sep && git -C sep worktree add -q ../c && git -C sep config core.fsmonitor id":         "config sets core.fsmonitor",
			"git clone -q --bare URL sep && git -C sep worktree add -q ../c && echo ../../../x > sep/worktrees/c/commondir": "a worktree of it has its configuration elsewhere",
			"git clone -q URL x && mkdir c && echo 'gitdir: /usr' > c/.git":                                                 "it leads to a repository elsewhere",
			"mkdir -p x/objects x/refs c && echo 'gitdir: ../x' > c/.git":                                                   "it leads to a repository elsewhere",
			"git clone -q --recurse-submodules SUP c && git -C c/sub/m config core.fsmonitor id":                            "config sets core.fsmonitor",
			"git clone -q --recurse-submodules SUP c && git -C c/sub/m config core.worktree /":                              "config sets core.worktree",
			"git clone -q --recurse-submodules SUP c && mv c/.git/modules c/x && ln -s ../x c/.git/modules":                 "its modules is a link",
			"git clone -q --recurse-submodules SUP x && E=x/.git/modules/sub/m/objects/e && mkdir -p c $E/objects $E/refs && cp x/.git/HEAD $E && printf '[core]\\n\\tfsmonitor = id\\n' >$E/config && echo gitdir: ../$E >c/.git": "config sets core.fsmonitor",
			"git clone -q --recurse-submodules SUP c && git -C c config submodule.sub/m.update '!id'":                                                                                                                              "sets submodule.sub/m.update",
			"git clone -q URL c && mkdir c/.git/rebase-merge && echo exec id > c/.git/rebase-merge/git-rebase-todo":                                                                                                                "rebase-merge/git-rebase-todo has git run",
			"git clone -q URL c && mkdir -p c/.git/worktrees/x && echo ../../../x > c/.git/worktrees/x/commondir":                                                                                                                  "a worktree of it has its configuration elsewhere",
		} {
			if !step.tries(script) {
				continue
			}
			t.Run(step.name+"/"+script, func(t *testing.T) {
				script = strings.NewReplacer("URL", "file://"+dir+"/src", "SUP", "file://"+dir+"/sup").Replace(script)
				out, err := bash(t, k, Profile{Root: dir}, gitUser+script)
				if err == nil || !strings.Contains(out, want) {
					t.Errorf("%v; want %s\n%s", err, want, out)
				}
				if _, err := os.Lstat(filepath.Join(dir, "c/.git")); err == nil {
					t.Error("it is still there")
				}
				for _, name := range []string{"c", "sep", "x"} {
					os.RemoveAll(filepath.Join(dir, name))
				}
			})
		}
	}
}

// TestHeldTrees lets commands write what decides where the user's next git
// looks for its configuration, by every way around the files themselves. The
// user's git must not run what the command has put there.
func TestHeldTrees(t *testing.T) {
	const monitor = `mkdir -p evil && printf '#!/bin/sh\ntouch RAN\n' > evil/run && chmod +x evil/run && cp -r .git/HEAD .git/objects .git/refs evil/ 2>/dev/null
		printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s/evil/run\n\thooksPath = %s/evil\n' "$PWD" "$PWD" > evil/config; E=$PWD/evil
		`
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		for name, script := range map[string]string{
			"write commondir":        "echo $E > .git/worktrees/tree/commondir",
			"replace commondir":      "echo $E > x && mv -f x .git/worktrees/tree/commondir",
			"link commondir":         "echo $E > x && ln -sfn ../../../x .git/worktrees/tree/commondir",
			"hard link commondir":    "echo $E > x && ln -f x .git/worktrees/tree/commondir",
			"rename the tree's":      "mv .git/worktrees/tree .git/worktrees/old && cp -r .git/worktrees/old .git/worktrees/tree && echo $E > .git/worktrees/tree/commondir",
			"rename it elsewhere":    "mv .git/worktrees/tree old && cp -r old .git/worktrees/tree && echo $E > .git/worktrees/tree/commondir",
			"link the tree's":        "cp -r .git/worktrees/tree own && echo $E > own/commondir && mv .git/worktrees/tree .git/worktrees/old && ln -s ../../own .git/worktrees/tree",
			"rename worktrees":       "mv .git/worktrees .git/old && cp -r .git/old .git/worktrees && echo $E > .git/worktrees/tree/commondir",
			"link worktrees":         "cp -r .git/worktrees own && echo $E > own/tree/commondir && mv .git/worktrees .git/old && ln -s ../own .git/worktrees",
			"rename .git":            "mv .git old && cp -r old .git && cp evil/config .git/config && echo $E > .git/worktrees/tree/commondir",
			"link .git":              "mv .git old && ln -s evil .git",
			"exchange .git":          "cp -r .git own && cp evil/config own/config && echo $E > own/worktrees/tree/commondir && rm -rf .git; mv own .git",
			"config.worktree":        "cp evil/config .git/worktrees/tree/config.worktree && cp evil/config .git/config.worktree && git config extensions.worktreeConfig true",
			"another tree's":         "cp -r .git/worktrees/tree .git/worktrees/gone && echo $E > .git/worktrees/gone/commondir",
			"a tree that leads away": "rm -f inside/.git; echo \"gitdir: $E\" > inside/.git",
			"a tree that is moved":   "mkdir -p far && mv inside far/ && mkdir inside && echo \"gitdir: $E\" > inside/.git",
			"a tree that is a link":  "mv inside far; cp -r far evil/in; rm evil/in/.git; echo \"gitdir: $E\" > evil/in/.git; ln -s evil/in inside",
			"rename hooks":           "mv .git/hooks .git/old; mkdir .git/hooks; cp evil/run .git/hooks/post-index-change",
			"rename info":            "mv .git/info .git/old; mkdir .git/info; echo '* filter=x' > .git/info/attributes",
			"a rebase's list":        "mkdir .git/rebase-merge && echo \"exec $E/run\" > .git/rebase-merge/git-rebase-todo",
			"a rebase's strategy":    "mkdir .git/rebase-merge git-merge-x && cp evil/run git-merge-x/y && echo x/y > .git/rebase-merge/strategy && touch .git/rebase-merge/interactive .git/rebase-merge/end && for f in head-name onto orig-head; do git rev-parse HEAD >.git/rebase-merge/$f; done && git checkout -q -b o && echo o >f && git add f && git commit -qm o && git checkout -q - && echo pick $(git rev-parse o) >.git/rebase-merge/git-rebase-todo && touch .git/rebase-merge/done && echo b >g && git add g && git commit -qm b",
			"a linked strategy":      "mkdir .git/rebase-merge git-merge-x && cp evil/run git-merge-x/y && echo x/y > s && ln -s ../../s .git/rebase-merge/strategy && touch .git/rebase-merge/interactive .git/rebase-merge/end && for f in head-name onto orig-head; do git rev-parse HEAD >.git/rebase-merge/$f; done && git checkout -q -b o && echo o >f && git add f && git commit -qm o && git checkout -q - && echo pick $(git rev-parse o) >.git/rebase-merge/git-rebase-todo && touch .git/rebase-merge/done && echo b >g && git add g && git commit -qm b",
			"a cherry-pick's":        "mkdir .git/sequencer git-merge-x && cp evil/run git-merge-x/y && git checkout -q -b o && echo o >f && git add f && git commit -qm o && git checkout -q - && for n in 1 2; do echo pick $(git rev-parse o) o; done >.git/sequencer/todo && printf '[options]\\n\\tstrategy = x/y\\n' >.git/sequencer/opts && echo b >g && git add g && git commit -qm b && git rev-parse HEAD | tee .git/sequencer/head >.git/sequencer/abort-safety",
			"a link to such a list":  "mkdir own && echo \"exec $E/run\" > own/git-rebase-todo && ln -s ../own .git/rebase-merge",
			"a list of the tree's":   "mkdir .git/worktrees/tree/rebase-merge && echo \"x $E/run\" > .git/worktrees/tree/rebase-merge/git-rebase-todo",
			"alternates":             "echo $E/objects > .git/objects/info/alternates",
			"a remote in a file":     "mkdir -p .git/remotes && echo \"URL: ext::$E/run\" > .git/remotes/other",
		} {
			if !step.tries(name) {
				continue
			}
			t.Run(step.name+"/"+name, func(t *testing.T) {
				root := repository(t)
				tree := root + "-tree"
				setup := exec.Command("bash", "-ec", gitUser+"git commit -q --allow-empty -m x; mkdir -p .git/hooks .git/info; git worktree add -q "+tree+"; mv .git/worktrees/* .git/worktrees/tree; git worktree add -q -b in inside; sed -i s,/root-tree$,/tree, "+tree+"/.git; echo gitdir: "+root+"/.git/worktrees/tree > "+tree+"/.git")
				setup.Dir = root
				if out, err := setup.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				out, _ := bash(t, k, Profile{Root: root}, gitUser+monitor+"set +e; "+script+"; true")
				for _, at := range []string{tree, root, filepath.Join(root, "inside")} {
					for _, args := range [][]string{{"status"}, {"-c", "protocol.ext.allow=always", "fetch", "other"}, {"rebase", "--continue"}, {"cherry-pick", "--continue"}} {
						git(append([]string{"-C", at}, args...)...).Run()
					}
				}
				for _, at := range []string{tree, root, filepath.Join(root, "inside"), filepath.Join(root, ".git"), filepath.Join(root, ".git/worktrees/tree")} {
					if _, err := os.Lstat(filepath.Join(at, "RAN")); err == nil {
						t.Errorf("git ran what the command put there, in %s\n%s", at, out)
					}
				}
				for _, left := range []string{".git/objects/info/alternates", ".git/info/attributes", ".git/worktrees/gone/commondir"} {
					if text, err := os.ReadFile(filepath.Join(root, left)); err == nil {
						t.Errorf("%s is there: %s\n%s", left, text, out)
					}
				}
			})
		}
	}
}

// TestHeldApart does the same to repositories that have another name than .git,
// and are led to by a file.
func TestHeldApart(t *testing.T) {
	for _, step := range steps {
		k, dir := kernel(t, Options{Without: step.without}), scene(t)
		for name, script := range map[string]string{
			"configuration":                   "cat evil >> store/config",
			"another configuration":           "cp store/config x && cat evil >> x && mv x store/config",
			"hooks":                           "cp run store/hooks/post-index-change",
			"another store":                   "mv store old && cp -r old store && cat evil >> store/config",
			"the file":                        "cp -r store x && cat evil >> x/config && echo \"gitdir: $PWD/x\" > work/.git",
			"the configuration of a bare one": "cat evil >> bare/config",
			"that of a module":                "cat evil >> store/modules/sub/m/config",
			"a tree of a bare one":            "cp -r bare x && cat evil >> x/config && echo $PWD/x > bare/worktrees/tree/commondir",
		} {
			if !step.tries(name) {
				continue
			}
			t.Run(step.name+"/"+name, func(t *testing.T) {
				root := filepath.Join(dir, "root")
				defer os.RemoveAll(root)
				setup := exec.Command("bash", "-ec", gitUser+`mkdir root; cd root; git clone -q --recurse-submodules --separate-git-dir=store file://$PWD/../sup work
					git clone -q --bare ../src bare; git -C bare worktree add -q ../tree other
					printf '#!/bin/sh\ntouch '$PWD/RAN'\n' > run; chmod +x run; printf '[core]\n\tfsmonitor = '$PWD'/run\n' > evil`)
				setup.Dir = dir
				if out, err := setup.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				ran := func() bool {
					for _, at := range []string{"work", "tree", "work/sub/m"} {
						git("-C", filepath.Join(root, at), "status").Run()
						git("-C", filepath.Join(root, at), "checkout", "-q", "HEAD").Run()
					}
					_, err := os.Lstat(filepath.Join(root, "RAN"))
					return err == nil
				}
				out, _ := bash(t, k, Profile{Root: root}, gitUser+script)
				if ran() {
					t.Errorf("git ran what the command put there\n%s", out)
				}
				attack := exec.Command("bash", "-c", script)
				attack.Dir = root
				attack.Run()
				if !ran() {
					t.Error("git runs it in no case")
				}
			})
		}
	}
}

// TestOrdinaryGit has commands do what people do with git, unasked.
func TestOrdinaryGit(t *testing.T) {
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		dir := scene(t)
		root := filepath.Join(dir, "root")
		for _, script := range []string{
			"echo x > a && git add a && git commit -qm x && git commit -q --amend -m y && git log --oneline && git status",
			"git merge -q other; git merge --abort && git merge -q -X ours other -m merged",
			"echo x >> d/b && git stash -q && git stash pop -q && git stash list",
			"echo x >> d/b && mkdir dir && touch n && git stash -qu && test ! -e n && git stash pop -q && git clean -qfd && test ! -e dir",
			"git fetch -q . other && git checkout -q -b new FETCH_HEAD && git switch -q main",
			"git fetch -q file://$PWD/tree && git tag v2 && git tag -d v2",
			"git gc -q && git repack -q -a -d && git prune && git fsck",
			"git rebase -q other -X theirs && git log --oneline",
			"! git rebase -q other && test -d .git/rebase-merge && git checkout -q --theirs a && git add a && GIT_EDITOR=true git rebase --continue && test ! -d .git/rebase-merge",
			"! git rebase -q other && git rebase --abort",
			"! git cherry-pick other && git cherry-pick --abort && git revert --no-edit HEAD",
			"git bisect start -q HEAD HEAD~1 && git bisect reset",
			"git rm -q a && git mv d e && git commit -qm x && git reset -q --hard HEAD~1 && touch new && git clean -qf",
			"git archive HEAD > x.tar && git bundle create -q b HEAD && git notes add -m x && git blame a",
			"git -C tree status && cd tree && echo x > y && git add y && git commit -qm x && git checkout -q --detach && git gc -q",
			"git init -q new && git clone -q . ../root/copy",
		} {
			if !step.tries(script) {
				continue
			}
			t.Run(step.name+"/"+script, func(t *testing.T) {
				setup := exec.Command("bash", "-ec", gitUser+"rm -rf root; git clone -q src root; cd root; git worktree add -q -b side tree; git branch -q other origin/other")
				setup.Dir = dir
				if out, err := setup.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if out, err := bash(t, k, Profile{Root: root}, gitUser+script); err != nil || strings.Contains(out, "sandbox:") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestRebaseInBetween has a rebase go on that the user has begun, with lines of
// the user's that run something.
func TestRebaseInBetween(t *testing.T) {
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			k := kernel(t, Options{Without: step.without})
			root := filepath.Join(scene(t), "src")
			begin := exec.Command("bash", "-c", gitUser+"git rebase -q other -x 'touch RAN' -x false; test -d .git/rebase-merge")
			begin.Dir = root
			if out, err := begin.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := bash(t, k, Profile{Root: root}, gitUser+"git status"); err != nil || strings.Contains(out, "sandbox") {
				t.Errorf("%v\n%s", err, out)
			}
			out, err := bash(t, k, Profile{Root: root}, "echo exec id >> .git/rebase-merge/git-rebase-todo")
			if err == nil || !strings.Contains(out, `has git run "exec id"`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
