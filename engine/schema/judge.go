package schema

import (
	"fmt"
	"maps"
	"slices"
)

const (
	// effort is how much may be done to judge a value. A unit is what judging
	// one small value by one schema takes, about a microsecond. An answer of a
	// megabyte takes a tenth of it.
	effort = 4_000_000

	deepest = 50_000 // schemas and values that lead into each other
	most    = 20     // problems that are told
)

// A judge decides whether values fit.
type judge struct {
	schema *Schema
	known  map[pair]verdict
	left   int // of the effort; below zero it has given up, and nothing it says counts
	depth  int
}

// over reports whether j has given up.
func (j *judge) over() bool { return j.left < 0 }

type pair struct {
	schema *subschema
	node   *node
}

// A verdict says whether a value fits.
type verdict struct {
	wrong []finding      // some of what does not fit, no more than is told
	seen  map[*node]bool // what the unevaluated keywords don't ask about; nil if there are none
}

func (v *verdict) fits() bool { return len(v.wrong) == 0 }

// A finding is something that does not fit. Its words are made when it is told.
type finding struct {
	node  *node
	say   func() string
	alien bool // the value is of another type
}

// judge returns what about the value does not fit.
func (s *Schema) judge(n *node) (problems []*Problem) {
	j := &judge{schema: s, known: map[pair]verdict{}, left: s.effort}
	v := j.verdictOf(s.root, n)
	if j.over() {
		return []*Problem{n.problem("takes too long to hold to this schema")}
	}
	for _, f := range v.wrong {
		p := f.node.problem("%s", f.say())
		if !slices.ContainsFunc(problems, func(o *Problem) bool { return *o == *p }) {
			problems = append(problems, p)
		}
	}
	return problems
}

// verdictOf decides about a pair, once.
func (j *judge) verdictOf(s *subschema, n *node) verdict {
	if j.left--; j.over() || j.depth > deepest {
		j.left = -1
		return verdict{}
	}
	if n.fields == nil && n.items == nil && s.simple {
		return verdict{wrong: j.judgeKeywords(s, n)} // as fast as looking it up
	}
	at := pair{s, n}
	v, ok := j.known[at]
	if !ok {
		j.depth++
		v = j.decide(s, n)
		j.depth--
		j.left -= 2 + len(v.wrong)
		j.known[at] = v
	}
	return v
}

// judgeKeywords decides by the keywords of s that speak of a value without other schemas.
func (j *judge) judgeKeywords(s *subschema, n *node) (wrong []finding) {
	if s.never {
		return []finding{{node: n, say: func() string { return "must not be there" }}}
	}
	for _, r := range s.rules {
		if r.of != "" && !n.is(r.of) || r.fits(j, r.want, n) {
			continue
		}
		alien := r.name == "type"
		wrong = append(wrong, finding{n, func() string { return r.say(r.want, n) }, alien})
		if alien {
			break // the others speak of another type
		}
	}
	return wrong
}

// decide is verdictOf, for the first time.
func (j *judge) decide(s *subschema, n *node) verdict {
	v := verdict{}
	if j.schema.unevaluated {
		v.seen = map[*node]bool{}
	}
	if s.ref != nil {
		j.hold(&v, s.ref, n)
		if j.schema.draft07 {
			return v
		}
	}
	v.wrong = append(v.wrong, j.judgeKeywords(s, n)...)
	if !v.alien(n) {
		j.together(&v, s, n)
		j.object(&v, s, n)
		j.list(&v, s, n)
	}
	v.wrong = v.wrong[:min(len(v.wrong), most):min(len(v.wrong), most)]
	return v
}

// tell adds to what is wrong with n.
func (v *verdict) tell(n *node, format string, args ...any) {
	v.wrong = append(v.wrong, finding{node: n, say: func() string { return fmt.Sprintf(format, args...) }})
}

// tellKeyword tells that n does not fit a keyword that there are no other words for.
func (v *verdict) tellKeyword(n *node, keyword string) {
	v.tell(n, "does not fit %s of the schema", quoted(keyword))
}

// alien reports whether n is of another type than it must be.
func (v *verdict) alien(n *node) bool {
	return slices.ContainsFunc(v.wrong, func(f finding) bool { return f.alien && f.node == n })
}

// see notes what another schema, which the same value fits, has looked at.
func (j *judge) see(v *verdict, o verdict) {
	if j.left -= len(o.seen); v.seen != nil && !j.over() {
		maps.Copy(v.seen, o.seen)
	}
}

// hold adds what another schema says of the same value.
func (j *judge) hold(v *verdict, s *subschema, n *node) {
	o := j.verdictOf(s, n)
	v.wrong = append(v.wrong, o.wrong...)
	j.see(v, o)
}

