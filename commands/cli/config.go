package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/jsonc"
)

// configCommand is gemline config.
type configCommand struct {
	List     configList     `cmd:"" help:"List the settings." slash:"list"`
	Get      configGet      `cmd:"" help:"Print the value of a key." slash:"get"`
	Set      configSet      `cmd:"" help:"Give a key a value, in one of the files." slash:"set"`
	Unset    configUnset    `cmd:"" help:"Take a key out of one of the files." slash:"unset"`
	Path     configPath     `cmd:"" help:"Say where the files of settings are." slash:"path"`
	Validate configValidate `cmd:"" help:"Say everything that is wrong with the files." slash:"validate"`
}

// An explainer returns the effective values of the settings, environment and command line included.
// It returns all keys if all is set.
type explainer func(all bool) []settings.Entry

// ProvideExplainer returns the explainer of the settings.
func (*configCommand) ProvideExplainer(out *Output, here *Folder) (explainer, error) {
	return here.explain(out)
}

// explain reads the settings files in effect.
func (here *Folder) explain(out *Output) (explainer, error) {
	s, err := here.settings()
	for _, l := range s.Layers() {
		if err == nil && l.PassedOver != "" {
			out.Notify(fmt.Sprintf("%s is passed over: %s", l.Path, l.PassedOver))
		}
	}
	return func(all bool) []settings.Entry {
		return s.Explain(settings.Inputs{Lookup: here.Lookup, DotEnv: here.DotEnv, Flags: here.Flags}, all)
	}, err
}

type configList struct {
	Origin bool `help:"Say where each value comes from, and what does not count."`
	All    bool `help:"List the defaults, too."`
}

// Run prints a line for each key, and with --origin indented lines below it.
func (c *configList) Run(out *Output, explain explainer) error {
	entries := explain(c.All)
	if !c.Origin {
		entries = effective(entries)
	}
	return out.listing(map[string]any{"settings": entries}, entryLines(entries), "nothing is set")
}

// effective removes the origins, and entries without effect.
func effective(entries []settings.Entry) []settings.Entry {
	counting := lists.Filter(entries, func(e settings.Entry) bool { return e.From != nil })
	return lists.Map(counting, func(e settings.Entry) settings.Entry {
		e.From, e.Over, e.Status = nil, nil, ""
		return e
	})
}

// entryLines describes each key.
func entryLines(entries []settings.Entry) (lines []string) {
	for _, e := range entries {
		value := "(not set)"
		if e.From != nil || e.Status == "" && e.Over == nil {
			value = text.Compact(e.Value)
		}
		lines = append(lines, e.Key+" = "+value)
		lines = append(lines, lists.Map(e.From, func(o settings.Origin) string { return "  from " + place(o, len(e.From) > 1) })...)
		lines = append(lines, lists.Map(e.Over, func(o settings.Origin) string { return "  over " + place(o, true) })...)
		if e.Status != "" && e.Status != settings.Used {
			lines = append(lines, "  "+string(e.Status))
		}
	}
	return lines
}

// place describes an origin: the scope, the name and the file. With value, it adds the origin's
// value if that differs from the key's.
func place(o settings.Origin, value bool) string {
	var b strings.Builder
	b.WriteString(string(o.Scope))
	switch {
	case o.Name == "":
		b.WriteString(strings.TrimRight(" "+o.Path, " "))
	case o.Path == "":
		b.WriteString(" " + o.Name)
	default:
		b.WriteString(" " + o.Name + " in " + o.Path)
	}
	if o.Line > 0 {
		fmt.Fprintf(&b, ":%d", o.Line)
	}
	if o.Older != "" {
		b.WriteString(", as " + o.Older)
	}
	if value {
		b.WriteString(" = " + text.Compact(o.Value))
	}
	if o.Written != nil {
		b.WriteString(", written " + text.Compact(o.Written))
	}
	if o.Note != "" {
		b.WriteString("; " + o.Note)
	}
	return b.String()
}

type configGet struct {
	Key    string `arg:"" complete:"key" help:"Such as model.name, or a part of one."`
	Origin bool   `help:"Say where the value comes from, and what does not count."`
}

