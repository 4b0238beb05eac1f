package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/settings/project"

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

// What a .env file may be like: every byte of it is somebody else's.
func TestParseOddEnv(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Variable
	}{
		{"A=\x00\nB=\xff\xfe", []Variable{{"A", "\x00"}, {"B", "\xff\xfe"}}},
		{"A=\"x\r\ny\"\r\n", []Variable{{"A", "x\ny"}}},
		{"A='x\n# not a comment\ny' # one", []Variable{{"A", "x\n# not a comment\ny"}}},
		{"export  A = 'x' # 'y'", []Variable{{"A", "x"}}},
		{"exportA=1", []Variable{{"exportA", "1"}}},
		{"A='x\nB=2", []Variable{{"A", "'x"}, {"B", "2"}}},
		{"A=\"\"", []Variable{{"A", ""}}},
		{"A=\"", []Variable{{"A", "\""}}},
		{"A=\\", []Variable{{"A", "\\"}}},
		{"A=`x\n`", []Variable{{"A", "x\n"}}},
		{"BASH_FUNC_git%%=() { touch x; }", nil},
		{"\"A\"=1", nil},
		{"Ä=1", nil},
		{"A\u00a0=1", nil},
		{"\u2028A=1\nB=1", []Variable{{"B", "1"}}},
	} {
		if d := cmp.Diff(c.want, parseEnv(c.text)); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
	long := strings.Repeat("x", 10<<20)
	if got := parseEnv("A='" + long); len(got) != 1 || len(got[0].Value) != len(long)+1 {
		t.Error("a long value is not one value")
	}
	if got := parseEnv(strings.Repeat("A='\n", 20000)); len(got) != 1 {
		t.Errorf("%d variables", len(got))
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
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	p := project.New(home, "", filepath.Join(home, "src", "clone"))
	put(filepath.Join(p.Cwd, ".env"), "A=1\nB=2\n")
	put(p.Workspace(".env"), "C=3\nLD_PRELOAD=x")
	check := func(name string, s *Settings, trusted bool, lookup func(string) (string, bool), want map[string]string, warns string) {
		t.Helper()
		got, warnings := s.DotEnv(p, trusted, lookup)
		if d := cmp.Diff(want, got); d != "" || !strings.HasSuffix(strings.Join(warnings, "\n"), warns) || (warns == "") != (warnings == nil) {
			t.Errorf("%s: %s, %q", name, d, warnings)
		}
	}
	none := map[string]string{}
	check("in .gemini", Default(), true, env(), map[string]string{"C": "3"}, ".env: a project can't set LD_PRELOAD")
	check("not trusted", Default(), false, env(), none, "")
	put(p.User(".env"), "HTTPS_PROXY=x\nDEBUG=1")
	check("not trusted, the user's", Default(), false, env(), map[string]string{"HTTPS_PROXY": "x", "DEBUG": "1"}, "")
	os.Remove(p.Workspace(".env"))
	plain := filepath.Join(p.Cwd, ".env")
	check("plain", Default(), true, env("A", ""), map[string]string{"B": "2"}, "")
	put(plain, "DEBUG=1\nGEMINI_API_KEY=k\nhttps_proxy=x\nGOOGLE_GEMINI_BASE_URL=http://x\nLD_PRELOAD=x\nGEMINI_CLI_HOME=/")
	check("reserved", Default(), true, env(), map[string]string{"GEMINI_API_KEY": "k"},
		".env: a project can't set https_proxy, GOOGLE_GEMINI_BASE_URL, LD_PRELOAD and GEMINI_CLI_HOME")
	put(plain, "NODE_ENV=test\nDATABASE_URL=x\nGEMINI_MODEL=m\nGEMINI_TELEMETRY_OTLP_ENDPOINT=x\nGOOGLE_APPLICATION_CREDENTIALS=/x")
	check("ordinary", Default(), true, env(), map[string]string{"NODE_ENV": "test", "DATABASE_URL": "x", "GEMINI_MODEL": "m"},
		".env: a project can't set GEMINI_TELEMETRY_OTLP_ENDPOINT and GOOGLE_APPLICATION_CREDENTIALS")
	ignoring := Default()
	ignoring.IgnoreLocalEnv = true
	check("ignored", ignoring, true, env(), map[string]string{"HTTPS_PROXY": "x", "DEBUG": "1"}, "")
	put(plain, strings.Repeat("A=1\n", 2<<20))
	check("too large", Default(), true, env(), nil, "it is not used")
}

// A project that is trusted can pay for its requests, and nothing else of what
// gemline and the programs that it starts go by.
func TestReserved(t *testing.T) {
	for _, name := range strings.Fields(`GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL GOOGLE_GENAI_API_VERSION CODE_ASSIST_ENDPOINT CODE_ASSIST_API_VERSION
		HTTPS_PROXY https_proxy Http_Proxy NO_PROXY ALL_PROXY LD_PRELOAD ld_library_path DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
		PATH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV IFS SHELL EDITOR VISUAL PAGER SSL_CERT_FILE SSL_CERT_DIR
		GEMINI_CLI_HOME GEMINI_CLI_TRUST_WORKSPACE GEMINI_CLI_TRUSTED_FOLDERS_PATH GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_CUSTOM_HEADERS GEMINI_RESTRICTED_MODE
		GEMINI_SANDBOX GEMINI_SANDBOX_IMAGE GEMINI_SYSTEM_MD GEMINI_WRITE_SYSTEM_MD GEMINI_DEBUG_LOG_FILE GEMINI_TELEMETRY_TARGET GEMINI_PROMPT_PREAMBLE
		GEMINI_API_KEY_AUTH_MECHANISM GEMINI_FORCE_FILE_STORAGE OTEL_EXPORTER_OTLP_ENDPOINT GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_ACCESS_TOKEN GCE_METADATA_HOST CLOUDSDK_CONFIG
		SANDBOX SEATBELT_PROFILE BUILD_SANDBOX HOME TMPDIR XDG_CONFIG_HOME GODEBUG JAVA_TOOL_OPTIONS CI TERM`) {
		if !reserved(name) {
			t.Errorf("a project can set %s", name)
		}
	}
	for _, name := range strings.Fields("GEMINI_API_KEY GOOGLE_API_KEY GEMINI_MODEL GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GOOGLE_GENAI_USE_VERTEXAI NODE_ENV DATABASE_URL PORT MY_TOKEN") {
		if reserved(name) {
			t.Errorf("a project can't set %s", name)
		}
	}
}
