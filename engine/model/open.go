package model

import (
	"cmp"
	"context"
	"iter"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Setup configures the source of answers and the Generators around it.
type Setup struct {
	// API is asked, unless Fake names a recording to play back. With Strict, requests must have
	// the order of the recording.
	API    Options
	Fake   string
	Strict bool

	// Closed, if not nil, is the reason why API can't be asked; other providers can.
	Closed error

	// Providers, if not nil, returns a Generator around that of API, which asks other providers.
	Providers func(engine.Generator) engine.Generator

	// Record names a file to append answers to; may be empty.
	Record string

	// Meter, if not nil, returns a Generator around the configured Generator.
	Meter func(engine.Generator) engine.Generator
}

// Open returns the Generator for s, which makes a single attempt of each request: [Retry] belongs
// around all wrappers that must see every attempt. The caller must close the Generator after use.
func Open(s Setup) (g engine.Generator, closeAll func(), err error) {
	var closers []interface{ Close() error }
	closeAll = func() {
		for _, c := range closers {
			c.Close()
		}
	}
	if s.Fake != "" {
		f, err := OpenFake(s.Fake, s.Strict)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, f)
		g = f
	} else if api, err := NewGenai(s.API); err == nil && s.Closed == nil {
		closers = append(closers, api)
		g = Heal(api)
	} else if err = cmp.Or(s.Closed, err); s.Providers == nil {
		return nil, nil, err
	} else {
		g = unasked{err}
	}
	if s.Fake == "" && s.Providers != nil {
		g = s.Providers(g)
	}
	if s.Record != "" {
		r, err := Record(g, s.Record)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		closers = append(closers, r)
		g = r
	}
	if s.Meter != nil {
		g = s.Meter(g)
	}
	return g, closeAll, nil
}

// An unasked is a Generator that can't ask anybody.
type unasked struct{ err error }

// Generate implements [engine.Generator].
func (c unasked) Generate(context.Context, *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) { yield(nil, c.err) }
}

// Count implements [engine.Generator].
func (c unasked) Count(context.Context, *engine.Request) (int, error) { return 0, c.err }
