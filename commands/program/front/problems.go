package front

import (
	"slices"

	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine/text"
	"gemline/settings/trust"
	"gemline/tools/launch"
)

// problems returns the warnings that a run would print about the files of a directory. It uses the
// readers of a run.
func problems(o *project.Options, l *launch.Launcher) (list []cli.Problem) {
	note := func(about string) func(string) {
		return func(said string) {
			said = text.OneLine(said, project.MaxNoticeLength)
			known := func(p cli.Problem) bool { return p.Message == said } // reading the context files repeats problems of extensions
			if !slices.ContainsFunc(list, known) {
				list = append(list, cli.Problem{About: about, Message: said})
			}
		}
	}
	notes := func(about string, all []string) {
		for _, said := range all {
			note(about)(said)
		}
	}
	list = append(list, endingProblem("settings", o.LoadError)...)
	notes("settings", o.Settings.Mistakes())
	if _, wrong := labels(o.Settings); wrong != "" {
		note("settings")(wrong)
	}
	ws, werr := project.NewWorkspace(o, "", nil, note("directories"))
	if werr == nil {
		notes("directories", ws.Ignore.Problems())
		if _, w := session.PlanDir(o, ws.Roots()[0]); w != "" {
			note("plans")(w)
		}
	}
	list = append(list, endingProblem("model", project.CheckModel(o))...)
	notes("model", project.ModelProblems(o))
	list = append(list, endingProblem("instructions", project.CheckSystemMD(o))...)
	if l.FallbackNotice != nil {
		note("sandbox")(l.FallbackNotice.Message)
	}
	_, err := project.NewPolicy(o, l, !o.User.Interactive, note("rules"), func(string) {})
	if o.LoadError == nil { // otherwise the error hides the rules
		list = append(list, endingProblem("rules", err)...)
	}
	for _, w := range project.HookProblems(o) {
		said := w.Text
		if w.Unguarded() {
			said += "; a run that nobody watches ends with 52"
		}
		note("hooks")(said)
	}
	_, warnings := o.InstalledExtensions()
	notes("extensions", warnings)
	if werr == nil {
		project.NewMemory(o, ws, o.Paths.Expected().Temp, note("context")).Contents()
	}
	_, warnings = readKeymap(o.Paths)
	notes("keys", warnings)
	_, warnings = o.Settings.DotEnv(o.Paths, o.Trust.State == trust.Trusted, o.Env.Process.Lookup)
	notes("env", warnings)
	notes("servers", project.ServerProblems(o, note("servers")))
	if err := project.TelemetryRefused(o); o.Settings.Telemetry && err != nil {
		note("telemetry")("telemetry is not recorded: " + err.Error())
	}
	library := custom.Library{Dirs: func() []custom.Dir { return project.CommandDirs(o) }}
	notes("commands", library.Faults(""))
	_, wrong := o.Agents().List()
	for _, err := range wrong {
		note("agents")(err.Error())
	}
	project.PrintNotAgreed(o, note)
	if o.Settings.Skills {
		skills := project.Skills(o)
		skills.All()
		notes("skills", skills.Notes())
	}
	return list
}

// endingProblem returns an error as a problem that would end a run, none without an error.
func endingProblem(about string, err error) []cli.Problem {
	if err == nil {
		return nil
	}
	return []cli.Problem{{About: about, Message: err.Error(), Next: cli.Hint(err), Err: err}}
}
