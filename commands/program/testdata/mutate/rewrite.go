package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
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
)

// A mutant is one mistake.
type mutant struct {
	id    int    // counted from 1
	name  string // file, function, what is done, and to what
	place string // file and line
}

// helpers are what the mistakes are made with. Without the variable they do
// nothing.
const helpers = `package %s

import (
	"cmp"
	"os"
	"strconv"
)

var mutantID, _ = strconv.Atoi(os.Getenv(%q))

func mutantNot(id int, b bool) bool { return b != (mutantID == id) }
func mutantYes(id int, b bool) bool { return b || mutantID == id }
func mutantNo(id int, b bool) bool  { return b && mutantID != id }

func mutantLess[T cmp.Ordered](id int, a, b T) bool {
	if mutantID == id {
		return a <= b
	}
	return a < b
}

func mutantMost[T cmp.Ordered](id int, a, b T) bool {
	if mutantID == id {
		return a < b
	}
	return a <= b
}

func mutantMore[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](id int, n T) T {
	if mutantID == id {
		n++
	}
	return n
}

var _, _, _ = mutantNot, mutantYes, mutantNo
`

// A rewriter puts the mistakes into the files of a package.
type rewriter struct {
	fset    *token.FileSet
	info    *types.Info
	dir     string
	file    string
	src     []byte
	mutants []mutant
	names   map[string]int

	in      string         // the function that is read
	results *ast.FieldList // of the function
	edits   []edit
}

// An edit puts text in the place of n bytes.
type edit struct {
	at, n int
	text  string
	end   bool // it ends something: it stands before what begins here
	order int
}

// rewrite returns the mistakes that can be made in the package in dir, and its
// files with all of them.
func rewrite(dir string) ([]mutant, map[string][]byte, error) {
	w := &rewriter{fset: token.NewFileSet(), dir: dir, names: map[string]int{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	files, parsed, err := w.load()
	if err != nil {
		return nil, nil, err
	}
	out := map[string][]byte{"mutants.go": fmt.Appendf(nil, helpers, parsed[0].Name.Name, variable)}
	for i, f := range parsed {
		if w.src, err = os.ReadFile(filepath.Join(dir, files[i])); err != nil {
			return nil, nil, err
		}
		w.file, w.edits = files[i], nil
		for _, d := range f.Decls {
			w.declaration(d)
		}
		out[files[i]] = w.apply()
	}
	return w.mutants, out, nil
}

// load parses the package and finds the types in it.
func (w *rewriter) load() (files []string, parsed []*ast.File, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./"+w.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	path := ""
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		exports[p.ImportPath] = p.Export
		path, files = p.ImportPath, p.GoFiles // the package itself comes last
	}
	for _, name := range files {
		f, err := parser.ParseFile(w.fset, filepath.Join(w.dir, name), nil, 0)
		if err != nil {
			return nil, nil, err
		}
		parsed = append(parsed, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(w.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	_, err = conf.Check(path, w.fset, parsed, w.info)
	return files, parsed, err
}

func (w *rewriter) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body != nil {
			w.in, w.results = d.Name.Name, d.Type.Results
			w.walk(d.Body)
		}
	case *ast.GenDecl:
		if d.Tok == token.VAR {
			w.in = "var"
			w.walk(d)
		}
	}
}

// add notes a mistake and returns its number.
func (w *rewriter) add(what string, n ast.Node) int {
	text := strings.Join(strings.Fields(string(w.text(n))), " ")
	if r := []rune(text); len(r) > 90 {
		text = string(r[:90]) + "..."
	}
	name := fmt.Sprintf("%s %s: %s: %s", filepath.Join(w.dir, w.file), w.in, what, text)
	if w.names[name]++; w.names[name] > 1 {
		name += fmt.Sprintf(" #%d", w.names[name])
	}
	id := len(w.mutants) + 1
	w.mutants = append(w.mutants, mutant{id, name, fmt.Sprintf("%s:%d", filepath.Join(w.dir, w.file), w.fset.Position(n.Pos()).Line)})
	return id
}

func (w *rewriter) offset(p token.Pos) int { return w.fset.Position(p).Offset }

func (w *rewriter) text(n ast.Node) []byte { return w.src[w.offset(n.Pos()):w.offset(n.End())] }

// around puts text before and behind n.
func (w *rewriter) around(n ast.Node, before, behind string) {
	w.edits = append(w.edits, edit{w.offset(n.Pos()), 0, before, false, len(w.edits)}, edit{w.offset(n.End()), 0, behind, true, -len(w.edits)})
}

func (w *rewriter) replace(at token.Pos, n int, text string) {
	w.edits = append(w.edits, edit{w.offset(at), n, text, false, len(w.edits)})
}

// apply returns the file with the edits: where several are at one place, what
// ends comes before what begins, and what is inside before or behind what is
// around it.
func (w *rewriter) apply() []byte {
	slices.SortStableFunc(w.edits, func(a, b edit) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.end != b.end && a.end:
			return -1
		case a.end != b.end:
			return 1
		}
		return a.order - b.order
	})
	var b bytes.Buffer
	at := 0
	for _, e := range w.edits {
		b.Write(w.src[at:e.at])
		b.WriteString(e.text)
		at = e.at + e.n
	}
	b.Write(w.src[at:])
	return b.Bytes()
}

