package text

import (
	"net"
	"net/url"
	"strings"
)

// Loopback reports whether host is this machine by its name or its address: the only one to
// which a secret may go unencrypted.
func Loopback(host string) bool {
	ip, name := net.ParseIP(host), strings.ToLower(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()
}

// PublicAddress returns an address without possible secrets: its user, its password, its
// query, and in an address that lacks its https:// all before the @, which no parser tells apart.
func PublicAddress(u *url.URL) string {
	out := *u
	if out.User != nil {
		out.User = url.User("xxxxx")
	}
	out.RawQuery, out.Fragment, out.RawFragment = "", "", ""
	s := out.String()
	if i := strings.LastIndexByte(s, '@'); i >= 0 && out.Host == "" {
		return "xxxxx" + s[i:]
	}
	return s
}
