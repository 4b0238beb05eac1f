package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// How many types are still over a limit. Each number may only fall; who brings it to five names
// those in the place of the number, with a reason each.
const (
	stillEmbed     = 38 // get more than three methods from a struct of ours that they embed
	stillFields    = 38 // have more than 15 fields
	stillMethodful = 41 // have more than 25 methods, inherited ones included
)

// TestTypes holds the structs of the program to what can be overseen: none inherits by
// embedding, and none has too many fields or methods.
func TestTypes(t *testing.T) {
	t.Parallel()
	var embed, fields, methods []string
	for _, pkg := range typesOf(t) {
		for _, name := range pkg.Scope().Names() {
			named, ok := pkg.Scope().Lookup(name).Type().(*types.Named)
			if _, is := pkg.Scope().Lookup(name).(*types.TypeName); !is || !ok {
				continue
			}
			st, ok := named.Underlying().(*types.Struct)
			if !ok {
				continue
			}
			what := pkg.Path() + "." + name
			for f := range st.Fields() {
				if n := inherited(f); n > 3 {
					embed = append(embed, fmt.Sprintf("%s: %d methods of %s", what, n, f.Name()))
				}
			}
			if n := st.NumFields(); n > 15 {
				fields = append(fields, fmt.Sprintf("%s: %d", what, n))
			}
			if n := types.NewMethodSet(types.NewPointer(named)).Len(); n > 25 {
				methods = append(methods, fmt.Sprintf("%s: %d", what, n))
			}
		}
	}
	for _, c := range []struct {
		what string
		is   []string
		most int
	}{{"embed others of ours", embed, stillEmbed}, {"have more than 15 fields", fields, stillFields}, {"have more than 25 methods", methods, stillMethodful}} {
		if len(c.is) != c.most {
			t.Errorf("%d structs %s, the test says %d:\n%s", len(c.is), c.what, c.most, strings.Join(c.is, "\n"))
		}
	}
}

// inherited returns how many methods a field gives to the struct that embeds it.
func inherited(f *types.Var) int {
	of := f.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := of.(*types.Named)
	if !f.Embedded() || !ok || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), "gemline") {
		return 0
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return 0
	}
	return types.NewMethodSet(types.NewPointer(named)).Len()
}

// typesOf returns the packages that the program is made of.
func typesOf(t *testing.T) (list []*types.Package) {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	type unit struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var ours []unit
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var u unit
		if err := dec.Decode(&u); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[u.ImportPath] = u.Export; strings.HasPrefix(u.ImportPath, "gemline") {
			ours = append(ours, u)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, u := range ours {
		var files []*ast.File
		for _, name := range u.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(u.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		pkg, err := (&types.Config{Importer: imports}).Check(u.ImportPath, fset, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pkg)
	}
	slices.SortFunc(list, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return list
}
