package web

import (
	"net/netip"
	"slices"
	"strings"

	"gemline/engine/lists"
)

// reserved are further blocks of addresses that are not on the public web, by the
// registries of special-purpose addresses (RFC 6890 and its updates), and 168.63.129.16, where
// clouds serve the metadata of machines.
var reserved = lists.Map(strings.Fields(`
	0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24
	198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 168.63.129.16/32 240.0.0.0/4
	2001::/23 2001:db8::/32 2002::/16 3fff::/20`), netip.MustParsePrefix)

// global is the one block of IPv6 from which public addresses are given. All
// others are refused.
var global = netip.MustParsePrefix("2000::/3")

// private returns why a is no address of the public web, or "" if it is one.
func private(a netip.Addr) string {
	switch {
	case !a.IsValid():
		return "no address"
	case a.Zone() != "":
		return "a link-local address"
	}
	switch a = a.Unmap(); {
	case a.IsLoopback(), a.IsUnspecified():
		return "an address of this machine"
	case a.IsPrivate():
		return "a private address"
	case a.IsLinkLocalUnicast():
		return "a link-local address"
	case a.IsMulticast():
		return "a multicast address"
	case a.Is6() && !global.Contains(a), // NAT64 and IPv4-compatible ones, too
		slices.ContainsFunc(reserved, func(block netip.Prefix) bool { return block.Contains(a) }):
		return "a reserved address"
	}
	return ""
}
