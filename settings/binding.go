package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gemline/engine/journal"
	"gemline/settings/jsonc"
)

// StrictError returns an error about the first value that may have been meant to
// keep something from running, or says where records go, and can't be understood;
// nil if there is none. It is a [jsonc.Error].
func (s *Settings) StrictError() error {
	for i := range s.layers {
		l := &s.layers[i]
		for _, p := range l.Problems {
			j := slices.IndexFunc(table,
				func(k Key) bool { // what a project can't set does nothing, however it is said
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

// Misread returns the first message about a value of a group of keys, or of an object that holds
// the group, that can't be understood, "" if there is none. A project's value counts only for a key
// that a project can set.
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

// Mistakes returns messages about values whose types are right: some mean nothing, and some
// contradict each other.
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

// KeyValues are what a file says about a key.
type KeyValues struct {
	Scope        Scope
	File         string
	Line, Column int      // of the key
	Values       []string // the strings of a list
}

// Values returns what the files say about a key, the weakest first: all of them if lists or
// objects are joined, else the file that counts.
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