// Run prints the value as JSON on one line.
func (c *configGet) Run(out *Output, explain explainer) error {
	path, err := settings.SplitKey(c.Key)
	if err != nil {
		return misused("%v", err)
	}
	name := settings.JoinKey(path)
	entries := settings.Under(explain(true), path)
	if _, known := settings.FindKey(name); !known && len(entries) == 0 {
		return unknownKey(c.Key)
	}
	value := settings.Value(entries, path)
	doc := map[string]any{"key": name, "value": value}
	if !c.Origin {
		return out.show(doc, text.Compact(value))
	}
	doc["settings"] = entries
	return out.listing(doc, entryLines(entries), name+" = (not set)")
}

// unknownKey is the error about an unknown key.
func unknownKey(name string) error {
	message := fmt.Sprintf("%.100q is not a setting", name)
	if today, older := settings.CurrentName(name); older && today != name {
		message += "; it is called " + today + " today"
	} else if near := settings.Nearest(name); near != "" {
		message += "; did you mean " + near + "?"
	}
	return misused("%s", message)
}

type configPath struct{}

// A file describes a file of settings.
type file struct {
	Scope    settings.Scope `json:"scope,omitempty"`
	Path     string         `json:"path"`
	State    string         `json:"state"`
	Detail   string         `json:"detail,omitempty"`
	Problems []problem      `json:"problems,omitempty"`

	Unused []settings.Unused `json:"unused,omitempty"` // settings without an effect yet

	err error // why it can't be used
}

// Run prints the path of each file, the weakest first, and whether it is in effect.
func (*configPath) Run(out *Output, here *Folder) error {
	var files []file
	var lines []string
	for _, f := range here.examine(settings.Sources(here.Paths, here.environment, true)) {
		switch f.Problems, f.Unused = nil, nil; {
		case f.Path == "":
			f.Detail = "no home directory"
		case f.err != nil:
			f.Detail = reason(f.err)
		}
		text := strings.TrimSpace(string(f.Scope)+" "+f.Path) + ": " + f.State
		if f.Detail != "" {
			text += ": " + f.Detail
		}
		files, lines = append(files, f), append(lines, text)
	}
	return out.show(map[string]any{"files": files}, lines...)
}

// States of a file.
const (
	stateUsed      = "used"
	stateMissing   = "not there"
	statePassed    = "passed over"
	stateUntrusted = "not used, since the folder is not trusted"
	stateBroken    = "can't be used"
)

// reason returns the error of a file, without its path.
func reason(err error) string {
	var fe *jsonc.Error
	if !errors.As(err, &fe) {
		return err.Error()
	}
	if fe.Line == 0 {
		return fe.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", fe.Line, fe.Column, fe.Message)
}

type configValidate struct {
	File string `arg:"" optional:"" complete:"files" type:"path" help:"Another file, instead of the files in use."`
}

type problem struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Fatal   bool   `json:"fatal,omitempty"` // the file can't be used at all
}

// Run prints a line for each problem, in the format of compilers. The error is about the first
// unusable file.
func (c *configValidate) Run(ctx context.Context, out *Output, here *Folder, project Project) error {
	sources := settings.Sources(here.Paths, here.environment, true)
	if c.File != "" {
		if _, err := os.Stat(c.File); err != nil {
			return &jsonc.Error{Path: c.File, Message: "is not there, or can't be looked at"}
		}
		sources = []settings.Source{{Path: c.File}}
	}
	var broken error
	files := here.examine(sources)
	for _, f := range files {
		broken = cmp.Or(broken, f.err)
	}
	var problems []Problem
	if c.File == "" && broken == nil {
		problems = append(problems, problemsBeside(ctx, here, out, project)...)
	}
	problems = slices.DeleteFunc(problems, func(p Problem) bool { // the problem was printed with its position
		return p.Err == nil && slices.ContainsFunc(files, func(f file) bool {
			return slices.ContainsFunc(f.Problems, func(q problem) bool { return strings.HasSuffix(p.Message, q.Message) })
		})
	})
	for _, p := range problems {
		broken = cmp.Or(broken, p.Err)
	}
	rest := slices.DeleteFunc(here.Unused(), func(u settings.Unused) bool {
		return c.File != "" || slices.ContainsFunc(files, func(f file) bool { return f.Path == u.File })
	})
	l := listingOf("files", files)
	l.doc["problems"], l.doc["unused"], l.doc["ok"] = problems, rest, broken == nil
	for _, p := range problems {
		if p.Err == nil || p.Err != broken { // otherwise the error says it
			l.lines = append(l.lines, p.About+": "+p.Message)
		}
	}
	for _, text := range settings.UnusedLines(rest) {
		l.lines = append(l.lines, string(settings.Later)+": "+text)
	}
	return errors.Join(out.list(l, ""), broken)
}

