package program

import (
	"cmp"

	"gemline/engine/model"
	"gemline/tools/web"
)

// network returns how all servers are reached: by the user's proxy, if there is one.
func (o *Options) network() model.Network { return model.NetworkFrom(o.getenv) }

// webConfig says how the public web is reached.
func webConfig(o *Options) web.Config {
	n := o.network()
	return web.Config{UserAgent: "gemline/" + cmp.Or(o.os.Version, "0"), Proxy: n.ProxyFor, CAs: n.Pool}
}
