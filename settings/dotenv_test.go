package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/settings/project"
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
		got, _ := parseEnv(c.text)
		if d := cmp.Diff(c.want, got); d != "" {
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
		got, _ := parseEnv(c.text)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
	long := strings.Repeat("x", 10<<20)
	if got, _ := parseEnv("A='" + long); len(got) != 1 || len(got[0].Value) != len(long)+1 {
		t.Error("a long value is not one value")
	}
	if got, _ := parseEnv(strings.Repeat("A='\n", 20000)); len(got) != 1 {
		t.Errorf("%d variables", len(got))
	}
}

func FuzzParseEnv(f *testing.F) {
	f.Add("export A='1\n2' # x\nB: `")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		list, _ := parseEnv(text)
		for _, v := range list {
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
		d, warnings := s.DotEnv(p, trusted, lookup)
		got := map[string]string{}
		for _, vars := range []map[string]EnvValue{d.User, d.Project} {
			for name, v := range vars {
				got[name] = v.Value
			}
		}
		if d := cmp.Diff(want, got); d != "" || !strings.HasSuffix(strings.Join(warnings, "\n"), warns) || (warns == "") != (warnings == nil) {
			t.Errorf("%s: %s, %q", name, d, warnings)
		}
	}
	none := map[string]string{}
	check("in .gemini", Default(), true, env(), map[string]string{"C": "3"}, ".env: a project can't set LD_PRELOAD")
	check("not trusted", Default(), false, env(), none, "")
	put(p.User(".env"), "HTTPS_PROXY=x\nDEBUG=1")
	check("not trusted, the user's", Default(), false, env(), map[string]string{"HTTPS_PROXY": "x", "DEBUG": "1"}, "")
	put(filepath.Join(home, ".env"), "HTTPS_PROXY=y\nDEBUG=1\nMYTOK=t")
	check("both of the user's, and the project's", Default(), true, env("DEBUG", ""),
		map[string]string{"HTTPS_PROXY": "x", "MYTOK": "t", "C": "3"}, ".env: a project can't set LD_PRELOAD")
	os.Remove(filepath.Join(home, ".env"))
	os.Remove(p.User(".env"))
	os.Remove(p.Workspace(".env"))
	plain := filepath.Join(p.Cwd, ".env")
	check("plain", Default(), true, env("A", ""), map[string]string{"B": "2"}, "")
	put(plain, "DEBUG=1\nGEMINI_API_KEY=k\nhttps_proxy=x\nGOOGLE_GEMINI_BASE_URL=http://x\nLD_PRELOAD=x\nGEMINI_CLI_HOME=/")
	theirs := map[string]string{"GEMINI_API_KEY": "k", "https_proxy": "x", "GOOGLE_GEMINI_BASE_URL": "http://x", "GEMINI_CLI_HOME": "/"}
	check("reserved", Default(), true, env(), theirs,
		".env: a project can't set GEMINI_API_KEY, https_proxy, GOOGLE_GEMINI_BASE_URL, LD_PRELOAD and GEMINI_CLI_HOME; "+p.User(".env")+" can")
	put(p.User(".env"), "GEMINI_API_KEY=mine")
	put(plain, "GEMINI_API_KEY=k")
	check("reserved, and the user has it", Default(), true, env(), map[string]string{"GEMINI_API_KEY": "k"}, "")
	os.Remove(p.User(".env"))
	put(plain, "NODE_ENV=test\nDATABASE_URL=x\nGEMINI_MODEL=m\nGOOGLE_CLOUD_PROJECT=p\nNODE_OPTIONS=-r x")
	check("ordinary", Default(), true, env(), map[string]string{"NODE_ENV": "test", "DATABASE_URL": "x", "GEMINI_MODEL": "m", "GOOGLE_CLOUD_PROJECT": "p"},
		".env: a project can't set GOOGLE_CLOUD_PROJECT and NODE_OPTIONS; "+p.User(".env")+" can")
	ignoring := Default()
	ignoring.IgnoreLocalEnv = true
	check("ignored", ignoring, true, env(), none, "")
	put(plain, strings.Repeat("A=1\n", 2<<20))
	check("too large", Default(), true, env(), none, "it is not used")
}

