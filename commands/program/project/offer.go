package project

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gemline/engine/auth"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/provider"
	"gemline/engine/text"
	"gemline/repl"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/settings"
)

// OfferLocalModels offers a user without a key the models of servers on this machine. The chosen
// model is used from now on.
func OfferLocalModels(ctx context.Context, o *Options, console *repl.Console, notify func(string)) error {
	if o.Settings.Model != "" || o.Flags.FakeResponses != "" || o.Flags.FakeNonStrict != "" {
		return nil
	}
	c, err := o.Folder().Credential(o.Settings, func(string) {})
	if err != nil || !c.Stored || auth.NewStore(o.Paths.User(), o.Env.Getenv).MayHaveKey(c) {
		return nil
	}
	names := localModels(ctx, o)
	if len(names) == 0 {
		return nil
	}
	m := repl.Menu{Ask: "which one from now on?", Enter: "none",
		Choices: lists.Map(names, func(name string) question.MenuItem { return question.MenuItem{Name: name, Text: name} })}
	console.Out.Line(output.Info, "no key is needed for a model on this machine:")
	at, err := console.Choose(ctx, m)
	if err != nil || at < 0 {
		return err
	}
	o.Settings.Model = names[at]
	user := settings.Source{Scope: settings.User, Path: o.Paths.User("settings.json")}
	if _, err := user.SetKey(ctx, "model.name", names[at]); err != nil {
		notify(err.Error())
	} else {
		console.Out.Line(output.Info, "%s", output.EscapeLine("model.name = "+names[at]+" in "+user.Path+"; /model changes it"))
	}
	return nil
}

// withLocalModels adds a hint to the error of a missing key: the flag that uses a model on this
// machine.
func withLocalModels(ctx context.Context, o *Options, err error) error {
	var missing *auth.Error
	if !errors.As(err, &missing) {
		return err
	}
	names := localModels(ctx, o)
	if len(names) == 0 {
		return err
	}
	with := *missing
	with.Advice = strings.TrimSuffix("a model on this machine answers with -m "+text.PrintableLine(names[0])+"; or "+missing.Advice, "; or ")
	return &with
}

// localModels returns the models of servers that listen on this machine, models with tools first.
// It contacts no other address.
func localModels(ctx context.Context, o *Options) (names []string) {
	set := FindProviders(o)
	defer set.Close()
	ctx, stop := context.WithTimeout(ctx, provider.Patience)
	defer stop()
	var others []string
	for _, p := range set.Local(ctx) {
		listed, err := set.List(ctx, p)
		if err != nil { // another program listens there
			continue
		}
		for _, m := range listed {
			name := p + "/" + m.Name
			if m.Takes != nil && !slices.Contains(m.Takes, model.Tools) {
				others = append(others, name)
			} else {
				names = append(names, name)
			}
		}
	}
	return append(names, others...)
}

// FindProviders returns the user's providers, with their stored keys.
func FindProviders(o *Options) *provider.Set {
	custom, _ := o.Settings.Merged["providers"].(map[string]any)
	return &provider.Set{Providers: model.NewProviders(custom, o.Env.Getenv), Getenv: o.Env.Getenv,
		Common: model.Options{Secrets: o.Secrets, Version: o.Env.Process.Version, Network: o.Network()},
		FindKey: func(ctx context.Context, name string) (string, error) {
			key, _, err := auth.NewProviderStore(o.Paths.User(), o.Env.Getenv, name).Key(ctx)
			return key, err
		}}
}
