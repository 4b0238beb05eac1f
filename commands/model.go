package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
	"gemline/engine/text"
	"gemline/repl/question"
)

// modelCommands are about the model.
type modelCommands struct {
	c            *Conversation
	out          io.Writer
	manage       func(ctx context.Context, args ...string) error
	pickOne      func(ctx context.Context, ask, enter string, list []question.MenuItem) (at int, err error)
	serverModels func(ctx context.Context, provider string) ([]string, error)
}

func (cmd modelCommands) set() Set {
	return Set{{Name: "model", Usual: true, Args: "[NAME] [--thinking LEVEL] [--persist]",
		Summary: "choose a model, or change to one",
		Run:     cmd.useModel, Sub: Set{
			{Name: "list", Summary: "list all models", Run: func(context.Context, string) error {
				return sentences(cmd.out, append([]string{cmd.chosen(), ""}, described(cmd.c.Model.Presets.Choices())...)...)
			}},
			{Name: "set", Args: "NAME [--thinking LEVEL] [--persist]",
				Summary: "change the model, or how much it thinks (low, medium, high); --persist for later sessions, too",
				Run: func(ctx context.Context, args string) error {
					if args == "" {
						return misused("which model? /model set NAME")
					}
					return cmd.useModel(ctx, args)
				}},
		}}}
}

// Models are the models to choose from, and the chosen model.
type Models struct {
	Presets *preset.Table  // what model names stand for
	Chosen  func() string  // the name of the model, or a name such as auto
	Choose  func(n string) // changes it
	Think   func(l string) // changes the thinking level: low, medium or high
}

// listTimeout is how long a server may take to list its models.
const listTimeout = 5 * time.Second

func (cmd modelCommands) useModel(ctx context.Context, args string) error {
	asked, err := modelArgs(args)
	switch {
	case err != nil:
		return err
	case asked == (modelChange{}):
		return cmd.pick(ctx)
	}
	if asked.name == "" {
		cmd.c.Model.Think(asked.thinking)
		if err := sentences(cmd.out, "thinking: "+asked.thinking); err != nil {
			return err
		}
		return cmd.save(ctx, asked)
	}
	resolved := cmd.c.Model.Presets.Resolve(asked.name)
	checked, err := cmd.checkModel(ctx, resolved)
	if err != nil {
		return err
	}
	cmd.c.Model.Choose(asked.name)
	shown := resolved
	if _, auto := cmd.c.Model.Presets.Auto(asked.name); auto {
		shown = cmd.c.Model.Chosen()
	}
	lines := []string{"model: " + shown + checked}
	if ending := cmd.c.Model.Presets.Ending(asked.name); ending != "" {
		lines = append(lines, ending)
	}
	if asked.thinking != "" {
		cmd.c.Model.Think(asked.thinking)
		lines = append(lines, "thinking: "+asked.thinking)
	}
	if err := sentences(cmd.out, lines...); err != nil {
		return err
	}
	return cmd.save(ctx, asked)
}

// A modelChange holds the parsed arguments of /model.
type modelChange struct {
	name, thinking string // "" stays as it is
	persist        bool
}

// modelArgs reads the arguments of /model.
func modelArgs(args string) (c modelChange, err error) {
	words := strings.Fields(args)
	for i := 0; i < len(words); i++ {
		word := words[i]
		level, has := strings.CutPrefix(word, "--thinking=")
		switch {
		case word == "--persist":
			c.persist = true
		case word == "--thinking" || has:
			if !has && i+1 < len(words) {
				i++
				level = words[i]
			}
			if c.thinking = level; !slices.Contains([]string{"low", "medium", "high"}, level) {
				return c, misused("how much shall it think? --thinking low, medium or high")
			}
		case c.name != "" || strings.ContainsAny(word, "?#") || strings.Contains(word, "/") && !ofProvider(word) || strings.HasPrefix(word, "-"):
			return c, misused("%q is not the name of a model", strings.TrimSpace(c.name+" "+word))
		default:
			c.name = word
		}
	}
	if c.persist && c.name == "" && c.thinking == "" {
		return c, misused("which model? /model set NAME --persist")
	}
	return c, nil
}

