// Release writes what a release of gemline consists of to a directory: make dist.
//
//	release -version 1.2.3 -commit HASH -date RFC3339 [-url ADDRESS] [-only linux/amd64,...] DIR
//	release -licences
//
// With -licences it prints the licences of the libraries in the program for this system. It runs
// in the root of the repository. The bytes depend on the commit, the version of Go and the
// versions of the tools below, and on nothing else.
package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Versions of the tools for a release, beside Go.
const (
	nfpm  = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"
	sbom  = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
	roots = "golang.org/x/crypto/x509roots/fallback@v0.0.0-20261030153154-30a33513ff6d" // Mozilla's certificates, for the image
)

// targets are the systems of a release.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64",
	"windows/amd64", "windows/arm64", "freebsd/amd64", "freebsd/arm64"}

// A release holds what all files of a release have in common.
type release struct {
	version, commit string
	date            time.Time // of the commit, and of each file
	url             string    // the address of the files, "" if unknown
	dir             string    // the directory for the files, absolute
	work            string    // a directory for intermediate files
	pages           []file    // the files of each archive beside the program
}

// A file is a file of an archive, a package or an image.
type file struct {
	name string
	mode int64
	data []byte
}

func main() {
	r := &release{}
	only := flag.String("only", strings.Join(targets, ","), "systems")
	date := flag.String("date", "", "of the commit, RFC 3339")
	licences := flag.Bool("licences", false, "print the licences of the libraries")
	flag.StringVar(&r.version, "version", "", "without a v")
	flag.StringVar(&r.commit, "commit", "", "")
	flag.StringVar(&r.url, "url", "", "the project's address, whose releases/download/vVERSION/ will have the files")
	flag.Parse()
	r.dir = flag.Arg(0)
	var err error
	if *licences {
		err = r.printLicences()
	} else {
		err = r.make(*date, strings.Split(*only, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// make writes all files.
func (r *release) make(date string, systems []string) (err error) {
	if r.date, err = time.Parse(time.RFC3339, date); err != nil || r.version == "" || r.dir == "" {
		return fmt.Errorf("a version, a date and a directory are needed: make dist gives them (%v)", err)
	}
	r.date = r.date.UTC()
	if r.dir, err = filepath.Abs(r.dir); err != nil {
		return err
	}
	if err := cmp.Or(os.RemoveAll(r.dir), os.MkdirAll(r.dir, 0o755)); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "gemline-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, system := range systems {
		if err := r.build(system); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	if err := r.describe(systems); err != nil {
		return err
	}
	for _, system := range systems {
		if err := r.pack(system); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
	}
	if err := r.formula(systems); err != nil {
		return err
	}
	return r.sums()
}

// run runs a program in the root of the repository, and returns what it prints.
func (r *release) run(env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOAMD64=v1", "GOARM64=v8.0",
		fmt.Sprint("SOURCE_DATE_EPOCH=", r.date.Unix()))
	cmd.Env = append(cmd.Env, env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	return out, nil
}

// binary returns the path of the program for a system.
func (r *release) binary(system string) string {
	name := "gemline"
	if strings.HasPrefix(system, "windows/") {
		name += ".exe"
	}
	return filepath.Join(r.work, filepath.FromSlash(system), name)
}

// build builds the program for a system as make build does.
func (r *release) build(system string) error {
	goos, arch, _ := strings.Cut(system, "/")
	env := []string{"GOOS=" + goos, "GOARCH=" + arch}
	if goos == "linux" { // only Linux has an embedded helper
		helper := "tools/sandbox/helper_linux_" + arch + ".bin"
		if _, err := r.run(env, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", helper, "./tools/sandbox/helper"); err != nil {
			return err
		}
	}
	flags := fmt.Sprintf("-s -w -X main.version=%s -X main.commit=%s -X main.date=%s", r.version, r.commit, r.date.Format(time.RFC3339))
	_, err := r.run(env, "go", "build", "-buildvcs=false", "-tags", "helper", "-ldflags", flags, "-o", r.binary(system), ".")
	return err
}

// describe makes the pages: the manual page and the completions, as the program prints them, and
// the licences.
func (r *release) describe(systems []string) error {
	host := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(systems, host) {
		if err := r.build(host); err != nil {
			return err
		}
	}
	for _, name := range []string{"README.md", "LICENSE", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.pages = append(r.pages, file{name, 0o644, data})
	}
	for _, p := range []struct {
		name string
		args []string
	}{
		{"gemline.1", []string{"man"}},
		{"completions/gemline.bash", []string{"completion", "bash"}},
		{"completions/_gemline", []string{"completion", "zsh"}},
		{"completions/gemline.fish", []string{"completion", "fish"}},
		{"completions/gemline.ps1", []string{"completion", "powershell"}},
	} {
		data, err := r.run([]string{"HOME=" + r.work, "USERPROFILE=" + r.work}, r.binary(host), p.args...)
		if err != nil {
			return err
		}
		r.pages = append(r.pages, file{p.name, 0o644, data})
	}
	licences, err := r.licences(systems)
	r.pages = append(r.pages, file{"THIRD-PARTY-LICENSES.txt", 0o644, licences})
	return err
}

// licences returns the licences of all modules that are linked into the programs.
func (r *release) licences(systems []string) ([]byte, error) {
	root, err := r.run(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{"the Go programming language, " + runtime.Version(): strings.TrimSpace(string(root))}
	for _, system := range systems {
		goos, arch, _ := strings.Cut(system, "/")
		const module = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
		out, err := r.run([]string{"GOOS=" + goos, "GOARCH=" + arch}, "go", "list", "-deps", "-tags", "helper", "-f", module, ".", "./tools/sandbox/helper")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				dirs[name] = dir
			}
		}
	}
	var b strings.Builder
	b.WriteString("gemline holds these works of others, under these licences.\n")
	names := make([]string, 0, len(dirs))
	for name := range dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		entries, err := os.ReadDir(dirs[name])
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			upper := strings.ToUpper(e.Name())
			is := strings.HasPrefix(upper, "LICEN") || strings.HasPrefix(upper, "COPYING") || strings.HasPrefix(upper, "NOTICE") || strings.HasPrefix(upper, "PATENTS")
			if !is || e.IsDir() || strings.HasSuffix(upper, ".GO") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dirs[name], e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&b, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("=", 72), name, e.Name(), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
		if !found {
			return nil, fmt.Errorf("%s has no file LICENSE or COPYING in %s: it can't be passed on", name, dirs[name])
		}
	}
	return []byte(b.String()), nil
}

// printLicences prints the licences of the libraries in the program for this system.
func (r *release) printLicences() error {
	text, err := r.licences([]string{runtime.GOOS + "/" + runtime.GOARCH})
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	return err
}

// pack writes the files for a system: the archive, the bill of materials and, for Linux, the
// packages and the image.
func (r *release) pack(system string) error {
	goos, arch, _ := strings.Cut(system, "/")
	program, err := os.ReadFile(r.binary(system))
	if err != nil {
		return err
	}
	name := r.name(system)
	files := append([]file{{filepath.Base(r.binary(system)), 0o755, program}}, r.pages...)
	if goos == "windows" {
		err = r.write(name+".zip", zipped(name, files, r.date))
	} else {
		err = r.write(name+".tar.gz", zip(tarred(name+"/", files, r.date)))
	}
	if err != nil {
		return err
	}
	bill := filepath.Join(r.dir, name+".cdx.json")
	if _, err := r.run(nil, "go", "run", sbom, "bin", "-json", "-std", "-noserial", "-notimestamp", "-version", r.version, "-output", bill, r.binary(system)); err != nil {
		return err
	}
	if goos != "linux" {
		return nil
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		if err := r.packaged(format, arch, program); err != nil {
			return err
		}
	}
	return r.image(arch, program)
}

// name returns the name of the files for a system, without their endings.
func (r *release) name(system string) string {
	return "gemline-" + r.version + "-" + strings.ReplaceAll(system, "/", "-")
}

func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.dir, name), data, 0o644)
}

