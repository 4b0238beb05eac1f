package settings

import (
	"strings"
	"testing"

	"gemline/engine/text"
)

func TestMask(t *testing.T) {
	for _, c := range []struct {
		name, key  string
		v, written any
		want       string
		shown      string // as it is written, if that differs
	}{
		{"plain", "model.name", "gemini", nil, `"gemini"`, ``},
		{"by the key", "mcpServers.a.oauth.clientSecret", "x", nil, `"********"`, ``},
		{"not by such keys", "mcpServers.a.oauth.tokenUrl", "https://h/token", nil, `"https://h/token"`, ``},
		{"a limit of tokens", "contextManagement.historyWindow.maxTokens", 5, nil, `5`, ``},
		{"variables of a server", "mcpServers.a.env", map[string]any{"A": "x", "N": 5}, nil, `{"A":"********","N":"********"}`, ``},
		{"one of them", "mcpServers.a.env.A", "x", "$B", `"********"`, `"$B"`},
		{"a header", "mcpServers.a.headers.X", "Bearer x y", "Bearer ${T:-fallback} y", `"********"`, `"********${T:-********}********"`},
		{"a variable with such a name", "ui.theme", "abc", "a$MY_TOKEN", `"********"`, `"a$MY_TOKEN"`},
		{"an address with it", "ui.theme", "abc", "https://u:p@evil/?token=$MY_TOKEN&key=a", `"********"`, `"https://********@evil/?token=$MY_TOKEN&key=********"`},
		{"one that is not set", "ui.theme", "$MY_TOKEN", "$MY_TOKEN", `"$MY_TOKEN"`, ``},
		{"another variable", "ui.theme", "abc", "${THEME}", `"abc"`, `"${THEME}"`},
		{"in a list", "tools.core", []any{"a", "secret"}, []any{"a", "$API_KEY"}, `["a","********"]`, `["a","$API_KEY"]`},
		{"a flag", "mcpServers.a.args", []any{"--token", "abc", "-v", "--key", "--x"}, nil, `["--token","********","-v","--key","--x"]`, ``},
		{"a flag and a variable", "mcpServers.a.args", []any{"--token", "abc"}, []any{"--token", "$X"}, `["--token","********"]`, `["--token","$X"]`},
		{"a flag with its value", "mcpServers.a.args", []any{"--api-key=abc", "--name=x"}, nil, `["--api-key=********","--name=x"]`, ``},
		{"in an object of anything", "modelConfigs.aliases", map[string]any{"a": map[string]any{"apiKey": "x", "y": []any{"z"}}}, nil, `{"a":{"apiKey":"********","y":["z"]}}`, ``},
		{"a number", "modelConfigs.aliases.password", 12345, nil, `"********"`, ``},
		{"an empty one", "modelConfigs.aliases.password", "", nil, `""`, ``},
		{"a truth", "modelConfigs.aliases.password", true, nil, `true`, ``},
	} {
		path, err := SplitKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := text.Compact(mask(path, c.v, c.written)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if c.shown == "" {
			continue
		}
		if got := text.Compact(MaskWritten(path, c.written)); got != c.shown {
			t.Errorf("%s: written %s, want %s", c.name, got, c.shown)
		}
	}
}

func TestMaskText(t *testing.T) {
	for in, want := range map[string]string{
		"nothing to see here, at 10:30":                         "nothing to see here, at 10:30",
		"https://user:pass@host/x":                              "https://********@host/x",
		"https://u:p@h/api/s/zpPATHcanary0123456789abc/mcp?a=b": "https://********@h/api/s/********/mcp?a=b",
		"https://token@host":                                    "https://********@host",
		"https://a@b:c@host/":                                   "https://********@host/",
		"https://host/x?key=abc&b=c":                            "https://host/x?key=********&b=c",
		"https://host/@me?q=1#a@b":                              "https://host/@me?q=1#a@b",
		"TOKEN=abc go test":                                     "TOKEN=******** go test",
		"run --password abc --x y":                              "run --password ******** --x y",
		`curl -H "Authorization: Bearer abcdefgh" http://h`:     `curl -H "Authorization: ********" http://h`,
		`-H 'X-Api-Key: abc'`:                                   `-H 'X-Api-Key: ********'`,
		"ghp_0123456789abcdef0123 and more":                     "******** and more",
		"AIza0123456789abcdef0123456789abcdef":                  "********",
		"Bearer abcdefghij":                                     "Bearer ********",
		"run_shell_command(git log)":                            "run_shell_command(git log)",
		"maxTokens=5 PATH=/bin":                                 "maxTokens=5 PATH=/bin",
	} {
		if got := MaskText(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Of the keys that there are, these are secrets.
func TestSecretKeys(t *testing.T) {
	var got []string
	for _, k := range Keys() {
		if path := strings.Split(k.Name, "."); secretPath(path) {
			got = append(got, k.Name)
		}
	}
	want := "mcpServers.<name>.env mcpServers.<name>.env.<variable> mcpServers.<name>.headers mcpServers.<name>.headers.<field> mcpServers.<name>.oauth.clientSecret"
	if strings.Join(got, " ") != want {
		t.Error(got)
	}
	for _, name := range []string{"GITHUB_TOKEN", "api-key", "MY_SECRET", "DB_PASSWORD", "Cookie", "Proxy-Authorization", "AWS_ACCESS_KEY_ID_CREDENTIALS", "sig"} {
		if !secretName(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{"", "HOME", "tokenBudget", "maxTokens", "authorizationUrl", "authProviderType", "keyboard", "author"} {
		if secretName(name) {
			t.Errorf("%s is one", name)
		}
	}
}

func FuzzMaskText(f *testing.F) {
	f.Add("https://a:b@c?key=d --token e Authorization: f")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4<<10 {
			return
		}
		MaskText(s)
		if out := MaskText("x --password " + "hunter2hunter2" + " " + s); strings.HasPrefix(out, "x --password hunter2") {
			t.Errorf("%q", out)
		}
	})
}
