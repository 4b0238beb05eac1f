package script

import "testing"

// A loose script has commands that are all told, and writes to nothing itself.
func TestLoose(t *testing.T) {
	for _, text := range []string{"ls *.go", "cat $HOME/x ~/y | head", `grep -l x "$DIR"/*.c && echo ${X}`, "find . -name x -exec grep y {} +", "find . | xargs wc -l", "ls {a,b}", "echo $? $1", "echo ${#X}", "timeout 5 ls *",
		"ls $(x)", "ls `x`", "! ls *", "(ls *)", "for i in *; do ls; done", "X=1 ls *", "cat <(x)", "while read -r f; do cat \"$f\"; done <x", "git -C x log", "time ls", "ls | time -p cat",
		"case $X in a) ls;; esac", "X=1; echo $X", "[[ -f x ]] && ls", "{ ls; }", "GIT_PAGER=cat git log", "env | sort"} {
		if s := Read(text); !s.Loose {
			t.Errorf("%s: %s, %s", text, s.Class, s.Why)
		}
	}
	for _, text := range []string{"ls", "ls *>y", "ls * &", "$X y", "./*", "echo $((1+$X))", "echo $((6*7))", "echo ${X[$Y]}",
		"echo ${!X}", "find . -delete *", "sort -o x *", "find . -exec sh -c 'ls *' {} +", "sudo ls *", "env ls *", "xargs -I{} sh -c {}", "printf -v x *", "f() { ls *; }", "ls *;;",
		"PATH=. ls", "LD_PRELOAD=x ls", "LESSOPEN='|x %s' less a", "MANPAGER=./x man ls", "GIT_DIR=cat git log", "IFS=x; ls", "for PATH in .; do ls; done", "while read PATH; do ls; done <x", "echo ${PATH:=x}", "for f in *; do $f; done", "ls | while read f; do ./$f; done",
		"X=ls; $X", "while true; do ls; done", "until ls; do ls; done", "for ((;;)); do ls; done", "for d in a b; do cd $d; done", "while read d; do cd x; done <x", "command time -o x ls", "env -S ls", "awk 'BEGIN{system(\"x\")}'",
		"awk '{print > \"x\"}' a", "awk 'BEGIN{\"x\"|getline}'", "less +!x a", "man -P x ls", "git -C $X log", "git config x.y z", "git config --unset x", "(ls) > x", "{ ls; } 2> x", "cat <(ls > x)", "X=(1 2)", "echo ${X[0]}", "echo ${X/y/z}", "echo ${X:1}", "echo ${X:-y}", "while read f; ls; do ls; done <x", "ls 3<x", "cat <<<x", "X+=1", "X[$(x)]=1", "<x", "ls <$X", "(cd x && rm y) &", "export X=1"} {
		if s := Read(text); s.Loose {
			t.Errorf("%s is loose", text)
		}
	}
}
