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
		{"sh -c [x]"}, {"/bin/bash -lc [x] a b"}, {"sh x.sh a"}, {"bash -e x.sh"}, {"bash x.sh -c y"}, {"sh -c -- [x]"}, {"bash -o pipefail -c [x]"},
		{"sh -c [/bin/x;y]"}, {"env A=b sh -c [x]"}, {"docker run -e A=b image sh -c [x]"}, {"docker run -e A=b -c 5 image"}, {"npx -y server a"}, {"npx -c x"},
		{"python3 -c [x] a"}, {"python3.12 server.py -c a.cfg x"}, {"python -m http.server"}, {"node -e [x]"}, {"node --eval [x]"}, {"node [--eval=x]"},
		{"node server.js"}, {"perl -ne [x]"}, {"ruby -e [x] y"}, {"php -r [x]"}, {"cmd.exe /c [x] [y]"}, {`C:\Windows\cmd.exe /C [x]`},
		{"pwsh -Command [x] [y]"}, {"deno run a.ts"}, {"osascript -e [x]"}, {"uvx server --config a"},
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
		{"awk [x] [y]"}, {"env -S [x]"}, {"env -iS [x]"}, {"env [--split-string=x] y"}, {"env A=b timeout 5 sed [-n] [x]"}, {"git -c x y"},
		{"make [--eval=x]"}, {"make --eval [x]"}, {"tar -I [x] y"}, {"watch [x]"}, {"ssh [host] [x]"}, {"/usr/bin/tmux [new] [x]"},
		{"docker run -v a:b image"}, {"npx -y server x"}, {"python3 x.py y"}, {"unknown x"}, {"psql [-c] [x]"},
	} {
		bare := strings.NewReplacer("[", "", "]", "")
		words := strings.Fields(c.words)
		for i, text := range CodeWords(strings.Fields(bare.Replace(c.words))) {
			if text != strings.HasPrefix(words[i], "[") {
				t.Errorf("%s: %s: %v", c.words, words[i], text)
			}
		}
	}
}
