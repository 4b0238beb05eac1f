//go:build unix

package script

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemline/engine/enginetest"
)

// What a script for sed has to be to do no more than print, and what comes so
// near that another reader could see a command in it.
func TestPrints(t *testing.T) {
	for _, test := range []struct {
		want    bool
		scripts []string
	}{
		{true, []string{"", " ", ";;", "p", "d;p", " p ; d ", "=", "q", "1p", "12~3p", "$p", "1,5p", "1,$d", "1, +5p", "1,~4p", "2 p", "2!p", "2 ! p", "1,3!d"}},
		{true, []string{"/a/p", "/a/Ip", "/a/,/b/p", "/a/,5p", "5,/a/d", "//p", `/a\.b/p`, "/[a]/p", "/[a-z]b/p", "/[[:upper:]]b/p", "/[[:upper:][:digit:]]/p", "s|[[:upper:]/]x[[:digit:]]|a|", "/[^a]/p"}},
		{true, []string{"s/a/b/", "s/a/b/g", "s/a/b/12p", "s/a/b/iI;p", "s/a/b/ ; p", "1s/a/b/", "/a/s/b/c/", "s|a|b|", "s#a#b#", "s,a,b,", "s:a:b:", "s!a!b!", "s@a@b@", "s%a%b%", "s_a_b_", "s/a//", `s/a\n/\&/`, "s/[a]/b/", "s/a/[/", "s/a/[w/"}},

		// Commands that run programs, read, write, or take the rest as text.
		{false, []string{"e", "1e", "w a", "W a", "r a", "R a", "a b", "i b", "c b", "y/a/b/", "b a", ":a", "{p}", "F", "z", "l", "n", "D", "P", "Q", "v", "#n", "\\", "p e", "pp", "pw a", "p;e", "p;w a", "qe", "=w a", "s/a/b/w c", "s/a/b/e", "s/a/b/ge", "s/a/b/M", "s/a/b/x", "s/a/b/ w c", "s/a/b/p e"}},
		// There is no command yet, or none any more.
		{false, []string{"1", "/a/", "!", "1,2", "1!", "/a/,/b/", "s", "s/", "s/a", "s/a/", "s/a/b", "/a", "/", "1,/a", "/a/,/b"}},
		// Where a line ends, a command may begin.
		{false, []string{"p\n", "\np", "s/a/b\ne/", "/a\n/p"}},
		// A delimiter that is also a letter or means something by itself.
		{false, []string{"sxaxbx", "s a b ", "s;a;b;", "s1a1b1", `s\a\b\`, "s[a[b[", "s&a&b&", `\|a|p`, `\/a/p`}},
		// A delimiter behind a backslash, and a backslash at the end.
		{false, []string{`s/a\/b/c/`, `s/a/b\/c/`, `s|a\|b|c|`, `/a\/b/p`, `s/a/b\`, `s/a\`, `/a\`}},
		// A delimiter in a set ends the pattern for some and not for others.
		{false, []string{"s/[/]/w a/", "s/[/a/;/]/s/w x/c/", "/[/]w a;/p", "s/[a/b]/c/", "s|[|]|c|", "/[a/", "s/[]/]w a/b/", "s/[^]/]b/c/", "/[]/p", "/[^]/p", "/[]]/p"}},
		// A set whose end is not where it seems.
		{false, []string{"/[[a]/p", `/[\]/p`, "/[a[b]/p", "/[[:upper:]/p", "/[[:upper:]a/]/p", "/[[.a.]/]/p", "/[a[:upper:]/]/p", "/[[:/:]]/p", "/[[:a"}},
		{false, []string{"1,2,3p", "1,,2p", "/a/b/p", "/a/e", "/a/w b", "/a/Iw b", "/a/II p", "/a/,/b/,p", "1;e", "$$p", "$1e"}},
	} {
		for _, s := range test.scripts {
			if got := IsPrinting(s); got != test.want {
				t.Errorf("%q prints and nothing else: %t", s, got)
			}
		}
	}
}

// sandboxed returns those of the scripts that sed refuses since they run
// programs, read or write. They are given to one sed, which names the first
// that it does not take, or says that some have a mistake.
func sandboxed(scripts ...string) (bad []string) {
	for len(scripts) > 0 {
		args := []string{"--sandbox"}
		for _, s := range scripts {
			args = append(args, "-e", s)
		}
		cmd := exec.Command("sed", args...)
		cmd.Env = []string{"LC_ALL=C"}
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		i := 0
		if at := expression.FindSubmatch(out); at != nil {
			n, _ := strconv.Atoi(string(at[1]))
			i = n - 1
		} else if half := len(scripts) / 2; half > 0 {
			return append(bad, append(sandboxed(scripts[:half]...), sandboxed(scripts[half:]...)...)...)
		}
		if bytes.Contains(out, []byte("sandbox")) {
			bad = append(bad, scripts[i])
		}
		scripts = slices.Delete(slices.Clone(scripts), i, i+1) // it is told, or no script at all
	}
	return bad
}

var expression = regexp.MustCompile(`-e expression #(\d+)`)

// hasSandbox skips a test where sed has no option for it.
func hasSandbox(t testing.TB) {
	cmd := exec.Command("sed", "--sandbox", "-e", "w x")
	cmd.Env = []string{"LC_ALL=C"}
	if out, _ := cmd.CombinedOutput(); !bytes.Contains(out, []byte("sandbox")) {
		t.Skip("no sed that has --sandbox")
	}
}

// Of random scripts none that prints and nothing else, as they are read here,
// has a command in it that sed would not run in its sandbox.
func TestPrintsAgainstSed(t *testing.T) {
	hasSandbox(t)
	r := enginetest.Random(t, 0)
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	field := func() (text string) {
		for range r.IntN(4) {
			text += pick("a", "b", "w c", "e", ";", " ", "/", "|", `\`, `\\`, `\/`, `\n`, "[", "]", "[^", "[a", "]]", "[[:upper:]]", "[[:upper:][:digit:]]", "[a-z]", "&", ",", "!", "~")
		}
		return text
	}
	address := func() string {
		switch r.IntN(6) {
		case 0:
			return pick("1", "2", "$", "1~2", "1,2", "1,$", "1,+2", "2,~4")
		case 1:
			return "/" + field() + "/" + pick("", "", "I", " ", "!", ",/"+field()+"/", ",2")
		}
		return ""
	}
	verb := func() string {
		if r.IntN(8) == 0 {
			return pick("w c", "e", "r c", "e id", "=", "q", "d", "a e", "y/a/b/", "n")
		}
		if r.IntN(3) == 0 {
			return "p"
		}
		d := pick("/", "/", "/", "|", ",", "#", "x", "!")
		return "s" + d + field() + d + field() + d + pick("", "", "", "g", "p", "2", "i", "gp", "w c", "e", "ge", "g ")
	}
	taken, tried := 0, 0
	for total := size(4000, 1_000_000); tried < total; {
		var some []string
		for ; len(some) < 100 && tried < total; tried++ {
			script := address() + verb()
			for range r.IntN(2) {
				script += pick(";", "; ", " ;", "") + address() + verb()
			}
			if IsPrinting(script) {
				some = append(some, script)
			}
		}
		taken += len(some)
		for _, s := range sandboxed(some...) {
			t.Errorf("%q does more than print, says sed", s)
		}
	}
	t.Logf("sed: %d random scripts, of which %d print and nothing else; sed says the same", tried, taken)
	if taken*5 < tried {
		t.Errorf("only %d of %d are read as printing", taken, tried)
	}
}

// FuzzPrints is the same, with scripts that a fuzzer makes.
func FuzzPrints(f *testing.F) {
	hasSandbox(f)
	f.Add("1,5p;/a/!d")
	f.Add(`s/[a]\./b\&/gp`)
	f.Fuzz(func(t *testing.T, script string) {
		if strings.Contains(script, "\x00") || !IsPrinting(script) {
			return
		}
		if bad := sandboxed(script); bad != nil {
			t.Errorf("%q does more than print, says sed", script)
		}
	})
}
