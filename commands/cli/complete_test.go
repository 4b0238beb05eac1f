package cli

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	c := completer{values: func(kind string) []candidate {
		return []candidate{{"a-" + kind, ""}, {"b-" + kind, ""}}
	}}
	for _, x := range []struct{ words, want string }{
		{"tru", "words: trust"},
		{"no such", "words:"},
		{"trust a", "words: add"},
		{"trust add ", "dirs:"},
		{"trust add --par", "words: --parent"},
		{"trust add --json --par", "words: --parent"},
		{"trust --promp", "words:"}, // not there any more
		{"-q trust d", "words: deny"},
		{"-m tru", "words:"},
		{"-m ", "words: a-model b-model"},
		{"-m x tru", "words: trust"},
		{"--model=b", "words: --model=b-model"},
		{"--model ", "words: a-model b-model"},
		{"--resume --no-inp", "words: --no-input"}, // its value is optional
		{"--resume b", "words: b-session"},
		{"--resume b tru", "words: trust"},
		{"--extract tru", "words: trust"}, // its value is attached
		{"--output-format js", "words: json"},
		{"-o=te", "words: -o=text"},
		{"--json=", "words:"},
		{"--nonsense=", "words:"},
		{"--nonsense tru", "words: trust"},
		{"--fake-responses ", "files:"},
		{"--include-directories=x", "dirs:"},
		{"--prompt --mod", "words:"}, // which is the prompt
		{"fix the tru", "words:"},
		{"fix --approval-mode y", "words: yolo"},
		{"-- tru", "words:"},
		{"-- --mod", "words:"},
		{"--accept-raw", "words:"}, // hidden
		{"config get a", "words: a-key"},
		{"config get model.name ", "words:"},
		{"config set b", "words: b-key"},
		{"help a", "words: a-topic"},
		{"completion a", "words: a-shell"},
		{"auth login --fi", "words: --file"}, // by another name
		{"auth use b", "words: b-method"},
		{"schema a", "words: a-schema"},
		{"trust --he", "words: --help"},
		{"", "words: config trust auth"},
		{"-", "words: --prompt"},
	} {
		kind, list := c.complete(strings.Split(x.words, " "))
		got := kind + ":"
		for _, w := range list {
			got += " " + w.word
		}
		if x.want != got && !(x.words == "" || x.words == "-") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%q: got %s; want %s", x.words, got, x.want)
		}
	}
	if _, list := c.complete(nil); len(list) < 5 {
		t.Errorf("no words: %v", list)
	}
}

// What is offered is taken: a flag parses, and everything begins with what was
// typed.
func FuzzComplete(f *testing.F) {
	f.Add("trust add ")
	f.Add("-m= -- --=")
	c := completer{values: func(kind string) []candidate { return []candidate{{kind, ""}} }}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		_, list := c.complete(words)
		for _, x := range list {
			if !strings.HasPrefix(x.word, words[len(words)-1]) {
				t.Errorf("%q: %q", line, x.word)
			}
		}
	})
}

// Every script asks in the words that the program answers to.
func TestScriptsAsk(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out strings.Builder
		if err := (&completionCommand{Shell: shell}).Run(t.Context(), &Output{Out: &out}, nil); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, "completion words") || !strings.Contains(text, "gemline completion "+shell) && shell != "fish" {
			t.Errorf("%s: %s", shell, text)
		}
	}
}
