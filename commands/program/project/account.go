package project

import (
	"context"
	"math"
	"time"

	"gemline/commands/cli"
	"gemline/engine/auth"
	"gemline/engine/model"
	"gemline/engine/model/preset"
	"gemline/settings/project"
)

// An account pays for requests.
type account struct {
	api        model.Options
	access     preset.Access // the models that it can use
	method     string        // how the user signs in, "" without a sign-in
	missingKey bool          // no key was found
}

// APIOptions returns the options of requests to the model's server, with the user's credential. If
// there are several credentials, notify prints the chosen credential.
func APIOptions(o *Options, notify func(string)) (model.Options, error) {
	a, err := findAccount(o, notify)
	return a.api, err
}

// findAccount returns the account that pays for requests. A stored key is read with the first
// request.
func findAccount(o *Options, notify func(string)) (a account, err error) {
	c, err := o.Folder().Credential(o.Settings, notify)
	if err != nil {
		return a, err
	}
	if c.Instead != "" && o.Paths.Once("login-instead-told-"+project.Hash(c.Instead)[:8]) {
		notify(c.Instead)
	}
	idle := time.Duration(min(o.Settings.Idle, math.MaxInt32)) * time.Second
	switch {
	case !o.Settings.IsSet("model.streamIdleTimeoutSeconds"):
		idle = 0 // a silence is allowed while the model thinks
	case idle <= 0:
		idle = -1
	}
	a.access, a.method = cli.Access(c.Method, c.Location.Value), string(c.Method)
	a.api = model.Options{Idle: idle,
		APIKey: c.Key.Value, Header: c.Header, Keyless: c.Method == auth.Gateway || c.External,
		Google: model.Google{Bearer: c.Bearer, Vertex: c.Method == auth.Vertex, CodeAssist: c.Method == auth.Compute,
			Project: c.Project.Value, Location: c.Location.Value, Quota: c.Quota, APIVersion: c.APIVersion.Value},
		Secrets: o.Secrets, BaseURL: c.BaseURL.Value, Version: o.Env.Process.Version,
		Network: o.Network()}
	if c.Account != nil {
		a.api.Google.Account, a.api.Google.Metadata = c.Account.Read, c.Account.Host
	}
	if c.Stored {
		store := auth.NewStore(o.Paths.User(), o.Env.Getenv)
		a.missingKey = !store.MayHaveKey(c)
		a.api.FindKey = func(ctx context.Context) (string, error) {
			key, _, err := store.Find(ctx, c)
			return key, withLocalModels(ctx, o, err)
		}
	}
	return a, nil
}
