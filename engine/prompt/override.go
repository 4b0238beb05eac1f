package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
)

// An Override changes the sections of the instruction.
type Override struct {
	// Own, unless empty, replaces all sections but the skills.
	Own string

	// Disabled holds the keys of sections that are left out: see [Disabled].
	Disabled map[string]bool

	// SystemMD and WriteSystemMD are the values of the variables
	// GEMINI_SYSTEM_MD and GEMINI_WRITE_SYSTEM_MD.
	SystemMD, WriteSystemMD string
}

// Check returns why the file that SystemMD names can't be used, nil if it can or none is named.
func (o Override) Check(env Environment) error {
	path := OverridePath(o.SystemMD, env)
	if path == "" {
		return nil
	}
	_, err := replacement(path, Config{})
	return err
}

// maxReplacement is the maximum size of a system.md.
const maxReplacement = 1 << 20

// replacement returns the user's own system instruction.
func replacement(path string, cfg Config) (string, error) {
	b, err := disk.Read(path, maxReplacement)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("missing system prompt file '%s'", path)
	}
	if err != nil {
		return "", fmt.Errorf("system prompt %s: %w", path, disk.Cause(err))
	}
	return expand(strings.ToValidUTF8(string(b), "\ufffd"), cfg), nil
}

// expand replaces the placeholders in text by their values.
func expand(text string, cfg Config) string {
	var list strings.Builder
	for i, t := range cfg.Tools {
		if i > 0 {
			list.WriteString("\n")
		}
		list.WriteString("- " + t)
	}
	var agentText, skillText string
	if len(cfg.Agents) > 0 {
		agentText = strings.TrimSpace(agents(cfg))
	}
	if len(cfg.Skills) > 0 {
		skillText = strings.TrimSpace(skills(cfg))
	}
	pairs := []string{"${AvailableTools}", list.String(), "${SubAgents}", agentText, "${AgentSkills}", skillText}
	for _, t := range cfg.Tools {
		pairs = append(pairs, "${"+t+"_ToolName}", t)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// writeCopy writes the instruction to the file that GEMINI_WRITE_SYSTEM_MD names.
func writeCopy(cfg Config, text string) error {
	path := OverridePath(cfg.Override.WriteSystemMD, cfg.Environment)
	if path == "" {
		return nil
	}
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write the system prompt: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the system prompt: %w", err)
	}
	return nil
}
