package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/launch"
	"gemline/tools/shell"
)

// hub returns a Hub whose git has the environment of the test.
func hub(t *testing.T) Hub {
	l := &launch.Launcher{Roots: func() []string { return nil }}
	l.Config.Shell = shell.Settings{Environ: append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1")}
	return Hub{Launcher: l}
}

// repository makes a repository with two commits, of which the first is tagged one, and
// returns where it is.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "made")
	script := `git init -q "$0" && cd "$0" && echo 1 >a && git add . && git -c user.name=a -c user.email=a@b commit -qm 1 && git tag one &&
		echo 2 >a && git -c user.name=a -c user.email=a@b commit -qam 2 && touch .git/git-daemon-export-ok && git update-server-info`
	if out, err := exec.Command("sh", "-c", script, dir).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	return dir
}

// A repository is had over file:// and over smart HTTP, as it is or as it was. One that wants
// credentials says so, and asks nobody.
func TestClone(t *testing.T) {
	dir := repository(t)
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(path)), "git-http-backend")
	var token string
	mux := http.NewServeMux()
	git := &cgi.Handler{Path: backend, Root: "/open", Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1"}}
	mux.Handle("/open/", git)
	mux.HandleFunc("/closed/", func(w http.ResponseWriter, r *http.Request) {
		if _, password, ok := r.BasicAuth(); ok {
			token = password
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	addresses := []string{"file://" + dir}
	if _, err := os.Stat(backend); err == nil {
		addresses = append(addresses, server.URL+"/open/made/.git")
	}
	h := hub(t)
	for _, address := range addresses {
		for ref, want := range map[string]string{"": "2\n", "one": "1\n"} {
			to := filepath.Join(t.TempDir(), "to")
			commit, err := h.Clone(t.Context(), address, ref, to)
			if err != nil {
				t.Fatalf("%s %s: %v", address, ref, err)
			}
			if b, _ := os.ReadFile(filepath.Join(to, "a")); string(b) != want {
				t.Errorf("%s %s: %q", address, ref, b)
			}
			if now, err := h.Commit(t.Context(), address, ref); err != nil || now != commit || len(commit) != 40 {
				t.Errorf("%s %s: %q, %q, %v", address, ref, now, commit, err)
			}
		}
		if _, err := h.Clone(t.Context(), address, "nowhere", filepath.Join(t.TempDir(), "to")); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: %v", address, err)
		}
	}
	ran := filepath.Join(t.TempDir(), "ran") // what is a ref is no option
	h.Clone(t.Context(), "file://"+dir, "--upload-pack=touch "+ran+";", filepath.Join(t.TempDir(), "to"))
	if _, err := os.Stat(ran); err == nil {
		t.Error("a ref was run")
	}
	h.Server, h.Token = server.URL, "sesame"
	if _, err := h.Clone(t.Context(), server.URL+"/closed/x.git", "", filepath.Join(t.TempDir(), "to")); err == nil || !strings.Contains(err.Error(), "it wants credentials") {
		t.Errorf("%v", err)
	}
	if token != "sesame" {
		t.Errorf("the token was %q", token)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "to")
	if _, err := h.Clone(ctx, addresses[0], "", to); err == nil {
		t.Error("it was not cancelled")
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("something is left of what was cancelled")
	}
}

// entry is a file of an archive.
type entry struct {
	name, text string
	kind       byte // of tar; 0 is a file
}

func tarball(entries ...entry) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Typeflag: tar.TypeReg, Size: int64(len(e.text))}
		if e.kind != 0 {
			h.Typeflag, h.Linkname, h.Size = e.kind, e.text, 0
		}
		if e.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: e.kind, PAXRecords: map[string]string{"comment": "x"}}
		}
		w.WriteHeader(h)
		if e.kind == 0 {
			w.Write([]byte(e.text))
		}
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func zipped(entries ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if e.kind == tar.TypeSymlink {
			h.SetMode(0o777 | os.ModeSymlink)
		}
		if e.kind == tar.TypeChar {
			h.SetMode(0o644 | os.ModeDevice | os.ModeCharDevice)
		}
		f, _ := w.CreateHeader(h)
		f.Write([]byte(e.text))
	}
	w.Close()
	return b.Bytes()
}