// page returns the text of a page.
func (r *release) page(name string) []byte {
	return r.pages[slices.IndexFunc(r.pages, func(f file) bool { return f.name == name })].data
}

// packaged writes a package of Debian, Red Hat or Alpine.
func (r *release) packaged(format, arch string, program []byte) error {
	type content struct {
		Src  string         `json:"src,omitempty"`
		Dst  string         `json:"dst"`
		Type string         `json:"type,omitempty"`
		Info map[string]any `json:"file_info"`
	}
	root := filepath.Join(r.work, format+arch)
	zsh := cmp.Or(map[string]string{"deb": "vendor-completions"}[format], "site-functions")
	var contents []content
	for _, f := range append(r.shared(format, zsh), file{"usr/bin/gemline", 0o755, program}) {
		src := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(src), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(src, f.data, fs.FileMode(f.mode)); err != nil {
			return err
		}
		contents = append(contents, content{Src: src, Dst: "/" + f.name, Info: map[string]any{"mode": f.mode, "mtime": r.date, "owner": "root", "group": "root"}})
	}
	if format == "rpm" { // rpm removes only directories listed in the package
		dirs := []string{"usr/share/gemline", "usr/share/doc/gemline"}
		for _, shell := range []string{"bash-completion/completions", "zsh/site-functions", "fish/vendor_completions.d"} {
			dirs = append(dirs, "usr/share/"+filepath.Dir(shell), "usr/share/"+shell)
		}
		for _, dir := range dirs {
			contents = append(contents, content{Dst: "/" + dir, Type: "dir", Info: map[string]any{"mode": 0o755, "mtime": r.date, "owner": "root", "group": "root"}})
		}
	}
	config, err := json.Marshal(map[string]any{ // JSON is YAML
		"name": "gemline", "arch": arch, "platform": "linux", "version": r.version, "mtime": r.date,
		"section": "utils", "priority": "optional", "license": "Apache-2.0", "homepage": r.url,
		"maintainer":  "The gemline authors <gemline@localhost>",
		"description": "coding agent for plain terminals\nIt talks to a model, reads and edits your project, runs commands when you\nsay so, and prints lines.",
		"recommends":  []string{"ca-certificates", "git"},
		"contents":    contents, "rpm": map[string]any{"buildhost": "localhost", "group": "Development/Tools"},
	})
	if err != nil {
		return err
	}
	file := filepath.Join(root, "nfpm.yaml")
	if err := os.WriteFile(file, config, 0o644); err != nil {
		return err
	}
	_, err = r.run(nil, "go", "run", nfpm, "package", "--config", file, "--packager", format, "--target", r.dir)
	return err
}