// A trusted project sets nothing that gemline goes by, and nothing that has the programs
// that it brings load or start others.
func TestReserved(t *testing.T) {
	for _, name := range strings.Fields(`GOOGLE_GEMINI_BASE_URL GOOGLE_VERTEX_BASE_URL GOOGLE_GENAI_API_VERSION CODE_ASSIST_ENDPOINT CODE_ASSIST_API_VERSION
		HTTPS_PROXY https_proxy Http_Proxy NO_PROXY ALL_PROXY GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GITHUB_TOKEN GITHUB_API_URL
		GEMINI_CLI_HOME GEMINI_CLI_TRUST_WORKSPACE GEMINI_CLI_TRUSTED_FOLDERS_PATH GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_CUSTOM_HEADERS GEMINI_RESTRICTED_MODE
		GEMINI_SANDBOX GEMINI_SANDBOX_IMAGE GEMINI_SYSTEM_MD GEMINI_WRITE_SYSTEM_MD GEMINI_DEBUG_LOG_FILE GEMINI_TELEMETRY_TARGET GEMINI_PROMPT_PREAMBLE
		GEMINI_API_KEY_AUTH_MECHANISM GEMINI_FORCE_FILE_STORAGE OTEL_EXPORTER_OTLP_ENDPOINT GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_ACCESS_TOKEN GCE_METADATA_HOST CLOUDSDK_CONFIG
		GOOGLE_GENAI_USE_VERTEXAI GOOGLE_GENAI_USE_GCA SANDBOX SEATBELT_PROFILE BUILD_SANDBOX CI TERM`) {
		if !own(name) {
			t.Errorf("gemline does not go by %s", name)
		}
	}
	for _, name := range strings.Fields(`LD_PRELOAD ld_library_path DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
		PATH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_COUNT PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV IFS SHELL EDITOR VISUAL PAGER SSL_CERT_FILE SSL_CERT_DIR
		HOME TMPDIR XDG_CONFIG_HOME GODEBUG JAVA_TOOL_OPTIONS`) {
		if !reserved(name) {
			t.Errorf("a project can set %s", name)
		}
	}
	for _, name := range strings.Fields("NODE_ENV DATABASE_URL PORT MY_TOKEN") {
		if reserved(name) || own(name) {
			t.Errorf("a project can't set %s", name)
		}
	}
}

// Of a project's file, the names that are listed count for gemline itself; none of them
// chooses a provider, an account, a key or an address.
func TestDotEnvLookup(t *testing.T) {
	vars := func(list ...string) map[string]EnvValue {
		out := map[string]EnvValue{}
		for i := 0; i < len(list); i += 2 {
			out[list[i]] = EnvValue{Value: list[i+1]}
		}
		return out
	}
	d := DotEnv{User: vars("GEMINI_API_KEY", "mine", "GITHUB_TOKEN", "mine", "GOOGLE_GENAI_USE_VERTEXAI", "true", "GOOGLE_API_KEY", "mine"),
		Project: vars("GEMINI_API_KEY", "theirs", "GITHUB_API_URL", "http://theirs", "GITHUB_TOKEN", "theirs", "DEBUG", "1",
			"GEMINI_MODEL", "m", "GOOGLE_API_KEY", "")}
	for name, want := range map[string]string{"GEMINI_API_KEY": "mine", "GEMINI_MODEL": "m", "GITHUB_TOKEN": "mine", "GOOGLE_API_KEY": "mine",
		"GITHUB_API_URL": "", "DEBUG": "", "GOOGLE_GENAI_USE_VERTEXAI": "true"} {
		if v, ok := d.Lookup(name); v.Value != want || ok != (want != "") || d.Values()[name] != want {
			t.Errorf("%s: %q, %v", name, v.Value, ok)
		}
	}
}

