package consent_test

import (
	"fmt"
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
		"Makefile": "all:\n", "run": "#!/bin/sh -e\necho\n", "serve": "#!/usr/bin/env python3\n", "elf": "\x7fELF  \x00",
		"bin/jq": "#!/bin/sh\necho\n", "self.sh": "echo x > gen.sh\nsh gen.sh\n", "gen.sh": "echo\n",
		"spins.sh": "sh ./spins.sh\n", "none": "#!\n", "args.txt": "x\n",
		"sub/a.sh": "echo\n", "set.sh": "X=sub/b.sh\n", "use.sh": "sh $GEMINI_PROJECT_DIR/a.sh\n", "deep/a.sh": "echo\n",
		"deep/er/x": "", "loop": "#!./loop\n", "mz": "MZ=1; sh a.sh\n", "env/python3": "\x7fELF  \x00", "plain": "sh hooks/{1,2}.sh\n",
		"s": "#!/usr/bin/env -S python3 -I\nimport os\n", "e": "#!/usr/bin/env sh\nsh a.sh\n", "inbash": "#!/bin/bash\nsh hooks/{1,2}.sh\n",
		"aio.py": "import asyncio\nawait asyncio.create_subprocess_exec('./a.sh')\n", "mine.py": "import json, mine\n",
		"listed.py": "import os.path as p, re # see\nfrom collections.abc import Iterable\n", "from.py": "from os import system\n",
		"deeper.sh": "sh deeper.sh x\n", "long.sh": "sh a.sh\n#" + strings.Repeat("x", 64<<10), "long.py": strings.Repeat("#", 256<<10+1),
		"dir/x.sh": "echo\n", "sets.sh": "V=a.sh\n", "ball.sh": "A=0123456789\n" + ball(),
	} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700)
	}
	os.Symlink("a.sh", filepath.Join(dir, "link.sh"))
	os.Symlink("deep/er", filepath.Join(dir, "away"))
	os.WriteFile(filepath.Join(dir, "bare.sh"), nil, 0o600)
	return dir
}

