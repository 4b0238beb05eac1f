package program

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// sourceFuncs calls visit with each function of the program's own code.
func sourceFuncs(t *testing.T, visit func(file string, f *ast.FuncDecl)) {
	t.Helper()
	root, set := os.DirFS("../.."), token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git" || e.Name() == "acceptance") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				visit(name, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a project says is filled in with what an agreement lets it see, and by nothing else:
// a lookup of the user's environment fills in the user's own settings.
func TestWhoFillsIn(t *testing.T) {
	var found []string
	sourceFuncs(t, func(file string, f *ast.FuncDecl) {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Filled" {
				with := types.ExprString(call.Args[0])
				if _, ok := call.Args[0].(*ast.FuncLit); ok {
					with = "its own values first"
				}
				found = append(found, path.Base(file)+" "+f.Name.Name+": "+with)
			}
			return true
		})
	})
	slices.Sort(found)
	want := []string{
		"agents.go serversOf: s.lookup", // of the user's agent, behind the cases of a project and an extension
		"servers.go brought: its own values first",
		"servers.go filled: p.seenBy(rights)",
	}
	if !slices.Equal(found, want) {
		t.Errorf("variables are filled in by\n%s\nand should be by\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// No function that gives a shell its text looks up a variable: the shell has an environment.
func TestNoValueInShellText(t *testing.T) {
	texts := 0
	sourceFuncs(t, func(file string, f *ast.FuncDecl) {
		gives, looks := false, ""
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type == nil || types.ExprString(n.Type) != "launch.Command" {
					return true
				}
				for _, e := range n.Elts {
					kv, ok := e.(*ast.KeyValueExpr)
					gives = gives || ok && types.ExprString(kv.Key) == "Text"
				}
			case *ast.CallExpr:
				name := types.ExprString(n.Fun)
				name = name[strings.LastIndexByte(name, '.')+1:]
				if slices.Contains([]string{"Filled", "lookup", "Lookup", "LookupEnv", "getenv", "Getenv", "seenBy"}, name) {
					looks = name
				}
			}
			return true
		})
		if gives {
			texts++
		}
		if gives && looks != "" {
			t.Errorf("%s: %s gives a shell its text and calls %s", file, f.Name.Name, looks)
		}
	})
	if texts < 5 {
		t.Errorf("%d functions give a shell its text", texts)
	}
}
