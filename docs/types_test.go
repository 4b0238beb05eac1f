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
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// inheriting are the structs that get more than three methods from a struct of ours that
// they embed, and why.
var inheriting = map[string]string{
	"gemline/commands/cli.ListedHook: 4 methods of Hook": "as JSON it is a hook with more keys",
}

// How many types are still over a limit. Each number may only fall; whoever brings it to five
// names the types in the place of the number, with a reason each.
const (
	stillFields    = 33 // have more than 15 fields
	stillMethodful = 23 // have more than 25 methods, inherited ones included
)

// TestTypes holds the structs of the program to what can be overseen: none inherits by
// embedding, and none has too many fields or methods.
func TestTypes(t *testing.T) {
	t.Parallel()
	var fields, methods []string
	embed := maps.Clone(inheriting)
	for _, u := range unitsOf(t) {
		pkg := u.types
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
					found := fmt.Sprintf("%s: %d methods of %s", what, n, f.Name())
					if embed[found] == "" {
						t.Errorf("%s: name the field", found)
					}
					delete(embed, found)
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
	for found := range embed {
		t.Errorf("%s: it is so no more", found)
	}
	for _, c := range []struct {
		what string
		is   []string
		most int
	}{{"have more than 15 fields", fields, stillFields}, {"have more than 25 methods", methods, stillMethodful}} {
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

// A unit is a package that the program is made of, with what each of its expressions means.
type unit struct {
	types *types.Package
	files []*ast.File
	info  types.Info
}

// unitsOf returns the packages of the program, ordered by path.
func unitsOf(t *testing.T) []unit {
	t.Helper()
	list, err := units()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var units = sync.OnceValues(func() (list []unit, err error) {
	out, err := exec.Command("go", "list", "-trimpath", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", ".").Output()
	if err != nil {
		return nil, err
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var ours []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if exports[l.ImportPath] = l.Export; strings.HasPrefix(l.ImportPath, "gemline") {
			ours = append(ours, l)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, l := range ours {
		u := unit{info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
		for _, name := range l.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			u.files = append(u.files, file)
		}
		if u.types, err = (&types.Config{Importer: imports}).Check(l.ImportPath, fset, u.files, &u.info); err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b unit) int { return strings.Compare(a.types.Path(), b.types.Path()) })
	return list, nil
})
