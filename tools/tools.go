package tools

import (
	"gemline/engine"
	"gemline/tools/launch"
)

// New returns the built-in tools, in the order the model is told about them.
func New(env Env) engine.Tools {
	if env.Launcher == nil {
		env.Launcher = &launch.Launcher{}
	}
	list := engine.Tools{
		updateTopic(env),
		listDirectory(env),
		readFile(env),
		grepSearch(env),
		glob(env),
		env.corrected(replace(env)),
		writeFile(env),
		webFetch(env),
		googleWebSearch(env),
		env.summarized(runShellCommand(env)),
		listBackgroundProcesses(env),
		readBackgroundOutput(env),
		askUser(),
		writeTodos(env),
		getInternalDocs(),
		exitPlanMode(env),
		enterPlanMode(env),
	}
	return append(list, trackerTools(env)...)
}
