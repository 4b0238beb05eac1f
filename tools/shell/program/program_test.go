package program

import (
	"strings"
	"testing"
)

// A program is found by each of its names, and a version for what it is.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"sort": "sort", "SORT.exe": "sort", "gsort": "sort", "ggit": "", "git": "git", "git clone": "", "python3.11": "python", "bash-5.2": "bash", "sqlite3": "psql",
		"cp2": "", "qemu-x86_64": "faketime", "ld.so": "ld-linux*", "ld": "", "": "", ".": "eval", "x86_64": "faketime", "nothing": "",
	} {
		p := Find(name)
		if got := strings.Join(p.Names[:min(1, len(p.Names))], ""); got != want && len(p.facts) > 0 {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if want == "" && (len(p.facts) > 0 || p.Grammar != "" || len(p.Options) > 0) {
			t.Errorf("of %q is known what %s does", name, p.Names[0])
		}
	}
	if p := Find("bash-5.2"); !p.Is(Shell) || !p.Is(Broad) || p.Grammar != "" {
		t.Error("another version reads scripts in a way that is not known")
	}
	if p := Find("python3"); !p.Is(Interpreter) || p.Grammar != "python" {
		t.Error("python3 is no python")
	}
	if c, ok := Find("GIT").Command("clone"); !ok || c.Grammar != "remote" {
		t.Error("git clone has no entry")
	}
	if _, ok := Find("git").Command("pwn"); ok {
		t.Error("git pwn has an entry")
	}
	if _, ok := Find("nothing").Command(""); ok {
		t.Error("nothing has commands")
	}
}

// The first of the words that make a program dial is told.
func TestDialsAt(t *testing.T) {
	for words, want := range map[string]string{"curl x": "true", "git -C x fetch": "fetch true", "git log": "false", "git": "false", "ls": "false", "npm ci add": "ci true"} {
		all := strings.Fields(words)
		word, ok := Find(all[0]).DialsAt(all[1:])
		if got := strings.TrimSpace(word + map[bool]string{true: " true", false: " false"}[ok]); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

const entries = `
program p
  -a, -b --bulk, - -NUMBER
  -n --number, -I VALUE
  --color
  -x --execute COMMAND   runs
  -o --output FILE       writes
  word of= FILE          opens
`

func entry(t *testing.T) *Program {
	t.Helper()
	b := newBook()
	if line, err := b.add(entries); err != nil {
		t.Fatal(line, err)
	}
	return b.programs["p"]
}

// Options are read as getopt_long reads them, but for those that are shortened.
func TestTake(t *testing.T) {
	p := entry(t)
	for _, test := range []struct{ args, want string }{
		{"-a", "-a"}, {"-ab x", "-a -b"}, {"-n x y", "-n:x +1"}, {"-nx y", "-n:x"}, {"-an x", "-a -n:x +1"}, {"-abnab", "-a -b -n:ab"}, {"-n=x", "-n:=x"}, {"-nI x", "-n:I"},
		{"--bulk x", "--bulk"}, {"--color", "--color"}, {"--color=x", "--color:x"}, {"--number x y", "--number:x +1"}, {"--number=x y", "--number:x"}, {"--number=", "--number"}, {"--number=a=b", "--number:a=b"},
		{"-n --bulk", "-n:--bulk +1"}, {"-12 x", "+0"}, {"-", "-"}, {"-o x", "-o:x +1"},
		{"-n", ""}, {"-an", ""}, {"--number", ""}, {"-c", ""}, {"-ac", ""}, {"-1a", ""}, {"--num x", ""}, {"--bul", ""}, {"--other", ""}, {"--", ""}, {"---bulk", ""}, {"-a-", ""}, {"-x y", ""}, {"--execute=y", ""},
	} {
		found, values, ok := p.Take(strings.Fields(test.args))
		var got []string
		for _, g := range found {
			if g.Value != "" {
				g.Spelling += ":" + g.Value
			}
			got = append(got, g.Spelling)
		}
		if values == 1 {
			got = append(got, "+1")
		} else if ok && found == nil {
			got = append(got, "+0")
		}
		if strings.Join(got, " ") != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %t; want %q", test.args, got, ok, test.want)
		}
	}
}

// What matters is found wherever it may be.
func TestMay(t *testing.T) {
	p := entry(t)
	for word, want := range map[string]string{
		"-x": "runs", "-ax": "runs", "-xa": "runs a", "-nx": "", "-xn": "runs n", "-a": "", "--execute": "runs", "--exec": "runs", "--e": "runs", "--exec=y": "runs y", "--": "", "--x": "", "--executed": "",
		"-o": "writes", "-oy": "writes y", "-o=y": "writes =y", "--out=y": "writes y", "of=y": "opens y", "of=": "opens", "off=y": "", "x": "", "": "", "-": "",
	} {
		got := ""
		for g := range p.May(word) {
			got += strings.TrimSpace(string(g.Effect) + " " + g.Value)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// A line that is not understood is an error, and says where.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]int{
		"looks\n": 1, "program a\n  nonsense\n": 2, "program a\n\n  looks\n": 3, "program a\n\nprogram b, a\n": 3, "program \n": 1,
		"program a\n  -a VALUE -b\n": 2, "program a\n  -a runs VALUE\n": 2, "program a, a b\n# x\n": 0,
	} {
		b := newBook()
		if line, err := b.add(text); line != want || (err == nil) != (want == 0) {
			t.Errorf("%q: line %d: %v; want line %d", text, line, err, want)
		}
	}
}

// BenchmarkRead is what the first question costs beyond others.
func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		parse()
	}
}