// walk goes through n and everything in it.
func (w *rewriter) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			was := w.results
			w.results = n.Type.Results
			w.walk(n.Body)
			w.results = was
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.ArrayType: // its length is a constant
			return false
		case *ast.BlockStmt:
			w.statements(n.List)
		case *ast.CommClause:
			w.statements(n.Body)
		case *ast.CaseClause:
			w.statements(n.Body)
			for _, e := range n.List {
				w.condition(e)
			}
		case *ast.IfStmt:
			w.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				w.condition(n.Cond)
			}
		case *ast.BinaryExpr:
			w.binary(n)
		case *ast.BasicLit:
			w.number(n)
		}
		return true
	})
}

// is reports whether the type of e is made of a basic one with that property,
// and whether e is no constant.
func (w *rewriter) is(e ast.Expr, what types.BasicInfo) bool {
	t := w.info.Types[e]
	if !t.IsValue() || t.Value != nil {
		return false
	}
	b, ok := t.Type.Underlying().(*types.Basic)
	return ok && b.Info()&what != 0
}

// condition makes the opposite of a condition.
func (w *rewriter) condition(e ast.Expr) {
	if !w.is(e, types.IsBoolean) {
		return
	}
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return // it is made the opposite as a comparison
	}
	w.around(e, fmt.Sprintf("mutantNot(%d, ", w.add("opposite", e)), ")")
}

// binary makes a wrong comparison, or leaves out a side.
func (w *rewriter) binary(e *ast.BinaryExpr) {
	if !w.is(e, types.IsBoolean) {
		return
	}
	helper := map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantMost"}[e.Op]
	switch e.Op {
	case token.EQL, token.NEQ:
		w.around(e, fmt.Sprintf("mutantNot(%d, ", w.add("opposite", e)), ")")
	case token.LSS, token.LEQ:
		w.around(e, fmt.Sprintf("%s(%d, ", helper, w.add("bound", e)), ")")
		w.replace(e.OpPos, len(e.Op.String()), ",")
	case token.GTR, token.GEQ: // a > b is not a <= b
		helper = map[token.Token]string{token.GTR: "mutantMost", token.GEQ: "mutantLess"}[e.Op]
		w.around(e, fmt.Sprintf("!%s(%d, ", helper, w.add("bound", e)), ")")
		w.replace(e.OpPos, len(e.Op.String()), ",")
	case token.LAND:
		w.around(e.X, fmt.Sprintf("mutantYes(%d, ", w.add("without", e.X)), ")")
		w.around(e.Y, fmt.Sprintf("mutantYes(%d, ", w.add("without", e.Y)), ")")
	case token.LOR:
		w.around(e.X, fmt.Sprintf("mutantNo(%d, ", w.add("without", e.X)), ")")
		w.around(e.Y, fmt.Sprintf("mutantNo(%d, ", w.add("without", e.Y)), ")")
	}
}

// number makes a number one more.
func (w *rewriter) number(e *ast.BasicLit) {
	if e.Kind != token.INT {
		return
	}
	b, ok := w.info.Types[e].Type.(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	if v := w.info.Types[e].Value; v != nil && v.Kind() == constant.Int {
		w.around(e, fmt.Sprintf("mutantMore[%s](%d, ", b.Name(), w.add("more", e)), ")")
	}
}

// statements leaves out statements, and returns nothing from functions that
// return something.
func (w *rewriter) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
					continue // what follows may be nothing
				}
				w.leaveOut(s)
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !blank(s.Lhs) {
				w.leaveOut(s)
			}
		case *ast.IncDecStmt:
			w.leaveOut(s)
		case *ast.BranchStmt:
			if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
				w.leaveOut(s)
			}
		case *ast.ReturnStmt:
			w.nothing(s)
		}
	}
}

func blank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

func (w *rewriter) leaveOut(s ast.Stmt) {
	w.around(s, fmt.Sprintf("if mutantID != %d { ", w.add("leave out", s)), " }")
}

// nothing makes a return one of zero values, or of the opposite.
func (w *rewriter) nothing(s *ast.ReturnStmt) {
	if w.results == nil || len(w.results.List) == 0 {
		w.leaveOut(s)
		return
	}
	zero := true
	for _, e := range s.Results {
		switch text := string(w.text(e)); {
		case text == "true" || text == "false":
			w.around(e, fmt.Sprintf("mutantNot(%d, ", w.add("opposite", s)), ")")
		case !slices.Contains([]string{"nil", "0", `""`}, text) && !strings.HasSuffix(text, "{}"):
			zero = false
		}
	}
	if zero {
		return
	}
	var values []string
	for _, f := range w.results.List {
		for range max(1, len(f.Names)) {
			values = append(values, "*new("+string(w.text(f.Type))+")")
		}
	}
	w.around(s, fmt.Sprintf("if mutantID == %d { return %s }; ", w.add("return nothing", s), strings.Join(values, ", ")), "")
}
