// Tool is an agent with one tool of its own: it knows how many of a thing are in stock.
//
//	GEMINI_API_KEY=... go run ./docs/examples/tool "Do we have enough bolts for 3 tables?"
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/tools/toolkit"
)

var shelves = map[string]int{"bolts": 20, "legs": 13, "tops": 2}

// stock is the tool. Its arguments are checked against the schema before they come here.
// What a call would do is said first, and done when it has been allowed.
var stock = toolkit.Define("stock", "Stock", engine.Read, "Says how many of a thing are in stock.",
	`{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]}`,
	func(_ context.Context, args struct{ Thing string }) (engine.Call, error) {
		n, ok := shelves[args.Thing]
		if !ok { // for the model, which can try something else
			return engine.Call{}, &engine.CallError{Type: "unknown_thing",
				Message: fmt.Sprintf("There is no %q. There are bolts, legs and tops.", args.Thing)}
		}
		return engine.Call{Intent: engine.Intent{Title: "count " + args.Thing},
			Run: func(context.Context, engine.Host) (engine.Result, error) {
				return engine.Result{Text: fmt.Sprint(n)}, nil
			}}, nil
	})

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: tool TEXT")
	}
	g, err := model.NewGenai(model.Options{APIKey: os.Getenv("GEMINI_API_KEY"),
		BaseURL: os.Getenv("GOOGLE_GEMINI_BASE_URL")})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	e := engine.New(engine.Config{
		Model:     "gemini-3.8-flash",
		Generator: model.Retry(g, model.RetryOptions{}),
		Tools:     engine.Tools{stock},
		Policy:    policy.New(policy.Default), // what only reads needs no approval
		System:    func() string { return "You look after a store. Count before you answer." },
		MaxTurns:  10,
	})
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText(os.Args[1])) {
		switch ev := ev.(type) {
		case engine.Text:
			fmt.Print(ev.Delta)
		case engine.CallFinished:
			if ev.Err != nil { // it may have no Intent
				fmt.Fprintln(os.Stderr, ev.Name+":", engine.DisplayError(ev.Err))
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: %s\n", ev.Intent.Title, ev.Result.Text)
		case nil:
			log.Fatal(err)
		}
	}
	fmt.Println()
}
