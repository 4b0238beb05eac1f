package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands/cli"
	"gemline/engine/auth"
	"gemline/engine/model"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// A desk is where one user manages credentials.
type desk struct {
	t       *testing.T
	home    string
	vars    map[string]string
	trusted bool
	in      string // standard input; "-" is none, as in a session
	typed   string // what is typed unseen, if anything is
	out     bytes.Buffer
	told    []string
}

func newDesk(t *testing.T, vars ...string) *desk {
	d := &desk{t: t, home: t.TempDir(), vars: map[string]string{"GEMINI_FORCE_FILE_STORAGE": "true"}}
	d.vars["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] = filepath.Join(d.home, "none", "settings.json")
	for _, kv := range vars {
		name, value, _ := strings.Cut(kv, "=")
		d.vars[name] = value
	}
	return d
}

func (d *desk) run(words string) error {
	d.out.Reset()
	d.told = nil
	out, ask := &cli.Output{Out: &d.out, Notify: func(s string) { d.told = append(d.told, s) }}, &cli.Asker{}
	here := &cli.Folder{Paths: project.New(d.home, "", filepath.Join(d.home, "work")), Trusted: d.trusted, Flags: &flags.Set{},
		Lookup: func(name string) (string, bool) { v, ok := d.vars[name]; return v, ok }}
	if d.in != "-" {
		ask.In = strings.NewReader(d.in)
	}
	if d.typed != "" {
		ask.Secret = func(context.Context, string) (string, error) { return d.typed, nil }
	}
	return cli.Run(d.t.Context(), out, ask, append([]string{"auth"}, strings.Fields(words)...), here)
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

func TestAuthStatus(t *testing.T) {
	const vertex, place = "GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=eu"
	for _, c := range []struct {
		name, vars string
		settings   string
		want       string // a line of each of these
		fails      string
	}{
		{"nothing", "", "", "type: gemini-api-key (nothing is chosen)|usable: no", "no API key"},
		{"key", "GEMINI_API_KEY=secret-0", "", "type: gemini-api-key (GEMINI_API_KEY)|credential: GEMINI_API_KEY|usable: yes", ""},
		{"selected", "GEMINI_API_KEY=secret-0 " + vertex, `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`,
			"type: gemini-api-key (security.auth.selectedType)|chosen in: HOME/.gemini/settings.json|usable: yes", ""},
		{"address", "GEMINI_API_KEY=secret-0 GOOGLE_GEMINI_BASE_URL=https://me:secret-1@gate/x GEMINI_CLI_CUSTOM_HEADERS=X-B:secret-2,X-A:secret-3", "",
			"address: https://xxxxx@gate/x (GOOGLE_GEMINI_BASE_URL)|headers: X-A, X-B|usable: yes", ""},
		{"vertex file", vertex + " " + place + " GOOGLE_CLOUD_QUOTA_PROJECT=q GOOGLE_APPLICATION_CREDENTIALS=HOME/adc.json", "",
			"type: vertex-ai (GOOGLE_GENAI_USE_VERTEXAI)|credential: file HOME/adc.json (authorized_user)|project: p|location: eu|quota project: q|usable: yes", ""},
		{"vertex file missing", vertex + " " + place + " GOOGLE_APPLICATION_CREDENTIALS=HOME/none.json", "", "credential: file HOME/none.json|usable: no", "can't be read"},
		{"vertex file of something else", vertex + " " + place + " GOOGLE_APPLICATION_CREDENTIALS=HOME/other.json", "", "usable: no", "holds no credentials"},
		{"metadata server", vertex + " " + place + " GCE_METADATA_HOST=here:1", "", "credential: metadata server here:1|usable: yes", ""},
		{"vertex without a project", vertex, "", "usable: no", "GOOGLE_CLOUD_PROJECT"},
		{"code assist", "GEMINI_CLI_USE_COMPUTE_ADC=true GOOGLE_APPLICATION_CREDENTIALS=HOME/adc.json CODE_ASSIST_ENDPOINT=https://me:secret-5@code", "",
			"type: compute-default-credentials (GEMINI_CLI_USE_COMPUTE_ADC)|credential: file HOME/adc.json (authorized_user)|project: the one that Code Assist has for the account|address: https://xxxxx@code (CODE_ASSIST_ENDPOINT)|usable: yes", ""},
		{"code assist selected", "GEMINI_API_KEY=secret-0 GOOGLE_CLOUD_PROJECT=p GCE_METADATA_HOST=here:1", `{"security":{"auth":{"selectedType":"cloud-shell"}}}`,
			"type: compute-default-credentials (security.auth.selectedType)|credential: metadata server here:1|project: p (GOOGLE_CLOUD_PROJECT)|usable: yes", ""},
		{"cloud shell", "CLOUD_SHELL=true GOOGLE_CLOUD_PROJECT=of-gcloud", "", "type: compute-default-credentials (CLOUD_SHELL)|credential: metadata server|project: cloudshell-gca (CLOUD_SHELL)|usable: yes", ""},
		{"code assist and nobody", "", `{"security":{"auth":{"selectedType":"compute-default-credentials"}}}`, "usable: no", "no Google credentials"},
		{"code assist and a number", "GEMINI_CLI_USE_COMPUTE_ADC=true GOOGLE_CLOUD_PROJECT=123", "", "project: 123 (GOOGLE_CLOUD_PROJECT)|usable: no", "a number"},
		{"log-in", "GOOGLE_GENAI_USE_GCA=true", "", "type: oauth-personal (GOOGLE_GENAI_USE_GCA)|usable: no", "another program"},
		{"enforced", "GEMINI_API_KEY=secret-0", `{"security":{"auth":{"enforcedType":"vertex-ai"}}}`, "usable: no", "allows only vertex-ai"},
		{"another provider", "GEMINI_API_KEY=secret-0 OPENAI_API_KEY=secret-1 AZURE_OPENAI_API_KEY=secret-2", "",
			"type: gemini-api-key (GEMINI_API_KEY)|usable: yes|key of openai: OPENAI_API_KEY|key of azure: AZURE_OPENAI_API_KEY", ""},
		{"the model's provider", "OPENAI_API_KEY=secret-1", `{"model":{"name":"openai/gpt-5"}}`,
			"provider: openai|credential: OPENAI_API_KEY|address: https://api.openai.com/v1|usable: yes", ""},
		{"the model's provider, without a key", "GEMINI_API_KEY=secret-0", `{"model":{"name":"openai/gpt-5"}}`, "provider: openai|usable: no", "no API key of openai"},
		{"a model on this machine", "OLLAMA_HOST=localhost:1", `{"model":{"name":"ollama/x"}}`,
			"provider: ollama|credential: none is wanted|address: http://localhost:1|usable: yes", ""},
		{"a key that would travel openly", "WORK_KEY=secret-1", `{"model":{"name":"work/x"},"providers":{"work":{"baseUrl":"http://a.example","keyVariable":"WORK_KEY"}}}`,
			"provider: work|usable: no", "must begin with https://"},
		{"hostile", "GEMINI_API_KEY=secret-0 GOOGLE_GEMINI_BASE_URL=https://\x1b[2Ja", "", "address: (no URL) (GOOGLE_GEMINI_BASE_URL)|usable: no", "is not a URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			d.write("adc.json", `{"type":"authorized_user","refresh_token":"secret-4"}`)
			d.write("other.json", `[]`)
			for _, kv := range strings.Fields(strings.ReplaceAll(c.vars, "HOME", d.home)) {
				name, value, _ := strings.Cut(kv, "=")
				d.vars[name] = value
			}
			if c.settings != "" {
				d.write(".gemini/settings.json", c.settings)
			}
			err := d.run("status")
			d.check(err, c.fails)
			text := d.out.String()
			for want := range strings.SplitSeq(strings.ReplaceAll(c.want, "HOME", d.home), "|") {
				if !strings.Contains("\n"+text, "\n"+want+"\n") {
					t.Errorf("no line %q in\n%s", want, text)
				}
			}
			var doc struct {
				Usable  bool
				Problem string
			}
			err = d.run("status --json")
			if jerr := json.Unmarshal(d.out.Bytes(), &doc); jerr != nil || doc.Usable != (c.fails == "") || !strings.Contains(doc.Problem, c.fails) || doc.Usable != (err == nil) {
				t.Errorf("%v, %v in\n%s", jerr, err, &d.out)
			}
			if all := text + d.out.String(); strings.Contains(all, "secret-") || strings.ContainsRune(all, 0x1b) {
				t.Errorf("shown:\n%s", all)
			}
			if _, err := os.Stat(filepath.Join(d.home, ".gemini", auth.FileName)); err == nil {
				t.Error("looking has made a file")
			}
		})
	}
}

func (d *desk) check(err error, part string) {
	d.t.Helper()
	var e *auth.Error
	var address *model.Error
	if part == "" && err != nil || part != "" && (!errors.As(err, &e) && !errors.As(err, &address) || !strings.Contains(err.Error(), part)) {
		d.t.Errorf("error %v, want %q", err, part)
	}
}

// TestAuthKey stores a key, uses it, and forgets it.
func TestAuthKey(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.home, ".gemini", auth.FileName)
	status := func(want string) {
		t.Helper()
		d.run("status")
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("no %q in\n%s", want, &d.out)
		}
	}
	d.in = "\ufeff  AIza-first \r\nmore\n"
	d.check(d.run("set-key"), "")
	if d.out.String() != "the key is stored in the file "+file+"\n" {
		t.Errorf("%s", &d.out)
	}
	status("credential: file " + file + "\nusable: yes")
	d.in = "no newline"
	d.check(d.run("set-key"), "holds characters")
	d.in = "\n"
	d.check(d.run("set-key"), "no key on standard input")
	d.in, d.typed = "", "AIza-typed"
	d.check(d.run("set-key --file --json"), "")
	if strings.Contains(d.out.String(), "AIza") || !strings.Contains(d.out.String(), `"stored"`) {
		t.Errorf("%s", &d.out)
	}
	d.vars["GEMINI_API_KEY"] = "other"
	d.check(d.run("set-key"), "")
	if len(d.told) != 1 || d.told[0] != "GEMINI_API_KEY is set and comes first" {
		t.Errorf("told %q", d.told)
	}
	status("credential: GEMINI_API_KEY\n")
	delete(d.vars, "GEMINI_API_KEY")
	d.check(d.run("remove-key"), "")
	if d.out.String() != "the key is gone from the file "+file+"\n" {
		t.Errorf("%s", &d.out)
	}
	d.check(d.run("unset-key"), "")
	if d.out.String() != "no key is stored\n" {
		t.Errorf("%s", &d.out)
	}
	status("usable: no")

	d.in, d.typed = "-", "" // a session
	var usage *flags.UsageError
	if err := d.run("set-key"); !errors.As(err, &usage) {
		t.Errorf("error %v", err)
	}
	if err := d.run("set-key AIza-on-the-command-line"); !errors.As(err, &usage) {
		t.Errorf("error %v", err)
	}
}

