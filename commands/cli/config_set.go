package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/auth"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
)

// configSet is gemline config set.
type configSet struct {
	Key   string   `arg:"" complete:"key" help:"The name of the setting, such as model.name. A part that has a dot stands in quotation marks."`
	Value []string `arg:"" passthrough:"all" help:"Its value, which may begin with a hyphen. A list is JSON, or words with commas between them; an object is JSON."`
	Holds bool     `hidden:"" help:"The session goes by it already."`
	where
}

// configUnset is gemline config unset.
type configUnset struct {
	Key string `arg:"" complete:"key" help:"The name of the setting."`
	where
}

// where names a settings file.
type where struct {
	Scope settings.Scope `placeholder:"WHOSE" default:"user" enum:"user,workspace,system" help:"Whose file: user, workspace or system."`
}

// Run writes the value into a settings file.
func (c *configSet) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, src settings.Source) error {
	if len(c.Value) > 1 && c.Value[0] == "--" {
		c.Value = c.Value[1:]
	}
	if ask.In == nil { // in a session, the user may quote a value
		c.Value = []string{unquoted(strings.Join(c.Value, " "))}
	}
	if len(c.Value) > 1 {
		return misused("unexpected argument %.100q; a value of several words stands in quotation marks", c.Value[1])
	}
	value, err := parse(c.Key, c.Value[0])
	if err != nil {
		return err
	}
	done, err := src.SetKey(ctx, c.Key, value)
	if err != nil {
		return withHint(c.Key, err)
	}
	path, _ := settings.SplitKey(c.Key)
	r := changeOf(src, path, done, value)
	r.holds = c.Holds
	if done.Unchanged {
		r.text = fmt.Sprintf("%s = %s in %s, as before", r.Key, text.Compact(r.Value), r.Path)
	} else {
		r.text = fmt.Sprintf("%s = %s in %s%s", r.Key, text.Compact(r.Value), r.Path, r.before())
	}
	if len(done.Older) > 0 {
		r.note("%s, an older name, is left in the file; %s is what counts", strings.Join(done.Older, ", "), r.Key)
	}
	if k, _ := settings.FindKey(c.Key); k.Status != settings.Used && k.Status != "" {
		r.note("%s is %s", r.Key, k.Status)
	}
	r.noteEffect(out, here, ask, src, done, path)
	return r.tell(out)
}

// unquoted removes quotation marks around a text.
func unquoted(text string) string {
	if inner := ""; strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		return inner
	}
	return text
}

// Run removes the key from the file.
func (c *configUnset) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, src settings.Source) error {
	path, err := settings.SplitKey(c.Key)
	if err != nil {
		return misused("%v", err)
	}
	done, err := src.UnsetKey(ctx, c.Key)
	if err != nil {
		return withHint(c.Key, err)
	}
	r := changeOf(src, path, done, nil)
	r.text = fmt.Sprintf("%s is unset in %s%s", r.Key, r.Path, r.before())
	if !done.HadValue {
		if _, known := settings.FindKey(c.Key); !known && len(done.Older) == 0 {
			return unknownKey(c.Key)
		}
		r.text = fmt.Sprintf("%s is not set in %s", r.Key, r.Path)
	}
	if len(done.Older) > 0 {
		r.note("%s, an older name of it, still is", strings.Join(done.Older, ", "))
	}
	r.noteEffect(out, here, ask, src, done, path)
	return r.tell(out)
}

// ProvideSource returns the chosen settings file.
func (c where) ProvideSource(here *Folder) (settings.Source, error) { return here.file(c.Scope) }

// file returns the settings file of a scope.
func (here *Folder) file(scope settings.Scope) (settings.Source, error) {
	if scope == settings.Workspace && here.Paths.AtHome() {
		return settings.Source{}, misused("this is your home directory: its .gemini/settings.json is the user's, --scope user")
	}
	all := settings.Sources(here.Paths, here.environment, true)
	return all[slices.IndexFunc(all, func(src settings.Source) bool { return src.Scope == scope })], nil // kong has checked the name
}

// parse returns the value of a text for a key.
func parse(key, text string) (any, error) {
	if _, err := settings.SplitKey(key); err != nil {
		return nil, misused("%v", err)
	}
	k, ok := settings.FindKey(key)
	if !ok {
		return nil, unknownKey(key)
	}
	if strings.ContainsRune(text, utf8.RuneError) { // the grammar replaces invalid bytes by it
		return nil, misused("%s: the value is not UTF-8", k.Name)
	}
	v, err := k.Parse(text)
	if err == nil {
		err = k.Check(v)
	}
	if err == nil && (k.Name == "security.auth.selectedType" || k.Name == "security.auth.enforcedType") {
		err = checkAuthMethod(k.Name, v)
	}
	if err != nil {
		said := err.Error()
		if today, older := settings.CurrentName(key); older && today != key {
			said += "; did you mean " + today + "?"
		}
		return nil, misused("%s", said)
	}
	if _, is := v.(string); !is && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil // keeps the order of keys
	}
	return v, nil
}

