package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Editor returns a function that lets the user change text in a program, given
// as a command with options, that takes over the terminal in the meantime.
func Editor(command string, stdin, stdout, stderr *os.File) func(ctx context.Context, name, text string) (string, error) {
	return func(ctx context.Context, name, text string) (string, error) {
		words := strings.Fields(command)
		if len(words) == 0 {
			return "", errors.New("neither VISUAL nor EDITOR is set")
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
		cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%s: %w", words[0], err)
		}
		b, err := os.ReadFile(file)
		return string(b), err
	}
}
