package auth

import (
	"net"
	"strings"
)

// Loopback reports whether host is this machine by its name or its address: the only one to
// which a secret may go unencrypted.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
