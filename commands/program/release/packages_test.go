package main

import (
	"bytes"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gemline/engine/enginetest"
)

// dist returns the directory that make dist has written, and skips the test if none is named.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GEMLINE_DIST")
	if dir == "" {
		t.Skip("make dist-test runs this")
	}
	return dir
}

// only returns the one file of the release that a pattern names.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// do runs a command, which has to succeed, and returns what it prints.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// clean returns a system in a directory: the one of $GEMLINE_ROOT, as debootstrap makes one, or
// busybox and what it needs. Beside it there is a user's directory.
func clean(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("a root for chroot needs root, on Linux")
	}
	root := t.TempDir()
	if from := os.Getenv("GEMLINE_ROOT"); from != "" {
		do(t, "cp", "-a", from+"/.", root)
	} else {
		for _, dir := range []string{"bin", "etc", "dev", "proc", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates", "usr/bin", "usr/share/doc", "usr/share/man/man1", "root"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		busybox, err := exec.LookPath("busybox")
		if err != nil {
			t.Fatal(err)
		}
		do(t, "cp", busybox, filepath.Join(root, "bin/busybox"))
		for _, name := range []string{"sh", "ls", "cat", "true", "rm"} {
			if err := os.Symlink("busybox", filepath.Join(root, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available", "etc/passwd", "dev/null"} {
			if err := os.WriteFile(filepath.Join(root, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	user := filepath.Join(root, "home/user/words")
	if err := os.MkdirAll(user, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(user, os.DirFS("../../../docs/demo/project")); err != nil {
		t.Fatal(err)
	}
	answer := `{"method": "generateContentStream", "response": [{"candidates": [{"content": {"role": "model", "parts": [{"text": "It counts words.\n"}]}, "index": 0, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 4, "totalTokenCount": 14}}]}` + "\n"
	if err := os.WriteFile(filepath.Join(root, "home/user/recording.jsonl"), []byte(answer), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// tree returns the files of a system but for the user's and what a package manager writes about
// packages that were there.
func tree(t *testing.T, root string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root)
		for _, not := range []string{"/home/user", "/var/lib/dpkg", "/var/log", "/var/cache", "/var/lib/rpm", "/usr/lib/sysimage/rpm", "/root/.rpmdb"} {
			if name == not || strings.HasPrefix(name, not+"/") {
				return nil
			}
		}
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// use has a conversation with the installed program, as its user would.
func use(t *testing.T, root, by string) {
	t.Helper()
	in := func(args ...string) string {
		const enter = `mkdir -p "$0/proc" && mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -c 'cd /home/user/words && HOME=/home/user PATH=/usr/bin:/bin exec "$@"' sh "$@"`
		return do(t, "unshare", append([]string{"--mount", "sh", "-c", enter, root}, args...)...)
	}
	version := strings.TrimSpace(in("gemline", "--version"))
	if !strings.Contains(only(t, "gemline-*-linux-amd64.tar.gz"), "gemline-"+version+"-") {
		t.Errorf("version %q", version)
	}
	if out := in("gemline", "-m", "gemini-3.8-flash", "--fake-responses", "/home/user/recording.jsonl", "-p", "what is this?"); !strings.Contains(out, "It counts words.") {
		t.Errorf("the answer is %q", out)
	}
	if out := in("gemline", "update"); !strings.Contains(out, "installed by: "+by) {
		t.Error(out)
	}
	if found, _ := filepath.Glob(filepath.Join(root, "home/user/.gemini/tmp/*/chats/*.jsonl")); len(found) != 1 {
		t.Errorf("sessions of the user: %q", found)
	}
}

// What is installed, used and removed leaves the user's files and nothing else.
func TestPackages(t *testing.T) {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for _, p := range []struct {
		by, pattern     string
		install, remove func(t *testing.T, root, file string)
	}{
		{"a Debian package", "gemline_*_" + runtime.GOARCH + ".deb", func(t *testing.T, root, file string) {
			if os.Getenv("GEMLINE_ROOT") == "" { // there is no dpkg in there
				do(t, "dpkg", "--root="+root, "--force-script-chrootless", "-i", file)
				return
			}
			do(t, "cp", file, filepath.Join(root, "tmp/gemline.deb"))
			do(t, "chroot", root, "dpkg", "-i", "/tmp/gemline.deb")
			do(t, "rm", filepath.Join(root, "tmp/gemline.deb"))
		}, func(t *testing.T, root, _ string) {
			if os.Getenv("GEMLINE_ROOT") == "" {
				do(t, "dpkg", "--root="+root, "-r", "gemline")
				return
			}
			do(t, "chroot", root, "dpkg", "-r", "gemline")
		}},
		{"an RPM package", "gemline-*." + machine + ".rpm", func(t *testing.T, root, file string) {
			do(t, "rpm", "--root", root, "-i", "--nodeps", file)
		}, func(t *testing.T, root, _ string) { do(t, "rpm", "--root", root, "-e", "gemline") }},
		// apk itself is in no registry of Debian's: what it does with a package without scripts is done here.
		{"an Alpine package", "gemline_*_" + machine + ".apk", func(t *testing.T, root, file string) {
			do(t, "tar", "-xzf", file, "-C", root, "--warning=no-unknown-keyword", "--exclude=.*")
		}, func(t *testing.T, root, file string) {
			list := strings.Fields(do(t, "tar", "-tzf", file, "--warning=no-unknown-keyword", "--exclude=.*"))
			for _, name := range slices.Backward(list) {
				os.Remove(filepath.Join(root, name)) // a directory that others use stays
			}
		}},
		{"hand", "gemline-*-linux-" + runtime.GOARCH + ".tar.gz", func(t *testing.T, root, file string) {
			do(t, "tar", "-xzf", file, "-C", filepath.Join(root, "usr/bin"), "--strip-components=1", "--wildcards", "*/gemline")
		}, func(t *testing.T, root, _ string) { do(t, "rm", filepath.Join(root, "usr/bin/gemline")) }},
	} {
		t.Run(p.by, func(t *testing.T) {
			file := only(t, p.pattern)
			root := clean(t)
			before := tree(t, root)
			p.install(t, root, file)
			use(t, root, p.by)
			p.remove(t, root, file)
			var left []string
			for _, name := range tree(t, root) {
				if !slices.Contains(before, name) {
					left = append(left, name)
				}
			}
			if len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A stranger with a model on the machine gets an answer by two commands: apt installs the package
// (here without git and the certificates, which it recommends and a network has),
// and gemline asks the model.
func TestStranger(t *testing.T) {
	file := only(t, "gemline_*_"+runtime.GOARCH+".deb")
	if os.Getenv("GEMLINE_ROOT") == "" {
		t.Skip("needs a system of debootstrap in GEMLINE_ROOT")
	}
	root := clean(t)
	do(t, "cp", file, filepath.Join(root, "root"))
	replies, err := enginetest.ParseReplies("calls list_directory dir_path=.\nsays It counts words.")
	if err != nil {
		t.Fatal(err)
	}
	s := enginetest.NewDialectServer(enginetest.Ollama, replies...)
	defer s.Close()
	s.Others = map[string][]enginetest.Reply{"/api/show": {enginetest.Whole(`{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960}}`)}}
	const enter = `mount -t proc proc "$0/proc" && cd "$0" && exec chroot . /bin/sh -c "$1"`
	in := func(command string) (string, time.Duration) {
		began := time.Now()
		return do(t, "unshare", "--mount", "sh", "-c", enter, root, command), time.Since(began)
	}
	_, installed := in("cd /root && DEBIAN_FRONTEND=noninteractive apt install -y --no-install-recommends ./gemline_*.deb")
	said, answered := in("cd /home/user/words && OLLAMA_HOST=" + s.URL + " HOME=/home/user gemline -m ollama/qwen3:4b -p 'what is this?'")
	if !strings.Contains(said, "It counts words.") {
		t.Errorf("the answer is %q", said)
	}
	t.Logf("two commands: apt install %.1f s, an answer with a call %.2f s", installed.Seconds(), answered.Seconds())
}

// The image is small, and answers where there is nothing but its own files.
func TestImage(t *testing.T) {
	file := only(t, "gemline-*-linux-"+runtime.GOARCH+".oci.tar")
	if info, err := os.Stat(file); err != nil || info.Size() >= 45e6 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("no podman")
	}
	store := t.TempDir()
	global := []string{"--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"), "--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=none"}
	loaded := do(t, "podman", append(global, "load", "-q", "-i", file)...)
	name := strings.TrimPrefix(strings.TrimSpace(loaded), "Loaded image: ")
	defer do(t, "podman", append(global, "rmi", "--force", name)...)
	var said []string
	for _, runtime := range []string{"crun", "runc"} {
		run := append(slices.Clone(global), "--runtime="+runtime, "run", "--rm", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", name)
		version, err := exec.Command("podman", append(run, "--version")...).CombinedOutput()
		if err != nil { // the kernel and what is around this system have a say in it
			said = append(said, runtime+": "+string(version))
			continue
		}
		if !strings.Contains(file, "gemline-"+strings.TrimSpace(string(version))+"-") {
			t.Errorf("version %q", version)
		}
		if out := do(t, "podman", append(run, "update")...); !strings.Contains(out, "installed by: a container image") {
			t.Error(out)
		}
		return
	}
	t.Logf("podman loads the image and runs no container here: %s", strings.Join(said, "; "))
	root := filepath.Join(store, "files")
	do(t, "sh", "-c", `mkdir "$1" && cd "$1" && for blob in $(tar -tf "$0" | grep blobs/sha256/.); do tar -xOf "$0" "$blob" | tar -xzf - 2>/dev/null && exit 0; done; exit 1`, file, root)
	if version := strings.TrimSpace(do(t, "chroot", root, "/usr/bin/gemline", "--version")); !strings.Contains(file, "gemline-"+version+"-") {
		t.Errorf("version %q", version)
	}
}

// What can't be run here is looked into: programs of Windows and macOS are of the right kind and
// machine and need no library but the system's. Those of other processors are run where QEMU is.
func TestForeign(t *testing.T) {
	for _, system := range targets {
		goos, arch, _ := strings.Cut(system, "/")
		found, _ := filepath.Glob(filepath.Join(dist(t), "gemline-*-"+goos+"-"+arch+".*z*"))
		if len(found) != 1 {
			t.Logf("%s: not in this release", system)
			continue
		}
		dir := t.TempDir()
		do(t, "bsdtar", "-xf", found[0], "-C", dir, "--strip-components=1")
		program := filepath.Join(dir, "gemline")
		if goos == "windows" {
			program += ".exe"
		}
		about := do(t, "go", "version", "-m", program)
		for _, want := range []string{"GOOS=" + goos, "GOARCH=" + arch, "CGO_ENABLED=0", "-trimpath=true"} {
			if !strings.Contains(about, want) {
				t.Errorf("%s: no %s", system, want)
			}
		}
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		here, _ := os.Getwd()
		if home, _ := os.UserHomeDir(); bytes.Contains(data, []byte(here)) || bytes.Contains(data, []byte(filepath.Join(home, "go", "pkg"))) {
			t.Errorf("%s: names a directory of this machine", system)
		}
		said := "only looked into"
		switch goos {
		case "windows":
			f, err := pe.NewFile(bytes.NewReader(data))
			if err != nil || (f.Machine == pe.IMAGE_FILE_MACHINE_AMD64) != (arch == "amd64") {
				t.Errorf("%s: %v", system, err)
			}
			if path, err := exec.LookPath("wine"); err == nil && arch == "amd64" {
				said = "by wine: " + foreign(t, path, program)
			}
		case "darwin":
			f, err := macho.NewFile(bytes.NewReader(data))
			if err != nil || (f.Cpu == macho.CpuAmd64) != (arch == "amd64") {
				t.Fatalf("%s: %v", system, err)
			}
			libraries, _ := f.ImportedLibraries()
			if i := slices.IndexFunc(libraries, func(l string) bool {
				return !strings.HasPrefix(l, "/usr/lib/") && !strings.HasPrefix(l, "/System/")
			}); i >= 0 {
				t.Errorf("%s needs %s", system, libraries[i])
			}
		case "linux":
			if arch == runtime.GOARCH {
				said = "run: " + foreign(t, program)
			} else if path, err := exec.LookPath("qemu-aarch64-static"); err == nil && arch == "arm64" {
				said = "run by QEMU: " + foreign(t, path, program)
			}
		}
		t.Logf("%s: %s", system, said)
	}
}

// foreign returns the version that a program says.
func foreign(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], append(args[1:], "--version")...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "WINEDEBUG=-all")
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && bytes.Contains(e.Stderr, []byte("bcryptprimitives.dll not found")) {
		return "it is too old for any program of Go"
	}
	if err != nil {
		t.Error(fmt.Errorf("%q: %w", args, err))
	}
	return strings.TrimSpace(string(out))
}
