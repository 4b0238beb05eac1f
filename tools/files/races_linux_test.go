package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// arena makes a workspace in which names lead in and out at once: what is
// exchanged looks the same inside, outside and in .git, but for what it holds.
// The canaries are never to be seen or touched.
func arena(t *testing.T) place {
	p := newPlace(t, map[string]string{
		"file": "inside\n", "sub/file": "inside\n", "sub/deep/file": "inside\n", "still/file": "inside\n",
		".git/file": "CANARY\n", ".git/deep/file": "CANARY\n", ".git/canary-only": "CANARY\n",
		"../out/file": "CANARY\n", "../out/deep/file": "CANARY\n", "../out/canary-only": "CANARY\n", "../out/deep/canary-only": "CANARY\n",
	})
	for link, to := range map[string]string{"link": "../out", "hidden": ".git", "flink": "../out/file", "sub/up": "../../out/deep"} {
		if err := os.Symlink(to, p.Path(link)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// swap exchanges files and directories of the arena with links until the
// context is done.
func swap(ctx context.Context, t *testing.T, p place) {
	root, err := unix.Open(p.Dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(root)
	sub, err := unix.Open(p.Path("sub"), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(sub)
	above, err := unix.Open(filepath.Dir(p.Dir), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(above)
	for i := 0; ctx.Err() == nil; i++ {
		at, a, b := root, "sub", "link"
		switch i / 2 % 5 { // each twice, which ends as it began
		case 1:
			at, a, b = sub, "deep", "up"
		case 2:
			a, b = "file", "flink"
		case 3:
			b = "hidden"
		case 4:
			at, a, b = above, "ws", "out"
		}
		if err := unix.Renameat2(at, a, at, b, unix.RENAME_EXCHANGE); err != nil {
			t.Errorf("exchanging %s and %s: %v", a, b, err)
			return
		}
		runtime.Gosched()
	}
}

// everything tells all that lies below dirs.
func everything(t *testing.T, dirs ...string) string {
	var all strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				b, rerr := os.ReadFile(path)
				err = rerr
				fmt.Fprintf(&all, "%s %q\n", path, b)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// TestRaces has every tool work where somebody exchanges directories and files
// with links that lead out or to what is withheld, and the root itself with
// another directory. Nothing of that is ever shown or changed.
func TestRaces(t *testing.T) {
	long := 1500 * time.Millisecond // for all tools at once
	if et.Soak() {
		long = time.Minute // for each
	}
	probe := arena(t)
	if err := unix.Renameat2(unix.AT_FDCWD, probe.Path("file"), unix.AT_FDCWD, probe.Path("flink"), unix.RENAME_EXCHANGE); err != nil {
		t.Skip("files can't be exchanged here:", err)
	}
	jobs := map[string]func(p place, n int) (string, error){}
	for name, args := range map[string]string{
		"read_file":       `{"file_path":"sub/deep/file"}`,
		"read_file link":  `{"file_path":"file"}`,
		"write_file":      `{"file_path":"sub/deep/made-%d/file","content":"inside\n"}`,
		"write_file old":  `{"file_path":"sub/file","content":"inside %d\n"}`,
		"replace":         `{"file_path":"file","old_string":"inside","new_string":"inside %d","instruction":"i"}`,
		"glob":            `{"pattern":"**/*"}`,
		"grep_search":     `{"pattern":"CANARY|inside","include_pattern":"*"}`,
		"grep_search sub": `{"pattern":"CANARY|inside","dir_path":"sub"}`,
		"list_directory":  `{"dir_path":"sub/deep"}`,
	} {
		tool, _, _ := strings.Cut(name, " ")
		jobs[name] = func(p place, n int) (string, error) {
			_, r, err := p.Do(toolOf(p, tool), strings.ReplaceAll(args, "%d", strconv.Itoa(n)))
			return r.Text + r.Display, err
		}
	}
	jobs["@path"] = func(p place, _ int) (string, error) {
		parts, _, err := p.ts.ReadMany(t.Context(), []string{p.Dir, p.Path("sub"), p.Path("link"), p.Path("file")}, nil)
		var all strings.Builder
		for _, part := range parts {
			all.WriteString(part.Text)
		}
		return all.String(), err
	}
	if !et.Soak() {
		race(t, long, jobs)
		return
	}
	for name, job := range jobs {
		t.Run(name, func(t *testing.T) { race(t, long, map[string]func(place, int) (string, error){name: job}) })
	}
}

// toolOf returns the tool of that name.
func toolOf(p place, name string) engine.Tool {
	for _, tool := range []engine.Tool{p.ts.readFile(), p.ts.writeFile(), p.ts.replace(), p.ts.glob(), p.ts.grepSearch(), p.ts.listDirectory()} {
		if tool.Declaration.Name == name {
			return tool
		}
	}
	panic(name)
}

// race does all jobs over and over, each by itself, while files are exchanged.
func race(t *testing.T, long time.Duration, jobs map[string]func(place, int) (string, error)) {
	p := arena(t)
	out := filepath.Join(filepath.Dir(p.Dir), "out")
	before := everything(t, out, p.Path(".git"))
	ctx, stop := context.WithCancel(t.Context())
	var swapper, workers sync.WaitGroup
	swapper.Go(func() { swap(ctx, t, p) })
	deadline := time.Now().Add(long)
	for name, job := range jobs {
		workers.Go(func() {
			well := 0
			rounds := 0
			for ; rounds < 3 || time.Now().Before(deadline); rounds++ {
				text, err := job(p, rounds)
				if err == nil {
					well++
				}
				if whole := fmt.Sprint(text, err); strings.Contains(strings.ReplaceAll(whole, "CANARY|inside", ""), "CANARY") || strings.Contains(whole, "canary-only") {
					t.Errorf("%s saw what is outside:\n%s", name, whole)
					return
				}
			}
			t.Logf("%s: %d of %d calls went well", name, well, rounds)
		})
	}
	workers.Wait()
	stop()
	swapper.Wait()
	// An odd number of exchanges may have been made.
	for range 2 {
		if _, err := os.Lstat(filepath.Join(out, "canary-only")); err == nil {
			break
		}
		if err := unix.Renameat2(unix.AT_FDCWD, p.Dir, unix.AT_FDCWD, out, unix.RENAME_EXCHANGE); err != nil {
			t.Fatal(err)
		}
	}
	if after := everything(t, out, p.Path(".git")); after != before {
		t.Errorf("what is not to be touched was\n%s\nand is\n%s", before, after)
	}
}
