package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/model/preset"
)

// modelsCommand is gemline models.
type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the names that can be given, and what they stand for."`
}

// Access returns which models a way to pay can use, at a location of Vertex AI.
func Access(m auth.Method, location string) preset.Access {
	if m == auth.Vertex && !slices.Contains([]string{"", "global", "us", "eu"}, location) {
		return preset.ByRegion
	}
	return map[auth.Method]preset.Access{auth.Vertex: preset.ByAccount,
		auth.Gateway: preset.ByAccount, auth.Compute: preset.ByAssist}[m]
}

type modelsList struct {
	Online bool `help:"Ask the server which models it has."`
}

// A listedModel is one as gemline models --json lists it.
type listedModel struct {
	Name     string `json:"name"`
	Resolved string `json:"resolves_to"`
	Note     string `json:"note,omitempty"`
	Context  int    `json:"context_tokens,omitempty"`
	Answer   int    `json:"answer_tokens,omitempty"`
	Default  bool   `json:"default"`
	Price    *price `json:"usd_per_million_tokens,omitempty"` // nothing if it is not known
}

// A price is what a million tokens cost in US dollars, of a prompt that is not
// long.
type price struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
	Date   string  `json:"date,omitempty"` // when this was so
}

// addPrices adds the prices that are known.
func (here *Folder) addPrices(list []listedModel) error {
	prices, err := limit.LoadPrices(here.Paths.User("prices.toml"), here.Today)
	if err != nil {
		return err
	}
	for i, m := range list {
		if p, ok := prices[m.Resolved]; ok {
			list[i].Price = &price{p.Input, p.Cached, p.Output, p.Date}
		}
	}
	return nil
}

// Run prints a line for each model.
func (c *modelsList) Run(ctx context.Context, out *Output, here *Folder, api API) error {
	current, names, err := here.model(out)
	if err != nil {
		return err
	}
	var list []listedModel
	if c.Online {
		if list, err = onServer(ctx, api); err != nil {
			return err
		}
	} else {
		for _, c := range names.Choices() {
			list = append(list, asListed(names, c))
		}
	}
	resolved := names.Chat(current, false).Model
	is := func(m listedModel) bool { return m.Name == current }
	switch i := slices.IndexFunc(list, is); {
	case i >= 0:
		list[i].Default, resolved = true, cmp.Or(list[i].Resolved, resolved)
	case !c.Online:
		list = append([]listedModel{asListed(names, preset.Choice{Name: current, Note: "chosen by name"})}, list...)
		list[0].Default = true
	}
	if err := here.addPrices(list); err != nil {
		return err
	}
	return out.show(map[string]any{"default": current, "resolves_to": resolved, "online": c.Online,
		"models": append([]listedModel{}, list...)},
		columns(list)...)
}

// asListed returns what is known of a model without asking the server.
func asListed(names *preset.Table, c preset.Choice) listedModel {
	return listedModel{Name: c.Name, Resolved: names.Chat(c.Name, false).Model, Note: c.Note,
		Context: names.TokenLimit(c.Name)}
}

// columns returns the list as lines.
func columns(list []listedModel) (lines []string) {
	wide := 0
	for _, m := range list {
		wide = max(wide, len(m.Name))
	}
	for _, m := range list {
		note := m.Note
		if m.Default {
			note = strings.TrimSuffix("default, "+note, ", ")
		}
		if m.Price != nil {
			note = strings.TrimPrefix(fmt.Sprintf("%s, $%g in and $%g out per million", note,
				m.Price.Input, m.Price.Output), ", ")
		}
		size := ""
		if m.Context > 0 {
			size = fmt.Sprintf("%d tokens", m.Context)
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %14s  %s", wide, m.Name, size, note), " "))
	}
	return lines
}

// model returns the name of the model that a run would ask, and what names stand for.
func (here *Folder) model(out *Output) (string, *preset.Table, error) {
	s, err := here.settings()
	if err == nil {
		err = s.Override(here.Flags, here.Lookup)
	}
	if err != nil {
		return "", nil, err
	}
	c, _ := here.choose(out) // what is wrong with it, auth status says
	configs, _ := s.Merged["modelConfigs"].(map[string]any)
	names, err := preset.New(Access(c.Method, c.Location), configs)
	if err == nil {
		names.Today = here.Today
	}
	return cmp.Or(strings.TrimSpace(s.Model), preset.Default), names, err
}

// onServer asks the server.
func onServer(ctx context.Context, api API) ([]listedModel, error) {
	const patience = 30 * time.Second
	options, err := api()
	if err != nil {
		return nil, err
	}
	g, err := model.NewGenai(options)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	listed, err := g.List(ctx)
	if err != nil {
		return nil, err
	}
	var list []listedModel
	for _, m := range listed {
		list = append(list, listedModel{Name: m.Name, Resolved: m.Name, Note: m.Title,
			Context: m.Input, Answer: m.Output})
	}
	return list, nil
}
