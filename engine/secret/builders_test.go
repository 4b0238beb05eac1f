package secret_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gemline/engine/secret"
)

// What programs read that build is secret where a password stands in it, and only there.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		path, text string
		held       bool
	}{
		{".m2/settings.xml", "<settings><servers><server><id>corp</id><username>ann</username><password>opensesame</password></server></servers></settings>", true},
		{".m2/settings.xml", "<server><passphrase>\n  opensesame</passphrase></server>", true},
		{".m2/settings.xml", "<property><name>Authorization</name>\n<value>Bearer opensesame</value></property>", true},
		{".m2/settings.xml", "<property><name>Private-Token</name><value>opensesame</value></property>", true},
		{".m2/settings.xml", "<url>https://ann:opensesame@repo.example.com/</url>", true},
		{".m2/settings.xml", "<server><password>{COQLCE6DU6GtcS5P=}</password></server>", false},
		{".m2/settings.xml", "<server><password>${env.TOKEN}</password></server><password></password>", false},
		{".m2/settings.xml", "<settings><offline>true</offline><mirrors/></settings>", false},
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g\ncorpPassword=opensesame\n", true},
		{".gradle/gradle.properties", "systemProp.http.proxyPassword : opensesame", true},
		{".gradle/gradle.properties", "GITHUB_TOKEN=opensesame", true},
		{".gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g\nsigning.secretKeyRingFile=/k\ncorpPassword=\n#password=x\npassword=${P}", false},
		{".gradle/init.gradle", "credentials { username = 'ann'; password = 'opensesame' }", true},
		{".gradle/init.d/corp.gradle.kts", `password("opensesame")`, true},
		{".gradle/init.d/corp.gradle", "password = System.getenv('P')", false},
		{".config/composer/auth.json", `{"http-basic": {"repo.example.com": {"username": "ann", "password": "opensesame"}}}`, true},
		{".composer/auth.json", `{"github-oauth": {"github.com": "opensesame"}}`, true},
		{".composer/auth.json", `{"http-basic": {}, "github-oauth": {"github.com": ""}}`, false},
		{".bundle/config", "---\nBUNDLE_GEMS__EXAMPLE__COM: \"ann:opensesame\"\n", true},
		{".bundle/config", "---\nBUNDLE_GEM__EXAMPLE__COM: opensesame\n", true},
		{".bundle/config", "---\nBUNDLE_MY___HOST__COM: 'ann:opensesame'\n", true},
		{".bundle/config", "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://ann:opensesame@m.example.com/\"\n", true},
		{".bundle/config", "---\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_BUILD__NOKOGIRI: \"--use-system-libraries\"\nBUNDLE_WITHOUT: \"development:test\"\nBUNDLE_LOCAL__RACK: \"/src/rack\"\n", false},
		{".nuget/NuGet/NuGet.Config", `<packageSourceCredentials><corp><add key="Username" value="ann" /><add key="ClearTextPassword" value="opensesame" /></corp></packageSourceCredentials>`, true},
		{".config/NuGet/NuGet.Config", `<add key="Password" value="opensesame" />`, true},
		{".nuget/NuGet/NuGet.Config", `<add key="ClearTextPassword" value="%P%" /><packageSources><add key="nuget.org" value="https://x/v3/index.json" /></packageSources>`, false},
		{".yarnrc.yml", "npmAuthToken: opensesame\n", true},
		{".yarnrc", "\"//r.example.com/:_authToken\" opensesame\n", true},
		{".yarnrc.yml", "npmAuthToken: \"${NPM_TOKEN}\"\nnodeLinker: node-modules\n", false},
		{".config/pnpm/config.yaml", "_authToken: opensesame\n", true},
		{".config/pypoetry/auth.toml", "[http-basic.corp]\nusername = \"ann\"\npassword = \"opensesame\"\n", true},
		{".config/dart/pub-tokens.json", `{"version":1,"hosted":[{"url":"https://d","token":"opensesame"}]}`, true},
		{".config/dart/pub-tokens.json", `{"version":1,"hosted":[{"url":"https://d","env":"TOKEN"}]}`, false},
		{".condarc", "channels:\n  - https://ann:opensesame@c.example.com/x\n", true},
		{".condarc", "channels:\n  - https://c.example.com/t/ab-01234567/x\n", true},
		{".condarc", "channels:\n  - conda-forge\n", false},
		{".cargo/config.toml", "[registries.corp]\ntoken = \"opensesame\"\n", true},
		{".cargo/config.toml", "[build]\njobs = 4\n", false},
	} {
		home := t.TempDir()
		path := filepath.Join(home, filepath.FromSlash(c.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := secret.StoredFiles(home, func(string) string { return "" }); slices.Contains(got, path) != c.held || len(got) > 1 {
			t.Errorf("%s with %s: %v", c.path, c.text, got)
		}
	}
}

// Such files lie where variables say, too.
func TestHeldElsewhere(t *testing.T) {
	for _, c := range []struct{ variable, value, file, text string }{
		{"GRADLE_USER_HOME", "g", "g/gradle.properties", "password=x"},
		{"COMPOSER_HOME", "c", "c/auth.json", `{"bearer": {"h": "x"}}`},
		{"XDG_CONFIG_HOME", "x", "x/composer/auth.json", `{"bearer": {"h": "x"}}`},
		{"BUNDLE_USER_CONFIG", "b", "b", `BUNDLE_A__B: "c:d"`},
		{"CONDARC", "rc", "rc", "https://a:b@c/"},
		{"CARGO_HOME", "k", "k/config.toml", `token = "x"`},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := secret.StoredFiles("", func(name string) string {
			if name == c.variable {
				return filepath.Join(dir, c.value)
			}
			return ""
		})
		if !slices.Equal(got, []string{path}) {
			t.Errorf("%s: %v", c.variable, got)
		}
	}
}
