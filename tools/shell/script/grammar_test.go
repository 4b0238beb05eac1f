//go:build unix

package script

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// never are kinds of syntax that no script for bash has: they are of other
// shells, or made by whoever changes what was parsed.
var never = map[string]bool{"TestDecl": true, "FlagsArithm": true, "BraceExp": true}

// The random scripts hold every kind of command, of word, of calculation and of
// test that the parser knows, and every operator of bash: a version of the
// parser that knows more fails here until they do.
func TestGrammar(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "mvdan.cc/sh/v3/syntax").Output()
	if err != nil {
		t.Skip("no go command to ask where the parser is:", err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "nodes.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && strings.HasSuffix(f.Name.Name, "Node") {
			if p, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				want[p.X.(*ast.Ident).Name] = true
			}
		}
	}
	if len(want) < 20 {
		t.Fatalf("only %d kinds are found", len(want))
	}
	for _, ops := range []string{
		"BinCmd && || | |&", "Redir > >> < <> <& >& >| << <<- <<< &> &>>", "Case ;; ;& ;;&",
		"ParExp + :+ - :- ? :? = := % %% # ## ^ ^^ , ,, @", "Repl / // #", "Param length excl index slice names",
		"UnTest ! -e -f -d -c -b -p -S -L -k -g -u -G -O -N -r -w -x -s -t -z -n -o -v -R", "BinTest =~ -nt -ot -ef -eq -ne -le -ge -lt -gt && || = != < > ==",
		"UnArithm ! ~ ++ -- + -", "BinArithm + - * / % ** == > < != <= >= & | >> << && || ^ , ? : = +=",
		"Stmt negated background", "Assign append index array value", "Quote ' \" $' $\"", "Subst ` $(", "Proc <( >(", "Decl declare local export readonly",
	} {
		kind, list, _ := strings.Cut(ops, " ")
		for op := range strings.FieldsSeq(list) {
			want[kind+" "+op] = true
		}
	}
	seen := map[string]int{}
	g := grammar{r: rand.New(rand.NewPCG(1, 1))}
	for range 10_000 {
		if file, err := syntax.NewParser().Parse(strings.NewReader(g.list(3)), ""); err == nil {
			syntax.Walk(file, func(n syntax.Node) bool { note(seen, n); return true })
		}
	}
	for kind := range want {
		if seen[kind] == 0 && !never[kind] {
			t.Errorf("no random script holds %s", kind)
		}
	}
	for kind := range never {
		if seen[kind] > 0 {
			t.Errorf("there are scripts with %s", kind)
		}
	}
}

// note counts what n is.
func note(seen map[string]int, n syntax.Node) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return
	}
	seen[reflect.TypeOf(n).Elem().Name()]++
	op := func(kind string, ops ...any) {
		for _, o := range ops {
			seen[kind+" "+fmt.Sprint(o)]++
		}
	}
	when := func(kind string, is bool) {
		if is {
			seen[kind]++
		}
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		when("Stmt negated", n.Negated)
		when("Stmt background", n.Background)
		for _, r := range n.Redirs {
			op("Redir", r.Op)
		}
	case *syntax.BinaryCmd:
		op("BinCmd", n.Op)
	case *syntax.CaseItem:
		op("Case", n.Op)
	case *syntax.ParamExp:
		when("Param length", n.Length)
		when("Param excl", n.Excl)
		when("Param index", n.Index != nil)
		when("Param slice", n.Slice != nil)
		when("Param names", n.Names != 0)
		if n.Exp != nil {
			op("ParExp", n.Exp.Op)
		}
		if n.Repl != nil {
			orig := n.Repl.Orig.Lit()
			when("Repl //", n.Repl.All)
			when("Repl #", strings.HasPrefix(orig, "#"))
			when("Repl /", !n.Repl.All)
		}
	case *syntax.UnaryTest:
		op("UnTest", n.Op)
	case *syntax.BinaryTest:
		op("BinTest", n.Op)
	case *syntax.UnaryArithm:
		op("UnArithm", n.Op)
	case *syntax.BinaryArithm:
		op("BinArithm", n.Op)
	case *syntax.Assign:
		when("Assign append", n.Append)
		when("Assign index", n.Index != nil)
		when("Assign array", n.Array != nil)
		when("Assign value", n.Value != nil)
	case *syntax.SglQuoted:
		when("Quote '", !n.Dollar)
		when("Quote $'", n.Dollar)
	case *syntax.DblQuoted:
		when("Quote \"", !n.Dollar)
		when("Quote $\"", n.Dollar)
	case *syntax.CmdSubst:
		when("Subst `", n.Backquotes)
		when("Subst $(", !n.Backquotes)
	case *syntax.ProcSubst:
		op("Proc", n.Op)
	case *syntax.DeclClause:
		op("Decl", n.Variant.Value)
	}
}
