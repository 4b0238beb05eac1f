package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/files"
	"gemline/tools/shell/script"
	"gemline/tools/skill"
)

// customs returns the commands that the user, the project and extensions bring. Show prints the events
// of commands that run programs.
func (f *frontend) customs(out io.Writer, show func(engine.Event)) *commands.Customs {
	return &commands.Customs{Library: &f.session.Project.Commands, Notify: func(text string) { f.session.Project.Status.Notify(text) },
		Served: func() commands.Set { return append(f.skillCommands(show), f.promptCommands(out)...) },
		Narrow: func(command string, only custom.Only) { f.session.Rules.RestrictTools(command, only) }, // of the session at the time of the call
		Sources: custom.Sources{
			Run: func(ctx context.Context, command string) (string, error) { return f.commandOutput(ctx, command, show) },
			Files: func(ctx context.Context, path string, own bool) ([]*genai.Part, error) {
				return f.fileContent(ctx, path, own, show)
			},
			Insert: insertArguments,
		}}
}

// commandOutput runs a command in a prompt, which is judged and asked about like a call of the
// model, and returns the text for its place.
func (f *frontend) commandOutput(ctx context.Context, command string, show func(engine.Event)) (string, error) {
	result, err := f.runCall(ctx, "run_shell_command", map[string]any{"command": command}, show)
	var failed *engine.CallError
	switch {
	case err == nil:
		return result.Display, nil
	case errors.As(err, &failed) && result.Text != "": // the command has run
		how := failed.Display
		if code, ok := strings.CutPrefix(how, "failed exit "); ok {
			how = "exited with code " + code
		} else if name, ok := strings.CutPrefix(how, "failed signal "); ok {
			how = "terminated by signal " + name
		}
		return fmt.Sprintf("%s\n[Shell command '%s' %s]", strings.TrimSuffix(result.Display, "\n"), command, how), nil
	}
	return "", userError(err)
}

// userError returns the error of a call, reworded for the user.
func userError(err error) error {
	if errors.Is(err, context.Canceled) { // the user has cancelled it and needs no details
		return err
	}
	return errors.New(engine.DisplayError(err))
}

// fileContent returns the contents of a path in a prompt, nil if the path can't be used. A file
// that may hold secrets needs approval, like a call of the model, unless it stands in a command
// that the user has written.
func (f *frontend) fileContent(ctx context.Context, path string, own bool, show func(engine.Event)) ([]*genai.Part, error) {
	places, mark := f.files(), "@{"+path+"}"
	places.Search = false
	target, err := places.Find(ctx, input.Ref{Name: path, Spelling: mark})
	if err != nil || len(target.Names) == 0 {
		if err == nil && !target.Reported {
			f.notify(mark + ": there is no such file")
		}
		return nil, err
	}
	if !own && len(target.Names) == 1 && f.session.Project.Workspace.Private(target.Names[0]) {
		result, err := f.runCall(ctx, "read_file", map[string]any{"file_path": target.Names[0]}, show)
		if err != nil {
			return nil, input.UnsentError(ctx, mark, userError(err))
		}
		return append([]*genai.Part{genai.NewPartFromText(strings.TrimSpace(result.Text) + "\n")}, result.Media...), nil
	}
	info, serr := f.session.Project.Workspace.Stat(target.Names[0])
	dir, isDir := f.session.Project.Workspace.Rel(target.Names[0]), serr == nil && info.IsDir()
	read, err := places.Read(ctx, target.Names)
	if err != nil {
		return nil, err
	}
	text := func(s string) *genai.Part { return genai.NewPartFromText(s) }
	parts := []*genai.Part{}
	if isDir {
		parts = append(parts, text("--- Start of content for directory: "+dir+" ---\n"))
	}
	for _, p := range read {
		switch name, label := files.FileLabel(p); {
		case !label && p.Text != "":
			parts = append(parts, text(p.Text+"\n"))
		case !label:
			parts = append(parts, p)
		case isDir:
			parts = append(parts, text("--- "+strings.TrimPrefix(name, dir+"/")+" ---\n"))
		}
	}
	if isDir {
		parts = append(parts, text("--- End of content for directory: "+dir+" ---"))
	}
	return parts, nil
}

// insertArguments returns a command line with values in the place of marks, quoted for the shell
// that runs commands.
func insertArguments(line string, marks *regexp.Regexp, value func(string) string) (string, error) {
	if runtime.GOOS != "windows" {
		return script.Insert(line, marks, value)
	}
	return marks.ReplaceAllStringFunc(line, func(mark string) string {
		if value := value(mark); value != "" {
			return "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		return ""
	}), nil
}

// runCall carries out a call outside of the conversation, and prints what hooks say about it.
func (f *frontend) runCall(ctx context.Context, name string, args map[string]any, show func(engine.Event)) (engine.Result, error) {
	defer f.session.Notices.PrintHooks(f.session.Hooks)
	return f.session.Engine.RunCall(ctx, name, args, func(ev engine.Event) error { show(ev); return nil })
}

// skillCommands returns the skills, as commands. Show prints the events of activating a skill.
func (f *frontend) skillCommands(show func(engine.Event)) (set commands.Set) {
	if f.session.Tools.Skills == nil {
		return nil
	}
	for _, one := range f.session.Tools.Skills.Library.Skills() {
		name := skill.CommandName(one.Name)
		set = append(set, &commands.Command{Name: name, Aliases: []string{"skill." + name},
			Args: "[TEXT]", Summary: one.Description, Custom: true, Typed: true,
			Prompt: func(ctx context.Context, _, args string) ([]*genai.Part, error) {
				defer f.session.Tools.Skills.Call(one.Name)()
				result, err := f.runCall(ctx, skill.ToolName, map[string]any{"name": one.Name}, show)
				if err != nil {
					return nil, input.UnsentError(ctx, "/"+name, userError(err))
				}
				f.session.Memory.Contents() // load the context files before the history has an entry
				if err := f.session.Engine.Add(ctx, genai.NewPartFromText(result.Text)); err != nil {
					return nil, err
				}
				args = cmp.Or(args, "Use the skill "+one.Name)
				return []*genai.Part{genai.NewPartFromText(args)}, nil
			}})
	}
	return set
}

// commandHint says why a name is no command now: of a skill, of an extension that is switched off, or
// of a server that is not connected yet. It returns "" for other names.
func commandHint(p *project.Project, name string) string {
	_, bare, _ := strings.Cut(name, ":") // the name without that of its extension
	for _, one := range p.Skills.All() {
		switch known := skill.CommandName(one.Name); {
		case strings.EqualFold(known, bare) && !one.Disabled:
			return "the skill's command is /" + known
		case strings.EqualFold(known, name) && one.Disabled || known == bare:
			return "the skill is switched off; gemline skills enable " + text.PrintableLine(one.Name) + " switches it on"
		}
	}
	list, _ := p.Options.InstalledExtensions() // the code that uses an extension prints its problems
	for _, x := range list {
		if x.Active {
			continue
		}
		files := custom.Library{Dirs: func() []custom.Dir { return []custom.Dir{cli.CommandsOf(x)} }}
		found := files.Commands(func(string) bool { return false })
		if slices.ContainsFunc(found, func(c custom.Command) bool { return c.Name == name }) {
			return "it is a command of the extension " + x.Name +
				", which is switched off; gemline extensions enable " + x.Name + " switches it on"
		}
	}
	if late := p.MCP.Servers.Wait(context.Background(), 0); len(late) > 0 {
		return "it may be a prompt of an MCP server that is still connecting: " + text.PrintableLine(strings.Join(late, ", "))
	}
	return ""
}
