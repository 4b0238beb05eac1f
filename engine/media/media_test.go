package media_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/media"
)

func TestKeep(t *testing.T) {
	blob := func(kind, data string) *genai.Part {
		return &genai.Part{InlineData: &genai.Blob{MIMEType: kind, Data: []byte(data)}}
	}
	text := func(s string) *genai.Part { return &genai.Part{Text: s} }
	for _, c := range []struct {
		name  string
		parts []*genai.Part
		shown string // with DIR for the directory
		files map[string]string
	}{
		{"an image alone", []*genai.Part{blob("image/png", "P")}, "image: DIR/image-1.png\n", map[string]string{"image-1.png": "P"}},
		{"behind a text", []*genai.Part{text("Here:"), blob("image/jpeg", "J")}, "Here:\nimage: DIR/image-1.jpg\n", map[string]string{"image-1.jpg": "J"}},
		{"behind a line", []*genai.Part{text("Here:\n"), blob("audio/wav; rate=24000", "W")}, "Here:\naudio: DIR/audio-1.wav\n",
			map[string]string{"audio-1.wav": "W"}},
		{"two", []*genai.Part{blob("image/png", "1"), blob("IMAGE/PNG", "2")}, "image: DIR/image-1.png\nimage: DIR/image-2.png\n",
			map[string]string{"image-1.png": "1", "image-2.png": "2"}},
		{"of a type without a name", []*genai.Part{blob("application/x-../../evil", "E")}, "file: DIR/file-1.bin\n", map[string]string{"file-1.bin": "E"}},
		{"by reference", []*genai.Part{{FileData: &genai.FileData{FileURI: "gs://a/b.mp4", MIMEType: "video/mp4"}}}, "video: gs://a/b.mp4\n", nil},
		{"text alone", []*genai.Part{text("hi")}, "hi", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "kept")
			e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Message(&genai.Content{Role: genai.RoleModel, Parts: c.parts}))})
			var shown strings.Builder
			answered := false
			for ev, err := range media.Store(e.Run, e.History, func() string { return dir })(t.Context(), text("draw")) {
				if err != nil {
					t.Fatal(err)
				}
				switch ev := ev.(type) {
				case engine.Text:
					if answered {
						t.Error("a text came behind the end of the answer")
					}
					shown.WriteString(strings.ReplaceAll(ev.Delta, dir+string(filepath.Separator), "DIR/"))
				case engine.AnswerFinished:
					answered = true
				}
			}
			if shown.String() != c.shown {
				t.Errorf("shown %q, want %q", shown.String(), c.shown)
			}
			entries, _ := os.ReadDir(dir)
			if len(entries) != len(c.files) {
				t.Errorf("files %v, want %q", entries, c.files)
			}
			for name, want := range c.files {
				if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != want || err != nil {
					t.Errorf("%s holds %q, %v", name, b, err)
				}
			}
		})
	}
}

// TestNotKept has no place for an image: that is said, and nothing fails.
func TestNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, want string }{
		{"", "the image of the answer is not kept: this session keeps no files"},
		{filepath.Join(file, "dir"), "the image of the answer is not kept: not a directory"},
	} {
		e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Message(&genai.Content{Role: genai.RoleModel,
			Parts: []*genai.Part{{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("P")}}}}))})
		var told []string
		for ev, err := range media.Store(e.Run, e.History, func() string { return c.dir })(t.Context(), genai.NewPartFromText("draw")) {
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := ev.(engine.Notice); ok {
				told = append(told, n.Text)
			}
		}
		if len(told) != 1 || told[0] != c.want {
			t.Errorf("told %q, want %q", told, c.want)
		}
	}
}