// ofProvider reports whether a name is that of a provider's model, and no path or command.
func ofProvider(name string) bool {
	provider, _ := catalog.Provider(name)
	return provider != "" && !strings.ContainsAny(provider, ".~\\")
}

// save writes the model and its thinking level into the user's settings, if the user typed
// --persist.
func (cmd modelCommands) save(ctx context.Context, c modelChange) error {
	for _, pair := range [][2]string{{"model.name", c.name}, {"model.thinking", c.thinking}} {
		if !c.persist || pair[1] == "" {
			continue
		}
		if err := cmd.manage(ctx, "config", "set", "--holds", "--", pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// chosen names the model of the user's choice, and the model that answers.
func (cmd modelCommands) chosen() string {
	line := "model: " + cmd.c.Model.Chosen()
	if now := cmd.c.Engine.Model(); now != cmd.c.Model.Chosen() {
		line += "; now " + now
	}
	return line
}

// described returns a line for each choice.
func described(choices []preset.ListedModel) []string {
	return lists.Map(choices, func(c preset.ListedModel) string { return c.Name + ": " + c.Note })
}

// pick prints the chosen model and the usual models, and lets the user choose.
func (cmd modelCommands) pick(ctx context.Context) error {
	choices := cmd.c.Model.Presets.CommonChoices(cmd.c.Model.Chosen())
	all := fmt.Sprintf("/model list has all %d", len(cmd.c.Model.Presets.Choices()))
	if cmd.pickOne == nil {
		return sentences(cmd.out, append(append([]string{cmd.chosen(), "", "Names you can give:"}, described(choices)...), all)...)
	}
	if err := sentences(cmd.out, cmd.chosen()+"; "+all); err != nil {
		return err
	}
	menu := lists.Map(choices, func(c preset.ListedModel) question.MenuItem {
		return question.MenuItem{Name: c.Name, Text: c.Name + ": " + c.Note, Now: c.Name == cmd.c.Model.Chosen()}
	})
	at, err := cmd.pickOne(ctx, "which model?", "no change", menu)
	if err != nil || at < 0 {
		return err
	}
	return cmd.useModel(ctx, choices[at].Name)
}

// checkModel asks the server whether it has a model that the program does not know. If it has not,
// checkModel returns an error. If the server can't be asked, the note says so.
func (cmd modelCommands) checkModel(ctx context.Context, name string) (note string, err error) {
	known := func(c preset.ListedModel) bool { return cmd.c.Model.Presets.Resolve(c.Name) == name || c.Name == name }
	choices := cmd.c.Model.Presets.Choices()
	if slices.ContainsFunc(choices, known) {
		return "", nil
	}
	if cmd.serverModels == nil {
		return "; not checked whether the server has this model", nil
	}
	inTime, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	provider, own := catalog.Provider(name)
	names, err := cmd.serverModels(inTime, provider)
	var wrong *model.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &wrong) && wrong.Kind == model.Config && wrong.HTTP == 0: // nothing could be asked
		return "", fmt.Errorf("%w; the model stays %s", err, cmd.c.Model.Chosen())
	case err != nil:
		return fmt.Sprintf("; not checked whether the server has this model: %v", err), nil
	case slices.Contains(names, strings.TrimPrefix(own, "models/")):
		return ", which the server has", nil
	case provider != "":
		return "; the server does not list this model", nil // the server may know a model by several names
	}
	names = append(names, lists.Map(choices, func(c preset.ListedModel) string { return c.Name })...)
	message := fmt.Sprintf("the server has no model %q", name)
	if near := text.Nearest(name, names); near != "" {
		message += "; there is " + near
	}
	if hint := model.Elsewhere(name); hint != "" {
		message += "; " + hint
	}
	return "", unavailable("%s; the model stays %s", message, cmd.c.Model.Chosen())
}
