// Webhook is an agent whose calls are judged by a server: what the rules leave open is sent to
// an address, as JSON, and the answer decides. No answer is a denial.
//
//	GEMINI_API_KEY=... go run ./docs/examples/webhook http://127.0.0.1:8080/judge "Remember the milk."
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/tools/toolkit"
)

// A webhook is a Policy around another one.
type webhook struct {
	engine.Policy
	url    string
	client http.Client
}

// Judge implements [engine.Policy]. What the rules allow or deny is not asked about.
func (w *webhook) Judge(ctx context.Context, p engine.Proposal) (engine.Verdict, engine.Reason) {
	verdict, reason := w.Policy.Judge(ctx, p)
	if verdict != engine.Ask {
		return verdict, reason
	}
	allowed, why, err := w.ask(ctx, p)
	if err != nil {
		return engine.Deny, engine.Reason{Text: "nobody could be asked: " + err.Error()}
	}
	if !allowed {
		return engine.Deny, engine.Reason{Text: cmp.Or(why, "it was refused")}
	}
	return engine.Allow, engine.Reason{}
}

func (w *webhook) ask(ctx context.Context, p engine.Proposal) (allowed bool, why string, err error) {
	question, err := json.Marshal(map[string]any{"tool": p.Tool.Name(), "title": p.Intent.Title,
		"detail": p.Intent.Detail, "args": p.Args})
	if err != nil {
		return false, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(question))
	if err != nil {
		return false, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.client.Do(req)
	if err != nil {
		return false, "", err
	}
	defer res.Body.Close()
	var answer struct {
		Allow  bool
		Reason string
	}
	if res.StatusCode != http.StatusOK {
		return false, "", fmt.Errorf("HTTP %d", res.StatusCode)
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, res.Body, 1<<20)).Decode(&answer)
	return answer.Allow, answer.Reason, err
}

// remember is a tool that changes a file, so the engine asks before it runs.
var remember = toolkit.Define("remember", "Remember", engine.Other, "Writes a line into notes.txt.",
	`{"type":"object","properties":{"line":{"type":"string"}},"required":["line"]}`,
	func(_ context.Context, args struct{ Line string }) (engine.Call, error) {
		return engine.Call{Intent: engine.Intent{Title: "remember " + args.Line},
			Run: func(context.Context, engine.Host) (engine.Result, error) {
				f, err := os.OpenFile("notes.txt", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					return engine.Result{}, err
				}
				defer f.Close()
				_, err = fmt.Fprintln(f, args.Line)
				return engine.Result{Text: "It is written down."}, err
			}}, nil
	})

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: webhook URL TEXT")
	}
	g, err := model.NewGenai(model.Options{APIKey: os.Getenv("GEMINI_API_KEY"),
		BaseURL: os.Getenv("GOOGLE_GEMINI_BASE_URL")})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	e := engine.New(engine.Config{Model: "gemini-3.8-flash",
		Generator: model.Retry(g, model.RetryOptions{}), Tools: engine.Tools{remember},
		Policy: &webhook{Policy: policy.New(policy.Default), url: os.Args[1],
			client: http.Client{Timeout: time.Minute}}})
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText(os.Args[2])) {
		switch ev := ev.(type) {
		case engine.Text:
			fmt.Print(ev.Delta)
		case engine.CallFinished:
			if ev.Err != nil {
				fmt.Fprintln(os.Stderr, ev.Name+":", engine.DisplayError(ev.Err))
			}
		case nil:
			log.Fatal(err)
		}
	}
	fmt.Println()
}
