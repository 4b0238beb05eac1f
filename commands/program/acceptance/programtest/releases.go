package programtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// A publisher answers as GitHub does about releases. They are directories,
// OWNER/NAME/releases/TAG: what is in sources is the archive of the sources, all else with
// the ending of an archive is a directory that becomes one. A tag with a hyphen is early.
type Publisher struct {
	Dir, token string

	Mu    sync.Mutex
	Asked []string // paths, each with the token that came along
}

// releases starts a publisher, and points gemline at it. With a token, there is nothing for
// those that don't show it.
//
//	releases DIR [TOKEN]
func releases(ts *testscript.TestScript, neg bool, args []string) {
	p := &Publisher{Dir: ts.MkAbs(args[0])}
	if len(args) > 1 {
		p.token = args[1]
	}
	s := httptest.NewServer(p)
	ts.Defer(s.Close)
	*ts.Value(publishing{}).(**Publisher) = p
	ts.Setenv("GITHUB_API_URL", s.URL)
}

// downloads compares what was asked of the publisher since it was asked about last.
//
//	downloads PATH...
func downloads(ts *testscript.TestScript, neg bool, args []string) {
	p := *ts.Value(publishing{}).(**Publisher)
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if slices.Equal(p.Asked, args) == neg {
		ts.Fatalf("the publisher was asked for %q", p.Asked)
	}
	p.Asked = nil
}

// publishing is the key of the publisher that was started last.
type publishing struct{}

func (p *Publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "token ")
	p.Mu.Lock()
	p.Asked = append(p.Asked, strings.TrimSpace(r.URL.Path+" "+token))
	p.Mu.Unlock()
	if token != p.token {
		http.NotFound(w, r)
		return
	}
	at := "http://" + r.Host
	repository, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/repos/"), "/releases")
	tags, _ := os.ReadDir(filepath.Join(p.Dir, repository, "releases"))
	slices.Reverse(tags) // the newest first
	var found []any
	for _, tag := range tags {
		early := strings.Contains(tag.Name(), "-")
		if rest != "" && rest != "/tags/"+tag.Name() && (rest != "/latest" || early) {
			continue
		}
		dir := "/archives/" + repository + "/releases/" + tag.Name()
		release := map[string]any{"tag_name": tag.Name(), "prerelease": early, "tarball_url": at + dir + "/sources"}
		var assets []any
		files, _ := os.ReadDir(filepath.Join(p.Dir, repository, "releases", tag.Name()))
		for _, f := range files {
			if f.Name() != "sources" {
				assets = append(assets, map[string]any{"name": f.Name(), "url": at + dir + "/" + f.Name()})
			}
		}
		release["assets"] = assets
		found = append(found, release)
	}
	name, archive := strings.CutPrefix(r.URL.Path, "/archives/")
	switch {
	case archive:
		b, err := packed(filepath.Join(p.Dir, filepath.FromSlash(name)))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(b)
	case rest == "":
		json.NewEncoder(w).Encode(found)
	case len(found) == 0:
		http.NotFound(w, r)
	default:
		json.NewEncoder(w).Encode(found[0])
	}
}

// packed returns the archive of a directory, of the kind that its name says.
func packed(dir string) ([]byte, error) {
	var out bytes.Buffer
	var put func(name string, b []byte) error
	var end func() error
	if strings.HasSuffix(dir, ".zip") {
		z := zip.NewWriter(&out)
		end = z.Close
		put = func(name string, b []byte) error {
			f, err := z.Create(name)
			if err == nil {
				_, err = f.Write(b)
			}
			return err
		}
	} else {
		g := gzip.NewWriter(&out)
		t := tar.NewWriter(g)
		end = func() error { t.Close(); return g.Close() }
		put = func(name string, b []byte) error {
			err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(b))})
			if err == nil {
				_, err = t.Write(b)
			}
			return err
		}
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return put(path.Join("top", name), b)
	})
	if err == nil {
		err = end()
	}
	return out.Bytes(), err
}
