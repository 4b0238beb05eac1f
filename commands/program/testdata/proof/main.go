// Proof measures gemline and the other agents that are installed by the same steps, and prints a
// table for each: make proof.
//
//	go run ./commands/program/testdata/proof ./gemline [FOLDER]
//
// FOLDER is where npm install --prefix FOLDER has put the others. A start is measured without a
// key, at a terminal of 24 rows and 80 columns, until nothing was written for QUIET (10s), with
// what is asked before a prompt can be typed; a turn with a model server on this machine. ONLY is
// a part of the names of the agents that are measured, PROOF_DEBUG=1 shows what they ask for.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"gemline/commands/program/acceptance/teletype"
)

// An agent is who is measured.
type agent struct {
	name, pkg, program string   // pkg is of npm
	args, env          []string // of the mode for screen readers
	prompt, talk       []string // what stands before a prompt that is answered at once, and before the first of a session
	version            string

	// seed writes what a user has set up before the first turn: the address of the server, a key
	// and that the folder is trusted.
	seed func(home, project, url string) (env []string)
}

var agents = []agent{
	{"gemline", "", "", nil, nil, []string{"-m", "gemini-3.8-flash", "-p"}, []string{"-m", "gemini-3.8-flash", "-i"}, "", seedGemini},
	{"gemline, screen reader", "", "", nil, []string{"ACCESSIBLE=1"}, []string{"-m", "gemini-3.8-flash", "-p"}, []string{"-m", "gemini-3.8-flash", "-i"}, "", seedGemini},
	{"Gemini CLI", "@google/gemini-cli", "gemini", nil, nil, []string{"-m", "gemini-2.5-flash", "-p"}, []string{"-m", "gemini-2.5-flash", "-i"}, "", seedGemini},
	{"Gemini CLI, screen reader", "@google/gemini-cli", "gemini", []string{"--screen-reader"}, nil, []string{"-m", "gemini-2.5-flash", "-p"}, []string{"-m", "gemini-2.5-flash", "-i"}, "", seedGemini},
	{"opencode", "opencode-ai", "opencode", nil, nil, []string{"run"}, []string{"--prompt"}, "", func(home, _, url string) []string {
		write(filepath.Join(home, ".config/opencode/opencode.json"), `{"model": "local/m", "small_model": "local/m", "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "`+url+`/v1", "apiKey": "k"}, "models": {"m": {"name": "m"}}}}}`)
		return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	}},
	{"Codex", "@openai/codex", "codex", nil, nil, []string{"exec", "--skip-git-repo-check"}, nil, "", func(home, project, url string) []string {
		write(filepath.Join(home, ".codex/config.toml"), fmt.Sprintf("model = \"m\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \"local\"\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\nenv_key = \"LOCAL_KEY\"\n[projects.%q]\ntrust_level = \"trusted\"\n", url, project))
		return []string{"LOCAL_KEY=k"}
	}},
	{"Claude Code", "@anthropic-ai/claude-code", "claude", nil, nil, []string{"-p"}, nil, "", seedClaude},
	{"Claude Code, screen reader", "@anthropic-ai/claude-code", "claude", []string{"--ax-screen-reader"}, nil, []string{"-p"}, nil, "", seedClaude},
	{"crush", "@charmland/crush", "crush", nil, nil, []string{"run"}, nil, "", nil},
}

