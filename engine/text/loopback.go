package text

import (
	"net"
	"strings"
)

// Loopback reports whether host is this machine by its name or its address: the only one to
// which a secret may go unencrypted.
func Loopback(host string) bool {
	ip, name := net.ParseIP(host), strings.ToLower(host)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()
}