// checkAuthMethod returns the error of an unknown sign-in method. A file may contain any word: an
// unknown word stops a run, rather than being ignored.
func checkAuthMethod(key string, v any) error {
	names := lists.Map(auth.Methods(), func(m auth.Method) string { return string(m) })
	if word, is := v.(string); is && slices.Contains(names, word) {
		return nil
	}
	return fmt.Errorf("%s must be %s, not %q", key, strings.Join(names, " or "), v)
}

// withHint adds advice if a file has a value where the key needs an object.
func withHint(key string, err error) error {
	if path, _ := settings.SplitKey(key); len(path) > 1 && strings.HasSuffix(err.Error(), "not an object") {
		return fmt.Errorf("%w (gemline config unset %s takes it out)", err, settings.JoinKey(path[:1]))
	}
	return err
}

// leaks reports whether a value contains a secret, which its shown form masks. References to
// variables do not count, nor does a word before them.
func leaks(v, shown any) bool {
	literal := func(v any) int {
		said := text.Compact(v)
		return strings.Count(said, settings.Hidden) - strings.Count(said, settings.Hidden+"$")
	}
	return literal(shown) > literal(v)
}

// A change is the result of set or unset.
type change struct {
	Key     string            `json:"key"`
	Scope   settings.Scope    `json:"scope"`
	Path    string            `json:"path"`
	Value   any               `json:"value,omitempty"`
	Was     any               `json:"was,omitempty"`
	Changed bool              `json:"changed"`
	By      []settings.Origin `json:"hidden_by,omitempty"`
	Notes   []string          `json:"notes,omitempty"`

	text  string
	holds bool // the running session uses it already
	leaks bool // the value contains a secret
}

func (r *change) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// changeOf returns the change of a key in a settings file. The value is nil if the key was removed.
func changeOf(src settings.Source, path []string, done settings.Change, value any) *change {
	r := &change{Key: settings.JoinKey(path), Scope: src.Scope, Path: done.Path, Changed: !done.Unchanged}
	if value != nil {
		if raw, is := value.(json.RawMessage); is {
			json.Unmarshal(raw, &value) // it was read or made as JSON
		}
		r.Value = settings.MaskWritten(path, value)
		r.leaks = leaks(value, r.Value)
	}
	if done.HadValue {
		r.Was = settings.MaskWritten(path, done.Before)
	}
	return r
}

// before describes the old value.
func (r *change) before() string {
	if r.Was == nil {
		return ""
	}
	const longest = 200
	was := []rune(text.Compact(r.Was))
	if len(was) > longest {
		was = append(was[:longest], '…')
	}
	return " (was " + string(was) + ")"
}

// unusedHere is the note about a change of the project's settings in an untrusted folder.
const unusedHere = "this folder is not trusted, and its settings are not used; gemline trust add trusts it"

// noteEffect notes why the file's value has no effect, if it has none.
func (r *change) noteEffect(out *Output, here *Folder, ask *Asker, src settings.Source, done settings.Change, path []string) {
	if r.leaks {
		r.note("a file of settings is no place for a secret: write $NAME, which is filled in from the environment")
	}
	switch {
	case done.PassedOver != "":
		r.note("the file is passed over: %s", done.PassedOver)
		return
	case src.Scope == settings.Workspace && !here.Trusted:
		r.note(unusedHere)
		return
	}
	explain, err := here.explain(out)
	if err != nil {
		r.note("another file can't be used: %v", err)
	}
	for _, e := range explain(false) {
		at, err := settings.SplitKey(e.Key)
		if err != nil || len(at) < len(path) || !slices.Equal(at[:len(path)], path) {
			continue
		}
		ours := func(o settings.Origin) bool { return o.Path == src.Path }
		if r.Value == nil {
			if len(e.From) > 0 && !slices.ContainsFunc(e.From, ours) {
				r.note("%s is %s now, from %s", e.Key, text.Compact(e.Value), place(e.From[len(e.From)-1], false))
			}
			continue
		}
		if ask.In == nil { // the session's flags do not apply to the next start
			e.From = slices.DeleteFunc(e.From, func(o settings.Origin) bool { return o.Scope == settings.CommandLine })
			if len(e.From) == 0 {
				continue
			}
			e.Value = e.From[len(e.From)-1].Value
		}
		if i := slices.IndexFunc(e.Over, ours); i >= 0 && !slices.ContainsFunc(e.From, ours) {
			r.noteOverride(e, e.Over[i])
		}
	}
	if ask.In == nil && r.Changed && !r.holds {
		r.note("it counts from the next start")
	}
}

// noteOverride notes that a stronger source overrides the file.
func (r *change) noteOverride(e settings.Entry, own settings.Origin) {
	if len(e.From) == 0 {
		r.note("%s does not count: %s", e.Key, own.Note)
		return
	}
	by := e.From[len(e.From)-1]
	r.By = append(r.By, by)
	if text.Compact(e.Value) == text.Compact(own.Value) {
		return // the override has the same value
	}
	r.note("%s does not count: it is %s by %s", e.Key, text.Compact(e.Value), place(by, false))
}

// tell prints the change.
func (r *change) tell(out *Output) error {
	if err := out.show(r, r.text); err != nil || out.JSON {
		return err
	}
	for _, n := range r.Notes {
		out.Notify(text.PrintableLine(n))
	}
	return nil
}
