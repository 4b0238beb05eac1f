package launch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/sandbox"
	"gemline/tools/shell/script"
)

// Programs are known by what they fetch, and by what they are told to.
func TestDialers(t *testing.T) {
	for text, want := range map[string]string{
		"git push origin main": "git push", "git -C sub lfs pull": "git pull", "git commit -m x": "", "gh repo clone a/b": "gh, git clone",
		"go get ./... && go test": "go get", "go mod tidy": "go mod", "go build": "", "npm ci --silent": "npm ci", "npm test": "",
		"composer install": "composer install", "dotnet restore": "dotnet restore", "terraform init": "terraform init", "terraform fmt": "", "curl x | sh": "curl",
		"curl -s http://127.0.0.1:8080/x": "", "wget -q localhost:3000": "", "curl http://[::1]:80/ -o x": "", "curl -H 'Host: a' app.localhost": "",
		"curl http://127.0.0.1/ https://a.example/": "curl", "curl https://127.0.0.1.a.example/": "curl", "curl $URL": "curl", "curl http://127.0.0.1:$PORT/x": "", "curl http://127.0.0.1$X/": "curl", "curl http://localhost/$(cat x)": "",
	} {
		if got := strings.Join(NetworkPrograms(script.Read(text).Commands), ", "); got != want {
			t.Errorf("%s: %q; want %q", text, got, want)
		}
	}
}

// What programs of many kinds say is taken for what it is.
func TestComplaints(t *testing.T) {
	for output, want := range map[string]string{
		"fatal: unable to access 'https://x/': Could not resolve host: x":         "net",
		"npm error code EAI_AGAIN":                                                "net",
		"dial tcp: lookup proxy on [::1]:53: no such host":                        "net",
		"ping: socket: Operation not permitted":                                   "net",
		"psycopg2: Connection refused":                                            "net",
		"npm error code ENOTFOUND":                                                "net",
		"ModuleNotFoundError: No module named 'x'":                                "",
		"bash: line 1: /etc/x: Read-only file system":                             "/etc/x",
		"/usr/bin/bash: line 1: .git/x: Read-only file system":                    ".git/x",
		"/usr/bin/touch: cannot touch '/etc/x': Permission denied":                "/etc/x",
		"/etc/x: Permission denied":                                               "/etc/x",
		"bash: ../x: Permission denied":                                           "../x",
		"mkdir: cannot create directory ‘/opt/a b’: Permission denied":            "/opt/a b",
		"open /usr/x/y: read-only file system":                                    "/usr/x/y",
		"OSError: [Errno 30] Read-only file system: '/x y/z'":                     "/x y/z",
		"Error: EROFS: read-only file system, open '/x'":                          "/x",
		"rm: cannot remove 'a': Operation not permitted":                          "taken a",
		"rm: cannot remove '/tmp/other/x': No such file or directory":             "missing taken /tmp/other/x",
		"cat: /tmp/other/x: No such file or directory":                            "missing /tmp/other/x",
		"permission bits of /x are denied":                                        "",
		"error: could not write config file .git/config: Device or resource busy": ".git/config",
		"all well": "",
	} {
		network, refused := ParseDenials(output)
		var words []string
		if network {
			words = append(words, "net")
		}
		for i, r := range refused {
			if i == 0 && r.missing {
				words = append(words, "missing")
			}
			if i == 0 && r.taken {
				words = append(words, "taken")
			}
			words = append(words, r.Path)
		}
		got := strings.Join(words, " ")
		if strings.Contains(output, "https:") { // which is no path
			got, want = strings.Fields(got)[0], "net"
		}
		if got != want {
			t.Errorf("%q lacks %q, want %q", output, got, want)
		}
	}
}

func FuzzComplaints(f *testing.F) {
	f.Add("bash: /etc/x: Read-only file system\n")
	f.Fuzz(func(t *testing.T, s string) {
		if _, refused := ParseDenials(s); len(refused) > mostPaths {
			t.Errorf("%d paths", len(refused))
		}
	})
}

// A file that is hidden need not be written to, though its directory is read-only.
func TestReadOnlyPaths(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, ".ssh")
	p := sandbox.Profile{Root: dir, ReadOnly: []string{closed}, Hidden: []string{filepath.Join(closed, "id_rsa")}}
	for output, want := range map[string][]string{
		"cat: .ssh/id_rsa: Permission denied":                      nil,
		"touch: cannot touch '.ssh/id_rsa': Read-only file system": {closed},
		"sh: 1: cannot create .ssh/x: Permission denied":           {closed},
	} {
		if got := readOnlyPaths(output, engine.Plan{Dir: dir}, p); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
}
