package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/text"

	lib "github.com/google/jsonschema-go/jsonschema"
)

// most is how many problems are told.
const most = 20

// explain returns what about v does not fit.
func (s *Schema) explain(v *node) []*Problem {
	j := s.judge()
	fits := j.fits(s.root, v)
	switch {
	case j.over():
		return []*Problem{{Message: "takes too long to hold to this schema"}}
	case fits:
		return nil
	}
	j.left = s.effort / 10
	e := &explainer{judge: j}
	e.visit(s.root, v, "")
	if len(e.problems) == 0 {
		e.tell("", "does not fit the schema")
	}
	return e.problems[:min(len(e.problems), most)]
}

// An explainer finds the places where a value does not fit. When its judge has
// had enough it finds no more.
type explainer struct {
	judge    *judge
	problems []*Problem
	from     string // the place of the whole
	alien    bool   // which is of another type
}

func (e *explainer) tell(at, format string, args ...any) {
	e.judge.left -= 10
	e.problems = append(e.problems, &Problem{At: at, Message: oneLine(fmt.Sprintf(format, args...))})
}

// fits reports whether v fits sub, as far as anybody still looks.
func (e *explainer) fits(sub *lib.Schema, v *node) bool {
	return e.judge.fits(sub, v) || e.judge.over()
}

// visit tells what about v, which is at the given place, does not fit sub.
func (e *explainer) visit(sub *lib.Schema, v *node, at string) {
	if len(e.problems) >= most || e.fits(sub, v) {
		return
	}
	before := len(e.problems)
	if sub.Ref != "" {
		e.visit(e.judge.target(sub.Ref), v, at)
		if e.judge.root.Schema == draft07 {
			return
		}
	}
	for _, k := range keywords {
		if alone := k.alone(sub); alone != nil && !e.judge.alone(alone, v) {
			e.judge.left -= len(sub.Enum)
			e.tell(at, "%s", k.say(sub, v.v))
			if k.name == "type" {
				e.alien = e.alien || at == e.from
				return // the others speak of another type
			}
		}
	}
	for _, part := range sub.AllOf {
		if _, given := e.judge.at[part]; !given { // lower made it
			if !e.fits(part, v) {
				e.tell(at, "must be %s", shapes[part.Format].words)
			}
			continue
		}
		e.visit(part, v, at)
	}
	e.choice("anyOf", sub.AnyOf, v, at)
	e.choice("oneOf", sub.OneOf, v, at)
	if sub.If != nil {
		branch := sub.Else
		if e.fits(sub.If, v) {
			branch = sub.Then
		}
		if branch != nil {
			e.visit(branch, v, at)
		}
	}
	e.object(sub, v, at)
	e.list(sub, v.items, at)
	if len(e.problems) == before {
		e.tell(at, "does not fit %s of the schema", obscure(sub))
	}
}

// choice tells what about v fits none of several schemas, by the one that comes
// nearest.
func (e *explainer) choice(keyword string, subs []*lib.Schema, v *node, at string) {
	if len(subs) == 0 {
		return
	}
	var nearest *explainer
	fitting := 0
	for _, sub := range subs {
		if e.fits(sub, v) {
			fitting++
			continue
		}
		f := &explainer{judge: e.judge, from: at}
		f.visit(sub, v, at)
		if nearest == nil || nearest.alien && !f.alien || nearest.alien == f.alien && len(f.problems) < len(nearest.problems) {
			nearest = f
		}
	}
	switch {
	case fitting == 0:
		e.tell(at, "fits none of the %d schemas of %s; of the nearest:", len(subs), keyword)
		e.problems = append(e.problems, nearest.problems...)
	case fitting > 1 && keyword == "oneOf":
		e.tell(at, "fits %d schemas of oneOf, and must fit one", fitting)
	}
}

func (e *explainer) object(sub *lib.Schema, v *node, at string) {
	if v.fields == nil {
		return
	}
	for _, name := range sub.Required {
		if v.fields[name] == nil {
			e.tell(at, "lacks %s", quoted(name))
		}
	}
	for _, name := range v.names {
		field, known := v.fields[name], false
		if p := sub.Properties[name]; p != nil {
			known = true
			e.visit(p, field, at+"/"+token(name))
		}
		for _, pattern := range sorted(sub.PatternProperties) {
			if e.judge.matches(pattern, name) {
				known = true
				e.visit(sub.PatternProperties[pattern], field, at+"/"+token(name))
			}
		}
		switch more := sub.AdditionalProperties; {
		case known || more == nil:
		case forbids(more):
			e.tell(at, "must not have %s", quoted(name))
		default:
			e.visit(more, field, at+"/"+token(name))
		}
	}
}

func (e *explainer) list(sub *lib.Schema, items []*node, at string) {
	first, rest := sub.PrefixItems, sub.Items
	if sub.ItemsArray != nil {
		first, rest = sub.ItemsArray, sub.AdditionalItems
	}
	for i, item := range items {
		place := fmt.Sprintf("%s/%d", at, i)
		switch {
		case i < len(first):
			e.visit(first[i], item, place)
		case rest != nil && forbids(rest):
			e.tell(at, "must not have more than %d items", len(first))
			return
		case rest != nil:
			e.visit(rest, item, place)
		}
	}
}

// forbids reports whether s is the schema false.
func forbids(s *lib.Schema) bool {
	return s.Not != nil && reflect.DeepEqual(s, &lib.Schema{Not: &lib.Schema{}})
}

// obscure names the keywords of s that no other words are found for.
func obscure(s *lib.Schema) string {
	var names []string
	for _, c := range children(s) {
		key, _, _ := strings.Cut(c.key, "/")
		switch key {
		case "contains", "not", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "dependencies":
			names = append(names, key)
		}
	}
	if s.DependentRequired != nil {
		names = append(names, "dependentRequired")
	}
	if s.DependencyStrings != nil {
		names = append(names, "dependencies")
	}
	slices.Sort(names)
	switch names = slices.Compact(names); len(names) {
	case 0:
		return "a rule"
	case 1:
		return quoted(names[0])
	}
	return "one of " + strings.Join(names, ", ")
}

// quoted returns s as JSON.
func quoted(v any) string {
	b, err := text.JSON(v, "")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
