package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// maxFile is the largest size of a JSON file, in bytes.
const maxFile = 1 << 20

// A manifest is gemini-extension.json. Unsupported fields are ignored.
type manifest struct {
	Name            string `json:"name"`
	Version         string `json:"version"`
	ContextFileName words  `json:"contextFileName"`

	Servers      map[string]any `json:"mcpServers"`
	ExcludeTools []string       `json:"excludeTools"`

	Description string          `json:"description"`
	Settings    []Setting       `json:"settings"`
	MigratedTo  string          `json:"migratedTo"`
	Themes      json.RawMessage `json:"themes"`
	Plan        struct {
		Directory string `json:"directory"`
	} `json:"plan"`

	fill func(string) string
}

// unknownKeys returns the keys of a manifest's value that the type t lacks, each with the key that
// it likely misspells, or "".
func unknownKeys(v any, t reflect.Type, at string) (list [][2]string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if t.Kind() == reflect.Slice {
				list = append(list, unknownKeys(item, t.Elem(), at)...)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil
		}
		known := map[string]reflect.Type{}
		for field := range t.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				known[name] = field.Type
			}
		}
		names := slices.Sorted(maps.Keys(known))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, key) }) // encoding/json also ignores the case of letters
			if i < 0 {
				list = append(list, [2]string{at + key, text.Likely(key, names)})
				continue
			}
			list = append(list, unknownKeys(v[key], known[names[i]], at+key+".")...)
		}
	}
	return list
}

// words is a list that may also be a single word.
type words []string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *words) UnmarshalJSON(b []byte) error {
	var list []string
	if err := json.Unmarshal(b, &list); err == nil {
		*w = list
		return nil
	}
	var word string
	if err := json.Unmarshal(b, &word); err != nil {
		return errors.New("contextFileName must be a string or a list of strings")
	}
	*w = words{word}
	return nil
}

// installed returns the installation note at path, the zero note if there is none.
func installed(path string) (note Install, err error) {
	err = readJSON(path, &note)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return note, nil
	case err == nil && note.Type == "link" && !filepath.IsAbs(note.Source): // a relative path would depend on the working directory
		err = fmt.Errorf("%s: the source %.60q is not an absolute path", path, note.Source)
	}
	return note, err
}

// readJSON reads a file with a JSON object into v.
func readJSON(path string, v any) error {
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s:%s", path, fault(b, err))
	}
	return nil
}

// kindWords are the names of the types of fields.
var kindWords = map[reflect.Kind]string{reflect.Map: "an object", reflect.Struct: "an object",
	reflect.Interface: "an object", reflect.Slice: "a list",
	reflect.String: "a string", reflect.Bool: "true or false"}

// valueWords describes the type of a field's value.
func valueWords(value string) string {
	words := map[string]string{"array": "a list", "object": "an object", "string": "a string", "bool": "true or false"}
	if said, ok := words[value]; ok {
		return said
	}
	return "a number"
}

// fault describes the mistake in b, with its position if known.
func fault(b []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		before := b[:max(0, min(int(syntax.Offset)-1, len(b)))]
		return fmt.Sprintf("%d:%d: %v", 1+bytes.Count(before, []byte("\n")),
			len(before)-bytes.LastIndexByte(before, '\n'), syntax)
	case errors.As(err, &kind) && kind.Field == "":
		return " it is not an object"
	case errors.As(err, &kind):
		return fmt.Sprintf(" %s must be %s, not %s", kind.Field, kindWords[kind.Type.Kind()], valueWords(kind.Value))
	}
	return " " + err.Error()
}
