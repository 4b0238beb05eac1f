package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gemline/engine/auth"
	"gemline/engine/limit"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
	"gemline/engine/model/provider"
)

// modelsCommand is gemline models.
type modelsCommand struct {
	List modelsList `cmd:"" default:"withargs" help:"List the names that can be given, and their meanings."`
}

// Access returns the models of a sign-in method, at a location of Vertex AI.
func Access(m auth.Method, location string) preset.Access {
	if m == auth.Vertex && !slices.Contains([]string{"", "global", "us", "eu"}, location) {
		return preset.ByRegion
	}
	return map[auth.Method]preset.Access{auth.Vertex: preset.ByAccount,
		auth.Gateway: preset.ByAccount, auth.Compute: preset.ByAssist}[m]
}

type modelsList struct {
	Provider string `arg:"" optional:"" help:"Ask a provider which models it has, as ollama."`
	Online   bool   `help:"Ask Google's server which models it has, and each provider with a key or a server on this machine."`
}

// A modelRecord is a model in gemline models --json.
type modelRecord struct {
	Name     string   `json:"name"`
	Resolved string   `json:"resolves_to"`
	Note     string   `json:"note,omitempty"`
	Context  int      `json:"context_tokens,omitempty"`
	Answer   int      `json:"answer_tokens,omitempty"`
	Takes    []string `json:"takes,omitzero"` // inputs beside text, if the server says so
	Default  bool     `json:"default"`
	Price    *price   `json:"usd_per_million_tokens,omitempty"` // left out if unknown
}

// A price is the cost of a million tokens in US dollars, for a short prompt.
type price struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
	Date   string  `json:"date,omitempty"` // the date of the price
}

// addPrices adds the known prices.
func addPrices(list []modelRecord, here *Folder) error {
	prices, err := limit.LoadPrices(here.Paths.User("prices.toml"), here.Today)
	if err != nil {
		return err
	}
	all, err := here.providers()
	if err != nil {
		return err
	}
	for i, m := range list {
		provider, own := catalog.Provider(m.Resolved)
		if p, ok := prices[m.Resolved]; ok {
			list[i].Price = &price{p.Input, p.Cached, p.Output, p.Date}
		} else if p, err := all.Named(provider); err == nil && p.Free(own) && m.Name == m.Resolved { // auto also uses another model
			list[i].Price = &price{}
		}
	}
	return nil
}

// Run prints a line for each model.
func (c *modelsList) Run(ctx context.Context, out *Output, here *Folder, api API, providers Providers) error {
	c.Online = c.Online || c.Provider != ""
	pays, _ := here.choose(out) // auth status reports the error
	current, names, err := here.model(pays)
	if err != nil {
		return err
	}
	var list []modelRecord
	if c.Online {
		if list, err = c.onServers(ctx, out, here, api, providers); err != nil {
			return err
		}
	} else {
		list = lists.Map(names.Choices(), func(c preset.ListedModel) modelRecord { return asListed(names, c) })
	}
	resolved := names.Chat(current, false).Model
	is := func(m modelRecord) bool { return m.Name == current }
	switch i := slices.IndexFunc(list, is); {
	case i >= 0:
		list[i].Default, resolved = true, cmp.Or(list[i].Resolved, resolved)
	case !c.Online:
		list = append([]modelRecord{asListed(names, preset.ListedModel{Name: current, Note: "chosen by name"})}, list...)
		list[0].Default = true
	}
	if err := addPrices(list, here); err != nil {
		return err
	}
	return out.show(map[string]any{"default": current, "resolves_to": resolved, "online": c.Online,
		"models": list}, columns(list)...)
}

// asListed describes a model without a request to the server.
func asListed(names *preset.Table, c preset.ListedModel) modelRecord {
	return modelRecord{Name: c.Name, Resolved: names.Chat(c.Name, false).Model, Note: c.Note,
		Context: names.TokenLimit(c.Name)}
}

// columns formats the list.
func columns(list []modelRecord) (lines []string) {
	wide := 0
	for _, m := range list {
		wide = max(wide, len(m.Name))
	}
	for _, m := range list {
		note := m.Note
		if m.Default {
			note = strings.TrimSuffix("default, "+note, ", ")
		}
		if m.Price != nil && *m.Price == (price{}) {
			note = strings.TrimPrefix(note+", costs nothing", ", ")
		} else if m.Price != nil {
			note = strings.TrimPrefix(fmt.Sprintf("%s, $%g in and $%g out per million", note,
				m.Price.Input, m.Price.Output), ", ")
		}
		if m.Takes != nil {
			note = strings.TrimPrefix(note+", takes "+cmp.Or(strings.Join(m.Takes, " and "), "no tools"), ", ")
		}
		size := ""
		if m.Context > 0 {
			size = fmt.Sprintf("%d tokens", m.Context)
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %14s  %s", wide, m.Name, size, note), " "))
	}
	return lines
}

// model returns the name of a run's model, and the table of names.
func (here *Folder) model(c auth.Credentials) (string, *preset.Table, error) {
	s, err := here.settings()
	if err == nil {
		err = s.Override(here.Flags, here.Lookup)
	}
	if err != nil {
		return "", nil, err
	}
	configs, _ := s.Merged["modelConfigs"].(map[string]any)
	names, err := preset.New(Access(c.Method, c.Location.Value), configs)
	if err == nil {
		names.Today = here.Today
		if large, small := s.Auto(); large != "" && small != "" {
			names.SetAutoModels(large, small)
		}
	}
	return cmp.Or(strings.TrimSpace(s.Model), preset.Default), names, err
}

// onServers lists the models of the named servers, or of all usable servers, in parallel.
func (c *modelsList) onServers(ctx context.Context, out *Output, here *Folder, api API, providers Providers) (all []modelRecord, err error) {
	ctx, stop := context.WithTimeout(ctx, provider.Patience)
	defer stop()
	set := providers()
	defer set.Close()
	names := []string{c.Provider}
	if c.Provider == "" {
		names = append([]string{model.Gemini}, set.Local(ctx)...)
		names = append(names, lists.Map(keyed(ctx, here, set.Providers), func(k keyedProvider) string { return k.Name })...)
	}
	found, errs := make([][]modelRecord, len(names)), make([]error, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() { found[i], errs[i] = onServer(ctx, name, api, set) })
	}
	asked.Wait()
	for i, err := range errs {
		switch {
		case len(found[i]) > 0:
			all = append(all, found[i]...)
		case err == nil:
			out.Notify(names[i] + ": the server has no models")
		case len(names) == 1:
			return nil, err
		default:
			out.Notify(names[i] + ": " + err.Error())
		}
	}
	if len(all) == 0 {
		return nil, errs[0]
	}
	return all, nil
}

// onServer lists the models of a provider's server.
func onServer(ctx context.Context, provider string, api API, set *provider.Set) (list []modelRecord, err error) {
	var listed []model.ModelInfo
	prefix := ""
	if provider != model.Gemini && provider != "vertex" {
		listed, err = set.List(ctx, provider)
		prefix = provider + "/"
	} else if options, aerr := api(); aerr != nil {
		return nil, aerr
	} else if g, gerr := model.NewGenai(options); gerr != nil {
		return nil, gerr
	} else {
		listed, err = g.List(ctx)
		g.Close()
	}
	return lists.Map(listed, func(m model.ModelInfo) modelRecord {
		return modelRecord{Name: prefix + m.Name, Resolved: prefix + m.Name, Note: m.Title,
			Context: m.Input, Answer: m.Output, Takes: m.Takes}
	}), err
}
