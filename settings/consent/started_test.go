package consent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/settings/consent"
)

// folder makes a project.
func folder(t testing.TB) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.sh": "echo a\n", "c d.sh": "echo\n", "sub/b.sh": "echo b\n", "hooks/1.sh": "echo 1\n", "hooks/2.sh": "echo 2\n",
		"more.sh": ". ./a.sh\nsh sub/b.sh\n", "vague.sh": "sh \"$1\"\n", "log.sh": "date >> hook.log\n", "hook.log": "x\n",
		"tools/server.py": "import json, sys\nprint(json)\n", "loads.py": "import sys\nsys.path.insert(0, '.')\n",
		"own.js": "const fs = require('fs')\nimport path from 'node:path'\n", "loads.js": "const x = require('./x')\n",
		"Makefile": "all:\n", "run": "#!/bin/sh\necho\n", "serve": "#!/usr/bin/env python3\n", "elf": "\x7fELF  \x00",
		"bin/jq": "#!/bin/sh\necho\n", "self.sh": "echo x > gen.sh\nsh gen.sh\n", "gen.sh": "echo\n",
		"spins.sh": "sh ./spins.sh\n", "none": "#!\n", "args.txt": "x\n",
	} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700)
	}
	os.Symlink("a.sh", filepath.Join(dir, "link.sh"))
	return dir
}

