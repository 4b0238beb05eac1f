package markdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update-markdown", false, "rewrite testdata")

// shown renders text in pieces of the given sizes, which repeat.
func shown(text string, sizes ...int) string {
	var b strings.Builder
	for _, s := range spans(text, sizes...) {
		b.WriteString(s.Text)
	}
	return b.String()
}

func spans(text string, sizes ...int) []Span {
	r := New(nil)
	var all []Span
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(sizes) > 0 {
			n = min(n, max(1, sizes[i%len(sizes)]))
		}
		all = append(all, r.Write(text[:n])...)
		text = text[n:]
	}
	return append(all, r.Close()...)
}

func TestText(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := string(a.Files[0].Data)
			got := shown(text)
			for size := 1; size < 8; size++ {
				if again := shown(text, size); again != got {
					t.Errorf("in pieces of %d: %s", size, cmp.Diff(got, again))
				}
			}
			if whole := reference(text); whole != got {
				t.Errorf("read as a whole: %s", cmp.Diff(whole, got))
			}
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestManual holds the example in the manual to what happens.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/answers.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(info string) string {
		_, rest, _ := strings.Cut(string(page), "\n````"+info+"\n")
		text, _, ok := strings.Cut(rest, "````\n")
		if !ok {
			t.Fatalf("no block of %s", info)
		}
		return text
	}
	if diff := cmp.Diff(block("text"), shown(block("markdown"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(block("seen"), textOf(seen(80, block("markdown"), 10))); diff != "" {
		t.Error(diff)
	}
}
