package catalog

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// Each key of the table is one that the program reads, and what it names is there.
func TestTable(t *testing.T) {
	meta, err := toml.Decode(text, &Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range meta.Undecoded() {
		if len(key) < 2 || key[0] != "aliases" || key[1] != "config" {
			t.Errorf("%s is no key of the table", key)
		}
	}
	c := Shipped()
	classes := map[string]bool{}
	for _, n := range c.Names {
		classes[n.Name] = n.Is == ""
	}
	known := func(name string) bool {
		return c.Has(name) || slices.ContainsFunc(c.Names, func(n Name) bool { return n.Name == name })
	}
	seen := map[string]bool{}
	for _, m := range c.Models {
		if _, ok := c.Families[m.Family]; !ok || seen[m.Name] || !classes[m.Class] && m.Class != "open" {
			t.Errorf("%s stands twice, or has no family or class: %q, %q", m.Name, m.Family, m.Class)
		}
		seen[m.Name] = true
		for _, name := range append(m.Fallback, m.Successor) {
			if name != "" && !known(name) {
				t.Errorf("%s leads to %q, which is nothing", m.Name, name)
			}
		}
		for access, on := range m.Ends {
			if _, err := time.Parse(time.DateOnly, on); err != nil || !m.Usable(access) {
				t.Errorf("%s ends for %s on %q", m.Name, access, on)
			}
			if !c.Has(m.Successor) {
				t.Errorf("%s ends, and no model has the name of its successor %q", m.Name, m.Successor)
			}
		}
		for i, p := range m.Price {
			if p.Input <= 0 || p.Output <= p.Input || p.Cached > p.Input || i < len(m.Price)-1 && p.Until == "" {
				t.Errorf("%s: price %d is %+v", m.Name, i, p)
			}
		}
	}
	for _, f := range c.Families {
		if _, ok := c.Families[f.Asks]; f.Asks != "" && !ok {
			t.Errorf("there is no family %q", f.Asks)
		}
	}
}

// Names without a row have what their family has.
func TestOf(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-4-argon": "gemini-4", "models/gemini-3.8-flash": "gemini-3", "gemini-3": "gemini-3", "gemini-3.9-flash-x": "gemini-3",
		"gemini-30": "gemini-4", "gemini-12-pro": "gemini-4", "gemini-2.0-flash": "gemini-2", "gemini-2.5-flash-001": "gemini-2.5",
		"gemini-1.5-pro": "", "gemini-": "", "gemini-exp": "", "gemini-3x": "", "gemma-4-9b": "gemma-4", "gemma-3-27b": "gemma-3", "my-model": "", "": "",
	} {
		if got := Lookup(name).Family; got != want {
			t.Errorf("%q is of the family %q, want %q", name, got, want)
		}
	}
	if m := Lookup("gemini-3.9-flash-lite"); m.Class != "flash-lite" || !m.Quiet || m.Context != defaultContext {
		t.Errorf("%+v", m)
	}
}

// model finds the names of models.
var model = regexp.MustCompile(`\b(gemini-[0-9]|gemma-[0-9]|gemini-(flash|pro)-latest)[\w.-]*`)

// skipped are the directories with nothing that ships.
var skipped = []string{".git", "node_modules", "acceptance"}

// files calls f with the path and the text of every file below the root of the project.
func files(t *testing.T, f func(path, text string)) {
	t.Helper()
	root := "../../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".txt", ".json", ".toml", ".sh", ".yml", ".yaml", "":
			if d.Type().IsRegular() {
				b, err := os.ReadFile(path)
				rel, _ := filepath.Rel(root, path)
				f(filepath.ToSlash(rel), string(b))
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Only the table knows a model's name.
func TestOnlyHere(t *testing.T) {
	n := 0
	files(t, func(path, text string) {
		aside := strings.Contains(path, "testdata/") || path == "settings/table.go" || strings.HasPrefix(path, "engine/enginetest/") ||
			strings.HasPrefix(path, "commands/program/project/projecttest/") || strings.HasPrefix(path, "docs/")
		if n++; filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || aside {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			if found := model.FindString(line); found != "" {
				t.Errorf("%s:%d names %s, which engine/model/catalog/models.toml is for", path, i+1, found)
			}
		}
	})
	if n < 500 {
		t.Errorf("only %d files were looked at", n)
	}
}

// Nobody is shown, nor measures with, a model that ends.
func TestExamplesLast(t *testing.T) {
	files(t, func(path, text string) {
		shown := strings.HasPrefix(path, "docs/") || path == "README.md" || strings.HasPrefix(path, "commands/program/testdata/bench") || path == "settings/keys.txt" || path == "Makefile"
		if !shown {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			for _, name := range model.FindAllString(line, -1) {
				m := Lookup(strings.TrimRight(name, ".-"))
				for _, on := range m.Ends {
					if !strings.Contains(line, on) { // which says so
						t.Errorf("%s:%d uses %s, which ends on %s", path, i+1, m.Name, on)
					}
				}
			}
		}
	})
}

func TestProvider(t *testing.T) {
	for name, want := range map[string][2]string{
		"gemini-3.8-flash":                 {"", "gemini-3.8-flash"},
		"models/gemini-3.8-flash":          {"", "models/gemini-3.8-flash"},
		"publishers/google/models/x":       {"", "publishers/google/models/x"},
		"ollama/qwen3:4b":                  {"ollama", "qwen3:4b"},
		"openrouter/google/gemini-3-flash": {"openrouter", "google/gemini-3-flash"},
		"ollama/":                          {"", "ollama/"},
		"/x":                               {"", "/x"},
	} {
		if provider, model := Provider(name); provider != want[0] || model != want[1] {
			t.Errorf("%s is %q of %q", name, model, provider)
		}
	}
}
