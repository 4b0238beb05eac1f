package program

import (
	"fmt"
	"slices"
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
	if !slices.Contains(Entries(), Find("sort")) {
		t.Error("sort is no entry")
	}
	if c, ok := Find("GIT").Command("clone"); !ok || c.Grammar != "remote" {
		t.Error("git clone has no entry")
	}
	if _, ok := Find("git").Command("pwn"); ok {
		t.Error("git pwn has an entry")
	}
	if c, ok := Find("nothing").Command(""); ok || c == nil {
		t.Error("nothing has commands")
	}
	if c, ok := Find("nerdctl").Command("run"); !ok || c.Usage == nil {
		t.Error("nerdctl has not the commands of docker")
	}
	for name, want := range map[string]string{"gsort": "sort", "GSORT.exe": "sort", "ggit": "ggit", "git": "git", "g": "g", "Rm": "rm"} {
		if got := Fold(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A variable steers programs by its name, or by what that begins or ends with.
func TestSteers(t *testing.T) {
	for name, want := range map[string]bool{"PATH": true, "LD_PRELOAD": true, "LD_": true, "GIT_PAGER": true, "MANPAGER": true, "PAGER": true, "TAR_OPTIONS": true, "npm_config_x": true,
		"": false, "LD": false, "PAGERS": false, "XPATH": false, "PATHS": false, "path": false, "OPTIONS": false, "*PAGER": true} {
		if IsSteering(name) != want {
			t.Errorf("%s steers: %t", name, !want)
		}
	}
}

// What only reads can write nowhere: its first word says so, and so do all of its options where the
// book lists some.
func TestReadsAt(t *testing.T) {
	for words, want := range map[string]bool{"status": true, "log -p x": true, "diff HEAD": true, "branch": true, "branch -a": true, "branch -vv": true, "branch --list x": true, "branch x": false, "branch -D x": false, "branch -v -D x": false, "branch -a -m x y": false,
		"tag": true, "tag -l v*": true, "tag -d x": false, "tag -n -d x": false, "reflog": true, "reflog show x": true, "reflog expire --all": false, "reflog delete x": false, "stash list": true, "stash show -p": true, "stash": false, "stash drop": false,
		"worktree list": true, "worktree prune": false, "symbolic-ref HEAD x": false, "add x": false, "commit": false, "gc": false, "config x.y z": false, "remote prune x": false, "rev-parse HEAD": true, "": false} {
		all := strings.Fields(words)
		p, _ := Find("git").Command(append(all, "")[0])
		if got := p.ReadsAt(all[min(1, len(all)):]); got != want {
			t.Errorf("git %s reads: %v", words, got)
		}
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
# A comment.
program p, q
program r*
  broad dials
  writes last or here
  runs NAME=VALUE... FILE COMMAND
  grammar find
  -a, -b --bulk, - -NUMBER
  -n --number, -I VALUE
  --color
  -x --execute COMMAND   runs
  -o --output FILE       writes
  -w, --ways WAY         merges
  --all                  alters
  --alter                alters
  -C DIR                 goes
  word of= FILE          writes
  example: p x => plain
  example: q x => opaque

program p c
  dials at x y
  looks at list show
  lists at nothing -v
  records at NAME
  -a
  -n NUMBER
  -f FILE                writes

program s
  writes
  records at push
`

func entry(t *testing.T, name string) *Program {
	t.Helper()
	b := newBook()
	if line, err := b.add(entries); err != nil {
		t.Fatal(line, err)
	}
	if len(b.entries) != 3 || len(b.begins) != 1 || b.begins[0] != "r" || b.programs["q"] != b.programs["p"] || b.programs["r*"] != b.programs["p"] {
		t.Error("the names are not those of the entries")
	}
	if c, ok := b.commands[name]; ok {
		return c
	}
	return b.programs[name]
}

// An entry has what its lines say.
func TestEntry(t *testing.T) {
	p, c, s := entry(t, "p"), entry(t, "p c"), entry(t, "s")
	if !p.Is(Broad) || !p.Is(Dials) || !p.Is(Writes) || p.Is(Looks) || p.Grammar != "find" || p.Writes != "last or here" || !s.Is(Writes) || s.Writes != "" || s.Is(Broad) {
		t.Errorf("%+v", p)
	}
	if got := strings.Join(p.Usage, " "); got != "NAME=VALUE... FILE COMMAND" {
		t.Error(got)
	}
	if got := strings.Join(p.Examples, "; "); got != "p x => plain; q x => opaque" {
		t.Error(got)
	}
	if word, ok := c.DialsAt([]string{"z", "y", "x"}); word != "y" || !ok || len(c.Options) != 3 {
		t.Error(word, ok)
	}
	if p.valued != "nIxowC" || p.Flags != "ab" {
		t.Error(p.valued, p.Flags)
	}
	if !p.Takes("-n") || p.Takes("-a") || p.Takes("-z") || !p.Has("-a") || !p.Has("--color") || p.Has("--colo") {
		t.Error("an option has another value, or none")
	}
}

// What a program does depends on its first word, or on whether it has operands.
func TestFirstWord(t *testing.T) {
	p, c, s := entry(t, "p"), entry(t, "p c"), entry(t, "s")
	for words, want := range map[string]string{
		"": "lists", "list": "looks c", "show x": "looks c", "x list": "c", "-v": "lists", "-v x": "lists", "nothing": "lists c", "push x": "c s",
		"-a x": "c", "-n 5": "", "-n 5 x": "c", "-a": "", "-z x": "", "x -z": "", "x -n": "",
	} {
		all, got := strings.Fields(words), []string(nil)
		for _, is := range []struct {
			what string
			so   bool
		}{{"looks", c.LooksAt(all)}, {"lists", c.ListsAt(all)}, {"c", c.RecordsAt(all)}, {"s", s.RecordsAt(all)}} {
			if is.so {
				got = append(got, is.what)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
		if p.LooksAt(all) || p.ListsAt(all) || p.RecordsAt(all) || !Find("cat").LooksAt(all) {
			t.Errorf("%q: a fact without words depends on them", words)
		}
	}
}

// Options are read as getopt_long reads them, but for those that are shortened.
func TestTake(t *testing.T) {
	p := entry(t, "p")
	for _, test := range []struct{ args, want string }{
		{"-a", "-a"}, {"-ab x", "-a -b"}, {"-n x y", "-n:x +1"}, {"-nx y", "-n:x"}, {"-an x", "-a -n:x +1"}, {"-abnab", "-a -b -n:ab"}, {"-n=x", "-n:=x"}, {"-nI x", "-n:I"},
		{"--bulk x", "--bulk"}, {"--color", "--color"}, {"--color=x", "--color:x"}, {"--number x y", "--number:x +1"}, {"--number=x y", "--number:x"}, {"--number=", "--number"}, {"--number=a=b", "--number:a=b"},
		{"-C x", "-C!goes:x +1"}, {"-n --bulk", "-n:--bulk +1"}, {"-12 x", "+0"}, {"-1 x", "+0"}, {"-", "-"}, {"-o x", "-o:x +1"},
		{"-n", ""}, {"-an", ""}, {"--number", ""}, {"-c", ""}, {"-ac", ""}, {"-1a", ""}, {"--num x", ""}, {"--bul", ""}, {"--other", ""}, {"---bulk", ""}, {"-a-", ""}, {"-x y", ""}, {"--execute=y", ""},
	} {
		found, values, ok := p.Take(strings.Fields(test.args))
		var got []string
		for _, g := range found {
			if g.Effect == Goes {
				g.Spelling += "!goes"
			}
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
	if _, _, ok := entry(t, "p c").Take([]string{"-12"}); ok {
		t.Error("a number is an option")
	}
}

// What matters is found wherever it may be.
func TestMay(t *testing.T) {
	p := entry(t, "p")
	for word, want := range map[string]string{
		"-x": "runs", "-ax": "runs", "-xa": "runs a", "-nx": "", "-xn": "runs n", "-a": "", "--execute": "runs", "--exec": "runs", "--e": "runs", "--exec=y": "runs y", "--": "", "--x": "", "--executed": "",
		"-o": "writes", "-oy": "writes y", "-o=y": "writes =y", "--out=y": "writes y", "of=y": "writes y", "of=": "writes", "off=y": "", "x": "", "": "", "-": "", "-wx": "merges x", "--all": "alters", "--al": "altersalters", "-ows": "writes ws", "-C": "", "-x=": "runs =",
	} {
		got := ""
		for g := range p.Matching(word) {
			got += strings.TrimSpace(string(g.Effect) + " " + g.Value)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	for g := range p.Matching("-x") {
		if g.Inside || g.Spelling != "-x" {
			t.Errorf("%+v", g)
		}
	}
	for g := range p.Matching("--al=") { // whoever has seen enough is asked no more
		if !g.Inside || g.Spelling != "--all" {
			t.Errorf("%+v", g)
		}
		break
	}
}

// However a line of options looks, reading words by it takes no more than there
// are, and finds no option that it has not.
func FuzzOptions(f *testing.F) {
	f.Add("-a --all, -n NUMBER runs", "-an 5", "--al=x")
	f.Add("word of= FILE writes", "of=", "-")
	f.Fuzz(func(t *testing.T, line, args, word string) {
		p := &Program{}
		if words := strings.Fields(line); p.option(words) != nil {
			return
		}
		for g := range p.Matching(word) {
			if !p.Has(g.Spelling) || !strings.HasSuffix(word, g.Value) {
				t.Errorf("%q may be %+v", word, g)
			}
		}
		if all := strings.Fields(args); len(all) > 0 && all[0][0] == '-' {
			found, values, ok := p.Take(all)
			for _, g := range found {
				if !p.Has(g.Spelling) {
					t.Errorf("%q has %+v", args, g)
				}
			}
			if values > 1 || values >= len(all) || !ok && found != nil {
				t.Errorf("%q: %+v, %d, %t", args, found, values, ok)
			}
		}
	})
}

func ExampleFind() {
	p := Find("/usr/bin/GSORT"[len("/usr/bin/"):])
	fmt.Println(p.Names[0], p.Is(Broad))
	for o := range p.Matching("--comp=sh") {
		fmt.Println(o.Spelling, o.Effect, o.Value)
	}
	// Output:
	// sort false
	// --compress-program runs sh
}

// A line that is not understood is an error, and says where.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]int{
		"looks\n": 1, "program a\n  nonsense\n": 2, "program a\n\n  looks\n": 3, "program a\n\nprogram b, a\n": 3, "program \n": 1,
		"program a\n  -a VALUE -b\n": 2, "program a\n  -a runs VALUE\n": 2, "program a\n  as\n": 2, "program a\n  as b c\n": 2, "program a\n  looks at\n": 2, "program a\n  looks on x\n": 2,
		"program a\n  lists at\n": 2, "program a\n  records at\n": 2, "program a\n  dials x\n": 2, "program a\n  removes at x\n": 2, "program a\n  dials at x\n": 0, "program a, a b\n# x\n": 0,
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