// ball returns assignments whose values grow tenfold by each.
func ball() (text string) {
	for c := 'B'; c < 'K'; c++ {
		text += fmt.Sprintf("%c=%s\n", c, strings.Repeat("$"+string(c-1), 10))
	}
	return text + "sh $J a.sh\n"
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
		"for f in {1..201}; do sh a.sh; done": "a.sh ? too many scripts",
		"x=(a.sh); sh ${x[0]}":                "? what sh runs",
		"coproc sh a.sh":                      "? not read here",
		". $X":                                "? decides which file",
		`trap "$X" EXIT`:                      "? trapped",
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
		"read PERL5OPT; export PERL5OPT":      "? PERL5OPT",
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
		"declare -n r=X; X=a.sh; r=b; sh $X":  "a.sh ? declares",
		"set -- a.sh; sh $1":                  "a.sh ? what sh runs",
		"sh -c 'sh {a,b}.sh'":                 "? what sh runs",
		"exec -a x sh a.sh":                   "a.sh ? exec",
		"./nothing":                           "? not there",

		// A variable that decides what runs is set in another way than by X=.
		"for PATH in bin; do jq .; done":       "? sets PATH",
		"select PATH in bin; do jq .; done":    "? sets PATH",
		"read -r PATH <<< bin; jq .":           "? sets PATH",
		"printf -v PATH bin; jq .":             "? sets PATH",
		"printf -vPATH bin; jq .":              "? sets PATH",
		"getopts a PATH -a; jq .":              "? sets PATH",
		"wait -n -p PATH; jq .":                "? sets PATH",
		": ${BASH_ENV:=a.sh}":                  "? sets BASH_ENV",
		"((PATH = 1)); jq .":                   "? sets PATH",
		"exec {PATH}> /dev/null; jq .":         "? sets PATH",
		"unset PATH; jq .":                     "? sets PATH",
		"echo PATH; [ -n PATH ]; read -r line": "",

		// A function of a program's name is not there yet, or perhaps never.
		"f() { :; }; f sh a.sh":                     "a.sh",
		"main() { log; }; log() { sh a.sh; }; main": "a.sh",
		"sh a.sh; sh() { :; }":                      "a.sh",
		"sh use.sh; sh() { :; }":                    "a.sh,use.sh",
		"(sh() { :; }); sh use.sh":                  "a.sh,use.sh",
		"sh() { :; }; sh use.sh":                    "use.sh",

		// What sets a variable, in another place or way than by X=.
		"f() { . ./set.sh; }; X=a.sh; f; sh $X":    "set.sh ? what sh runs",
		"X=a.sh; f() { sh $X; }; . ./set.sh; f":    "a.sh,set.sh ? again",
		". ./set.sh; f() { sh $X; }; X=a.sh; f":    "set.sh ? what sh runs",
		". ./set.sh; sh $X":                        "set.sh,sub/b.sh",
		"sh ./set.sh; sh a.sh $X":                  "a.sh,set.sh,sub/b.sh",
		"sh ./set.sh; sh $X a.sh":                  "a.sh,set.sh,sub/b.sh ? what sh runs",
		"trap 'X=b.sh' DEBUG; X=a.sh; sh $X":       "? what sh runs",
		"X=a.sh; trap 'X=b.sh' EXIT; sh $X":        "a.sh ? again",
		"X=a.sh; printf -vX %s b.sh; sh $X":        "? what sh runs",
		`X=a.sh; read "X"; sh $X`:                  "? what sh runs",
		"X=a.sh; for X in 1; do :; done; sh $X":    "? what sh runs",
		"for X in a.sh; do :; done; sh $X set.sh":  "a.sh,set.sh ? what sh runs",
		"for X in $X; do read X; sh $X; done":      "? what sh runs",
		"for X in a.sh; do read X; sh $X; done":    "? what sh runs",
		`X=; : ${X:=sub}; cd "$X"; sh a.sh`:        "a.sh ? directory",
		`X=; : ${X=sub}; cd "$X"; sh a.sh`:         "a.sh ? directory",
		"X=1; ((X=2)); sh hooks/$X.sh":             "? what sh runs",
		"X=1; echo $((X+=1)); sh hooks/$X.sh":      "? what sh runs",
		"X=1; let X++; sh hooks/$X.sh":             "? what sh runs",
		"declare -u X=a.sh; sh $X":                 "a.sh ? declares",
		`X=a.sh; export "X=b.sh"; sh $X`:           "a.sh ? declares",
		"X=a.sh; export X; sh $X":                  "a.sh",
		"declare -r X=a.sh; sh $X":                 "a.sh",
		"X=a.sh; f() { local X; sh $X set.sh; }":   "set.sh ? what sh runs",
		"export X; sh $X a.sh":                     "a.sh ? what sh runs",
		"X+=set.sh; sh $X a.sh":                    "a.sh ? what sh runs",
		"X[1]=set.sh; sh $X a.sh":                  "a.sh ? what sh runs",
		"X=(set.sh); sh $X a.sh":                   "a.sh ? what sh runs",
		"X=a.sh; sh ${X[1]} a.sh":                  "a.sh ? what sh runs",
		"X=a.sh; sh ${!X} a.sh":                    "a.sh ? what sh runs",
		"X=$(sh set.sh); sh $X a.sh":               "a.sh,set.sh ? what sh runs",
		"X= ; sh $X a.sh":                          "a.sh",
		"X=$Y; sh $X a.sh":                         "a.sh ? what sh runs",
		"X=hooks Y=a.sh sh $Y":                     "? what sh runs",
		"X=a.sh sh $X set.sh":                      "set.sh ? what sh runs",
		"X=${Y?}; sh a.sh":                         "a.sh",
		"X=1; sh ${X?}${Y?} a.sh":                  "a.sh ? what sh runs",
		"export GEMINI_PROJECT_DIR=sub; sh use.sh": "a.sh,use.sh ? GEMINI_PROJECT_DIR",
		"GEMINI_PROJECT_DIR=sub sh use.sh":         "a.sh,use.sh ? GEMINI_PROJECT_DIR",
		"env GEMINI_PROJECT_DIR=sub sh use.sh":     "use.sh ? env",
		"export GEMINI_PROJECT_DIR; sh use.sh":     "a.sh,use.sh",
		". ./ball.sh":                              "a.sh,ball.sh ? what sh runs",

		// Another directory, now or for what is read already.
		"f() { sh a.sh; }; cd sub; f":            "a.sh,sub/a.sh",
		"trap 'sh a.sh' EXIT; cd sub":            "a.sh,sub/a.sh",
		"for f in $X; do sh a.sh; cd sub; done":  "a.sh,sub/a.sh",
		"for ((;;)); do sh a.sh; cd sub; done":   "a.sh,sub/a.sh",
		"while :; do sh a.sh; cd sub; done":      "a.sh,sub/a.sh",
		"for f in 1 2; do sh a.sh; cd sub; done": "a.sh,sub/a.sh",
		"for f in 1; do sh a.sh; cd sub; done":   "a.sh",
		"command cd sub; sh a.sh":                "a.sh,sub/a.sh",
		"cd -P; sh a.sh":                         "a.sh ? directory",
		"cd sub; sh $PWD/a.sh deep/a.sh":         "a.sh,deep/a.sh,sub/a.sh ? what sh runs",
		"cd away; sh ../a.sh":                    "? link",
		"sh away/../a.sh":                        "a.sh,deep/a.sh ? link",
		"sh sub/../a.sh":                         "a.sh",
		"cd sub && git status":                   "? git status",
		"for i in {1..30}; do cd d$i; done":      "? too many directories",

		// Commands in odd places.
		"case x in $(sh a.sh)) :;; esac":         "a.sh",
		"case $(sh a.sh) in x) sh set.sh;; esac": "a.sh,set.sh",
		"for f in $X $(sh a.sh); do :; done":     "a.sh",
		"for ((i=$(sh a.sh);;)); do :; done":     "a.sh",
		"echo $(echo $(sh a.sh))":                "a.sh",
		"cat <(sh a.sh)":                         "a.sh",
		"X=$(sh a.sh)":                           "a.sh",
		"X=$(sh a.sh) sh set.sh":                 "a.sh,set.sh,sub/b.sh",
		"echo > $(sh a.sh)":                      "a.sh",

		// What is read and written.
		"cat <<a.sh; sh a.sh\nx\na.sh":  "a.sh",
		"cat <<-a.sh; sh a.sh\nx\na.sh": "a.sh",
		"cat <<<a.sh; sh a.sh":          "a.sh",
		"cat < a.sh; sh a.sh":           "a.sh",
		"echo >&a.sh; sh a.sh":          "a.sh ? itself",
		"echo <>a.sh; sh a.sh":          "a.sh ? itself",
		"touch a.sh; sh a.sh":           "a.sh ? itself",
		"rm a.sh; sh a.sh":              "a.sh ? itself",
		"tee loads.js; node loads.js":   "loads.js ? require",
		"node own.js > own.js":          "own.js ? itself",
		"sh a.sh > $X":                  "a.sh",

		// Patterns and braces.
		`sh -c "sh \$'a.sh'"`:      "? what sh runs",
		`sh -c "sh 'a.sh'"`:        "a.sh",
		"sh {a,}{.,}{s,}h a.sh":    "a.sh ? what sh runs",
		"echo {1..99999}; sh a.sh": "a.sh",

		// Programs and their options.
		"tmux new -d sh a.sh":              "a.sh ? tmux",
		"sort -o a.sh":                     "a.sh ? sort",
		"git":                              "? git",
		"git $X":                           "? git",
		"exec 2>&1; sh a.sh":               "a.sh",
		"command":                          "? command",
		"env":                              "? env",
		"nohup X=1 sh a.sh":                "a.sh ? X=1",
		"env sh $X a.sh":                   "a.sh ? what sh runs",
		"command sh a.sh $X":               "a.sh",
		"command -V sh":                    "",
		"exec -v sh a.sh":                  "a.sh ? exec",
		"date; uniq; mktemp; wc -l a.sh":   "a.sh",
		"sh -o":                            "? -o",
		"sh -o $X a.sh":                    "a.sh ? -o",
		"sh -":                             "? with -",
		"sh -c":                            "? what sh runs",
		"sh euxv":                          "? not there",
		"sh -e -u a.sh":                    "a.sh",
		"./inbash":                         "hooks/1.sh,hooks/2.sh,inbash",
		"./plain":                          "plain ? what sh runs",
		"bash plain":                       "hooks/1.sh,hooks/2.sh,plain",
		"bash -c '. ./plain'":              "hooks/1.sh,hooks/2.sh,plain",
		"sh -c '. ./plain'":                "plain ? what sh runs",
		"sh loads.js":                      "loads.js ? as the shell would",
		"./e; ./s":                         "a.sh,e,s",
		"./mz":                             "a.sh,mz",
		"sh elf":                           "elf ? ELF",
		"./loop":                           "loop ? too many",
		"sh deeper.sh":                     "deeper.sh ? too many",
		"sh long.sh":                       "long.sh ? too long",
		"python3 -I long.py":               "long.py ? read",
		"env/python3 a.sh":                 "a.sh,env/python3 ? what env/python3 runs",
		"python3 -I aio.py":                "aio.py ? create_subprocess_exec",
		"python3 -I mine.py":               "mine.py ? import",
		"python3 -I from.py":               "from.py ? system",
		"python3 -I -u listed.py":          "listed.py",
		"python3 -u -I listed.py":          "listed.py",
		"python3 - a.sh":                   "a.sh ? loads",
		"python3 I listed.py":              "listed.py ? I is no file",
		"py x":                             "? what py runs",
		"run":                              "run ? what run runs",
		"git log; git branch; git blame x": "",
		"nohup ./run":                      "run",
		"git show":                         "",
		"env LD_PRELOAD=x sh a.sh":         "a.sh ? env",
		"sh -o pipefail more.sh":           "a.sh,more.sh,sub/b.sh",
		"sh -eu more.sh":                   "a.sh,more.sh,sub/b.sh",
		"sh long.py":                       "long.py ? read",
		"cat /etc/passwd":                  "",
		"unset HOME; sh a.sh":              "a.sh",
		"sh a.sh{1..99999}":                "? what sh runs",
		"X=a.sh; readonly X; sh $X":        "a.sh",
		"for X in more.sh; do X=a.sh; sh $X; done":             "? what sh runs",
		"read GEMINI_PROJECT_DIR; sh $GEMINI_PROJECT_DIR/a.sh": "? a script sets GEMINI_PROJECT_DIR",
		"X=; $X":                  "",
		"for f; do sh a.sh; done": "a.sh",
		"for a in {1..200}; do for b in {1..200}; do :; done; done":             "? too much",
		strings.Repeat("PATH=$(", 40) + strings.Repeat(")", 40):                 "? PATH",
		"sh " + strings.Repeat("/*", 12):                                        "? what sh runs",
		"echo a..b ../nowhere":                                                  "",
		strings.Repeat("while :; do ", 14) + ":" + strings.Repeat("; done", 14): "? too much",
		"X=a.sh; sh $Y$X more.sh":                                               "a.sh,more.sh ? what sh runs",
		"sh $Y'a.sh' more.sh":                                                   "more.sh ? what sh runs",
		"cd":                                                                    "? directory",
		"cd sub deep":                                                           "? directory",
		"trap : EXIT; X=more.sh; sh $X":                                         "a.sh,more.sh,sub/b.sh",
		"sh -c :; sh hooks/{1,2}.sh":                                            "hooks/1.sh,hooks/2.sh",
		"python3-config a.sh":                                                   "a.sh ? what python3-config runs of",
		"node":                                                                  "? node",
		"node $X":                                                               "? node",
		"node -r ./own.js own.js":                                               "own.js ? node",
		"nodejs own.js":                                                         "own.js",
		"./bare.sh":                                                             "bare.sh ? not there",
		"./sub":                                                                 "? not there",
		"sh sub":                                                                "? not there",
		".":                                                                     "? decides which file",
		". ./a.sh $X":                                                           "a.sh ? decides which file",
		"trap":                                                                  "",
		"trap - EXIT":                                                           "? what - runs",
		"$X sh a.sh":                                                            "a.sh ? decides which program",
	} {
		check(t, dir, consent.Start{Texts: []string{text}, Reads: true}, text, want)
	}
}

