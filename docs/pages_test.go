package docs_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"gemline/commands"
	pt "gemline/commands/program/acceptance/programtest"
	"gemline/docs"
	"gemline/engine/model/catalog"
	"gemline/repl/schema"
	"gemline/settings"
	"gemline/tools"
	"gemline/tools/agent"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// The reference pages are printed from the tables that the program works by.
// UPDATE=1 writes them.
func TestReferencePages(t *testing.T) {
	ws, err := workspace.New(workspace.Config{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"docs/commands.md":          commandsPage(),
		"docs/model-list.md":        modelsPage(),
		"docs/settings.md":          settingsPage(),
		"docs/settings.schema.json": settingsSchema(),
		"docs/tools.md":             toolsPage(tools.Families{Files: files.Tools{Workspace: ws}, Commands: command.Tools{Launcher: &launch.Launcher{Jobs: shell.NewJobs(t.TempDir())}}}),
	} {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := os.ReadFile(name); string(got) != want {
			t.Errorf("%s is stale; UPDATE=1 go test ./docs -run TestReferencePages writes it", name)
		}
	}
}

// Where a page says that something stands, there is something, and a page can be
// read at one sitting unless it is a reference. What a tour names, such as
// `repl.REPL.Do`, is declared in that folder.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	inner, _ := filepath.Glob("docs/internals/*.md")
	pages = append(pages, inner...)
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	place := regexp.MustCompile("`((?:main\\.go|(?:engine|repl|commands|tools|settings)/[a-z0-9_/.-]*))`")
	named := regexp.MustCompile("`((?:engine|repl|commands|tools|settings)(?:/[a-z0-9]+)*)\\.([A-Za-z]+(?:\\.[A-Za-z]+)?)`")
	declared := map[string]map[string]bool{}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(filepath.Base(page), "tour") || m[2] == "go" { // elsewhere tools.core is a setting
				continue
			}
			if declared[m[1]] == nil {
				declared[m[1]] = declarations(t, m[1])
			}
			if !declared[m[1]][m[2]] {
				t.Errorf("%s: there is no %s in %s", page, m[2], m[1])
			}
			text = strings.ReplaceAll(text, m[0], "")
		}
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	for _, m := range []string{"Print", "REPL.Nowhere", "nowhere"} {
		if declarations(t, "repl")[m] {
			t.Errorf("%s is not declared in repl", m)
		}
	}
}

// declarations returns the functions, the types and the methods that a package
// declares, such as Chain and Shell.Step.
func declarations(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") + "."
				}
				found[of+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						found[ts.Name.Name] = true
					}
				}
			}
		}
	}
	return found
}

// asked returns the names of the variables that the code asks the environment for. Where
// a list of names is asked for in a loop, it is in none of these places.
func asked(t *testing.T) (code string, names []string) {
	code = string(pt.Grep(t, "-hE", `"[A-Z]`, "--", "*.go", ":!*_test.go", ":(exclude,glob)**/testdata/**", ":!docs/examples", ":!docs/demo", ":!engine/enginetest", ":!commands/program/acceptance"))
	ask := regexp.MustCompile(`(?:[gG]etenv|[lL]ookupEnv|[lL]ookup|\bget|named|first)\("([A-Z][A-Z0-9_]{2,})`)
	for _, m := range ask.FindAllStringSubmatch(code, -1) {
		names = append(names, m[1])
	}
	return code, names
}

// Every variable that the code asks for by name is on the page, and the page
// has no other.
func TestEnvironmentPage(t *testing.T) {
	page, _ := docs.Find("environment")
	code, names := asked(t)
	for _, name := range names {
		if !strings.Contains(page.Text, "`"+name) {
			t.Errorf("%s is read, and not on the page", name)
		}
	}
	var rows []string
	for _, b := range docs.Blocks(page.Text) {
		for _, row := range b.Rows {
			rows = append(rows, row[0])
		}
	}
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	elsewhere := []string{"HTTP_PROXY", "NO_PROXY"} // net/http's own names
	for _, name := range regexp.MustCompile(`[A-Z][A-Z0-9_]{2,}`).FindAllString(strings.Join(rows, " "), -1) {
		if !strings.Contains(code, `"`+name) && !slices.Contains(elsewhere, name) && name != "SECTION" {
			t.Errorf("%s is on the page, and nothing reads it", name)
		}
	}
}

func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands in a session\n\nWhat a line that begins with a slash does, printed from the program's own table.\n\n")
	var list func(prefix string, s commands.Set)
	list = func(prefix string, s commands.Set) {
		for _, c := range s {
			name := strings.TrimSpace(prefix + c.Name + " " + c.Args)
			summary := c.Summary
			if len(c.Aliases) > 0 {
				summary += "; also `" + prefix + strings.Join(c.Aliases, "`, `"+prefix) + "`"
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", name, summary)
			if strings.Count(prefix, " ") == 0 && c.Name != "resume" { // below, the same commands again; /chat has resume's
				list(prefix+c.Name+" ", c.Sub)
			}
		}
	}
	builtin := commands.Builtin(&commands.Deps{})
	slices.SortFunc(builtin, func(a, b *commands.Command) int { return strings.Compare(a.Name, b.Name) })
	list("/", builtin)
	return b.String()
}