// shared returns the files below usr beside the program, among them the file from which gemline
// update reads how gemline was installed.
func (r *release) shared(how, zsh string) []file {
	return []file{
		{"usr/share/gemline/installed-by", 0o644, []byte(how + "\n")},
		{"usr/share/man/man1/gemline.1.gz", 0o644, zip(r.page("gemline.1"))},
		{"usr/share/bash-completion/completions/gemline", 0o644, r.page("completions/gemline.bash")},
		{"usr/share/zsh/" + zsh + "/_gemline", 0o644, r.page("completions/_gemline")},
		{"usr/share/fish/vendor_completions.d/gemline.fish", 0o644, r.page("completions/gemline.fish")},
		{"usr/share/doc/gemline/README.md", 0o644, r.page("README.md")},
		{"usr/share/doc/gemline/changelog.gz", 0o644, zip(r.page("CHANGELOG.md"))},
		{"usr/share/doc/gemline/copyright", 0o644, r.page("LICENSE")},
		{"usr/share/doc/gemline/THIRD-PARTY-LICENSES.txt", 0o644, r.page("THIRD-PARTY-LICENSES.txt")},
	}
}

// formula writes the Homebrew formula for the archives, unless the project has no download address.
func (r *release) formula(systems []string) error {
	if r.url == "" {
		fmt.Println("no Homebrew formula: it needs the project's address; make dist URL=https://... writes it")
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "class Gemline < Formula\n  desc \"Coding agent for plain terminals\"\n  homepage %q\n  version %q\n  license \"Apache-2.0\"\n", r.url, r.version)
	for _, s := range [][2]string{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", s[0])
		for _, a := range [][2]string{{"intel", "amd64"}, {"arm", "arm64"}} {
			system := s[1] + "/" + a[1]
			if !slices.Contains(systems, system) {
				continue
			}
			name := r.name(system) + ".tar.gz"
			data, err := os.ReadFile(filepath.Join(r.dir, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "    on_%s do\n      url \"%s/releases/download/v%s/%s\"\n      sha256 \"%s\"\n    end\n", a[0], r.url, r.version, name, sum(data))
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "gemline"
    man1.install "gemline.1"
    bash_completion.install "completions/gemline.bash" => "gemline"
    zsh_completion.install "completions/_gemline"
    fish_completion.install "completions/gemline.fish"
    doc.install "THIRD-PARTY-LICENSES.txt"
    (share/"gemline/installed-by").write "brew\n"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/gemline --version").strip
  end
end
`)
	return r.write("gemline.rb", []byte(b.String()))
}

// sums writes the sums of all files, and prints their sizes.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum(data), e.Name())
		fmt.Printf("%6.1f MB  %s\n", float64(len(data))/1e6, e.Name())
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
