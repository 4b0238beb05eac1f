package project

import (
	"cmp"

	"gemline/engine/network"
	"gemline/tools/web"
)

// Network returns how other machines are reached: by the user's proxy, if there is one, or not
// at all.
func (o *Options) Network() network.Network {
	n := network.From(o.Env.Getenv)
	n.Offline = o.Settings.Offline
	return n
}

// WebConfig says how the public web is reached.
func WebConfig(o *Options) web.Config {
	return web.Config{UserAgent: "gemline/" + cmp.Or(o.Env.Process.Version, "0"), Network: o.Network()}
}