func toolsPage(f tools.Families) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nWhat the model can ask for, in the words it is told, printed from the program's own declarations. `gemline tools show NAME` prints the arguments, too.\n")
	agents := agent.Config{Agents: func() []agent.Definition { return agent.BuiltIn() }}
	for _, tool := range append(tools.New(f), agent.Tool(agents)) {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n%s\n\n", tool.Name(), tool.Label, tool.Declaration.Description)
		var schema struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Declaration.ParametersJsonSchema.(json.RawMessage), &schema); err != nil {
			panic(err)
		}
		names := make([]string, 0, len(schema.Properties))
		for name := range schema.Properties {
			names = append(names, name)
		}
		sort.Strings(names)
		required := " " + strings.Join(schema.Required, " ") + " "
		for i, name := range names {
			if names[i] = "`" + name + "`"; strings.Contains(required, " "+name+" ") {
				names[i] += " (required)"
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "Arguments: %s.\n", strings.Join(names, ", "))
		}
	}
	return b.String()
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nEvery key of a file of settings, printed from the program's own table. [configuration.md](configuration.md) says where the files are, " +
		"`gemline config list --origin` what yours say, and [settings.schema.json](settings.schema.json) is for editors.\n\n" +
		"A key is *in use*; or *not in use yet*; or it is about a full-screen interface, a vendor's service or a runtime that is not here, and is *accepted, without effect*. " +
		"An unknown key is told once, with the known one that comes nearest.\n")
	section, keys := "$", settings.Keys()
	slices.SortStableFunc(keys, func(a, b settings.Key) int { return strings.Compare(sectionOf(a), sectionOf(b)) })
	for _, k := range keys {
		if head := sectionOf(k); head != section {
			section = head
			fmt.Fprintf(&b, "\n## %s\n\n| key | value | default | status | what it does |\n|---|---|---|---|---|\n", cmp.Or(head, "at the top"))
		}
		fallback := ""
		if v := k.Default(); v != nil {
			text, _ := json.Marshal(v)
			fallback = "`" + string(text) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, strings.Join(values(k), "; "), fallback, k.Status, k.Help)
	}
	return b.String()
}

// modelsPage lists the models.
func modelsPage() string {
	var b strings.Builder
	c := catalog.Shipped()
	fmt.Fprintf(&b, "# The list of models\n\nThe models that gemline knows, printed from its own table. Prices are US dollars for a million tokens of the prompt, of what the server had read of it before and of the answer, "+
		"as read on %s; [limits.md](limits.md) says what counts. [models.md](models.md) says what is made of the list. Other names work, too, and have what their family has.\n", c.Date)
	class := ""
	for _, m := range c.Models {
		if class != m.Class {
			class = m.Class
			fmt.Fprintf(&b, "\n## %s\n\n| model | family | tokens, in and out | thinking | price | stand-ins | ends |\n|---|---|---|---|---|---|---|\n", class)
		}
		size := fmt.Sprintf("%d, %d", m.Context, m.Output)
		if m.Shared {
			size = fmt.Sprintf("%d in all, %d out", m.Context, m.Output)
		}
		think := m.Thinks
		if len(m.Levels) > 0 {
			think = strings.Join(m.Levels, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", m.Name, m.Family, size, think, pricesOf(m), strings.Join(m.Fallback, ", "), endsOf(m))
	}
	return b.String()
}

// pricesOf returns what a model costs, one price after the other.
func pricesOf(m catalog.Model) string {
	var all []string
	for _, p := range m.Price {
		s := fmt.Sprintf("%g / %g / %g", p.Input, p.Cached, p.Output)
		if p.Long.Above > 0 {
			s += fmt.Sprintf("; above %d tokens %g / %g / %g", p.Long.Above, p.Long.Input, p.Long.Cached, p.Long.Output)
		}
		if p.Until != "" {
			s += " until " + p.Until
		}
		all = append(all, s)
	}
	return strings.Join(all, ", then ")
}

// endsOf returns when a model ends, and what answers then.
func endsOf(m catalog.Model) string {
	var all []string
	for access, day := range m.Ends {
		all = append(all, fmt.Sprintf("%s (%s), then %s", day, access, m.Successor))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// settingsSchema is for editors.
func settingsSchema() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(settings.Schema()); err != nil {
		panic(err)
	}
	return b.String()
}

// sectionOf returns the object that a key stands in, "" at the top.
func sectionOf(k settings.Key) string {
	head, _, below := strings.Cut(k.Name, ".")
	if !below && head != "mcpServers" {
		return ""
	}
	return head
}

// values says what a key may be, and how the files combine.
func values(k settings.Key) []string {
	out := []string{k.Type + k.Range()}
	if k.Enum != nil {
		out[0] = strings.Join(k.Enum, " or ")
	}
	how := map[string]string{"concat": "of all files", "union": "of all files, each once", "shallow": "of all files, the strongest for each name", "intersect": "what all files have that give it"}
	if words := how[k.Merge]; words != "" {
		out = append(out, words)
	}
	return out
}

// What programs read is described in words, every field and type of record.
func TestEveryFieldIsDescribed(t *testing.T) {
	words := ""
	for _, name := range []string{"json", "protocol"} {
		p, _ := docs.Find(name)
		words += p.Text
	}
	var visit func(v any)
	visit = func(v any) {
		m, _ := v.(map[string]any)
		if l, ok := v.([]any); ok {
			for _, x := range l {
				visit(x)
			}
		}
		fields, _ := m["properties"].(map[string]any)
		for name, f := range fields {
			if kind, ok := f.(map[string]any)["const"].(string); ok {
				name = kind
			}
			if !strings.Contains(words, "`"+name+"`") {
				t.Errorf("%s is not in docs/json.md", name)
			}
		}
		for _, x := range m {
			visit(x)
		}
	}
	for _, name := range []string{"events", "result"} {
		text, _ := schema.Text(name)
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		visit(doc)
	}
}
