package front

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/ide"
	"gemline/tools/launch"
	"gemline/tools/mcp/rpc"
	"gemline/tools/workspace"
)

// ideKey is the setting that switches the connection to the editor on.
const ideKey = "ide.enabled"

// newCompanion returns the connection to the editor that the terminal belongs to, not yet
// connected.
func (i *interactive) newCompanion() *ide.Client {
	return ide.New(ide.Config{Version: i.opts.Env.Process.Version, Network: i.opts.Network(),
		Environment: ide.Environment{Lookup: i.opts.Env.Process.Lookup, Temp: os.TempDir(), Cwd: i.opts.Paths.Cwd},
		Hidden: func(path string) bool {
			return i.frontend.session.Project.Workspace.Private(path) || i.frontend.session.Project.Workspace.Ignore.NamesBy(path, false, workspace.Rules{Gemini: true})
		},
		Start: func(argv []string) (rpc.Stream, error) { // the command comes from the environment, which the user controls
			p, err := i.frontend.session.Project.Launcher.Open(launch.Command{Argv: argv, Unconfined: true, Vars: launch.Usual})
			if err != nil {
				return nil, err
			}
			return rpc.Lines(p.Stdout, p.Stdin, func() error { p.Close(); return nil }), nil
		},
		Note: func(text string) *genai.Part { return engine.Note(i.opts.Secrets.RedactKnown(text)) },
		Tell: func(said string) {
			i.screen.Show(func() { i.frontend.session.Project.Status.PrintInfo(text.PrintableLine(said)) })
		}})
}

// startCompanion connects to the editor in the background while the user types, if there is an
// editor and the user wants it.
func (i *interactive) startCompanion() {
	if i.opts.Settings.IDE && i.companion.InEditor() {
		i.companion.Start()
	}
}

// sayWithCompanion sends parts to the model, after news of the files that are open in the editor,
// if there is any.
func (i *interactive) sayWithCompanion(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		i.updates.begin(ctx, i.opts,
			func(text string) { i.screen.Show(func() { i.frontend.run.Status.PrintInfo(text) }) },
			func() []any { return subcommandDeps(i.opts, sessionProject{i.frontend}, i.frontend.run.notify) })
		if news := i.companion.ContextUpdate(i.frontend.session.Engine.History()); news != nil {
			if err := i.frontend.session.Engine.Add(ctx, news); err != nil && !yield(engine.Notice{Text: err.Error()}, nil) {
				return
			}
		}
		i.frontend.say(ctx, parts...)(yield)
	}
}

// editorCommand carries out /ide.
func (i *interactive) editorCommand(app *commands.Deps) func(context.Context, string) (string, error) {
	set := func(ctx context.Context, value string) error {
		if i.opts.Paths.Home == "" { // it lasts for this session only
			return nil
		}
		return app.Manage(ctx, "config", "set", "--holds", "--", ideKey, value)
	}
	return func(ctx context.Context, word string) (string, error) {
		editor := text.PrintableLine(i.companion.Status().Editor)
		if editor == "" && word != "disable" && word != "status" {
			return "", fmt.Errorf("this terminal belongs to no editor with a companion: run gemline in the terminal of VS Code, or of an editor like it")
		}
		switch word {
		case "enable":
			if err := set(ctx, "true"); err != nil {
				return "", err
			}
			var failed error
			err := i.screen.Console.Wait(ctx, func() string { return "connecting to " + editor },
				func(ctx context.Context, _ func(func())) { failed = i.companion.Connect(ctx) })
			if err != nil {
				return "", err
			}
			if failed != nil {
				return "", fmt.Errorf("%s; /ide install says how %s gets a companion",
					text.PrintableLine(failed.Error()), editor)
			}
		case "disable":
			i.companion.Close()
			if err := set(ctx, "false"); err != nil {
				return "", err
			}
		case "install":
			return howInstalled(editor), nil
		}
		return strings.Join(editorStatus(i.companion.Status(), i.frontend.session.Project.Workspace.Rel), "\n"), nil
	}
}

// editorStatus describes the connection and the open files in lines.
func editorStatus(st ide.Status, rel func(string) string) (lines []string) {
	editor := text.PrintableLine(st.Editor)
	switch st.State {
	case ide.Connected:
		lines = append(lines, "connected to "+editor)
	case ide.Connecting:
		lines = append(lines, "connecting to "+editor)
	case ide.Disconnected:
		lines = append(lines, "not connected: "+text.PrintableLine(st.Why))
	default:
		if lines = []string{"not connected: this terminal belongs to no editor with a companion"}; editor != "" {
			lines[0] = "not connected to " + editor + "; /ide enable connects"
		}
	}
	for _, f := range st.Files {
		line := "open: " + text.PrintableLine(rel(f.Path))
		if f.Active {
			line += ", where you are"
		}
		if f.Cursor != nil {
			line += fmt.Sprintf(", line %d, character %d", f.Cursor.Line, f.Cursor.Character)
		}
		switch {
		case f.Hidden:
			line += "; the model does not see your selection"
		case f.Text != "":
			line += "; you have selected " + text.Count(len([]rune(f.Text)), "character")
		}
		lines = append(lines, line)
	}
	if len(st.Others) > 0 {
		lines = append(lines, "also open there, and not worked in: "+text.PrintableLine(strings.Join(st.Others, ", "))+"; /directory add FOLDER adds one")
	}
	if st.Untrusted {
		lines = append(lines, editor+" does not trust its folder; /permissions shows the trusted folders")
	}
	return lines
}

// howInstalled says how to install a companion for an editor.
func howInstalled(editor string) string {
	const id = "google.gemini-cli-vscode-ide-companion"
	family := map[string]string{"VS Code": "code", "Cursor": "cursor", "Positron": "positron",
		"GitHub Codespaces": "code", "Cloud Shell": "code",
		"Firebase Studio": "code", "Trae": "trae", "Antigravity": "agy"}
	switch {
	case editor == "Zed":
		return "Zed has no companion; it starts agents itself, as external agents of its settings"
	case family[editor] != "":
		return "install the extension " + id + " in " + editor +
			": in its list of extensions, or with " + family[editor] + " --install-extension " + id +
			"\nthen open this folder there, open a new terminal, and type /ide enable"
	}
	return "look for an extension of " + editor +
		" that is a companion of the Gemini CLI\nthen open this folder there, open a new terminal, and type /ide enable"
}
