// Command keys turns keys.txt into the table of keys, a file of Go. Whoever changes
// keys.txt, or a field of Settings, runs it by
//
//	go generate ./settings
//
// and a test says when that was forgotten.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: keys FILE, in the directory of the package settings")
	}
	text, err := os.ReadFile("keys.txt")
	if err != nil {
		log.Fatal(err)
	}
	fields, err := fields("settings.go")
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from keys.txt by go generate; DO NOT EDIT.\n\npackage settings\n\n")
	b.WriteString("import \"encoding/json\"\n\n// table has all keys, and the groups of keys, which have no type.\nvar table = []Key{\n")
	for entry := range strings.SplitSeq(string(text), "\n\n") {
		if strings.HasPrefix(entry, "#") {
			continue
		}
		row, err := row(entry, fields)
		if err != nil {
			log.Fatalf("keys.txt: %v", err)
		}
		b.WriteString(row)
	}
	b.WriteString("}\n")
	for key := range fields {
		log.Fatalf("keys.txt has no %s, which a field of Settings stands for", key)
	}
	code, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], code, 0o644); err != nil {
		log.Fatal(err)
	}
}

// fields returns the fields of Settings by their keys.
func fields(path string) (map[string]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	byKey := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && f.Tag != nil {
			tag, _ := strconv.Unquote(f.Tag.Value)
			if key := reflect.StructTag(tag).Get("key"); key != "" {
				byKey[key] = f.Names[0].Name
			}
		}
		return true
	})
	return byKey, nil
}

// row returns the line of the table that an entry makes. It takes the entry's field out of
// fields.
func row(entry string, fields map[string]string) (string, error) {
	facts := map[string]string{}
	var older []string
	for line := range strings.Lines(entry) {
		fact, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, twice := facts[fact]; twice && fact != "was" {
			return "", fmt.Errorf("%q stands twice in one entry:\n%s", fact, entry)
		}
		if facts[fact] = said; fact == "was" {
			older = append(older, said)
		}
	}
	name := facts["key"] + facts["group"]
	r := &literal{}
	for line := range strings.Lines(entry) {
		fact, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := r.fact(fact, said, facts); err != nil {
			return "", fmt.Errorf("%q: %w", name, err)
		}
	}
	if facts["type"] != "" && !r.status {
		r.add("Status", "Used")
	}
	if field := fields[name]; field != "" {
		r.add("field", "func(s *Settings) any { return &s."+field+" }")
		delete(fields, name)
	}
	if r.span != nil {
		r.add("span", "span{"+strings.Join(r.span, ", ")+"}")
	}
	if r.safety != nil {
		r.add("safety", "safety{"+strings.Join(r.safety, ", ")+"}")
	}
	if older != nil {
		r.add("legacy", "[]legacyName{"+strings.Join(olderNames(older, name), ", ")+"}")
	}
	return "{" + strings.Join(r.fields, ", ") + "},\n", nil
}

// A literal is a row while it is made.
type literal struct {
	fields []string
	safety []string // the fields of safety
	span   []string // the fields of span
	status bool     // it is there
}

func (r *literal) add(field, value string) { r.fields = append(r.fields, field+": "+value) }

// fact adds what one line of an entry says.
func (r *literal) fact(fact, said string, facts map[string]string) error {
	switch fact {
	case "key", "group":
		r.add("Name", strconv.Quote(said))
	case "type":
		if words := strings.Split(said, "|"); len(words) > 1 {
			r.add("Enum", fmt.Sprintf("%#v", words))
			said = "string"
		}
		r.add("Type", strconv.Quote(said))
	case "default":
		v, err := fallback(facts["type"], said)
		if err != nil {
			return err
		}
		r.add("fallback", v)
	case "merge":
		r.add("Merge", strconv.Quote(said))
	case "later", "ignored":
		r.add("Status", strings.ToUpper(fact[:1])+fact[1:])
		r.status = true
	case "env":
		r.add("env", fmt.Sprintf("%#v", strings.Fields(said)))
	case "near", "wants":
		r.add(fact, strconv.Quote(said))
	case "project", "risk":
		r.safety = append(r.safety, fact+": "+strconv.Quote(said))
	case "least", "most":
		r.span = append(r.span, fact+": json.Number("+strconv.Quote(said)+")")
	case "misread":
		r.safety = append(r.safety, fact+": "+strconv.Quote(said))
	case "strict":
		r.safety = append(r.safety, "strict: true")
		if said != "" {
			r.safety = append(r.safety, "misread: "+strconv.Quote(said))
		}
	case "help":
		r.add("Help", strconv.Quote(said+projectHelp(facts["project"])))
	case "was":
	default:
		return fmt.Errorf("%q is no fact", fact)
	}
	return nil
}

// fallback returns the default of a key as Go has it.
func fallback(kind, said string) (string, error) {
	first, _, _ := strings.Cut(kind, " or ")
	if slices.Contains([]string{"string", "age", "encoding"}, first) || strings.Contains(kind, "|") {
		return strconv.Quote(said), nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(said))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	if n, ok := v.(json.Number); ok {
		return "json.Number(" + strconv.Quote(n.String()) + ")", nil
	}
	return strings.ReplaceAll(fmt.Sprintf("%#v", v), "interface {}", "any"), nil
}

// projectHelp says what a project may say.
func projectHelp(project string) string {
	switch project {
	case "never":
		return " A project can't set it."
	case "stricter":
		return " A project can only tighten it."
	case "":
		return ""
	}
	return " A project can only set it to " + strings.TrimPrefix(project, "only ") + "."
}

// olderNames returns the older names of the key name as Go has them.
func olderNames(all []string, name string) (out []string) {
	for _, said := range all {
		rest, inverted := strings.CutSuffix(said, " inverted")
		rest, only, _ := strings.Cut(rest, " of ")
		from, to, below := strings.Cut(rest, " as ")
		if !below {
			to = name
		}
		s := fmt.Sprintf("from: %q, to: %q", from, to)
		if only != "" {
			s += fmt.Sprintf(", only: %q", only)
		}
		if inverted {
			s += ", inverted: true"
		}
		out = append(out, "{"+s+"}")
	}
	return out
}
