package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// EditorCommand returns the command of an editor that exits when the user has closed the file. Name
// is a value of general.preferredEditor; for other names the command is empty. If an editor has
// several program names, the first installed program counts. With window, a graphical editor opens
// another window.
func EditorCommand(name string, window bool, found func(program string) bool) string {
	commands := map[string][]string{
		"vscode":      {"code --wait"},
		"vscodium":    {"codium --wait", "vscodium --wait"},
		"windsurf":    {"windsurf --wait"},
		"cursor":      {"cursor --wait"},
		"antigravity": {"agy --wait", "antigravity --wait"},
		"zed":         {"zed --wait", "zeditor --wait"},
		"sublimetext": {"subl --wait"},
		"lapce":       {"lapce --wait"},
		"nova":        {"nova --wait"},
		"bbedit":      {"bbedit --wait"},
		"vim":         {"vim"},
		"neovim":      {"nvim"},
		"emacs":       {"emacs -nw"},
		"emacsclient": {"emacsclient -t"},
		"hx":          {"hx", "helix"},
		"micro":       {"micro"},
	}[name]
	if len(commands) == 0 {
		return ""
	}
	command := commands[0]
	for _, c := range commands {
		if program, _, _ := strings.Cut(c, " "); found(program) {
			command = c
			break
		}
	}
	switch name {
	case "vscode", "vscodium", "windsurf", "cursor", "antigravity", "sublimetext", "bbedit":
		if window {
			command += " --new-window"
		}
	case "zed":
		if window {
			command += " --new"
		}
	}
	return command
}

// DefaultEditor returns the first common editor that is installed, "" if there is none.
func DefaultEditor(found func(program string) bool) string {
	for _, name := range []string{"sensible-editor", "nano", "vim", "vi", "ed"} {
		if found(name) {
			return name
		}
	}
	return ""
}

// shellMarks are characters with a meaning for a shell.
const shellMarks = "|&;<>()$`\\\"'*?[#~=%"

// Editor returns a function that lets the user change text in a program. The command, with options,
// owns the terminal meanwhile.
func Editor(command string, environ []string, stdin, stdout,
	stderr *os.File) func(ctx context.Context, name, text string) (string, error) {
	return func(ctx context.Context, name, text string) (string, error) {
		words := strings.Fields(command)
		if len(words) == 0 {
			return "", errors.New("no editor is named: general.preferredEditor in the settings does that, or VISUAL or EDITOR")
		}
		dir, err := os.MkdirTemp("", "gemline-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		program := words[0]
		if strings.ContainsAny(command, shellMarks) && runtime.GOOS != "windows" { // git does the same
			program, words = command, []string{"sh", "-c", command + ` "$@"`, command}
		}
		cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = stdin, stdout, stderr, environ
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%s: %w", program, err)
		}
		b, err := os.ReadFile(file)
		return string(b), err
	}
}
