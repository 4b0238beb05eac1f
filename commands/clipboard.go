package commands

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// Clipboard puts text on the clipboard of the desktop with the first clipboard program that is
// installed, and returns how, such as "by xclip". getenv is the environment that names the desktop;
// the program gets environ.
func Clipboard(ctx context.Context, getenv func(string) string, environ []string, text string) (string, error) {
	p := clipboard(getenv)
	if p == nil {
		return "", errors.New("no clipboard here; on a desktop, install wl-copy, xclip or xsel")
	}
	cmd := exec.CommandContext(ctx, p[0], p[1:]...)
	cmd.Stdin, cmd.Env = strings.NewReader(text), environ
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", p[0], err)
	}
	return "by " + p[0], nil
}

// TmuxBuffer puts text into tmux's buffer, and on the clipboard of tmux's terminal if both support
// that. It returns the place that got the text.
func TmuxBuffer(ctx context.Context, environ []string, text string) (string, error) {
	var err error
	for _, args := range [][]string{{"load-buffer", "-w", "-"}, {"load-buffer", "-"}} { // older versions of tmux pass nothing to the terminal
		cmd := exec.CommandContext(ctx, "tmux", args...)
		cmd.Stdin, cmd.Env = strings.NewReader(text), environ
		if err = cmd.Run(); err == nil {
			return "to the tmux buffer", nil
		}
	}
	return "", fmt.Errorf("tmux: %w", err)
}

// clipboard returns the first clipboard program that is installed, with its arguments.
func clipboard(getenv func(string) string) []string {
	for _, p := range clipboards(getenv) {
		if _, err := exec.LookPath(p[0]); err == nil {
			return p
		}
	}
	return nil
}

// clipboards returns the usual programs of a desktop.
func clipboards(getenv func(string) string) (programs [][]string) {
	switch {
	case runtime.GOOS == "darwin":
		return [][]string{{"pbcopy"}}
	case runtime.GOOS == "windows", getenv("WSL_DISTRO_NAME") != "":
		return [][]string{{"clip.exe"}}
	}
	if getenv("WAYLAND_DISPLAY") != "" {
		programs = append(programs, []string{"wl-copy"})
	}
	if getenv("DISPLAY") != "" {
		programs = append(programs, []string{"xclip", "-selection", "clipboard"},
			[]string{"xsel", "--clipboard", "--input"})
	}
	return programs
}
