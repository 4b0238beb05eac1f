package project

import (
	"cmp"

	"gemline/engine/model"
	"gemline/tools/web"
)

// Network returns how all servers are reached: by the user's proxy, if there is one.
func (o *Options) Network() model.Network { return model.NetworkFrom(o.Env.Getenv) }

// WebConfig says how the public web is reached.
func WebConfig(o *Options) web.Config {
	n := o.Network()
	return web.Config{UserAgent: "gemline/" + cmp.Or(o.Env.Process.Version, "0"), Proxy: n.ProxyFor, CAs: n.Pool}
}
