package program

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// There is no second table of programs in the code: no list of strings, or map
// by them, of more than a few words of which most are names of the book.
func TestOneHome(t *testing.T) {
	root := os.DirFS("../../..")
	files := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if words := listed(n); len(words) > 8 && !strings.HasPrefix(path, "tools/shell/script/") &&
				path != "tools/shell/program/text.go" { // beside the book
				named := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return read().programs[w] == nil })
				if len(named)*2 > len(words) {
					t.Errorf("%s: programs are listed in the book: %q", files.Position(n.Pos()), named)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// listed returns the strings that a literal lists, or has as keys, or of which
// each word is one.
func listed(n ast.Node) (words []string) {
	var items []ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit:
		items = n.Elts
	case *ast.BasicLit:
		if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
			return strings.Fields(s)
		}
	}
	for _, item := range items {
		if pair, ok := item.(*ast.KeyValueExpr); ok {
			item = pair.Key
		}
		if l, ok := item.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, _ := strconv.Unquote(l.Value)
			words = append(words, s)
		}
	}
	return words
}
