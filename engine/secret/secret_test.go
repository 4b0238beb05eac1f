package secret_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine/secret"
)

func TestPath(t *testing.T) {
	for _, name := range strings.Fields(`.env .env.local .ENV .Env.Production prod.env a/.env server.key SERVER.KEY certs/a.pem id_rsa id_ed25519 .ssh/config
		.aws/credentials credentials credentials.json CREDENTIALS.yml secrets.yaml secrets/db secrets/db.txt secrets-prod.toml .npmrc .netrc x.tfvars terraform.tfstate.backup
		.bash_history a/.psql_history my.kdbx .vault_pass.txt gha-creds-1.json kubeconfig .pgpass client_secret_1.json .claude/.credentials.json wallet.dat .gnupg/x .docker/config.json .env.js .ssh/a.go demo-openrc.sh .authinfo .tofurc .passwd-s3fs`) {
		if !secret.Path(name) {
			t.Errorf("%s is taken for no secret", name)
		}
	}
	for _, name := range strings.Fields(`.env.example .env.sample .env.template .ENV.Example .env.local.example credentials.go secrets_test.go secrets.go tools/secrets/a.go credentials_test.py
		Secrets.java secretsmanager.ts docs/credentials.md id_rsa.pub key.go keys.txt environment.yml kubeconfig.go id_rsa_test.go main.go README.md history.go history.txt monkey a.keys package.json tokenizer.json / .`) {
		if secret.Path(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func TestFiles(t *testing.T) {
	none := func(string) string { return "" }
	files := secret.Files("/home/u", "/home/u/.gemini", none)
	for _, name := range []string{".ssh", ".claude/.credentials.json", ".codex/auth.json", ".m2/settings-security.xml", ".config/rclone", "Library/Application Support/Firefox", ".gemini/oauth_creds.json"} {
		if !slices.Contains(files, filepath.Join("/home/u", name)) {
			t.Errorf("%s is not among them", name)
		}
	}
	slices.Sort(files)
	if n := len(slices.Compact(slices.Clone(files))); n < len(files) {
		t.Errorf("%d stand there twice", len(files)-n)
	}
	if len(secret.Files("", "", none)) > 0 {
		t.Error("without a home there are some")
	}
}

// A file has all names that some file system takes for its name.
func TestPathFolded(t *testing.T) {
	for name, want := range map[string]bool{".env.": true, ".env ": true, ".env::$DATA": true, "prod.env:x": true, "CREDEN~1": true, "CREDEN~1.JSO": true,
		"ENV~1": true, ".ｅｎｖ": true, "\u212aey.pem": true, "id_r\u017fa": true, ".en\u200dv": true, "foo.Env ": true, "a/.env/": true, "secrets/": true,
		"credentials.go:x.json": true, "id_rsa.pub.": true, ".env.example.": true,
		"credentials.go.": false, "secrets.go ": false, "secrets/a.go": false, ".go": false, "naïve:x": false, "docs/a~b": false, "..": false, "credentials.xyz": false} {
		if secret.Path(name) != want {
			t.Errorf("%q is taken for a secret: %t", name, !want)
		}
	}
}

// Variables say where the files lie, too.
func TestFilesElsewhere(t *testing.T) {
	const home = "/home/u"
	for _, tt := range []struct{ name, value, hidden, open string }{
		{"a base directory", "XDG_CONFIG_HOME=/c", "/c/gh /c/rclone /home/u/.config/gh", "/c /c/pnpm/config.yaml"},
		{"a directory", "GNUPGHOME=/g", "/g", ""},
		{"a directory that holds more", "CARGO_HOME=/c", "/c/credentials.toml", "/c /c/config.toml"},
		{"a file of a hidden directory", "AWS_SHARED_CREDENTIALS_FILE=/a/keys", "/a/keys", "/a"},
		{"several files", "KUBECONFIG=/k/one:/k/two", "/k/one /k/two /home/u/.kube", "/k"},
		{"where it lies anyway", "XDG_CONFIG_HOME=/home/u/.config", "/home/u/.config/gh", "/home/u/.config"},
		{"nothing", "NPM_CONFIG_USERCONFIG=/dev/null", "/home/u/.npmrc", "/dev/null"},
		{"the home directory", "AZURE_CONFIG_DIR=/home/u/", "/home/u/.azure", "/home/u"},
		{"what holds it", "AWS_CONFIG_FILE=/home", "/home/u/.aws", "/home"},
		{"everything", "GNUPGHOME=/", "/home/u/.gnupg", "/"},
		{"a relative path", "PGPASSFILE=pass", "/home/u/.pgpass", "pass"},
	} {
		name, value, _ := strings.Cut(tt.value, "=")
		files := secret.Files(home, "", func(n string) string {
			if n == name {
				return strings.ReplaceAll(value, ":", string(filepath.ListSeparator))
			}
			return ""
		})
		for _, path := range strings.Fields(tt.hidden) {
			if n := count(files, path); n != 1 {
				t.Errorf("%s: %s is there %d times", tt.name, path, n)
			}
		}
		for _, path := range strings.Fields(tt.open) {
			if count(files, path) > 0 {
				t.Errorf("%s: %s is there", tt.name, path)
			}
		}
	}
}

func count(list []string, path string) (n int) {
	for _, p := range list {
		if p == filepath.FromSlash(path) {
			n++
		}
	}
	return n
}

func BenchmarkPath(b *testing.B) {
	for b.Loop() {
		secret.Path("tools/shell/script/testdata/told.txt")
	}
}
