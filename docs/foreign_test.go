package docs_test

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gemline/docs"
	"gemline/settings"
)

// eachFunc calls visit with each function of the program that has a body.
func eachFunc(t *testing.T, visit func(u unit, f *ast.FuncDecl)) {
	for _, u := range unitsOf(t) {
		for _, file := range u.files {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
					visit(u, f)
				}
			}
		}
	}
}

// where names a function by its package and its name.
func where(u unit, f *ast.FuncDecl) string {
	return strings.TrimPrefix(u.types.Path(), "gemline/") + " " + f.Name.Name
}

// lookup reports whether a type is that of a function which returns the value of a variable.
func lookup(t types.Type) bool {
	s, ok := types.Unalias(t).Underlying().(*types.Signature)
	if !ok || s.Params().Len() != 1 || s.Results().Len() == 0 || s.Params().At(0).Type() != types.Typ[types.String] || s.Results().At(0).Type() != types.Typ[types.String] {
		return false
	}
	return s.Results().Len() == 2 && s.Results().At(1).Type() == types.Typ[types.Bool]
}

// What a project says is filled in with what an agreement lets it see, and by nothing else:
// a lookup of the user's environment fills in the user's own settings. All that fills in is
// listed here, by whatever name it is called or handed on.
func TestWhoFillsIn(t *testing.T) {
	expanders := []string{"gemline/settings.expandText", "(gemline/settings.Server).Filled", "gemline/settings.ServersIn"}
	found, called := map[string]bool{}, map[*ast.Ident]bool{}
	eachFunc(t, func(u unit, f *ast.FuncDecl) {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if types.TypeString(u.info.TypeOf(n), nil) == "gemline/settings.filler" {
					found[where(u, f)+": makes a filler"] = true
				}
			case *ast.CallExpr:
				id, _ := n.Fun.(*ast.Ident)
				if s, ok := n.Fun.(*ast.SelectorExpr); ok {
					id = s.Sel
				}
				if o, ok := u.info.Uses[id].(*types.Func); ok && slices.Contains(expanders, o.FullName()) {
					called[id] = true
					with := n.Args[min(len(n.Args)-1, 1)]
					if _, ok := with.(*ast.FuncLit); ok {
						with = ast.NewIdent("its own function")
					}
					found[where(u, f)+": "+o.Name()+" with "+types.ExprString(with)] = true
				}
			case *ast.Ident:
				if o, ok := u.info.Uses[n].(*types.Func); ok && slices.Contains(expanders, o.FullName()) && !called[n] {
					found[where(u, f)+": hands on "+o.Name()] = true
				}
			}
			return true
		})
	})
	want := []string{
		"commands/cli ServerProblems: ServersIn with nil",
		"commands/cli checkExtension: ServersIn with none",
		"commands/cli consentText: ServersIn with none",
		"commands/program/project AgentServers: Filled with o.Env.Lookup", // of the user's agent, behind the cases of a project and an extension
		"commands/program/project AgentServers: ServersIn with nil",
		"commands/program/project extensionServer: Filled with its own function", // an extension's, without credentials
		"commands/program/project filled: Filled with c.VariablesFor(rights)",    // a project's
		"commands/program/project item: ServersIn with nil",
		"commands/program/project newServerSet: ServersIn with nil",
		"settings Filled: ServersIn with lookup",
		"settings ProjectServers: ServersIn with nil",
		"settings ServersIn: makes a filler",
		"settings around: expandText with its own function", // that has no value
		"settings digest: makes a filler",                   // of all layers but a project's
		"settings text: expandText with get",
		"settings unfilled: expandText with its own function", // that has no value
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("variables are filled in by\n%s\nand should be by\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// No function that gives a shell its text looks up a variable: the shell has an environment.
func TestNoValueInShellText(t *testing.T) {
	texts := 0
	eachFunc(t, func(u unit, f *ast.FuncDecl) {
		gives, looks := false, ""
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				gives = gives || ok && shellText(u.info.Uses[key])
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					s, ok := to.(*ast.SelectorExpr)
					gives = gives || ok && shellText(u.info.Uses[s.Sel])
				}
			case *ast.Ident:
				if o := u.info.Uses[n]; o != nil && (lookup(o.Type()) || o.Pkg() != nil && o.Pkg().Path() == "os" && strings.HasSuffix(o.Name(), "env")) {
					looks = n.Name
				}
			}
			return true
		})
		if gives {
			texts++
		}
		if gives && looks != "" {
			t.Errorf("%s gives a shell its text and uses %s", where(u, f), looks)
		}
	})
	if texts < 5 {
		t.Errorf("%d functions give a shell its text", texts)
	}
}

// shellText reports whether an object is the field that holds a command's text for a shell.
func shellText(o types.Object) bool {
	return o != nil && o.Name() == "Text" && o.Pkg() != nil && o.Pkg().Path() == "gemline/tools/launch"
}

// A project's .env file sets, of all names that the program holds anywhere, those that the
// page lists.
func TestProjectsVariables(t *testing.T) {
	page, _ := docs.Find("configuration")
	_, after, _ := strings.Cut(page.Text, "For gemline itself it sets ")
	listed, _, ok := strings.Cut(after, " and nothing else")
	if !ok {
		t.Fatal("the page lists no variables")
	}
	variable := regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)
	names := map[string]bool{}
	environment, _ := docs.Find("environment")
	for _, m := range regexp.MustCompile("`([A-Z][A-Z0-9_]{2,})").FindAllStringSubmatch(environment.Text, -1) {
		names[m[1]] = true
	}
	for _, u := range unitsOf(t) {
		for _, e := range u.info.Types {
			if e.Value != nil && e.Value.Kind() == constant.String && variable.MatchString(constant.StringVal(e.Value)) {
				names[constant.StringVal(e.Value)] = true
			}
		}
	}
	if len(names) < 300 {
		t.Errorf("the program holds %d names", len(names))
	}
	for name := range names {
		d := settings.DotEnv{Project: map[string]settings.EnvValue{name: {Value: "x"}}}
		if _, sets := d.Lookup(name); sets != strings.Contains(listed, "`"+name+"`") {
			t.Errorf("a project's .env sets %s for gemline: %v; the page lists %s", name, sets, listed)
		}
	}
}