func seedGemini(home, project, url string) []string {
	write(filepath.Join(home, ".gemini/settings.json"), `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
	write(filepath.Join(home, ".gemini/trustedFolders.json"), fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, project))
	return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=k"}
}

func seedClaude(home, project, url string) []string {
	const key = "sk-ant-api03-local-0123456789"
	write(filepath.Join(home, ".claude.json"), fmt.Sprintf(`{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": [%q], "rejected": []}, "projects": {%q: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}`, key[len(key)-20:], project))
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + key, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
}

func write(path, text string) {
	if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		panic(err)
	}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: proof GEMLINE [FOLDER]")
		os.Exit(2)
	}
	gemline, err := filepath.Abs(os.Args[1])
	if err != nil {
		panic(err)
	}
	folder := ""
	if len(os.Args) > 2 {
		folder, _ = filepath.Abs(os.Args[2])
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("Measured on %s on %s/%s with %d processors, load average %s. Under load the times are only good for ratios.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), first(string(load)))
	var there []agent
	fmt.Println("| agent | version | installed MB | --version: ms | MB of memory | start at xterm: bytes / ESC / erasures / cursor up | start at TERM=dumb | asks first |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, a := range agents {
		if !strings.Contains(a.name, os.Getenv("ONLY")) {
			continue
		}
		path, size := gemline, gemline
		if a.pkg != "" {
			path, size = filepath.Join(folder, "node_modules/.bin", a.program), filepath.Join(folder, "node_modules")
		}
		if _, err := os.Stat(path); err != nil {
			fmt.Printf("| %s | not installed | | | | | | |\n", a.name)
			continue
		}
		version, took, memory := asked(path)
		a.program, a.version = path, version
		there = append(there, a)
		smart, screen := started(path, "xterm-256color", a.args, a.env)
		dumb, _ := started(path, "dumb", a.args, a.env)
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", a.name, version, megabytes(size, a.pkg), took, memory, smart, dumb, questions(screen))
	}
	fmt.Println("\nInstalled is the program or, of a package, its folder and those that npm names beside it. Asks first: words at the start that want a decision or a log-in before any prompt.")
	turns(there)
}

// first returns the first word, or "unknown".
func first(text string) string {
	if words := strings.Fields(text); len(words) > 0 {
		return words[0]
	}
	return "unknown"
}

// asked returns the version that a program says, the median of five starts, and the most memory
// that one of its processes had.
func asked(path string) (version, took, memory string) {
	var times []time.Duration
	var most int64
	for range 5 {
		cmd := exec.Command(path, "--version")
		cmd.Env = environ(os.TempDir(), "dumb", nil)
		begin := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return "can't start: " + strings.ReplaceAll(err.Error(), "\n", " "), "", ""
		}
		times = append(times, time.Since(begin))
		version = regexp.MustCompile(`[0-9]+(\.[0-9A-Za-z-]+)+`).FindString(string(out))
		most = max(most, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	slices.Sort(times)
	return version, fmt.Sprint(times[2].Milliseconds()), fmt.Sprint(most / 1024)
}

func environ(home, term string, more []string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=" + term, "LANG=C.UTF-8"}, more...)
}

// started starts a program at a terminal, in a home and a project of its own, and returns what it
// writes until it is quiet.
func started(path, term string, args, env []string) (cost, screen string) {
	home, project := place()
	defer leave(home)
	return at(path, project, args, environ(home, term, env), func() bool { return true })
}

// place makes a home, and a project in it.
func place() (home, project string) {
	cache, err := os.UserCacheDir() // commands may write below /tmp
	if err == nil {
		home, err = os.MkdirTemp(cache, "proof-")
	}
	project = filepath.Join(home, "project")
	if err := cmp.Or(err, os.Mkdir(project, 0o700)); err != nil {
		panic(err)
	}
	return home, project
}

// leave ends the servers that an agent has started and left behind (Codex does), which would
// write to their home once more, and removes the home.
func leave(home string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range list {
		env, _ := os.ReadFile(file)
		if slices.Contains(strings.Split(string(env), "\x00"), "HOME="+home) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	if err := os.RemoveAll(home); err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
	}
}

// at runs a program at a terminal until something has happened and it is quiet, and returns what
// it has written.
func at(path, dir string, args, env []string, happened func() bool) (cost, screen string) {
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = dir, env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return "can't start", ""
	}
	var mu sync.Mutex
	var all []byte
	last := time.Now()
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := tty.Read(b)
			mu.Lock()
			all, last = append(all, b[:n]...), time.Now()
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	quiet, err := time.ParseDuration(cmp.Or(os.Getenv("QUIET"), "10s"))
	if err != nil {
		panic(err)
	}
	said := func() ([]byte, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all), time.Since(last)
	}
	begin := time.Now()
	b, silent := said()
	for ; time.Since(begin) < 20*quiet && (len(b) == 0 || silent < quiet || !happened()); b, silent = said() {
		time.Sleep(quiet / 30)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the session that was started here
	cmd.Wait()
	tty.Close()
	c := teletype.CostOf(b)
	return fmt.Sprintf("%d / %d / %d / %d", c.Bytes, c.Escapes, c.Erasures, c.Ups), string(b)
}

var escapes = regexp.MustCompile(`\x1b(\[[0-9;?>=<]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-Z]|[=>78MNODc])`)

// questions names what a first screen wants to be decided.
func questions(screen string) string {
	text := strings.ToLower(escapes.ReplaceAllString(screen, " "))
	var found []string
	for _, q := range []struct{ word, name string }{{"do you trust", "trust"}, {"trust the files", "trust"}, {"trust this folder", "trust"},
		{"how would you like to authenticate", "log-in"}, {"sign in", "log-in"}, {"log in", "log-in"}, {"login method", "log-in"},
		{"choose the text style", "theme"}, {"select theme", "theme"}, {"choose a provider", "provider"}} {
		if strings.Contains(text, q.word) && !slices.Contains(found, q.name) {
			found = append(found, q.name)
		}
	}
	return cmp.Or(strings.Join(found, ", "), "nothing")
}

// megabytes returns the size of a file, or of the packages that belong to one of npm.
func megabytes(path, pkg string) string {
	dirs := []string{path}
	if pkg != "" {
		beside, _ := filepath.Glob(filepath.Join(path, pkg) + "-*")
		dirs = append(beside, filepath.Join(path, pkg))
	}
	var n int64
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					n += info.Size()
				}
			}
			return nil
		})
	}
	return fmt.Sprint(n / 1e6)
}
