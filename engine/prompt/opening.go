package prompt

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

// Opening returns the message that stands before all others: where the
// conversation takes place and what the project says about itself. When ctx is
// done it returns what it has.
func Opening(ctx context.Context, cfg Config) *genai.Content {
	var b strings.Builder
	b.WriteString("<session_context>\n")
	b.WriteString("This message comes from gemline itself and tells where the conversation takes place.\n")
	b.WriteString("Today is " + cfg.Now.Format("Monday, January 2, 2006") + ".\n")
	b.WriteString("The operating system is " + cfg.OS + ".\n")
	if cfg.Temp != "" {
		b.WriteString("Temporary files of this project go to " + quote(cfg.Temp) + "\n")
	}
	b.WriteString(directories(ctx, cfg))
	if m := projectMemory(cfg); m != "" {
		b.WriteString("\n" + m + "\n")
	}
	b.WriteString("</session_context>")
	return genai.NewContentFromText(b.String(), genai.RoleUser)
}

// directories returns the part of the opening message that lists the workspace
// and what is in it. It is also what the model is told when a directory is
// added.
func directories(ctx context.Context, cfg Config) string {
	var b strings.Builder
	b.WriteString("- **Workspace Directories:**\n")
	for _, root := range cfg.Roots {
		b.WriteString("  - " + quote(root) + "\n")
	}
	if !cfg.Tree || len(cfg.Roots) == 0 {
		return b.String()
	}
	b.WriteString("- **Directory Structure:**\n\n")
	b.WriteString("At most 200 files and folders. Behind ... there is more: ignored, or beyond that number.\n")
	share := max(maxItems/len(cfg.Roots), 20)
	for _, root := range cfg.Roots {
		b.WriteString("\n" + tree(ctx, root, share, cfg.Ignored))
	}
	return b.String()
}

func projectMemory(cfg Config) string {
	if cfg.Extension == "" && cfg.Project == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<loaded_context>\n")
	if cfg.Extension != "" {
		b.WriteString("<extension_context>\n" + cfg.Extension + "\n</extension_context>\n")
	}
	if cfg.Project != "" {
		b.WriteString("<project_context>\n" + cfg.Project + "\n</project_context>\n")
	}
	b.WriteString("</loaded_context>")
	return b.String()
}
