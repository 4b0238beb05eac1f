package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine/model"
	"gemline/engine/text"
)

func models() *Command {
	return &Command{Name: "model", Usual: true, Args: "[NAME]", Summary: "say which models there are, or change to one",
		Run: useModel, Sub: Set{
			{Name: "set", Args: "NAME", Summary: "change the model for this session", Run: func(ctx context.Context, app *App, args string) error {
				if args == "" {
					return misused("which model? /model set NAME")
				}
				return useModel(ctx, app, args)
			}},
		}}
}

// listTimeout is how long a server may take to list its models.
const listTimeout = 5 * time.Second

func useModel(ctx context.Context, app *App, name string) error {
	if name == "" {
		ls := []string{"model: " + app.Engine.Model(), "", "Names you can give:"}
		for _, c := range app.Models.Choices() {
			ls = append(ls, c.Name+": "+c.Note)
		}
		return sentences(app.Out, ls...)
	}
	if strings.ContainsAny(name, " \t/?#") {
		return misused("%q is not the name of a model", name)
	}
	resolved := app.Models.Resolve(name)
	checked, err := checkModel(ctx, app, resolved)
	if err != nil {
		return err
	}
	app.Engine.SetModel(resolved)
	return sentences(app.Out, "model: "+resolved+checked)
}

// checkModel asks the server whether it has a model that the program does not
// know. It is an error if it has not. If it can't be asked, the note says so.
func checkModel(ctx context.Context, app *App, name string) (note string, err error) {
	known := func(c model.Choice) bool { return app.Models.Resolve(c.Name) == name || c.Name == name }
	choices := app.Models.Choices()
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
	return "", fmt.Errorf("%s; the model stays %s", message, app.Engine.Model())
}
