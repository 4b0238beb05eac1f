package program

import (
	"slices"
	"strings"
	"testing"
)

func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		words string // those that are run in brackets
	}{
		{"sh -c [x]"}, {"/bin/bash -lc [x] a b"}, {"sh x.sh a"}, {"bash -e x.sh"}, {"bash check.sh -c y"}, {"sh -c -- [x]"}, {"sh -c -e [x]"}, {"sh -c --norc [x]"}, {"sh -c - [x]"}, {"sh - x -c y"}, {"bash -o pipefail -c [x]"},
		{"sh -c [/bin/x;y]"}, {"env A=b sh -c [x]"}, {"docker run -e A=b image sh -c [x]"}, {"docker run -e A=b -c 5 image"}, {"npx -y server a"}, {"npx -c x"},
		{"python3 -c [x] a"}, {"python3.12 server.py -c a.cfg x"}, {"python -m http.server"}, {"node -e [x]"}, {"node --eval [x]"}, {"node [--eval=x]"},
		{"node server.js"}, {"perl -ne [x]"}, {"perl [-e1] [x]"}, {"ruby -e [x] y"}, {"php -r [x]"}, {"cmd.exe /c [x] [y]"}, {"cmd.exe /c [/x] [-y]"}, {"cmd.exe x.bat /c y"}, {"cmd.exe /q /k [x]"}, {"cmd.exe /e:c x"}, {`C:\Windows\cmd.exe /C [x]`},
		{"pwsh -Command [-x] [y]"}, {"pwsh --Command [x] y"}, {"deno run a.ts"}, {"osascript -e [x]"}, {"uvx server --config a"},
	} {
		var words []string
		var want []int
		for i, w := range strings.Fields(c.words) {
			bare := strings.Trim(w, "[]")
			if words = append(words, bare); bare != w {
				want = append(want, i)
			}
		}
		got := Programs(words)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.words, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		words string // those that may be text in brackets
	}{
		{"awk [x] [y]"}, {"env -S [x]"}, {"env -iS [x]"}, {"sort -o x [--compress-program=y] z"}, {"split --filter [x] y"}, {"env [--split-string=x] y"}, {"env A=b timeout 5 sed [-n] [x]"}, {"git -c x y"},
		{"make [--eval=x]"}, {"make --eval [x]"}, {"tar -I [x] y"}, {"watch [x]"}, {"ssh [host] [x]"}, {"/usr/bin/tmux [new] [x]"},
		{"docker run -v a:b image"}, {"npx -y server x"}, {"python3 x.py y"}, {"unknown x"}, {"psql [-c] [x]"}, {"flock [f] [-c] [x]"},
	} {
		bare := strings.NewReplacer("[", "", "]", "")
		words := strings.Fields(c.words)
		texts := CodeWords(strings.Fields(bare.Replace(c.words)))
		for i, word := range words {
			if len(texts) != len(words) || texts[i] != strings.HasPrefix(word, "[") {
				t.Errorf("%s: %s: %v", c.words, word, texts)
			}
		}
	}
}

func TestIsPlain(t *testing.T) {
	for text, want := range map[string]bool{"": true, "a/B_2.go": true, "é\u0301": true, "-n=1:2,3@~+": true,
		"a b": false, "a\nb": false, "$x": false, "a;b": false, "'": false, "*": false, "\\": false, "{}": false} {
		if IsPlain(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
