package schema

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	lib "github.com/google/jsonschema-go/jsonschema"
)

// A child is a schema inside another, under a key of it.
type child struct {
	key    string // as a JSON pointer goes on
	schema *lib.Schema
}

// children returns the schemas that s holds.
func children(s *lib.Schema) []child {
	var all []child
	one := func(key string, sub *lib.Schema) {
		if sub != nil {
			all = append(all, child{key, sub})
		}
	}
	list := func(key string, subs []*lib.Schema) {
		for i, sub := range subs {
			all = append(all, child{key + "/" + strconv.Itoa(i), sub})
		}
	}
	named := func(key string, subs map[string]*lib.Schema) {
		for _, name := range sorted(subs) {
			all = append(all, child{key + "/" + token(name), subs[name]})
		}
	}
	named("$defs", s.Defs)
	named("definitions", s.Definitions)
	named("properties", s.Properties)
	named("patternProperties", s.PatternProperties)
	named("dependentSchemas", s.DependentSchemas)
	named("dependencies", s.DependencySchemas)
	one("additionalProperties", s.AdditionalProperties)
	one("unevaluatedProperties", s.UnevaluatedProperties)
	one("propertyNames", s.PropertyNames)
	list("prefixItems", s.PrefixItems)
	list("items", s.ItemsArray)
	one("items", s.Items)
	one("additionalItems", s.AdditionalItems)
	one("unevaluatedItems", s.UnevaluatedItems)
	one("contains", s.Contains)
	list("allOf", s.AllOf)
	list("anyOf", s.AnyOf)
	list("oneOf", s.OneOf)
	one("not", s.Not)
	one("if", s.If)
	one("then", s.Then)
	one("else", s.Else)
	one("contentSchema", s.ContentSchema)
	return all
}

// inPlace returns the schemas in s that speak of the same value as s.
func inPlace(s *lib.Schema) []*lib.Schema {
	all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	for _, sub := range []*lib.Schema{s.Not, s.If, s.Then, s.Else} {
		if sub != nil {
			all = append(all, sub)
		}
	}
	return slices.AppendSeq(all, chain(maps.Values(s.DependentSchemas), maps.Values(s.DependencySchemas)))
}

func chain[T any](seqs ...iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, seq := range seqs {
			for v := range seq {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// token returns a name as it stands in a JSON pointer.
func token(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
