package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gemline/engine/journal"
	"gemline/settings/jsonc"
)

// StrictError returns the first error about an unreadable value that may have been meant to forbid
// something, or that names a target of records; nil if there is none. It is a [jsonc.Error].
func (s *Settings) StrictError() error {
	for i := range s.layers {
		l := &s.layers[i]
		for _, p := range l.Problems {
			j := slices.IndexFunc(table,
				func(k Key) bool { // a value that a project can't set has no effect
					return k.safety.strict && (l.Scope != Workspace || k.safety.project != "never") &&
						(k.Name == p.Key || strings.HasPrefix(k.Name, p.Key+"."))
				})
			if !p.unfit || j < 0 {
				continue
			}
			e := &jsonc.Error{Path: l.Path, Message: p.Message}
			if would := table[j].safety.misread; would != "" {
				e.Message += "; " + would
			}
			e.Line, e.Column = l.doc.Position(l.written(p.path))
			return e
		}
	}
	return nil
}

// Misread returns the first message about an unreadable value of a group of keys, or of an object
// around the group, "" if there is none. A project's value counts only for a key that a project can
// set.
func (s *Settings) Misread(group string) string {
	for i := range s.layers {
		for _, p := range s.layers[i].Problems {
			holds := s.layers[i].Scope != Workspace && strings.HasPrefix(group, p.Key+".")
			if p.unfit && (holds || strings.HasPrefix(p.Key+".", group+".")) {
				return p.Message
			}
		}
	}
	return ""
}

// Mistakes returns messages about values of the right type that have no meaning, or contradict each
// other.
func (s *Settings) Mistakes() (list []string) {
	if large, small := s.Auto(); (large == "") != (small == "") {
		list = append(list, "model.auto needs large and small; with one alone, auto is Google's models")
	}
	if _, err := journal.ParseRetention(s.MaxAge, s.MaxSessions, s.MinRetention); s.Retention && err != nil {
		list = append(list, "general.sessionRetention: "+err.Error()+"; no session is deleted")
	}
	for _, pattern := range s.AllowedExtensions {
		if _, err := regexp.Compile(pattern); err != nil {
			list = append(list, fmt.Sprintf("security.allowedExtensions: %s is no pattern, and allows nothing", jsonc.Describe(pattern)))
		}
	}
	return list
}

// KeyValues are the values of a key in a file.
type KeyValues struct {
	Scope        Scope
	File         string
	Line, Column int      // of the key
	Values       []string // the strings of a list
}

// Values returns a key's values in files, the weakest first: all values if lists or objects are
// joined, otherwise those of the strongest file.
func (s *Settings) Values(key string) (all []KeyValues) {
	path := strings.Split(key, ".")
	for i := range s.layers {
		l := &s.layers[i]
		v, ok := at(l.tree, path)
		if !ok {
			continue
		}
		said := KeyValues{Scope: l.Scope, File: l.Path}
		said.Line, said.Column = l.doc.Position(l.written(path))
		switch k, _ := FindKey(key); k.Merge {
		case "":
			if _, joined := v.(map[string]any); !joined {
				all = nil
			}
		case "intersect":
			if len(all) > 0 {
				v, all = k.combine(items(all[0].Values), v), nil
			}
		}
		said.Values = words(v)
		all = append(all, said)
	}
	return all
}

// Enabled reports whether the files set a key to true.
func (s *Settings) Enabled(key string) bool {
	return In[bool](s.Merged, strings.Split(key, ".")...)
}