// together decides by the schemas in s that speak of the same value.
func (j *judge) together(v *verdict, s *subschema, n *node) {
	for _, part := range s.subs["allOf"] {
		j.hold(v, part, n)
	}
	j.choice(v, "anyOf", s, n)
	j.choice(v, "oneOf", s, n)
	for _, not := range s.subs["not"] {
		if o := j.verdictOf(not, n); o.fits() {
			v.tellKeyword(n, "not")
		}
	}
	for _, condition := range s.subs["if"] {
		branch := "else"
		if o := j.verdictOf(condition, n); o.fits() {
			branch = "then"
			j.see(v, o)
		}
		for _, part := range s.subs[branch] {
			j.hold(v, part, n)
		}
	}
	for _, name := range sorted(s.named["dependentSchemas"]) {
		if n.fields[name] != nil {
			j.hold(v, s.named["dependentSchemas"][name], n)
		}
	}
}

// choice decides by several schemas. What fits none is told by the one that
// comes nearest.
func (j *judge) choice(v *verdict, keyword string, s *subschema, n *node) {
	var nearest *verdict
	fitting := 0
	for _, part := range s.subs[keyword] {
		o := j.verdictOf(part, n)
		if o.fits() {
			fitting++
			j.see(v, o)
			continue
		}
		if nearest == nil || nearest.alien(n) && !o.alien(n) || nearest.alien(n) == o.alien(n) &&
			len(o.wrong) < len(nearest.wrong) {
			nearest = &o
		}
	}
	switch {
	case fitting == 0 && nearest != nil:
		v.tell(n, "fits none of the %d schemas of %s; of the nearest:", len(s.subs[keyword]), keyword)
		v.wrong = append(v.wrong, nearest.wrong...)
	case fitting > 1 && keyword == "oneOf":
		v.tell(n, "fits %d schemas of oneOf, and must fit one", fitting)
	}
}

// object decides by the schemas of s about the fields of n.
func (j *judge) object(v *verdict, s *subschema, n *node) {
	if n.fields == nil {
		return
	}
	lacks := func(names *node) (lacking []string) {
		for _, name := range names.items {
			if n.fields[name.v.(string)] == nil {
				lacking = append(lacking, quoted(name.v))
			}
		}
		j.left -= len(names.items)/10 + len(lacking)
		return lacking
	}
	if s.args["required"] != nil {
		for _, name := range lacks(s.args["required"]) {
			v.tell(n, "lacks %s", name)
		}
	}
	for _, name := range sorted(s.dependent) {
		if n.fields[name] != nil {
			for _, other := range lacks(s.dependent[name]) {
				v.tell(n, "has %s and lacks %s", quoted(name), other)
			}
		}
	}
	for _, name := range n.names {
		if len(v.wrong) > most || j.over() {
			return
		}
		var by []*subschema
		if p := s.named["properties"][name]; p != nil {
			by = append(by, p)
		}
		for _, pattern := range s.patterns {
			if j.matches(pattern, name) {
				by = append(by, s.named["patternProperties"][pattern])
			}
		}
		if by == nil {
			by = s.subs["additionalProperties"]
		}
		if forbids(by) {
			v.tell(n, "must not have %s", quoted(name))
			continue
		}
		j.inside(v, by, n.fields[name])
		for _, names := range s.subs["propertyNames"] {
			if o := j.verdictOf(names, &node{v: name, size: len(name)}); !o.fits() {
				v.tellKeyword(n.fields[name], "propertyNames")
			}
		}
	}
	for _, name := range n.names {
		j.rest(v, s, "unevaluatedProperties", n.fields[name])
	}
}

// list decides by the schemas of s about the items of n.
func (j *judge) list(v *verdict, s *subschema, n *node) {
	first, contains := s.subs["prefixItems"], s.subs["contains"]
	contained := 0
	for i, item := range n.items {
		if len(v.wrong) > most || j.over() {
			return
		}
		by := s.subs["items"]
		if i < len(first) {
			by = first[i : i+1]
		} else if forbids(by) {
			v.tell(n, "must not have more than %d items", len(first))
			return
		}
		j.inside(v, by, item)
		for _, c := range contains {
			if o := j.verdictOf(c, item); o.fits() {
				contained++
				j.inside(v, contains, item)
			}
		}
	}
	least, most := s.args["minContains"], s.args["maxContains"]
	if n.items != nil && contains != nil && (least == nil && contained == 0 || least != nil &&
		!within(contained, least, "min") || most != nil && !within(contained, most, "max")) {
		v.tellKeyword(n, "contains")
	}
	for _, item := range n.items {
		j.rest(v, s, "unevaluatedItems", item)
	}
}

// forbids reports whether one of the schemas is false.
func forbids(by []*subschema) bool {
	return slices.ContainsFunc(by, func(s *subschema) bool { return s.never })
}

// inside decides by some schemas about a value inside another.
func (j *judge) inside(v *verdict, by []*subschema, n *node) {
	for _, s := range by {
		v.wrong = append(v.wrong, j.verdictOf(s, n).wrong...)
		if v.seen != nil {
			v.seen[n] = true
		}
	}
}

// rest decides about a value inside another that nothing has looked at.
func (j *judge) rest(v *verdict, s *subschema, keyword string, n *node) {
	for _, u := range s.subs[keyword] {
		if !v.seen[n] && !j.over() {
			if o := j.verdictOf(u, n); !o.fits() {
				v.tellKeyword(n.parent, keyword)
			}
			v.seen[n] = true
		}
	}
}
