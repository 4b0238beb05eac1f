package ide

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemline/tools/ide/idelab"
)

// place returns where companions are looked for in a test, below the process of a number.
func place(t *testing.T, pid int, more ...string) Environment {
	t.Helper()
	env := map[string]string{"TERM_PROGRAM": "vscode", "GEMINI_CLI_IDE_PID": fmt.Sprint(pid)}
	for _, kv := range more {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return Environment{Temp: t.TempDir(), Cwd: t.TempDir(), Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

// Which editor a terminal belongs to is said by its environment.
func TestEditor(t *testing.T) {
	for want, env := range map[string]string{
		"":                  "TERM_PROGRAM=tmux CURSOR_TRACE_ID=1",
		"VS Code":           "TERM_PROGRAM=vscode",
		"Cursor":            "TERM_PROGRAM=vscode CURSOR_TRACE_ID=1",
		"Antigravity":       "TERM_PROGRAM=vscode CURSOR_TRACE_ID=1 ANTIGRAVITY_CLI_ALIAS=agy",
		"Devin":             "TERM_PROGRAM=vscode __COG_BASHRC_SOURCED=1",
		"Replit":            "TERM_PROGRAM=vscode REPLIT_USER=me",
		"GitHub Codespaces": "TERM_PROGRAM=vscode CODESPACES=true",
		"Cloud Shell":       "TERM_PROGRAM=vscode EDITOR_IN_CLOUD_SHELL=true",
		"Trae":              "TERM_PROGRAM=vscode TERM_PRODUCT=Trae",
		"Firebase Studio":   "TERM_PROGRAM=vscode MONOSPACE_ENV=1",
		"Positron":          "TERM_PROGRAM=vscode POSITRON=1",
		"Sublime Text":      "TERM_PROGRAM=sublime",
		"Zed":               "ZED_SESSION_ID=1",
		"Xcode":             "XCODE_VERSION_ACTUAL=1600",
		"the JetBrains IDE": "TERMINAL_EMULATOR=JetBrains-JediTerm",
		"the editor":        "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=sh",
	} {
		env := strings.Fields(env)
		p := Environment{Lookup: func(name string) (string, bool) {
			for _, kv := range env {
				if value, ok := strings.CutPrefix(kv, name+"="); ok {
					return value, true
				}
			}
			return "", false
		}}
		if got := p.editor(); got != want {
			t.Errorf("%q with %v; want %q", got, env, want)
		}
	}
}

// Of several companions that one is used that is of the terminal's process and has the
// folder open; what is odd about the others is said if there is none.
func TestFind(t *testing.T) {
	c, other := idelab.New(t), idelab.New(t)
	elsewhere := t.TempDir()
	for name, test := range map[string]struct {
		env  string
		make func(p Environment)
		port int // 0 is none
		err  string
	}{
		"nothing": {make: func(Environment) {}, err: "no companion of VS Code was found"},
		"the one": {make: func(p Environment) { c.Write(p.Temp, 7, "Code", p.Cwd) }, port: c.Port()},
		"below":   {make: func(p Environment) { c.Write(p.Temp, 7, "Code", elsewhere, filepath.Dir(p.Cwd)) }, port: c.Port()},
		"of another process": {make: func(p Environment) { c.Write(p.Temp, 8, "Code", p.Cwd) },
			err: "no companion of VS Code was found"},
		"two windows": {make: func(p Environment) { c.Write(p.Temp, 7, "Code", p.Cwd); other.Write(p.Temp, 7, "Code", elsewhere) },
			port: c.Port()},
		"the nearer folder": {make: func(p Environment) {
			c.Write(p.Temp, 7, "Code", p.Cwd)
			other.Write(p.Temp, 7, "Code", filepath.Dir(p.Cwd))
		}, port: c.Port()},
		"the port of the terminal": {env: fmt.Sprint("GEMINI_CLI_IDE_SERVER_PORT=", other.Port()), make: func(p Environment) {
			c.Write(p.Temp, 7, "Code", p.Cwd)
			other.Write(p.Temp, 7, "Code", filepath.Dir(p.Cwd))
		}, port: other.Port()},
		"another folder": {make: func(p Environment) { c.Write(p.Temp, 7, "Code", elsewhere) }, err: "Code has " + elsewhere + " open, and gemline works in"},
		"no folder":      {make: func(p Environment) { c.Write(p.Temp, 7, "Code") }, err: "Code has no folder open"},
		"the older name": {make: func(p Environment) {
			path := c.Write(p.Temp, 7, "Code", p.Cwd)
			os.Rename(path, filepath.Join(filepath.Dir(path), "gemini-ide-server-7.json"))
		}, port: c.Port()},
		"a port that its name denies": {make: func(p Environment) {
			path := c.Write(p.Temp, 7, "Code", p.Cwd)
			os.Rename(path, filepath.Join(filepath.Dir(path), "gemini-ide-server-7-1.json"))
		}, err: "it names the port"},
		"no port": {make: func(p Environment) {
			os.WriteFile(c.Write(p.Temp, 7, "Code", p.Cwd), []byte(`{"port":70000}`), 0o600)
		}, err: "it names no port"},
		"no JSON": {make: func(p Environment) {
			os.WriteFile(c.Write(p.Temp, 7, "Code", p.Cwd), []byte("port: 1"), 0o600)
		}, err: "it is not what a companion writes"},
		"much too large": {make: func(p Environment) {
			os.WriteFile(c.Write(p.Temp, 7, "Code", p.Cwd), make([]byte, 1<<20), 0o600)
		}, err: "is larger than"},
		"a pipe": {make: func(p Environment) {
			path := c.Write(p.Temp, 7, "Code", p.Cwd)
			os.Remove(path)
			os.Mkdir(path, 0o700)
		}, err: "is not used"},
		"others may write": {make: func(p Environment) {
			os.Chmod(c.Write(p.Temp, 7, "Code", p.Cwd), 0o666)
		}, err: "others may write it"},
		"a link": {make: func(p Environment) {
			path := c.Write(p.Temp, 7, "Code", p.Cwd)
			os.Rename(path, filepath.Join(p.Cwd, "ours.json"))
			os.Symlink(filepath.Join(p.Cwd, "ours.json"), path)
		}, err: "it is a link"},
		"a linked directory": {make: func(p Environment) {
			dir := filepath.Dir(c.Write(p.Temp, 7, "Code", p.Cwd))
			os.Rename(dir, filepath.Join(p.Cwd, "ide"))
			os.Symlink(filepath.Join(p.Cwd, "ide"), dir)
		}, err: "no directory that you alone can write to"},
		"a directory that others may write": {make: func(p Environment) {
			os.Chmod(filepath.Dir(c.Write(p.Temp, 7, "Code", p.Cwd)), 0o777)
		}, err: "no directory that you alone can write to"},
		"another user's": {make: func(p Environment) {
			if err := os.Lchown(c.Write(p.Temp, 7, "Code", p.Cwd), 12345, 12345); err != nil {
				t.Skip(err)
			}
		}, err: "it belongs to another user"},
		"a program elsewhere": {env: "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=sh", make: func(Environment) {}, err: "VS Code has no folder open"},
		"a program with arguments that are none": {env: "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=sh GEMINI_CLI_IDE_SERVER_STDIO_ARGS=-c", make: func(Environment) {},
			err: "GEMINI_CLI_IDE_SERVER_STDIO_ARGS is no JSON list of strings"},
		"a program in a file": {make: func(p Environment) {
			path := c.Write(p.Temp, 7, "Code", p.Cwd)
			os.WriteFile(path, []byte(`{"stdio":{"command":"sh"},"workspacePath":"/"}`), 0o600)
		}, err: "it names a program to start, which only the environment can"},
		"no number": {env: "GEMINI_CLI_IDE_SERVER_PORT=http", make: func(Environment) {}, err: "GEMINI_CLI_IDE_SERVER_PORT is no port"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.Contains(name, "other") || strings.Contains(name, "link")) {
				t.Skip("nobody says who owns a file")
			}
			p := place(t, 7, strings.Fields(test.env)...)
			test.make(p)
			found, err := p.find()
			switch {
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("%v, %v; want %q", found, err, test.err)
			case test.err == "" && (err != nil || found[0].port != test.port):
				t.Errorf("%v, %v; want port %d", found, err, test.port)
			}
		})
	}
}

// The environment alone is enough, and its folders count, too.
func TestFindByTheEnvironment(t *testing.T) {
	c := idelab.New(t)
	cwd := t.TempDir()
	p := place(t, 7, c.Environ(cwd)...)
	if _, err := p.find(); err == nil || !strings.Contains(err.Error(), "and gemline works in") {
		t.Error(err)
	}
	p.Cwd = cwd
	if found, err := p.find(); err != nil || found[0].port != c.Port() || found[0].token != c.Token {
		t.Error(found, err)
	}
	if _, err := (Environment{Lookup: func(string) (string, bool) { return "", false }}).find(); err == nil {
		t.Error("found in a terminal of no editor")
	}
}

// A terminal's shell is below the editor.
func TestAncestors(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("only the environment says so here")
	}
	if all := ancestors(); len(all) == 0 || all[0] != os.Getppid() {
		t.Errorf("%v, not %d first", all, os.Getppid())
	}
}
