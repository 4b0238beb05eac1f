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

// large are the types that are over a limit, and why.
var large = map[string]string{
	"gemline/commands/cli.grammar":         "a field for each command, as kong reads them",
	"gemline/commands/cli.extensionRecord": "a field for each key of its JSON",
	"gemline/engine.Engine":                "the flow of a turn is read in one place",
	"gemline/settings.Settings":            "a field for each setting",
	"gemline/tools/shell/script.visitor":   "a method for each kind of syntax",
}

// TestTypes holds the structs of the program to what can be overseen: none inherits by
// embedding, and none has more than 15 fields or 25 methods. A table of data may have more
// fields.
func TestTypes(t *testing.T) {
	t.Parallel()
	embed, over := maps.Clone(inheriting), maps.Clone(large)
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
			fields, methods := st.NumFields(), types.NewMethodSet(types.NewPointer(named)).Len()
			if methods <= 25 && (fields <= 15 || isData(named, map[types.Type]bool{})) {
				continue
			}
			if _, ok := over[what]; !ok {
				t.Errorf("%s has %d fields and %d methods", what, fields, methods)
			}
			delete(over, what)
		}
	}
	for found := range embed {
		t.Errorf("%s: it is so no more", found)
	}
	for found := range over {
		t.Errorf("%s is no longer too large: take it out of the list", found)
	}
}

// isData reports whether a value of a type is only data: nothing in it is hidden, runs, waits
// or does anything. An error is data: it says what went wrong.
func isData(of types.Type, seen map[types.Type]bool) bool {
	if seen[of] {
		return true
	}
	seen[of] = true
	switch of := of.(type) {
	case *types.Named:
		if of.Obj().Pkg() != nil && of.Obj().Pkg().Path() == "time" {
			return true
		}
		return isData(of.Underlying(), seen)
	case *types.Alias:
		return isData(types.Unalias(of), seen)
	case *types.Basic:
		return true
	case *types.Pointer:
		return isData(of.Elem(), seen)
	case *types.Slice:
		return isData(of.Elem(), seen)
	case *types.Array:
		return isData(of.Elem(), seen)
	case *types.Map:
		return isData(of.Key(), seen) && isData(of.Elem(), seen)
	case *types.Interface:
		return of.Empty() || types.Identical(of, types.Universe.Lookup("error").Type().Underlying())
	case *types.Struct:
		for f := range of.Fields() {
			if !f.Exported() || !isData(f.Type(), seen) {
				return false
			}
		}
		return true
	}
	return false
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
