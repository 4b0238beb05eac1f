package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		args string // separated by |
		want func(f *Set) bool
	}{
		{"", func(f *Set) bool { return f.Prompt == "" && len(f.Words) == 0 }},
		{"-p|hi", func(f *Set) bool { return f.Prompt == "hi" }},
		{"-p|- item", func(f *Set) bool { return f.Prompt == "- item" }},
		{"-p=--yolo", func(f *Set) bool { return f.Prompt == "--yolo" && !f.Yolo }},
		{"--prompt=--yolo", func(f *Set) bool { return f.Prompt == "--yolo" && !f.Yolo }},
		{"-p|--yolo is what?", func(f *Set) bool { return f.Prompt == "--yolo is what?" && !f.Yolo }},
		{"-p|--listen", func(f *Set) bool { return f.Prompt == "--listen" }},
		{"-p|-yq", func(f *Set) bool { return f.Prompt == "-yq" && !f.Yolo }},
		{"-p|-", func(f *Set) bool { return f.Prompt == "-" }},
		{"--|--json", func(f *Set) bool { return slices.Equal(f.Words, []string{"--json"}) && !f.JSON }},
		{"--prompt=a=b", func(f *Set) bool { return f.Prompt == "a=b" }},
		{"-p=x", func(f *Set) bool { return f.Prompt == "x" }},
		{"-ojson", func(f *Set) bool { return f.Format() == "json" }},
		{"--outputFormat|stream-json", func(f *Set) bool { return f.Format() == "stream-json" }},
		{"--json|-p|x", func(f *Set) bool { return f.Format() == "json" && f.Prompt == "x" }},
		{"fix|--yolo|bug", func(f *Set) bool { return f.Yolo && slices.Equal(f.Words, []string{"fix", "bug"}) }},
		{"-yd|x", func(f *Set) bool { return f.Yolo && f.Debug && slices.Equal(f.Words, []string{"x"}) }},
		{"--|-p|x", func(f *Set) bool { return f.Prompt == "" && slices.Equal(f.Words, []string{"-p", "x"}) }},
		{"-", func(f *Set) bool { return slices.Equal(f.Words, []string{"-"}) }},
		{"--resume", func(f *Set) bool { return f.Resume == Optional{Set: true} }},
		{"-r|3|-p|x", func(f *Set) bool { return f.Resume == Optional{true, "3"} && f.Prompt == "x" }},
		{"--resume=latest", func(f *Set) bool { return f.Resume == Optional{true, "latest"} }},
		{"--no-debug", func(f *Set) bool { return !f.Debug }},
		{"", plainFlag("", false)},
		{"--accessible", plainFlag("--screen-reader", false)},
		{"--plain", plainFlag("--plain", false)},
		{"--plain=true", plainFlag("--plain", false)},
		{"--no-plain", plainFlag("--plain", true)},
		{"--plain=false", plainFlag("--plain", true)},
		{"--no-accessible", plainFlag("--screen-reader", true)},
		{"--screenReader=false", plainFlag("--screen-reader", true)},
		{"--plain|--no-screen-reader", plainFlag("--plain", false)},
		{"--screen-reader|--no-plain", plainFlag("--screen-reader", false)},
		{"--screen-reader|--no-screen-reader", plainFlag("--screen-reader", true)},
		{"--no-echo", func(f *Set) bool { return f.NoEcho }},
		{"--no-ascii", func(f *Set) bool { return !f.ASCII }},
		{"--stream|final|--detail=short", func(f *Set) bool { return f.Stream == "final" && f.Detail == "short" }},
		{"--include-directories|a,b|--include-directories|c", func(f *Set) bool {
			return slices.Equal(f.IncludeDirs, []string{"a", "b", "c"})
		}},
		{"-e|a,b|-e|none", func(f *Set) bool { return slices.Equal(f.Extensions, []string{"a", "b", "none"}) }},
		{"-m|a|-m|b", func(f *Set) bool { return f.Model == "b" }},
	} {
		t.Run(test.args, func(t *testing.T) {
			f, err := Parse(split(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if !test.want(f) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestBytes(t *testing.T) {
	f, err := Parse([]string{"-O", "caf\xe9.txt", "--batch-state=\xff", "--key-file", "/k\xfe", "--batch", "\xe9"})
	if err != nil || f.Output != "caf\xe9.txt" || f.BatchState != "\xff" || f.KeyFile != "/k\xfe" || f.Batch != "\xe9" {
		t.Errorf("got %q, %q, %q, %q, %v", f.Output, f.BatchState, f.KeyFile, f.Batch, err)
	}
	if f, err = Parse([]string{"d\xe9j\xe0", "vu"}); err != nil || f.Text() != "d\xe9j\xe0 vu" {
		t.Errorf("got %q, %v", f.Text(), err)
	}
}

func plainFlag(name string, off bool) func(*Set) bool {
	return func(f *Set) bool { n, o := f.PlainFlag(); return n == name && o == off }
}

func TestBadCommandLines(t *testing.T) {
	for args, want := range map[string]string{
		"--session-file|a|-r":          "can't be used together",
		"--session-file=":              "--session-file needs a value",
		"--promt|x":                    "unknown flag --promt; did you mean --prompt?",
		"--yollo":                      "did you mean --yolo?",
		"--zzzzzzzzzz":                 "unknown flag --zzzzzzzzzz; see gemline --help",
		"-z":                           "unknown flag -z",
		"-p":                           "--prompt needs a value",
		"-p|--json":                    "--prompt needs a value, and --json is a flag; if it is the value, write --prompt=--json",
		"-y|-p|-q|hello":               "--prompt needs a value, and -q is a flag",
		"--prompt|--outputFormat=json": "--prompt needs a value, and --outputFormat=json is a flag",
		"-p|--no-plain":                "--prompt needs a value, and --no-plain is a flag",
		"-p|--accessible":              "--prompt needs a value, and --accessible is a flag",
		"-p|--|hello":                  "--prompt needs a value, and -- ends the flags",
		"-m|-p|hello":                  "--model needs a value, and -p is a flag",
		"-O|-q|-p|hello":               "--output needs a value, and -q is a flag",
		"-e|-p|hello":                  "--extensions needs a value, and -p is a flag",
		"--max-turns|--json":           "--max-turns needs a value, and --json is a flag",
		"-o|--json=" + strings.Repeat("x", 1<<16): "--output-format needs a value, and --json=xxx",
		"-p|a|-p|b":                       "--prompt is given twice",
		"-p|a|b":                          "can't be used together",
		"-p|a|-i|b":                       "can't be used together",
		"-i|fix|the|bug":                  "--prompt-interactive and a prompt in words can't be used together; a prompt of several words needs",
		"-l|x":                            "a prompt and --list-extensions can't",
		"--delete-session|1|2":            "a prompt and --delete-session can't",
		"-y|--approval-mode|plan":         "can't be used together",
		"--resume|--session-id|x":         "can't be used together",
		"-o|xml":                          `--output-format must be one of "text", "json", "stream-json", not "xml"`,
		"--approval-mode|reckless":        `--approval-mode must be one of "default", "auto_edit", "auto", "yolo", "plan", not "reckless"`,
		"--max-turns|many":                `--max-turns: must be a whole number, not "many"`,
		"--max-turns=-1":                  "must not be negative",
		"--json|-o|text":                  "can't be used together",
		"--json-schema|{}|-x":             "can't be used together",
		"--json-schema|{}|-i|a":           "can't be used together",
		"--json-schema=":                  "--json-schema needs a value",
		"-O|":                             "--output needs a value",
		"--session=":                      "--session needs a value",
		"--session-id|":                   "--session-id needs a value",
		"--delete-session|":               "--delete-session needs a value",
		"--batch|":                        "--batch needs a value",
		"--key-file|":                     "--key-file needs a value",
		"-o|":                             "--output-format needs a value",
		"--max-tool-calls|0":              "--max-tool-calls must be above zero",
		"--max-turns|0":                   "--max-turns must be above zero",
		"--max-tokens=00":                 "--max-tokens must be above zero",
		"--max-cost|0.00":                 "--max-cost must be above zero",
		"--max-cost|much":                 `--max-cost: must be a number, not "much"`,
		"-j|0":                            "--jobs must be above zero",
		"--stdin|-n":                      "can't be used together",
		"--\xff\xfe":                      "unknown flag",
		"--" + strings.Repeat("x", 1<<16): "unknown flag",
	} {
		_, err := Parse(split(args))
		var ue *UsageError
		if !errors.As(err, &ue) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v; want %q", args, err, want)
			continue
		}
		if strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.40q: not one line: %q", args, err)
		}
	}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "|")
}

// A name that no command line holds would exclude nothing.
func TestExclusive(t *testing.T) {
	given := (&Set{}).given()
	for _, row := range exclusive {
		for _, name := range row {
			if _, known := given[name]; !known {
				t.Errorf("%q is no name of what is given", name)
			}
		}
	}
}

func TestSessionOrOneAnswer(t *testing.T) {
	for _, test := range []struct {
		args        string
		in, out     bool
		env         string
		interactive bool
	}{
		{"", true, true, "", true},
		{"", false, true, "", false},
		{"", true, false, "", false},
		{"what is this", true, true, "", true},
		{"-p|x", true, true, "", false},
		{"-i|x", true, true, "", true},
		{"-i|x", false, true, "", false},
		{"-", true, true, "", false},
		{"--json", true, true, "", false},
		{"", true, true, "CI", false},
		{"-i|x", true, true, "CI", true},
		{"", true, true, "GITHUB_ACTIONS", false},
	} {
		f, err := Parse(split(test.args))
		if err != nil {
			t.Fatal(err)
		}
		getenv := func(name string) string {
			if name == test.env {
				return "true"
			}
			return ""
		}
		if got := f.Interactive(test.in, test.out, getenv); got != test.interactive {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

// Of a command line that can't be parsed, where and how to tell is known all
// the same.
func TestWanted(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "",
		"--json|--nonsense":             "json",
		"--nonsense|-o|stream-json":     "stream-json",
		"--outputFormat=json|-z":        "json",
		"-ostream-json|-z":              "stream-json",
		"-qo|json|-z":                   "json",
		"--json|-o|jsno":                "json",
		"--json=false|-z":               "",
		"-p|--json|-z":                  "json", // no prompt
		"-p=--json|-z":                  "",
		"-z|-o|text|--json":             "json",
		"-o":                            "",
		"-o|json|-o":                    "json",
		"--|--json":                     "",
		"hello|--json|--max-turns|many": "json",
		"--json-fd|7|-z":                " 7",
		"--json-fd|1|-z":                "",
		"--json-fd=seven|-o|json|-z":    "json",
	} {
		f := OutputOf(split(args))
		got := f.Format()
		if f.JSONFd != nil {
			got += fmt.Sprintf(" %d", *f.JSONFd)
		}
		if got != want {
			t.Errorf("%q: got %q; want %q", args, got, want)
		}
	}
}

func TestHelpFitsTheScreen(t *testing.T) {
	var b strings.Builder
	if err := Help(&b, []Line{{"gemline config", "show and change the settings"}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 81 {
			t.Errorf("wider than 80 columns: %q", line)
		}
	}
	for _, flag := range []string{"-p, --prompt TEXT", "--resume ID", "--screen-reader", "--skip-trust", "GEMINI_API_KEY", "gemline config"} {
		if !strings.Contains(b.String(), flag) {
			t.Errorf("%s is not in the help text", flag)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-p|x")
	f.Add("--resume=|=|--|")
	f.Add("-\x00|---")
	f.Fuzz(func(t *testing.T, args string) {
		_, err := Parse(split(args))
		if ue := (*UsageError)(nil); err != nil && !errors.As(err, &ue) {
			t.Errorf("%q: %T: %v", args, err, err)
		}
	})
}

func TestSubcommandBehindAValue(t *testing.T) {
	names := []string{"config"}
	for args, want := range map[string]bool{"-O|a|config": true, "--output|config": false, "-O|config|config|list": true, "-q|config": true, "-m|config|x": false} {
		if _, _, ok := Subcommand(split(args), names); ok != want {
			t.Errorf("%s: %v", args, ok)
		}
	}
}
