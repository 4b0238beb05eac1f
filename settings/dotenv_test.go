package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEnv(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Variable
	}{
		{"A=1\nB=2", []Variable{{"A", "1"}, {"B", "2"}}},
		{"\ufeffA=1\r\nB=2\rC=3", []Variable{{"A", "1"}, {"B", "2"}, {"C", "3"}}},
		{"export A=1", []Variable{{"A", "1"}}},
		{"# A=1\n\n  B = 2  ", []Variable{{"B", "2"}}},
		{"A: 1", []Variable{{"A", "1"}}},
		{"A=", []Variable{{"A", ""}}},
		{"A=1 # one", []Variable{{"A", "1"}}},
		{"A=a#b", []Variable{{"A", "a"}}},
		{"A='a#b'", []Variable{{"A", "a#b"}}},
		{"A=\"a#b\" # c", []Variable{{"A", "a#b"}}},
		{"A=`a'\"b`", []Variable{{"A", "a'\"b"}}},
		{"A=$B${C}", []Variable{{"A", "$B${C}"}}},
		{`A="x\ny"`, []Variable{{"A", "x\ny"}}},
		{`A='x\ny'`, []Variable{{"A", `x\ny`}}},
		{"A=\"x\ny\"\nB=1", []Variable{{"A", "x\ny"}, {"B", "1"}}},
		{`A="x\"y"`, []Variable{{"A", `x\"y`}}},
		{"A='x", []Variable{{"A", "'x"}}},
		{"A='x' y'", []Variable{{"A", "x' y"}}},
		{"A=1=2", []Variable{{"A", "1=2"}}},
		{"K-K=1\nB=2", []Variable{{"K-K", "1"}, {"B", "2"}}},
		{"A=1\nA=2", []Variable{{"A", "2"}}},
		{"no sense\n=1\nA B=1\nC=3", []Variable{{"C", "3"}}},
		{"", nil},
	} {
		if d := cmp.Diff(c.want, parseEnv(c.text)); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func FuzzParseEnv(f *testing.F) {
	f.Add("export A='1\n2' # x\nB: `")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, v := range parseEnv(text) {
			if v.Name == "" || strings.ContainsAny(v.Name, "= \n\x00") || seen[v.Name] {
				t.Errorf("%q: %+v", text, v)
			}
			seen[v.Name] = true
		}
	})
}

func TestDotEnv(t *testing.T) {
	p := clone(t) // with .env and .gemini/.env
	put := func(path, text string) {
		t.Helper()
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string, s *Settings, trusted bool, lookup func(string) (string, bool), want map[string]string, warns string) {
		t.Helper()
		got, warnings := p.DotEnv(s, trusted, lookup)
		if d := cmp.Diff(want, got); d != "" || !strings.HasSuffix(strings.Join(warnings, "\n"), warns) || (warns == "") != (warnings == nil) {
			t.Errorf("%s: %s, %q", name, d, warnings)
		}
	}
	none := map[string]string{}
	check("in .gemini", Default(), true, env(), map[string]string{"C": "3"}, "")
	check("not trusted", Default(), false, env(), none, "")
	put(p.User(".env"), "HTTPS_PROXY=x\nDEBUG=1")
	check("not trusted, the user's", Default(), false, env(), map[string]string{"HTTPS_PROXY": "x", "DEBUG": "1"}, "")
	os.Remove(p.Workspace(".env"))
	plain := filepath.Join(p.Cwd, ".env")
	check("plain", Default(), true, env("A", ""), map[string]string{"B": "2"}, "")
	put(plain, "DEBUG=1\nGEMINI_API_KEY=k\nhttps_proxy=x\nGOOGLE_GEMINI_BASE_URL=http://x\nLD_PRELOAD=x\nGEMINI_CLI_HOME=/")
	check("reserved", Default(), true, env(), map[string]string{"GEMINI_API_KEY": "k"},
		".env: a project can't set https_proxy, GOOGLE_GEMINI_BASE_URL, LD_PRELOAD and GEMINI_CLI_HOME")
	ignoring := Default()
	ignoring.IgnoreLocalEnv = true
	check("ignored", ignoring, true, env(), map[string]string{"HTTPS_PROXY": "x", "DEBUG": "1"}, "")
	put(plain, strings.Repeat("A=1\n", 2<<20))
	check("too large", Default(), true, env(), nil, "it is not used")
}