// Archives are unpacked into their directory and nowhere else, or not at all.
func TestUnpack(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []entry
		wrong   string
		tarOnly bool
	}{
		{"files", []entry{{"a.txt", "A", 0}, {"sub/b.txt", "B", 0}}, "", false},
		{"in one directory", []entry{{"top/a.txt", "A", 0}, {"top/sub/b.txt", "B", 0}}, "", false},
		{"as GitHub makes them", []entry{{kind: tar.TypeXGlobalHeader}, {"top/a.txt", "A", 0}, {"top/sub/b.txt", "B", 0}}, "", true},
		{"a link inside", []entry{{"a.txt", "A", 0}, {"sub/b.txt", "B", 0}, {"sub/l", "../a.txt", tar.TypeSymlink}}, "", false},
		{"above", []entry{{"../out", "x", 0}}, "leads out", false},
		{"above, on Windows", []entry{{`..\out`, "x", 0}}, "leads out", false},
		{"absolute", []entry{{"/tmp/out", "x", 0}}, "leads out", false},
		{"a link out", []entry{{"l", "../../secret", tar.TypeSymlink}}, "leads out", false},
		{"an absolute link", []entry{{"l", "/etc/passwd", tar.TypeSymlink}}, "leads out", false},
		{"through a link", []entry{{"l", "..", tar.TypeSymlink}, {"l/out", "x", 0}}, "escapes", false},
		{"by a chain of links", []entry{{"d/a", "..", tar.TypeSymlink}, {"d/b", "a/..", tar.TypeSymlink}}, "leads out", false},
		{"a hard link", []entry{{"l", "/etc/passwd", tar.TypeLink}}, "neither a file nor a directory", true},
		{"a device", []entry{{"null", "", tar.TypeChar}}, "neither a file nor a directory", false},
		{"twice", []entry{{"a", "1", 0}, {"a", "2", 0}}, "it has two files", false},
	} {
		for kind, b := range map[string][]byte{"tar": tarball(c.entries...), "zip": zipped(c.entries...)} {
			if kind == "zip" && c.tarOnly {
				continue
			}
			top := t.TempDir()
			file, to := filepath.Join(top, "a."+kind), filepath.Join(top, "in", "to")
			os.WriteFile(file, b, 0o644)
			err := Unpack(file, to)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%s, %s: %v; want %q", c.name, kind, err, c.wrong)
				}
				if _, err := os.Lstat(to); err == nil {
					t.Errorf("%s, %s: something is left", c.name, kind)
				}
				if left, _ := filepath.Glob(filepath.Join(top, "*")); len(left) != 2 {
					t.Errorf("%s, %s: %q", c.name, kind, left)
				}
				continue
			}
			a, _ := os.ReadFile(filepath.Join(to, "a.txt"))
			if b, err2 := os.ReadFile(filepath.Join(to, "sub", "b.txt")); err != nil || err2 != nil || string(a)+string(b) != "AB" {
				t.Errorf("%s, %s: %v, %v: %q", c.name, kind, err, err2, a)
			}
		}
	}
	if err := (&tally{files: mostFiles}).file(); err == nil || !strings.Contains(err.Error(), "more than 20,000 files") {
		t.Errorf("very many files: %v", err)
	}
	t2 := &tally{bytes: mostBytes - 10}
	if err := t2.copy(io.Discard, strings.NewReader("0123456789a")); err == nil || !strings.Contains(err.Error(), "more than 500 MiB") {
		t.Errorf("what unpacks to very much: %v", err)
	}
}

