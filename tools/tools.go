package tools

import (
	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/workspace"
)

// New returns the built-in tools, in the order the model is told about them.
func New(env Env) engine.Tools {
	if env.Launcher == nil {
		env.Launcher = &launch.Launcher{}
	}
	env.seen = &sight{}
	list := engine.Tools{
		updateTopic(env),
		listDirectory(env),
		readFile(env),
		grepSearch(env),
		glob(env),
		env.corrected(replace(env)),
		writeFile(env),
		env.Web.WebFetch(),
		env.Web.GoogleWebSearch(),
		env.summarized(runShellCommand(env)),
		listBackgroundProcesses(env),
		readBackgroundOutput(env),
		askUser(),
		writeTodos(env),
		getInternalDocs(),
		exitPlanMode(env),
		enterPlanMode(env),
	}
	for i, t := range list {
		list[i] = env.located(t)
	}
	return append(list, trackerTools(env)...)
}

// located returns a tool whose paths are those that the files have on the disk, before
// anybody judges them.
func (env Env) located(t engine.Tool) engine.Tool {
	if env.Workspace == nil {
		return t
	}
	fit := t.Fit
	t.Fit = func(args map[string]any) (map[string]any, string, error) {
		fitted, note, err := fit(args)
		for _, key := range []string{"file_path", "dir_path"} {
			if name, isText := fitted[key].(string); isText {
				fitted[key] = env.Workspace.Spelled(name)
			}
		}
		return fitted, note, err
	}
	return t
}

// hint says what a path was probably meant to be, which is not there, as a sentence that
// begins with a full stop; it is "" if nothing is like it.
func hint(ws *workspace.Workspace, path string) string {
	if meant := ws.Hint(path); meant != "" {
		return ". Did you mean " + text.Name(meant) + "?"
	}
	return ""
}
