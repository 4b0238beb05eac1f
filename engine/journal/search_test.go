package journal

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
)

func TestSearch(t *testing.T) {
	f := newFile(t, testID)
	talk(t, f)
	put(t, f, engine.Entry{Content: user("Wo ist der Käse?\nIm \"Kühlschrank\" <hier>?")}, engine.Entry{Content: model("No idea.")})
	if err := f.SetName("Parser"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words string
		want  []string
	}{
		{"SECOND", []string{"2 gemini Second."}},
		{"a.go", []string{"2 ls a.go"}},
		{`"dir"`, []string{`2 ls {"dir":"."}`}},
		{"käse", []string{"4 you Wo ist der Käse?"}},
		{`"kühlschrank" <HIER>`, []string{`4 you Im "Kühlschrank" <hier>?`}},
		{"pars", []string{"0 name Parser"}},
		{"session_context", nil},
		{"functionCall", nil}, // in the bytes, and not said
		{"?", []string{"4 you Wo ist der Käse?", `4 you Im "Kühlschrank" <hier>?`}},
		{" ", nil},
	} {
		found, err := Search(filepath.Dir(f.Path()), c.words)
		var got []string
		for _, s := range found {
			for _, h := range s.Hits {
				got = append(got, fmt.Sprint(h.Turn, " ", h.Who, " ", h.Line))
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.words, got, err, c.want)
		}
	}
}

// What lies around a hit is cut at characters, and where the letters have another length
// when small.
func TestAround(t *testing.T) {
	for _, line := range []string{strings.Repeat("ä", 300) + "x", strings.Repeat("İ", 300) + "x", "\xff\xfe x", "x"} {
		low := strings.ToLower(line)
		got := around(line, strings.Index(low, "x"))
		if !strings.ContainsAny(got, "xäİ") || len([]rune(got)) > 170 {
			t.Errorf("%q", got)
		}
	}
}

// The bytes never say no where the text says yes.
func FuzzSurePart(f *testing.F) {
	f.Add("Hello World", "o w")
	f.Add("aAbB", "ab")
	f.Add("x", "")
	f.Fuzz(func(t *testing.T, text, words string) {
		words = strings.ToLower(words)
		for i := range len(text) {
			if text[i] >= 0x80 {
				t.Skip() // letters that are small in ASCII
			}
		}
		b, err := encode(text)
		if err == nil && strings.Contains(strings.ToLower(text), words) && !bytes.Contains(bytes.ToLower(b), []byte(surePart(words))) {
			t.Errorf("%q holds %q", text, words)
		}
	})
}