// A start and what is found: the files, and after a ? a part of why not all can be told.
func check(t *testing.T, dir string, s consent.Start, what, want string) {
	t.Helper()
	s.Roots, s.User = []string{dir}, func(name string) string {
		return map[string]string{"PATH": "/usr/bin:/bin", "HOME": "/home/nobody"}[name]
	}
	if s.Dir = filepath.Join(dir, s.Dir); s.Vars == nil {
		s.Vars = []string{"GEMINI_PROJECT_DIR=" + dir}
	}
	got := s.Find()
	var names []string
	for _, f := range got.Files {
		rel, _ := filepath.Rel(dir, f)
		names = append(names, rel)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	files, why, unsure := strings.Cut(want, "?")
	if list := strings.Join(names, ","); list != strings.TrimSpace(files) || (got.Unsure != "") != unsure ||
		!strings.Contains(got.Unsure, strings.TrimSpace(why)) {
		t.Errorf("%s: %s? %s; not %s", what, list, got.Unsure, want)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for text, want := range map[string]string{
		"echo hello; exit 2":                  "",
		"bash a.sh && sh sub/b.sh":            "a.sh,sub/b.sh",
		`sh "$GEMINI_PROJECT_DIR/c d.sh"`:     "c d.sh",
		`bash "$PWD"/a.sh`:                    "a.sh",
		"sh hooks/*.sh":                       "hooks/1.sh,hooks/2.sh",
		"sh hooks/{1,2}.sh":                   "hooks/1.sh,hooks/2.sh",
		`sh $'hooks/\x31.sh'`:                 "hooks/1.sh",
		`for f in hooks/*.sh; do sh $f; done`: "hooks/1.sh,hooks/2.sh",
		`X=a.sh; sh "$X"`:                     "a.sh",
		`d=hooks; sh "$d"/1.sh`:               "hooks/1.sh",
		"cd sub && sh b.sh":                   "sub/b.sh",
		"sh more.sh":                          "a.sh,more.sh,sub/b.sh",
		". ./more.sh":                         "a.sh,more.sh,sub/b.sh",
		"$(sh a.sh)":                          "a.sh ? decides which program",
		"echo $(sh a.sh)":                     "a.sh",
		"if sh a.sh; then sh sub/b.sh; fi":    "a.sh,sub/b.sh",
		"f() { sh a.sh; }; f":                 "a.sh",
		"jq . < args.txt >> hook.log":         "args.txt",
		"sh a.sh >> hook.log":                 "a.sh",
		"touch hook.log; rm -f hook.log":      "",
		"sh log.sh":                           "log.sh",
		"sh a.sh | tee hook.log":              "a.sh",
		"./run; ./elf":                        "elf,run",
		"env X=1 sh a.sh":                     "a.sh",
		"bash -c 'sh a.sh'":                   "a.sh",
		"trap 'sh a.sh' EXIT":                 "a.sh",
		"cat <<E\n$(sh a.sh)\nE":              "a.sh",
		"curl -s https://example.com":         "? curl",
		"git diff --name-only":                "",
		"python3 -I tools/server.py":          "tools/server.py",
		"node own.js":                         "own.js",

		"(sh a.sh)":                     "a.sh",
		"time sh a.sh":                  "a.sh",
		"[[ -n $(sh a.sh) ]]; ((x=1))":  "a.sh",
		"let x=$(sh a.sh)":              "a.sh",
		"for ((;;)); do sh a.sh; done":  "a.sh",
		"for f in $X; do sh a.sh; done": "a.sh",
		"x=($(sh a.sh))":                "a.sh",
		"sh -o pipefail -e a.sh":        "a.sh",
		"command -v jq; >hook.log":      "",

		"for f in $X; do sh $f; done":         "? what sh runs",
		"for f in {1..201}; do sh a.sh; done": "a.sh ? more than 200",
		"x=(a.sh); sh ${x[0]}":                "? what sh runs",
		"coproc sh a.sh":                      "? not read here",
		". $X":                                "? decides which file",
		`trap "$X" EXIT`:                      "? traps",
		"env PATH=bin jq":                     "? env",
		"command $X a.sh":                     "a.sh ? command",
		`sh -c "$X"`:                          "? says what sh runs",
		"sh $X a.sh":                          "a.sh ? what sh runs",
		"python3 $X":                          "? loads",
		"./none":                              "none ? names no program",
		"setsid sh a.sh":                      "a.sh ? setsid",
		"sh hooks/3.sh":                       "? not there",
		`sh "$X"`:                             "? what sh runs",
		`sh "${X:-a.sh}"`:                     "? what sh runs",
		`if true; then X=a.sh; fi; sh $X`:     "? what sh runs",
		`X=a.sh; X=sub/b.sh; sh $X`:           "? what sh runs",
		`X=a.sh; read X; sh $X`:               "? what sh runs",
		`X=a.sh; f() { X=b; }; f; sh $X`:      "? what sh runs",
		`X=a.sh; sh -c 'sh $X'`:               "a.sh ? what sh",
		"sh vague.sh hooks/1.sh":              "hooks/1.sh,vague.sh ? what sh runs",
		"cat a.sh | sh":                       "a.sh ? its input",
		"sh < a.sh":                           "a.sh ? its input",
		"sh <(cat a.sh)":                      "a.sh ? what sh runs",
		"eval sh a.sh":                        "a.sh ? eval",
		"make -C sub":                         "? make",
		"npm run lint":                        "run ? npm",
		"node .":                              "? no file",
		"node loads.js":                       "loads.js ? require",
		"python3 tools/server.py":             "tools/server.py ? beside",
		"python3 -I loads.py":                 "loads.py ? sys.path",
		"python3 -m tools.server":             "? loads",
		"./serve":                             "serve ? beside",
		"PATH=bin:$PATH jq":                   "? PATH",
		"export BASH_ENV=a.sh":                "a.sh ? BASH_ENV",
		"sh -i a.sh":                          "a.sh ? -i",
		"cd $X && sh a.sh":                    "a.sh ? directory",
		"cd - && sh a.sh":                     "a.sh ? directory",
		"sh link.sh":                          "link.sh ? link",
		"sh self.sh":                          "gen.sh,self.sh ? itself",
		"sh spins.sh":                         "spins.sh ? too many",
		"find . -exec sh a.sh ';'":            "a.sh ? find",
		"xargs sh":                            "? xargs",
		"alias jq=./run; jq":                  "run ? alias",
		"git commit -m x":                     "? git commit",
		"git -C sub status":                   "? git -C",
		"sh a.sh && ((":                       "? read",
		"declare -n r=X; X=a.sh; r=b; sh $X":  "a.sh ? another",
		"set -- a.sh; sh $1":                  "a.sh ? what sh runs",
		"sh -c 'sh {a,b}.sh'":                 "? what sh runs",
		"exec -a x sh a.sh":                   "a.sh ? exec",
		"./nothing":                           "? not there",
	} {
		check(t, dir, consent.Start{Texts: []string{text}}, text, want)
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, c := range []struct {
		argv, dir, env, want string
	}{
		{"python3 server.py", "tools", "", "tools/server.py ? beside"},
		{"python3 -I server.py", "tools", "", "tools/server.py"},
		{"python3 -I server.py", "", "", "? no file"},
		{"sh b.sh", "sub", "", "sub/b.sh"},
		{"sh a.sh", "", "PYTHONPATH=sub", "a.sh ? PYTHONPATH"},
		{"sh a.sh", "", "NODE_PATH=.", "a.sh ? NODE_PATH"},
		{"sh a.sh", "", "BASH_ENV=sub/b.sh", "a.sh,sub/b.sh"},
		{"sh a.sh", "", "ENV=sub/c.sh", "a.sh ? not there"},
		{"sh a.sh", "", "CONF=args.txt", "a.sh ? CONF"},
		{"sh a.sh", "", "LEVEL=debug", "a.sh"},
		{"sh a.sh", "", "URL=https://example.com/sub", "a.sh"},
		{"jq .", "", "PATH=bin:/usr/bin", "bin/jq ? PATH"},
		{"jq .", "", "PATH=", "? PATH"},
		{"./bin/jq", "", "", "bin/jq"},
		{"sh a.sh", "", "LD_PRELOAD=x.so", "a.sh ? LD_PRELOAD"},
		{"gopls mcp", "", "", "? gopls"},
	} {
		var env []string
		if c.env != "" {
			env = []string{c.env}
		}
		check(t, dir, consent.Start{Argv: strings.Fields(c.argv), Dir: c.dir, Env: env}, c.argv+" "+c.env, c.want)
	}
}

// Where a pattern stands, a file that comes later is meant, too.
func TestDirs(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := consent.Start{Texts: []string{"for f in hooks/*.sh; do sh $f; done"}, Dir: dir, Roots: []string{dir}}
	before := s.Find()
	if !slices.Contains(before.ProtectedPaths(), filepath.Join(dir, "hooks")) {
		t.Errorf("%q are held", before.ProtectedPaths())
	}
	os.WriteFile(filepath.Join(dir, "hooks", "3.sh"), []byte("echo\n"), 0o600)
	if before.Fingerprint() == s.Find().Fingerprint() {
		t.Error("a new file makes no difference")
	}
}

// What a variable names that decides what runs is held, where it can be, for what has all
// rights in any case.
func TestSteered(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for text, want := range map[string]string{"PATH=$GEMINI_PROJECT_DIR/hooks:$PATH jq": "hooks", "export PATH=hooks:$PATH; jq": "hooks", "NODE_OPTIONS='--require ./a.sh' node": "a.sh",
		"PERL5LIB=hooks perl -Mx": "hooks", "python3 hooks/x.py": "hooks"} {
		os.WriteFile(filepath.Join(dir, "hooks", "x.py"), nil, 0o600)
		s := consent.Start{Texts: []string{text}, Dir: dir, Roots: []string{dir}, Vars: []string{"GEMINI_PROJECT_DIR=" + dir},
			User: func(name string) string { return map[string]string{"PATH": "/usr/bin:/bin"}[name] }}
		if held := s.Find().ProtectedPaths(); !slices.Contains(held, filepath.Join(dir, want)) {
			t.Errorf("%s: %q are held", text, held)
		}
	}
}

// A variable of the user's own that leads into the project lets any file there run.
func TestUsers(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for value, want := range map[string]string{"/usr/lib:" + dir + "/hooks": "your PYTHONPATH leads into the project", "/usr/lib": ""} {
		s := consent.Start{Texts: []string{"echo"}, Dir: dir, Roots: []string{dir}, User: func(name string) string { return map[string]string{"PYTHONPATH": value}[name] }}
		if got := s.Find().Unsure; got != want {
			t.Errorf("%s: %s; want %s", value, got, want)
		}
	}
}

// Whatever is read, nothing is told of files that lie elsewhere, and nothing panics.
func FuzzText(f *testing.F) {
	dir := folder(f)
	for _, text := range []string{"sh a.sh", "for f in */*; do . $f; done", "x=${y:=1}; $x", "cat <<E\n$(a)\nE", "f(){ f; }; f", "case $x in a) sh a.sh;; esac"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range (consent.Start{Texts: []string{text}, Dir: dir, Roots: []string{dir}}).Find().Files {
			if !strings.HasPrefix(file, dir+"/") {
				t.Errorf("%q: %q", text, file)
			}
		}
	})
}
