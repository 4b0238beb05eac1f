package main

import (
	"archive/tar"
	archivezip "archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tarred returns an archive of files, each with its parent directories, all with the same time and
// without an owner.
func tarred(prefix string, files []file, at time.Time) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	seen := map[string]bool{".": true}
	var dirs func(name string)
	dirs = func(name string) {
		if dir := path.Dir(name); !seen[dir] {
			dirs(dir)
			seen[dir] = true
			mode := int64(0o755)
			if dir == "tmp" {
				mode = 0o1777
			}
			w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: mode, ModTime: at})
		}
	}
	for _, f := range files {
		name := prefix + f.name
		dirs(name)
		if f.data == nil { // a directory
			continue
		}
		w.WriteHeader(&tar.Header{Name: name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at})
		w.Write(f.data)
	}
	must(w.Close())
	return b.Bytes()
}

// zip returns data in gzip's format, without a name and a time.
func zip(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(data)
	must(w.Close())
	return b.Bytes()
}

// zipped returns an archive of files for Windows.
func zipped(dir string, files []file, at time.Time) []byte {
	var b bytes.Buffer
	w := archivezip.NewWriter(&b)
	for _, f := range files {
		h := &archivezip.FileHeader{Name: dir + "/" + f.name, Method: archivezip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		part, err := w.CreateHeader(h)
		must(err)
		part.Write(f.data)
	}
	must(w.Close())
	return b.Bytes()
}

// must ends the program on an error that can't happen, such as a failed write to memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// image writes an OCI image in an archive: gemline, certificates, and nothing else.
func (r *release) image(arch string, program []byte) error {
	certificates, err := r.certificates()
	if err != nil {
		return err
	}
	files := []file{
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates},
		{"usr/bin/gemline", 0o755, program},
		{"usr/share/gemline/installed-by", 0o644, []byte("image\n")},
		{"usr/share/doc/gemline/copyright", 0o644, r.page("LICENSE")},
		{"usr/share/doc/gemline/THIRD-PARTY-LICENSES.txt", 0o644, r.page("THIRD-PARTY-LICENSES.txt")},
		{"tmp/", 0, nil}, {"root/", 0, nil}, {"work/", 0, nil},
	}
	layer := tarred("", files, r.date)
	packed := zip(layer)
	var blobs []file
	blob := func(kind string, data []byte) map[string]any {
		blobs = append(blobs, file{"blobs/sha256/" + sum(data), 0o644, data})
		return map[string]any{"mediaType": kind, "digest": "sha256:" + sum(data), "size": len(data)}
	}
	document := func(v any) []byte {
		data, err := json.Marshal(v)
		must(err)
		return data
	}
	labels := map[string]string{"org.opencontainers.image.title": "gemline", "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0"}
	config := blob("application/vnd.oci.image.config.v1+json", document(map[string]any{
		"created": r.date, "architecture": arch, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/usr/bin/gemline"}, "WorkingDir": "/work",
			"Env": []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/root"}, "Labels": labels},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sum(layer)}},
		"history": []any{map[string]any{"created": r.date, "created_by": "make dist"}},
	}))
	const manifest = "application/vnd.oci.image.manifest.v1+json"
	m := blob(manifest, document(map[string]any{"schemaVersion": 2, "mediaType": manifest, "config": config,
		"layers": []any{blob("application/vnd.oci.image.layer.v1.tar+gzip", packed)}, "annotations": labels}))
	m["annotations"] = map[string]string{"org.opencontainers.image.ref.name": "gemline:" + r.version}
	m["platform"] = map[string]string{"architecture": arch, "os": "linux"}
	slices.SortFunc(blobs, func(a, b file) int { return strings.Compare(a.name, b.name) })
	all := append(blobs, file{"index.json", 0o644, document(map[string]any{"schemaVersion": 2, "manifests": []any{m}})},
		file{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	return r.write(r.name("linux/"+arch)+".oci.tar", tarred("", all, r.date))
}

// certificates returns the authorities that Mozilla trusts unconditionally, as a file of OpenSSL's.
// That format can't hold conditions.
func (r *release) certificates() ([]byte, error) {
	out, err := r.run(nil, "go", "mod", "download", "-json", roots)
	if err != nil {
		return nil, err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	dir := filepath.Join(module.Dir, "bundle")
	list, err := os.ReadFile(filepath.Join(dir, "bundle.go"))
	if err != nil {
		return nil, err
	}
	der, err := os.ReadFile(filepath.Join(dir, "bundle.der"))
	if err != nil {
		return nil, err
	}
	all, err := x509.ParseCertificates(der)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, c := range all {
		_, entry, found := strings.Cut(string(list), sum(c.Raw))
		if entry, _, _ = strings.Cut(entry, "}"); found && !strings.Contains(entry, "distrustAfter") {
			must(pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
		}
	}
	return b.Bytes(), nil
}
