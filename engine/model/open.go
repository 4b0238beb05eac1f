package model

import (
	"log/slog"

	"gemline/engine"
)

// Setup says where answers come from, and what stands in between.
type Setup struct {
	// API is asked, unless Fake names a recording to play back, which is
	// Strict about the order of calls.
	API    Options
	Fake   string
	Strict bool

	// Record names a file to append what is answered to; may be empty.
	Record string

	// Logger, if not nil, is told what is asked and answered.
	Logger *slog.Logger

	// Meter, if not nil, returns a Generator around the one that is described.
	Meter func(engine.Generator) engine.Generator
}

// Open returns the Generator that s describes, which makes a single attempt of
// each request: [Retry] goes around whatever is to see every one. The caller
// must close it when it is no longer used.
func Open(s Setup) (g engine.Generator, closeAll func(), err error) {
	var closers []interface{ Close() error }
	closeAll = func() {
		for _, c := range closers {
			c.Close()
		}
	}
	secrets := s.API.Secrets
	if s.Fake != "" {
		f, err := OpenFake(s.Fake, s.Strict)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, f)
		g = f
	} else {
		api, err := NewGenai(s.API)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, api)
		g, secrets = heal(api), api.client.redact
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
	if s.Logger != nil {
		g = Log(g, s.Logger, secrets)
	}
	if s.Meter != nil {
		g = s.Meter(g)
	}
	return g, closeAll, nil
}
