package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine/model/preset"
	"gemline/engine/text"
)

func models() *Command {
	return &Command{Name: "model", Usual: true, Args: "[NAME] [--persist]",
		Summary: "say which models there are, or change to one",
		Run:     useModel, Sub: Set{
			{Name: "set", Args: "NAME [--persist]",
				Summary: "change the model for this session; --persist for later ones, too",
				Run: func(ctx context.Context, app *App, args string) error {
					if args == "" {
						return misused("which model? /model set NAME")
					}
					return useModel(ctx, app, args)
				}},
		}}
}

// A Models is which models there are to choose from, and which one is.
type Models struct {
	Presets *preset.Table  // what names stand for
	Chosen  func() string  // the one that is, or a name such as auto
	Choose  func(n string) // changes it
}

// listTimeout is how long a server may take to list its models.
const listTimeout = 5 * time.Second

func useModel(ctx context.Context, app *App, args string) error {
	words := strings.Fields(args)
	given := len(words)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "--persist" })
	persist := len(words) < given
	switch {
	case len(words) == 0 && persist:
		return misused("which model? /model set NAME --persist")
	case len(words) == 0:
		return listModels(app)
	}
	name := words[0]
	if len(words) > 1 || strings.ContainsAny(name, "/?#") || strings.HasPrefix(name, "-") {
		return misused("%q is not the name of a model", strings.Join(words, " "))
	}
	resolved := app.Model.Presets.Resolve(name)
	checked, err := checkModel(ctx, app, resolved)
	if err != nil {
		return err
	}
	app.Model.Choose(name)
	shown := resolved
	if _, auto := app.Model.Presets.Auto(name); auto {
		shown = app.Model.Chosen()
	}
	if err := sentences(app.Out, "model: "+shown+checked); err != nil || !persist {
		return err
	}
	return app.Manage(ctx, "config", "set", "--holds", "--", "model.name", name)
}

// listModels says which model it is, and which there are.
func listModels(app *App) error {
	line := "model: " + app.Model.Chosen()
	if now := app.Engine.Model(); now != app.Model.Chosen() {
		line += "; now " + now
	}
	ls := []string{line, "", "Names you can give:"}
	for _, c := range app.Model.Presets.Choices() {
		ls = append(ls, c.Name+": "+c.Note)
	}
	return sentences(app.Out, ls...)
}

// checkModel asks the server whether it has a model that the program does not
// know. It is an error if it has not. If it can't be asked, the note says so.
func checkModel(ctx context.Context, app *App, name string) (note string, err error) {
	known := func(c preset.Choice) bool { return app.Model.Presets.Resolve(c.Name) == name || c.Name == name }
	choices := app.Model.Presets.Choices()
	if slices.ContainsFunc(choices, known) {
		return "", nil
	}
	if app.ServerModels == nil {
		return "; not checked whether the server has this model", nil
	}
	inTime, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	names, err := app.ServerModels(inTime)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return fmt.Sprintf("; not checked whether the server has this model: %v", err), nil
	case slices.Contains(names, strings.TrimPrefix(name, "models/")):
		return ", which the server has", nil
	}
	for _, c := range choices {
		names = append(names, c.Name)
	}
	message := fmt.Sprintf("the server has no model %q", name)
	if near := text.Nearest(name, names); near != "" {
		message += "; there is " + near
	}
	return "", unavailable("%s; the model stays %s", message, app.Model.Chosen())
}
