package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/sandbox"
	"gemline/tools/sandbox/sandboxtest"
)

// image is what the containers of tests are made of.
const image = "gemline-test"

// podman returns a Container whose image has busybox for a shell, of an engine
// that keeps what it has below the test's directory.
func podman(t *testing.T) *sandbox.Container {
	t.Helper()
	missing := func(format string, args ...any) {
		t.Helper()
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	paths := map[string]string{}
	for _, name := range []string{"podman", "busybox"} {
		path, err := exec.LookPath(name)
		if err != nil {
			missing("%s is not installed", name)
		}
		paths[name] = path
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv("CONTAINERS_STORAGE_CONF", put("storage.conf", fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", dir+"/graph", dir+"/run")))
	run := func(name string, args ...string) (string, error) {
		out, err := exec.Command(name, args...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	t.Cleanup(func() { run(paths["podman"], "system", "reset", "--force") })

	tree := filepath.Join(dir, "tree")
	bin := filepath.Join(tree, "bin")
	if err := os.MkdirAll(filepath.Join(tree, filepath.Dir(paths["busybox"])), 0o755); err != nil {
		t.Fatal(err)
	}
	steps := [][]string{{"cp", paths["busybox"], tree + paths["busybox"]}, {"mkdir", "-p", bin}, {paths["busybox"], "--install", "-s", bin},
		{"tar", "-C", tree, "-cf", tree + ".tar", "."}, {paths["podman"], "import", tree + ".tar", image}}
	for _, args := range steps {
		if out, err := run(args[0], args[1:]...); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	var said []string
	for _, runtime := range []string{"crun", "runc"} {
		t.Setenv("CONTAINERS_CONF", put("containers.conf", fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=4096:4096\"]\n"+
			"[engine]\nruntime = %q\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n", runtime)))
		out, err := run(paths["podman"], "run", "--rm", "--network=none", image, "true")
		if err == nil {
			return &sandbox.Container{Engine: sandbox.ByPodman, Path: paths["podman"], Image: image,
				Extras: sandbox.Extras{User: fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())}}
		}
		said = append(said, runtime+": "+out)
	}
	t.Skip("podman runs no container here: ", strings.Join(said, "; ")) // the kernel and what is around this system have a say in it
	return nil
}

// TestPodman runs podman for real.
func TestPodman(t *testing.T) {
	k := podman(t)
	sandboxtest.Test(t, k, sandboxtest.Features{Image: true, Brief: os.Getenv("SOAK") == ""}) // a command takes seconds
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