// problemsBeside returns the problems of files that a run reads beside the settings, and of the
// configured sign-in method.
func problemsBeside(ctx context.Context, here *Folder, out *Output, project Project) (list []Problem) {
	if project != nil {
		list = project.Problems()
	}
	if _, err := here.settings(); err != nil {
		return list
	}
	c, err := here.choose(out)
	if _, err := here.reach(c.BaseURL.Value); err != nil {
		list = append(list, Problem{About: "network", Message: err.Error() + "; " + Hint(err)})
	}
	var st authRecord
	switch {
	case err != nil, c.From == "" || c.Key.Value != "": // no method is chosen, or a key is there
	case c.Account != nil:
		err = st.find(ctx, here, c)
	case c.Stored && !here.keys().MayHaveKey(c):
		list = append(list, Problem{About: "credentials", Message: c.ErrNoKey().Error()}) // without a file that would explain it
	}
	if err != nil {
		return append(list, Problem{About: "credentials", Message: err.Error(), Next: Hint(err), Err: err})
	}
	if c.Instead != "" {
		list = append(list, Problem{About: "credentials", Message: c.Instead})
	}
	return list
}

// examine determines the state of each file, and lists its mistakes. It does not read files of an
// untrusted folder.
func (here *Folder) examine(sources []settings.Source) (files []file) {
	untrusted := func(src settings.Source) bool { return src.Scope == settings.Workspace && !here.Trusted }
	s, _, _ := settings.Load(slices.DeleteFunc(slices.Clone(sources), untrusted), here.environment)
	layers := s.Layers()
	for _, src := range sources {
		f := file{Scope: src.Scope, Path: src.Path, State: stateUsed}
		if untrusted(src) {
			f.State = stateUntrusted
			if _, err := os.Stat(src.Path); err != nil {
				f.State = stateMissing
			}
		} else {
			f.read(&layers[0])
			layers = layers[1:]
		}
		files = append(files, f)
	}
	return files
}

// read copies the problems of a file from l.
func (f *file) read(l *settings.Layer) {
	f.err = l.Err
	var fe *jsonc.Error
	switch {
	case errors.As(l.Err, &fe):
		f.State = stateBroken
		f.Problems = []problem{{Line: fe.Line, Column: fe.Column, Message: fe.Message, Fatal: true}}
	case l.PassedOver != "":
		f.State, f.Detail = statePassed, l.PassedOver
	case l.Missing:
		f.State = stateMissing
	}
	f.Problems = append(f.Problems, lists.Map(l.Problems, func(p settings.Problem) problem {
		return problem{Line: l.Line(p), Key: p.Key, Message: p.Advised()}
	})...)
	f.Unused = l.Unused()
}

// lines returns the problems of a file, in the format of compilers.
func (f file) lines() []string {
	verdict := "nothing is wrong with it"
	switch {
	case f.Detail != "":
		verdict = f.State + ": " + f.Detail
	case f.State != stateUsed:
		verdict = f.State
	case f.Problems != nil:
		verdict = fmt.Sprintf("%d to look at", len(f.Problems))
	}
	lines := []string{cmp.Or(f.Path, string(f.Scope)) + ": " + verdict}
	for _, p := range f.Problems {
		if !p.Fatal { // otherwise the error says it
			lines = append(lines, fmt.Sprintf("%s:%d: %s", f.Path, p.Line, p.Message))
		}
	}
	for _, u := range f.Unused {
		at := strings.TrimSuffix(fmt.Sprintf("%s:%d", f.Path, u.Line), ":0")
		lines = append(lines, at+": "+string(settings.Later)+": "+u.Name)
	}
	return lines
}
