package input

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// A Source has what a prompt may refer to by an @: the files of a workspace, say,
// or what a server offers.
type Source interface {
	// Find returns what r refers to. The only error is that of ctx.
	Find(ctx context.Context, r Ref) (Target, error)

	// Read returns the contents of names that Find has found. Each text is
	// preceded by a part that names it.
	Read(ctx context.Context, names []string) ([]*genai.Part, error)
}

// A Target is what a reference stands for. The zero Target is nothing.
type Target struct {
	Names    []string // for the source to read
	Note     string   // for the model, where the reference is no content
	Reported bool     // if it is nothing: the user was told why
	why      string
}

// References is the step that puts the contents of what a prompt refers to by an @ beside
// it. The prompt stays as it is. What looks like a path and leads to nothing is told.
type References struct {
	// Sources returns the current sources. The first source that has the named thing answers.
	Sources func() []Source

	// Pasted returns what of the prompt was pasted, in which nothing is a reference; nil if
	// nothing ever is.
	Pasted func() []string

	// Notify tells the user about a reference that is nothing.
	Notify func(string)
}

const (
	filesBegin = "\n--- Content from referenced files ---"
	filesEnd   = "\n--- End of content ---"
	filesNone  = "No files matching the criteria were found or all were skipped."
)

// An answer is what a source has for a reference.
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
	names := make([][]string, len(sources)) // to be read, by the source
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

// tell says in one line which references are nothing.
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

// Referenced returns contents as they stand behind a prompt that refers to them, nothing if
// there are none.
func Referenced(contents []*genai.Part) []*genai.Part {
	if len(contents) == 0 {
		return nil
	}
	return append(append([]*genai.Part{genai.NewPartFromText(filesBegin)}, contents...),
		genai.NewPartFromText(filesEnd))
}

// OwnParts returns the user's own parts of a message, without the files that it refers to.
func OwnParts(parts []*genai.Part) []*genai.Part {
	if i := slices.IndexFunc(parts, func(p *genai.Part) bool { return p.Text == filesBegin }); i >= 0 {
		return parts[:i]
	}
	return parts
}

// find asks the sources for what r refers to.
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
