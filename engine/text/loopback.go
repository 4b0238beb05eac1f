package text

import (
	"net"
	"net/url"
	"strings"
)

// Loopback reports whether host is this machine, by name or address. Only there may a secret go
// unencrypted.
func Loopback(host string) bool {
	ip, name := net.ParseIP(host), strings.ToLower(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()
}

// PublicAddress returns an address without possible secrets: user, password and query. In an
// address without https://, which no parser can split, everything before the @ is removed.
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