// A file that is only shown does not matter, where nobody runs what is in it.
func TestOnlyRead(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for text, want := range map[string]string{
		"cat args.txt 2>&1; wc -l a.sh 2>/dev/null":    "",
		"gofmt -l own.js; echo done a.sh; [ -f a.sh ]": "",
		"cat $(sh a.sh) args.txt":                      "a.sh",
		"cat a.sh; sh a.sh":                            "a.sh",
		"cat a.sh | sh":                                "a.sh ? its input",
		"cat a.sh > more.sh":                           "a.sh",
		"cat a.sh | tee more.sh":                       "a.sh",
		"cp a.sh more.sh":                              "a.sh,more.sh ? what cp runs",
		"cat() { sh $1; }; cat a.sh":                   "a.sh ? what sh runs",
		"X=a.sh; cat $X; cat < args.txt":               "a.sh,args.txt",
		"sort --compress-program=./a.sh args.txt":      "a.sh,args.txt ? what sort runs",
		// The content of a file becomes a command.
		"cat a.sh > /tmp/more.sh":                                                  "a.sh",
		"cat a.sh | tee /tmp/more.sh":                                              "a.sh",
		"F=$(mktemp); cat a.sh > $F":                                               "a.sh",
		"cat a.sh | uniq - more.sh":                                                "a.sh,more.sh",
		"cat a.sh 2> /dev/null | uniq":                                             "",
		"N=$(cat args.txt); [[ $N -gt 5 ]]":                                        "args.txt",
		"N=$(cat args.txt); [[ -v $N ]]":                                           "args.txt",
		"N=$(cat args.txt); [[ $N == 5 ]]; [ \"$N\" = 5 ]":                         "",
		"N=$(cat args.txt); (( N > 5 ))":                                           "args.txt",
		"N=$(cat args.txt); echo $((N + 1))":                                       "args.txt",
		"N=$(cat args.txt); echo ${!N}":                                            "args.txt",
		"N=$(cat args.txt); echo ${N@P}":                                           "args.txt",
		"N=$(cat args.txt); echo ${A[$N]}":                                         "args.txt",
		"N=$(cat args.txt); echo ${A:$N}":                                          "args.txt",
		"N=$(cat args.txt); A[$N]=1":                                               "args.txt",
		"N=$(cat args.txt); A=([$N]=1)":                                            "args.txt",
		"for ((i = 0; i < $(cat args.txt); i++)); do :; done":                      "args.txt",
		"[ $(cat args.txt) = 5 ]":                                                  "args.txt",
		"command printf $(cat args.txt)":                                           "args.txt",
		"printf -v A \"$(cat args.txt)\"":                                          "args.txt",
		"printf '%s\\n' \"$(cat args.txt)\"":                                       "",
		"cat args.txt > /dev/shm/x.sh":                                             "args.txt",
		"cat args.txt > /dev/../tmp/x.sh":                                          "args.txt",
		"cat args.txt > /dev//null":                                                "args.txt",
		"cat args.txt > /dev/tcp/localhost/9":                                      "args.txt",
		"exec 3> /tmp/x.sh; cat args.txt >&3":                                      "args.txt",
		"cat args.txt | while read -r l; do echo \"$l\" > \"$l\"; done":            "args.txt",
		"read \"$(cat args.txt)\" <<< x":                                           "args.txt",
		"read -r \"$(cat args.txt)\" <<< x":                                        "args.txt",
		"I=$(cat args.txt); read 'a[I]' <<< x":                                     "args.txt",
		"cat args.txt | while read -r RANDOM; do :; done":                          "args.txt",
		"cat args.txt | \\read OPTIND":                                             "args.txt",
		"cat args.txt | command read RANDOM":                                       "args.txt",
		"cat args.txt | {read,RANDOM}":                                             "args.txt",
		"a=$(cat args.txt); getopts ab RANDOM -a":                                  "args.txt",
		"[ \"-v\" \"$(cat args.txt)\" ]":                                           "args.txt",
		"[ '-v' \"$(cat args.txt)\" ]":                                             "args.txt",
		"O=-v; [ \"$O\" \"$(cat args.txt)\" ]":                                     "args.txt",
		"[ ! \"$(cat a.sh)\" \"$(cat args.txt)\" ]":                                "a.sh,args.txt",
		"[ 1 = 1 -a \"-v\" \"$(cat args.txt)\" ]":                                  "args.txt",
		"[ \"(\" \"$(cat a.sh)\" \"$(cat args.txt)\" \")\" ]":                      "a.sh,args.txt",
		"[ {-v,\"$(cat args.txt)\"} ]":                                             "args.txt",
		"I=$(cat args.txt); [ -v 'a[I]' ]":                                         "args.txt",
		"set -- -v \"$(cat args.txt)\"; [ \"$@\" ]":                                "args.txt",
		"set -- -v \"$(cat args.txt)\"; [ \"${X:-$@}\" ]":                          "args.txt",
		"test -v \"$(cat args.txt)\"":                                              "args.txt",
		"\"[\" -v \"$(cat args.txt)\" ]":                                           "args.txt",
		"T=test; $T -v \"$(cat args.txt)\"":                                        "args.txt",
		"f() { [ \"$1\" \"$2\" ]; }; f -v \"$(cat args.txt)\"":                     "args.txt",
		"bash -c '[ \"$1\" \"$2\" ]' x -v \"$(cat args.txt)\"":                     "args.txt",
		"printf \"-v\" \"$(cat args.txt)\" x":                                      "args.txt",
		"printf '-v' \"$(cat args.txt)\" x":                                        "args.txt",
		"printf $'-v' \"$(cat args.txt)\" x":                                       "args.txt",
		"printf \"-v$(cat args.txt)\" x":                                           "args.txt",
		"printf \"$(cat args.txt)\" x":                                             "args.txt",
		"printf {-v,\"$(cat args.txt)\"} x":                                        "args.txt",
		"O=-v; printf \"$O\" \"$(cat args.txt)\" x":                                "args.txt",
		"\\printf -v \"$(cat args.txt)\" x":                                        "args.txt",
		"command printf -v \"$(cat args.txt)\" x":                                  "args.txt",
		"printf '%n' \"$(cat args.txt)\"":                                          "args.txt",
		"unset \"$(cat args.txt)\"":                                                "args.txt",
		"I=$(cat args.txt); unset 'PIPESTATUS[I]'":                                 "args.txt",
		"wait -n -p \"$(cat args.txt)\"":                                           "args.txt",
		"RANDOM=$(cat args.txt)":                                                   "args.txt",
		"OPTIND+=$(cat args.txt)":                                                  "args.txt",
		"export SRANDOM=$(cat args.txt)":                                           "args.txt",
		"x=$(cat args.txt); HISTCMD=x":                                             "args.txt",
		"x=$(cat args.txt); RANDOM=x echo":                                         "args.txt",
		"for SECONDS in \"$(cat args.txt)\"; do :; done":                           "args.txt",
		"select RANDOM in \"$(cat args.txt)\"; do :; done":                         "args.txt",
		": ${COMP_KEY:=$(cat args.txt)}":                                           "args.txt",
		"declare -a x=\"$(cat args.txt)\"":                                         "args.txt",
		"declare -A x; declare x=\"$(cat args.txt)\"":                              "args.txt",
		"x=(); declare x=\"$(cat args.txt)\"":                                      "args.txt",
		"f() { local x=(); local x=\"$(cat args.txt)\"; }; f":                      "args.txt",
		"readonly -a x=\"$(cat args.txt)\"":                                        "args.txt",
		"x[\"$(cat args.txt)\"]=1":                                                 "args.txt",
		"I=$(cat args.txt); echo {a[I]}>/dev/null":                                 "args.txt",
		"I=$(cat args.txt); echo {a[$I]}>/dev/null":                                "args.txt",
		"echo {a[\"$(cat args.txt)\"]}>/dev/null":                                  "args.txt",
		"I=$(cat args.txt); cat <<< $((I))":                                        "args.txt",
		"I=$(cat args.txt); echo \"${Y:-${a[I]}}\"":                                "args.txt",
		"I=$(cat args.txt); f() { ((I)); }; f":                                     "args.txt",
		"I=$(cat args.txt); trap '((I))' EXIT":                                     "args.txt",
		"export I=$(cat args.txt); bash -c '((I))'":                                "args.txt",
		"x=$(cat args.txt) bash -c '[ -v \"$x\" ]'":                                "args.txt",
		"[ $(cat args.txt)":                                                        "args.txt",
		"X=$(cat args.txt); [ ${?/0/$X} = y ]":                                     "args.txt",
		"declare DIRSTACK=$(cat args.txt)":                                         "args.txt",
		"rm -f \"$(cat args.txt)\"":                                                "args.txt",
		"git log \"$(cat args.txt)\"":                                              "args.txt",
		"kill \"$(cat args.txt)\"":                                                 "args.txt",
		"gofmt -l own.js; jq . args.txt; grep -c TODO args.txt a.sh | head -1":     "",
		"[ \"$(cat args.txt)\" = x ] && [ ! \"$(cat a.sh)\" != y ] || exit \"$N\"": "",
		"[ -n \"$(cat args.txt)\" ]; [ -t 1 ]; [ $? -eq 0 ]; [ \"$#\" -gt 1 ]":     "",
		"MAX=5; N=$(grep -c TODO args.txt); [ \"$N\" -gt $MAX ] && printf '%-3d of %s\\n' \"$N\" \"$(cat a.sh)\"": "",
		"cat args.txt | while read -r line _; do echo \"- $line\"; done":                                          "",
		"for X in $(cat args.txt); do echo \"${X%%:*} ${#X} ${X:-none}\"; done":                                   "",
		"case $(cat args.txt) in x) echo y;; esac":                                                                "",
		"cat args.txt > /dev/stderr; cat a.sh >/dev/tty; cat a.sh >/dev/fd/2":                                     "",
		"cat <<< \"$(cat args.txt)\"; f() { local l=$1; return \"$l\"; }; f \"$(cat a.sh)\"":                      "",
		"cat \"$GEMINI_PROJECT_DIR\"/args.txt *.md; FILE=$(jq -r .file); gofmt -l \"$FILE\"":                      "",
		// It is evaluated, and the hook writes it itself.
		"N=$(cat args.txt); echo $((N + 1)) > args.txt":                  "? itself",
		"read -r N < args.txt; echo $((N + 1)) > args.txt":               "? itself",
		"echo $((1 + 1)) >> hook.log; cat args.txt":                      "args.txt",
		"X=$(jq -r .x); grep \"$X\" hook.log || echo \"$X\" >> hook.log": "",
		// What is run is written, and the content of a file that is shown is known to run.
		"cat args.txt > /tmp/none.sh; sh /tmp/none.sh": "args.txt ? not there",
		"cat args.txt > a.sh; sh a.sh":                 "a.sh,args.txt ? itself",
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
		{"env sh a.sh", "", "", "a.sh"},
		{"command trap x", "", "", "? what x runs"},
		{"jq . args.txt", "", "", "args.txt"},
		{"node", "", "", "? node"},
		{"env", "", "", "? env"},
		{"sh a.sh", "", "PYTHONUNBUFFERED=1", "a.sh"},
		{"sh a.sh", "", "URL=https://example.com/?d=sub", "a.sh"},
		{"jq .", "", "PATH=$D/bin", "bin/jq ? PATH"},
		{"jq .", "", "PATH=$D/empty", "? PATH"},
		{"sh a.sh", "", "PYTHONSTARTUP=loads.py", "a.sh,loads.py ? PYTHONSTARTUP"},
		{"sh a.sh", "", "DIR=x,sub", "a.sh ? DIR names sub"},
		{"jq .", "", "PATH=/usr/bin:/sub", ""},
	} {
		var env []string
		if c.env != "" {
			env = []string{strings.ReplaceAll(c.env, "$D", dir)}
		}
		check(t, dir, consent.Start{Argv: strings.Fields(c.argv), Dir: c.dir, Env: env, Reads: true}, c.argv+" "+c.env, c.want)
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
	for text, want := range map[string]string{
		"PATH=$GEMINI_PROJECT_DIR/hooks:$PATH jq": "hooks",
		"export PATH=hooks:$PATH; jq":             "hooks",
		"NODE_OPTIONS='--require ./a.sh' node":    "a.sh",
		"PERL5LIB=hooks perl -Mx":                 "hooks",
		"python3 hooks/x.py":                      "hooks",
		"P='hooks/*.sh'; sh $P":                   "hooks",
		"node hooks/x.js":                         "hooks",
		"python3 -I hooks/l.py":                   "hooks",
	} {
		for name, text := range map[string]string{"x.py": "", "x.js": "require('./y')", "l.py": "import y"} {
			os.WriteFile(filepath.Join(dir, "hooks", name), []byte(text), 0o600)
		}
		s := consent.Start{Texts: []string{text}, Dir: dir, Roots: []string{dir}, Vars: []string{"GEMINI_PROJECT_DIR=" + dir},
			User: func(name string) string { return map[string]string{"PATH": "/usr/bin:/bin"}[name] }}
		if held := s.Find().ProtectedPaths(); !slices.Contains(held, filepath.Join(dir, want)) {
			t.Errorf("%s: %q are held", text, held)
		}
	}
}

// Held is no more: not the project, what lies elsewhere, what is no directory, or what is not there.
func TestHeld(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for env, want := range map[string]string{"PATH=hooks": "hooks", "PYTHONPATH=sub:.:/usr:nowhere:args.txt": "args.txt,sub", "PERL5LIB=" + dir: ""} {
		s := consent.Start{Argv: []string{"echo"}, Dir: dir, Roots: []string{dir}, Env: []string{env}}
		held := s.Find().ProtectedPaths()
		for i, path := range held {
			held[i], _ = filepath.Rel(dir, path)
		}
		if got := strings.Join(held, ","); got != want {
			t.Errorf("%s: %s is held", env, got)
		}
	}
}

// A link into the project, or out of it, is not sure, and what it leads to counts.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir, other := folder(t), t.TempDir()
	os.Symlink(filepath.Join(dir, "more.sh"), filepath.Join(other, "tool"))
	os.WriteFile(filepath.Join(other, "out.sh"), []byte("sh "+dir+"/a.sh\n"), 0o700)
	os.Symlink(filepath.Join(other, "out.sh"), filepath.Join(dir, "out.sh"))
	for text, want := range map[string]int{"tool": 3, "sh ./out.sh": 2, "sh " + other + "/out.sh": 1} {
		s := consent.Start{Texts: []string{text}, Dir: dir, Roots: []string{dir}, User: func(name string) string {
			return map[string]string{"PATH": other + ":/usr/bin"}[name]
		}}
		if got := s.Find(); len(got.Files) != want || (got.Unsure != "") != (want > 1) {
			t.Errorf("%s: %q, %s", text, got.Files, got.Unsure)
		}
	}
}

// Another value of a variable is something else, even if it names no file.
func TestValues(t *testing.T) {
	t.Parallel()
	prints := map[string]bool{}
	for _, env := range []string{"NODE_OPTIONS=--import=data:text/javascript,1", "NODE_OPTIONS=--import=data:text/javascript,2"} {
		for _, part := range []string{"a", "b"} {
			s := consent.Start{Argv: []string{"echo"}, Env: []string{env}, Dir: "/", Roots: []string{"/none"}}.Find()
			var all consent.Started
			all.Add(s)
			prints[all.Fingerprint(part)] = true
			if all.Unsure == "" {
				t.Error("the doubt is lost")
			}
		}
	}
	if len(prints) != 4 {
		t.Error(prints)
	}
}

// A variable of the user's own that leads into the project lets any file there run.
func TestUsers(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for value, want := range map[string]string{"/usr/lib:" + dir + "/hooks": "your PYTHONPATH leads into the project", "/usr/lib": "",
		"--require ./a.sh": "your PYTHONPATH leads into the project", "/usr/lib:": "your PYTHONPATH leads into the project"} {
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
