package input

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// A Source has targets of references by an @, such as the files of a workspace or the resources of
// a server.
type Source interface {
	// Find returns what r refers to. The only error is that of ctx.
	Find(ctx context.Context, r Ref) (Target, error)

	// Read returns the contents of names that Find has returned. A part with the name precedes each
	// text.
	Read(ctx context.Context, names []string) ([]*genai.Part, error)
}

// A Target is the target of a reference. The zero Target means that there is none.
type Target struct {
	Names    []string // names for Source.Read
	Note     string   // for the model, if the reference has no contents
	Reported bool     // the user already knows why there is no target
	why      string
}

// References is the step that adds the contents of @ references to a prompt. The prompt stays
// unchanged. The step warns about a path without a target.
type References struct {
	// Sources returns the current sources. The first source with a target answers.
	Sources func() []Source

	// Pasted returns the pasted parts of the prompt, which contain no references; the field is nil
	// if no prompt has pasted parts.
	Pasted func() []string

	// Notify prints a warning about a reference without a target.
	Notify func(string)
}

const (
	filesBegin = "\n--- Content from referenced files ---"
	filesEnd   = "\n--- End of content ---"
	filesNone  = "No files matching the criteria were found or all were skipped."
)

// An answer is a source's target for a reference.
type answer struct {
	Target
	source int
}

// Step is the [Step] of rs.
func (rs References) Step(next Processor) Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		parts, err := rs.expand(ctx, parts)
		if err != nil {
			return nil, err
		}
		return next(ctx, parts)
	}
}

func (rs References) expand(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
	s, sources := text(parts), rs.Sources()
	names := make([][]string, len(sources)) // names to read, by source
	known := map[string]bool{}
	var notes []*genai.Part
	var nothing []string
	found := false
	pasted := inserted(s, rs.Pasted)
	for _, r := range refs(s) {
		if inside(pasted, r.start) {
			continue
		}
		if known[s[r.start:r.end]+r.rest] {
			continue
		}
		known[s[r.start:r.end]+r.rest] = true
		a, err := rs.find(ctx, sources, r)
		if err != nil {
			return nil, err
		}
		if a.Note != "" {
			notes = append(notes, genai.NewPartFromText(a.Note))
		} else if len(a.Names) == 0 && !a.Reported && !r.Mail && r.sane() && r.path() {
			name := "@" + r.Name
			if r.goesOn() {
				name += r.rest
			}
			if !slices.Contains(nothing, name) {
				nothing = append(nothing, name)
			}
		}
		for _, name := range a.Names {
			found = true
			if !slices.Contains(names[a.source], name) {
				names[a.source] = append(names[a.source], name)
			}
		}
	}
	rs.tell(nothing)
	if !found {
		return append(parts, notes...), nil
	}
	contents, err := read(ctx, sources, names)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Error{Message: "the prompt was not sent: " + err.Error(), Err: err}
	}
	if len(contents) == 0 {
		say(rs.Notify, "nothing that the prompt refers to could be read")
		contents = []*genai.Part{genai.NewPartFromText(filesNone)}
	}
	return slices.Concat(parts, Referenced(contents), notes), nil
}

// tell warns in one line about references without a target.
func (rs References) tell(nothing []string) {
	const most = 3
	switch n := len(nothing); {
	case n == 1:
		say(rs.Notify, "%s: there is no such file; sent as text", nothing[0])
	case n > most:
		say(rs.Notify, "%s and %d more: there are no such files; sent as text", strings.Join(nothing[:most], ", "), n-most)
	case n > 0:
		say(rs.Notify, "%s: there are no such files; sent as text", strings.Join(nothing, ", "))
	}
}

// Referenced returns contents in their form behind a prompt, nothing without contents.
func Referenced(contents []*genai.Part) []*genai.Part {
	if len(contents) == 0 {
		return nil
	}
	return append(append([]*genai.Part{genai.NewPartFromText(filesBegin)}, contents...),
		genai.NewPartFromText(filesEnd))
}

// OwnParts returns the user's own parts of a message, without the referenced files.
func OwnParts(parts []*genai.Part) []*genai.Part {
	if i := slices.IndexFunc(parts, func(p *genai.Part) bool { return p.Text == filesBegin }); i >= 0 {
		return parts[:i]
	}
	return parts
}

// find asks the sources for the target of r.
func (rs References) find(ctx context.Context, sources []Source, r Ref) (answer, error) {
	for i, source := range sources {
		t, err := source.Find(ctx, r)
		if err != nil || len(t.Names) > 0 || t.Note != "" || t.Reported {
			return answer{t, i}, err
		}
	}
	return answer{}, nil
}

func read(ctx context.Context, sources []Source, names [][]string) (contents []*genai.Part, err error) {
	for i, source := range sources {
		if len(names[i]) == 0 {
			continue
		}
		parts, err := source.Read(ctx, names[i])
		if err != nil {
			return nil, err
		}
		contents = append(contents, parts...)
	}
	return contents, nil
}
