package prompt

import (
	"context"
	"strings"
	"time"

	"google.golang.org/genai"
)

// An Environment describes the system and the workspace of a conversation.
type Environment struct {
	Now     time.Time
	OS      string                           // such as linux
	Temp    string                           // the project's temporary directory
	Home    string                           // what ~ stands for in the paths of an [Override]
	Roots   []string                         // the workspace; the first is the working directory
	Tree    bool                             // list its files
	Ignored func(path string, dir bool) bool // nil means that nothing is
}

// Opening returns the first message of a conversation: the environment and the project's context
// files. If ctx ends, Opening returns the finished part.
func Opening(ctx context.Context, cfg Config) *genai.Content {
	var b strings.Builder
	b.WriteString("<session_context>\n")
	b.WriteString("This message comes from gemline itself and tells where the conversation takes place.\n")
	env := cfg.Environment
	b.WriteString("Today is " + env.Now.Format("Monday, January 2, 2006") + ".\n")
	b.WriteString("The operating system is " + env.OS + ".\n")
	if env.Temp != "" {
		b.WriteString("Temporary files of this project go to " + quote(env.Temp) + "\n")
	}
	b.WriteString(directories(ctx, env))
	if m := projectMemory(cfg.Context); m != "" {
		b.WriteString("\n" + m + "\n")
	}
	b.WriteString("</session_context>")
	return genai.NewContentFromText(b.String(), genai.RoleUser)
}

// directories returns the part of the opening message that lists the workspace
// and its files. The model gets the same text when a directory is
// added.
func directories(ctx context.Context, env Environment) string {
	var b strings.Builder
	b.WriteString("- **Workspace Directories:**\n")
	for _, root := range env.Roots {
		b.WriteString("  - " + quote(root) + "\n")
	}
	if !env.Tree || len(env.Roots) == 0 {
		return b.String()
	}
	b.WriteString("- **Directory Structure:**\n\n")
	b.WriteString("At most 200 files and folders. Behind ... there is more: ignored, or beyond that number.\n")
	share := max(maxItems/len(env.Roots), 20)
	for _, root := range env.Roots {
		b.WriteString("\n" + tree(ctx, root, share, env.Ignored))
	}
	return b.String()
}

func projectMemory(c Context) string {
	if c.Extension == "" && c.Project == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<loaded_context>\n")
	if c.Extension != "" {
		b.WriteString("<extension_context>\n" + c.Extension + "\n</extension_context>\n")
	}
	if c.Project != "" {
		b.WriteString("<project_context>\n" + c.Project + "\n</project_context>\n")
	}
	b.WriteString("</loaded_context>")
	return b.String()
}