// TestAuthProviders stores, finds and forgets a key of each provider that wants one.
func TestAuthProviders(t *testing.T) {
	d := newDesk(t, "AZURE_OPENAI_ENDPOINT=https://me.openai.azure.example")
	all := model.NewProviders(nil, func(string) string { return "" })
	file := filepath.Join(d.home, ".gemini", auth.FileName)
	for _, p := range all {
		if p.Protocol == model.Gemini || p.KeyVariable == "" {
			continue
		}
		d.check(d.run("status "+p.Name), "no API key of "+p.Name)
		d.in = "sk-of-" + p.Name
		d.check(d.run("signin "+p.Name), "")
		d.check(d.run("status "+p.Name), "")
		if want := "provider: " + p.Name + "\ncredential: file " + file + "\n"; !strings.HasPrefix(d.out.String(), want) || strings.Contains(d.out.String(), "sk-of") {
			t.Errorf("no %q in\n%s", want, &d.out)
		}
		d.check(d.run("unset-key "+p.Name), "")
		d.check(d.run("status "+p.Name), "no API key of "+p.Name)
	}
}

// TestAuthUse changes one key of the user's settings and takes it back.
func TestAuthUse(t *testing.T) {
	d := newDesk(t, "GOOGLE_API_KEY=k")
	const before = "{\n  // mine\n  \"model\": {\"name\": \"m\"}\n}\n"
	d.write(".gemini/settings.json", before)
	path := filepath.Join(d.home, ".gemini", "settings.json")
	d.check(d.run("use vertex-ai"), "")
	if want := `security.auth.selectedType = "vertex-ai" in ` + path + "\n"; d.out.String() != want || len(d.told) != 0 {
		t.Errorf("%s%q, want %s", &d.out, d.told, want)
	}
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), "// mine") || !strings.Contains(string(b), `"selectedType": "vertex-ai"`) {
		t.Errorf("%s", b)
	}
	d.check(d.run("use gateway"), "")
	if len(d.told) != 1 || !strings.Contains(d.told[0], "GOOGLE_GEMINI_BASE_URL is not set") {
		t.Errorf("told %q", d.told)
	}
	d.check(d.run("use oauth-personal"), "another program")
	d.check(d.run("use cloud-shell"), "")
	if want := `security.auth.selectedType = "compute-default-credentials" in ` + path + " (was \"gateway\")\n"; d.out.String() != want ||
		len(d.told) != 1 || !strings.HasSuffix(d.told[0], "there are no Google credentials here; GOOGLE_API_KEY is used") {
		t.Errorf("%s%q, want %s", &d.out, d.told, want)
	}
	var usage *flags.UsageError
	if err := d.run("use cat"); !errors.As(err, &usage) {
		t.Errorf("error %v", err)
	}
	d.trusted = true
	d.write("work/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	d.check(d.run("use vertex-ai"), "")
	if len(d.told) != 0 { // a project chooses no log-in
		t.Errorf("told %q", d.told)
	}
	d.check(d.run("signout"), "")
	if !strings.Contains(d.out.String(), "no key is stored\nsecurity.auth.selectedType is no longer set in "+path) {
		t.Errorf("%s", &d.out)
	}
	if b, _ := os.ReadFile(path); strings.Contains(string(b), "selectedType") || !strings.Contains(string(b), "// mine") {
		t.Errorf("%s", b)
	}
	d.check(d.run("logout --json"), "")
	if !strings.Contains(d.out.String(), `"changed": false`) {
		t.Errorf("%s", &d.out)
	}
}

// TestAuthBroken changes no file that can't be read.
func TestAuthBroken(t *testing.T) {
	d := newDesk(t)
	d.write(".gemini/settings.json", "{")
	for _, words := range []string{"status", "use vertex-ai"} {
		var file *jsonc.Error
		if err := d.run(words); !errors.As(err, &file) {
			t.Errorf("%s: error %v", words, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(d.home, ".gemini", "settings.json")); string(b) != "{" {
		t.Errorf("%s", b)
	}
}