// Lines of the user's own file that set nothing are named, without what they hold, and names that
// are likely misspelled.
func TestPassedLines(t *testing.T) {
	home := t.TempDir()
	p := project.Paths{Home: home, Cwd: t.TempDir()}
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := p.User(".env")
	for text, want := range map[string]string{
		"# c\n\nA=1\nB=\"x\ny\"\n": "",
		"GEMINI_MODLE=a\nGEMINI_API_KEY_2=b\nGEMINI_TELEMETRY_ENABLED=1\nGEMNI_API_KEY=c\nPAGES=1\nHTTP_PROXIES=1\nGITLAB_TOKEN=d\nWEB_PORT=1": path + ": GEMINI_MODLE means nothing to gemline; did you mean GEMINI_MODEL?\n" +
			path + ": GEMNI_API_KEY means nothing to gemline; did you mean GEMINI_API_KEY?",
		"# c\nA='x\ny'\n$env:GEMINI_API_KEY=\"secret\"\r\nset B=1\nGEMINI_API_KEY secret": path + ":4, 5 and 6: not NAME=VALUE, so nothing is set",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, warnings := new(Settings).DotEnv(p, false, func(string) (string, bool) { return "", false })
		if strings.Join(warnings, "\n") != want {
			t.Errorf("%q: %q", text, warnings)
		}
	}
}

