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
	// Find returns what r refers to. Its error is only ever that of ctx.
	Find(ctx context.Context, r Ref) (Target, error)

	// Read returns the contents of names that Find has found. Each text is
	// preceded by a part that names it.
	Read(ctx context.Context, names []string) ([]*genai.Part, error)
}

// A Target is what a reference stands for. The zero Target is nothing.
type Target struct {
	Text  string   // what the reference is called in the prompt, without the @
	Names []string // for the source to read
	Note  string   // for the model, where the reference is no content: it stays as it is
	Less  int      // how many bytes at the end of the reference are not meant
	Told  bool     // if it is nothing: the user was told why
	why   string
}

// References is the step that adds the contents of what a prompt refers to by an @.
// What it can't use stays in the text and is told.
type References struct {
	// Sources returns those that there are at the moment. The first one that
	// has what is named answers.
	Sources func() []Source

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
	var query strings.Builder
	names := make([][]string, len(sources)) // to be read, by the source
	known := map[string]answer{}
	var notes []*genai.Part
	at := 0
	for _, r := range refs(s) {
		a, ok := known[s[r.start:r.end]]
		if !ok {
			var err error
			if a, err = rs.find(ctx, sources, r); err != nil {
				return nil, err
			}
			if known[s[r.start:r.end]] = a; a.Note != "" {
				notes = append(notes, genai.NewPartFromText(a.Note))
			}
		}
		if len(a.Names) == 0 {
			continue
		}
		query.WriteString(s[at:r.start])
		if n := query.Len(); n > 0 && !strings.HasSuffix(query.String()[n-1:], " ") {
			query.WriteByte(' ')
		}
		query.WriteString("@" + a.Text)
		at = r.end - a.Less
		for _, name := range a.Names {
			if !slices.Contains(names[a.source], name) {
				names[a.source] = append(names[a.source], name)
			}
		}
	}
	if at == 0 {
		return append(parts, notes...), nil
	}
	query.WriteString(s[at:])
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
	parts = append(withText(parts, query.String()), Referenced(contents)...)
	return append(parts, notes...), nil
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

// Said returns what of a message the user has said: what it refers to is not.
func Said(parts []*genai.Part) []*genai.Part {
	if i := slices.IndexFunc(parts, func(p *genai.Part) bool { return p.Text == filesBegin }); i >= 0 {
		return parts[:i]
	}
	return parts
}

// find asks the sources for what r refers to.
func (rs References) find(ctx context.Context, sources []Source, r Ref) (answer, error) {
	for i, source := range sources {
		t, err := source.Find(ctx, r)
		if err != nil || len(t.Names) > 0 || t.Note != "" || t.Told {
			return answer{t, i}, err
		}
	}
	if !r.Mail && r.sane() {
		say(rs.Notify, "@%s: there is no such file; sent as text", r.Name)
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
