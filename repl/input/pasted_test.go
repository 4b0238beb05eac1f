package input

import (
	"context"
	"testing"

	"google.golang.org/genai"
)

// asked is a source that notes what is looked for in it.
type asked []string

func (a *asked) Find(_ context.Context, r Ref) (Target, error) {
	*a = append(*a, r.Name)
	return Target{Names: []string{r.Name}}, nil
}

func (a *asked) Read(context.Context, []string) ([]*genai.Part, error) { return nil, nil }

// Nothing in what was pasted is a reference; what was typed around it is.
func TestPasted(t *testing.T) {
	for _, test := range []struct {
		name, prompt string
		pasted       []string
		want         string
	}{
		{"typed", "see @a.go", nil, "a.go"},
		{"pasted", "class A {\n  @Override x;\n}", []string{"class A {\n  @Override x;\n}\n"}, ""},
		{"around it", "@a.go has\n@b.go\n@c.go\nand @d.go", []string{"@b.go\n@c.go\n"}, "a.go d.go"},
		{"two of them", "@a.go\nx @b.go y\n@c.go\n", []string{"@c.go\n", "@a.go\n"}, "b.go"},
		{"twice", "@b.go\n@c.go and @a.go and @b.go\n@c.go", []string{"@b.go\n@c.go"}, "a.go"},
		{"changed since", "@a.go", []string{"@b.go\n@c.go"}, "a.go"},
		{"nothing", "@a.go", []string{"\n\n"}, "a.go"},
	} {
		var found asked
		rs := References{Sources: func() []Source { return []Source{&found} }, Pasted: func() []string { return test.pasted }}
		if _, err := rs.expand(t.Context(), []*genai.Part{genai.NewPartFromText(test.prompt)}); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, name := range found {
			if i > 0 {
				got += " "
			}
			got += name
		}
		if got != test.want {
			t.Errorf("%s: got %q; want %q", test.name, got, test.want)
		}
	}
}