// Windows writes files of UTF-16.
func TestDotEnvOfUTF16(t *testing.T) {
	p := project.New(t.TempDir(), "", t.TempDir())
	if err := os.MkdirAll(p.User(""), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.User(".env"), []byte("\xff\xfeA\x00=\x001\x00\r\x00\n\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, brings, _ := EnvNames("\xff\xfeA\x00=\x001\x00"); !slices.Equal(brings, []string{"A"}) {
		t.Errorf("a project's file sets %q", brings)
	}
	d, warnings := new(Settings).DotEnv(p, false, func(string) (string, bool) { return "", false })
	if d.User["A"].Value != "1" || warnings != nil {
		t.Errorf("%v, %q", d, warnings)
	}
}

// The user's own .env files fill the servers of the user's own settings, and nothing else
// of them. What stays unfilled is named, once.
func TestServersFilled(t *testing.T) {
	home := t.TempDir()
	p := project.New(home, "", filepath.Join(home, "src"))
	for path, text := range map[string]string{
		p.User(".env"):               "MYTOK=a$b\nHOST=inner\n",
		filepath.Join(home, ".env"):  "HOST=outer\nPLACE=here\n",
		filepath.Join(p.Cwd, ".env"): "THEIRS=x\n",
		p.Workspace("settings.json"): `{"mcpServers":{"w":{"command":"x","env":{"A":"$MYTOK"}}}}`,
		p.User("settings.json"): `{"model":{"name":"$MYTOK"},"mcpServers":{
			"s":{"httpUrl":"https://$HOST/${PLACE}","headers":{"A":"Bearer $MYTOK","B":"$SET"}},
			"e":{"command":"x","args":["--a=$MYTOK","~/x","${NONE}","${NONE:-d}"],"env":{"T":"${MYTOK}","U":"${THEIRS}","V":"${env:X}","W":"{{HOME}}"}},
			"h":{"command":"/bin/sh","args":["-c","for i in 1; do echo $i; done"]}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, warnings, err := Load(Sources(p, env(), true), env("SET", "set"))
	if err != nil || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "model.name: MYTOK is not set in the environment, so it stays as written") || s.Model != "$MYTOK" {
		t.Fatal(s.Model, warnings, err)
	}
	got := map[string]Server{}
	for _, server := range s.Servers() {
		got[server.Name] = server
	}
	want := map[string]Server{
		"s": {HTTPURL: "https://inner/here", Headers: map[string]string{"A": "Bearer a$b", "B": "set"}},
		"e": {Args: []string{"--a=a$b", "~/x", "${NONE}", "d"},
			Env: map[string]string{"T": "a$b", "U": "", "V": "${env:X}", "W": "{{HOME}}"},
			Unset: []string{"mcpServers.e.env: THEIRS is not set",
				"mcpServers.e.env: ${env:X} is not filled in; $NAME and ${NAME} are",
				"mcpServers.e.env: {{HOME}} is not filled in; $NAME and ${NAME} are",
				"mcpServers.e.args: ~ is not filled in; $NAME and ${NAME} are", "mcpServers.e.args: NONE is not set"}},
		"h": {Args: []string{"-c", "for i in 1; do echo $i; done"}},
		"w": {Env: map[string]string{"A": "$MYTOK"}},
	}
	for name, w := range want {
		g := got[name]
		g = Server{HTTPURL: g.HTTPURL, Headers: g.Headers, Args: g.Args, Env: g.Env, Unset: g.Unset}
		if d := cmp.Diff(w, g); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if f := got["w"].Filled(env()); f.Env["A"] != "" || len(f.Unset) != 1 {
		t.Errorf("%v, %q", f.Env, f.Unset)
	}
}

// A value that a language or a shell would understand is filled in where it is data only.
// A server with such a value elsewhere is not started.
func TestValuesAreData(t *testing.T) {
	lookup := env("W", `/x$(touch P);system("touch P")`, "B", "/a b --require=/c", "H", "/home/jo", "SHELL", "/bin/sh", "T", "a1b2+c=")
	for _, c := range []struct {
		command, args string // the arguments as JSON
		want          string // the last one, "" if the server is not started
	}{
		{"python3", `["$W/server.py"]`, `/x$(touch P);system("touch P")/server.py`},
		{"sh", `["$B/start.sh"]`, "/a b --require=/c/start.sh"},
		{"docker", `["run", "-v", "$W:/work:ro"]`, `/x$(touch P);system("touch P"):/work:ro`},
		{"npx", `["-y", "server", "--root=$W"]`, `--root=/x$(touch P);system("touch P")`},
		{"uvx", `["server", "postgresql://u:$W@localhost/db"]`, `postgresql://u:/x$(touch P);system("touch P")@localhost/db`},
		{"npx", `["mcp-remote", "--header", "Authorization: Bearer $T"]`, "Authorization: Bearer a1b2+c="},
		{"awk", `["BEGIN{print(\"$H\")}"]`, `BEGIN{print("/home/jo")}`},
		{"npx", `["mcp-remote", "--header", "Authorization: Bearer $W"]`, ""},
		{"awk", `["BEGIN{print(\"$W\")}"]`, ""},
		{"awk", `["$W"]`, ""},
		{"env", `["-S", "sh -c 'echo $W'"]`, ""},
		{"env", `["-S", "$W"]`, ""},
		{"env", `["--split-string=$W"]`, ""},
		{"sed", `["-n", "1e$W"]`, ""},
		{"/usr/bin/git", `["-c", "alias.x=!echo $W", "x"]`, ""},
		{"flock", `["f", "-c", "$W"]`, ""},
		{"make", `["--eval=all:$W"]`, ""},
		{"watch", `["$W"]`, ""},
		{"ssh", `["host", "$W"]`, ""},
		{"timeout", `["5", "watch", "$B"]`, ""},
		{"unknown", `["run '$W'"]`, ""},
		{"unknown", `["--with $B"]`, ""},
		{"sh", `["-c", "cd $W"]`, "cd $W"},
		{"$SHELL", `["-c", "cd $W"]`, "cd $W"},
		{"env", `["$SHELL", "-c", "$W"]`, "$W"},
	} {
		var args []any
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(c.args, err)
		}
		s := Server{Name: "s", Raw: map[string]any{"command": c.command, "args": args}}.Filled(lookup)
		if c.want == "" && s.Err == nil || c.want != "" && (s.Err != nil || s.Args[len(s.Args)-1] != c.want) {
			t.Errorf("%s %s: %q, %v", c.command, c.args, s.Args, s.Err)
		}
	}
	for _, args := range []any{[]any{}, []any{1, nil}, nil, "x"} {
		Server{Name: "s", Raw: map[string]any{"command": "x", "args": args}}.Filled(lookup) // of a file that means something else
	}
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{"TITLE", "in $W, now", true}, {"PATH", "$B/bin:$H", true}, {"NODE_OPTIONS", "--require $H/x.js", true},
		{"NODE_OPTIONS", "--require $B/x.js", false}, {"BASH_ENV", "$W/env", false}, {"GIT_SSH_COMMAND", "ssh -F $W/f", false},
	} {
		s := Server{Name: "s", Raw: map[string]any{"command": "x", "env": map[string]any{c.name: c.value}}}.Filled(lookup)
		if (s.Err == nil) != c.ok {
			t.Errorf("%s=%s: %v", c.name, c.value, s.Err)
		}
	}
}
