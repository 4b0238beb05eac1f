package script

import "testing"

// A loose script is a list of commands with patterns and variables in it, and
// nothing else that a plain one has not.
func TestLoose(t *testing.T) {
	for _, text := range []string{"ls *.go", "cat $HOME/x ~/y | head", `grep -l x "$DIR"/*.c && echo ${X}`, "find . -name x -exec grep y {} +", "find . | xargs wc -l", "ls {a,b}", "echo $? $1", "echo ${#X}", "timeout 5 ls *"} {
		if s := Read(text); !s.Loose {
			t.Errorf("%s: %s, %s", text, s.Class, s.Why)
		}
	}
	for _, text := range []string{"ls", "ls $(x)", "ls `x`", "ls *>y", "ls * &", "! ls *", "(ls *)", "for i in *; do ls; done", "X=1 ls *", "$X y", "./*", "cat <(x)", "echo $((1+$X))", "echo $((6*7))", "echo ${X:=y}", "echo ${X[$Y]}",
		"echo ${!X}", "find . -delete *", "sort -o x *", "find . -exec sh -c 'ls *' {} +", "sudo ls *", "env ls *", "ls * <x", "xargs -I{} sh -c {}", "printf -v x *", "f() { ls *; }", "if ls *; then ls; fi", "ls *;;"} {
		if s := Read(text); s.Loose {
			t.Errorf("%s is loose", text)
		}
	}
}