// A release is had from the server that is named, and the token goes there alone.
func TestRelease(t *testing.T) {
	var elsewhere *httptest.Server
	tokens := map[string]string{}
	note := func(r *http.Request) { tokens[r.URL.Path] = r.Header.Get("Authorization") }
	elsewhere = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		w.Write(tarball(entry{"top/a.txt", "A", 0}))
	}))
	defer elsewhere.Close()
	mux := http.NewServeMux()
	answer := func(path string, v any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { note(r); json.NewEncoder(w).Encode(v) })
	}
	answer("/repos/o/r/releases/latest", map[string]any{"tag_name": "v1", "tarball_url": elsewhere.URL + "/tarball"})
	answer("/repos/o/r/releases/tags/v0", map[string]any{"tag_name": "v0", "assets": []any{
		map[string]any{"name": "linux.x64.r.tar.gz", "url": elsewhere.URL + "/linux"}, map[string]any{"name": "darwin.r.tar.gz", "url": elsewhere.URL + "/darwin"}}})
	answer("/repos/o/r/releases", []any{map[string]any{"tag_name": "v2-beta", "assets": []any{map[string]any{"name": "r.tar.gz", "browser_download_url": elsewhere.URL + "/only"}}}})
	server := httptest.NewServer(mux)
	defer server.Close()
	h := Hub{API: server.URL, Token: "sesame", UserAgent: "test"}
	for _, c := range []struct {
		tag   string
		early bool
		want  string
		path  string
	}{{"", false, "v1", "/tarball"}, {"v0", false, "v0", "/linux"}, {"", true, "v2-beta", "/only"}} {
		r, err := h.Release(t.Context(), "o/r", c.tag, c.early)
		if err != nil || r.Tag != c.want {
			t.Errorf("%q: %v, %v", c.tag, r, err)
			continue
		}
		if got := r.asset("linux", "amd64"); got == "" && c.path != "/tarball" || got != "" && got != elsewhere.URL+c.path {
			t.Errorf("%q: %q", c.tag, got)
		}
	}
	r, _ := h.Release(t.Context(), "o/r", "", false)
	to := filepath.Join(t.TempDir(), "to")
	if err := h.Download(t.Context(), r, to); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(to, "a.txt")); string(b) != "A" {
		t.Errorf("%q", b)
	}
	if tokens["/repos/o/r/releases/latest"] != "token sesame" || tokens["/tarball"] != "" {
		t.Errorf("%q", tokens)
	}
	if _, err := h.Release(t.Context(), "o/other", "", false); err != ErrNoRelease {
		t.Errorf("%v", err)
	}
	if err := h.Download(t.Context(), Release{Tarball: "file:///etc/passwd"}, to); err == nil {
		t.Error("a file of this machine was taken")
	}
	for address, want := range map[string]string{"https://github.com/o/r.git": "o/r", "https://github.com/o/r/": "o/r", "https://github.com/o": "", "https://github.com/o/r/../x": "", "https://example.com/o/r": ""} {
		if got, ok := h.Repository(address); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestAddress(t *testing.T) {
	for word, want := range map[string]string{"https://a/b": "https://a/b", "github:o/r": "https://github.com/o/r", "git@h:o/r": "git@h:o/r", "file:///x": "file:///x",
		"./x": "", "ext::sh -c id": "", "--upload-pack=id": "", "https://a b": ""} {
		if got := RepositoryAddress(word); got != want {
			t.Errorf("%s: %q", word, got)
		}
	}
	for address, want := range map[string]string{"https://me:secret@h/x": "https://me:...@h/x", "https://token@h/x": "https://...@h/x", "https://me:p@ss@h/x@y": "https://me:...@h/x@y",
		"ssh://git@h/x": "ssh://git@h/x", "git@h:o/r": "git@h:o/r", "https://h/x@y": "https://h/x@y"} {
		if got := DisplayAddress(address); got != want {
			t.Errorf("%q", got)
		}
	}
}

// FuzzWithin shows that a name that is taken leads to nothing outside.
func FuzzWithin(f *testing.F) {
	f.Add("a/../b")
	f.Add("../x")
	f.Add("/x")
	f.Fuzz(func(t *testing.T, name string) {
		if within(name) == nil {
			if rel, err := filepath.Rel("/top", filepath.Join("/top", name)); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				t.Errorf("%q leads to %q", name, rel)
			}
		}
	})
}
