package settings

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// keysText holds all that is known about the keys.
//
//go:embed keys.txt
var keysText string

// table returns all keys, and the groups of keys, which have no type. It is read at first use.
var table = sync.OnceValue(readTable)

func readTable() (keys []Key) {
	fields := map[string]int{}
	for i := range reflect.TypeFor[Settings]().NumField() {
		fields[reflect.TypeFor[Settings]().Field(i).Tag.Get("key")] = i
	}
	_, entries, _ := strings.Cut(keysText, "\n\n") // behind the description of the format
	keys = make([]Key, 0, 1+strings.Count(entries, "\n\n"))
	for entry := range strings.SplitSeq(entries, "\n\n") {
		k := readKey(entry)
		if i, is := fields[k.Name]; is {
			k.field = func(s *Settings) any { return reflect.ValueOf(s).Elem().Field(i).Addr().Interface() }
		}
		keys = append(keys, k)
	}
	return keys
}

// readKey reads an entry of keys.txt.
func readKey(entry string) Key {
	k := Key{Status: Used}
	for line := range strings.Lines(entry) {
		fact, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch fact {
		case "key":
			k.Name = said
		case "group":
			k.Name, k.Status = said, ""
		case "type":
			k.Type = said
			if words := strings.Split(said, "|"); len(words) > 1 {
				k.Type, k.Enum = isText, words
			}
		case "least":
			k.span.least = json.Number(said)
		case "most":
			k.span.most = json.Number(said)
		case "default":
			k.fallback, _ = k.Parse(said) // a test has seen that it can be parsed
		case "merge":
			k.Merge = said
		case "later":
			k.Status = Later
		case "ignored":
			k.Status = Ignored
		case "was":
			k.legacy = append(k.legacy, readLegacyName(said, k.Name))
		case "near":
			k.near = said
		case "env":
			k.env = strings.Fields(said)
		case "project":
			k.safety.project = said
		case "strict":
			k.safety.strict, k.safety.misread = true, said
		case "misread":
			k.safety.misread = said
		case "wants":
			k.wants = said
		case "risk":
			k.safety.risk = said
		case "help":
			k.Help = said
		default:
			panic("keys.txt: " + line) // a mistake in this package
		}
	}
	if k.Type != "" {
		k.Help += projectHelp(k.safety.project)
	}
	return k
}

// readLegacyName reads an older name of the key called name.
func readLegacyName(said, name string) (o legacyName) {
	said, o.inverted = strings.CutSuffix(said, " inverted")
	said, o.only, _ = strings.Cut(said, " of ")
	o.from, o.to = said, name
	if from, to, below := strings.Cut(said, " as "); below {
		o.from, o.to = from, to
	}
	return o
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
