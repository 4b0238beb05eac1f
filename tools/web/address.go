package web

import "net/netip"

// reserved are the blocks of addresses that are not on the public web, by the
// registries of special-purpose addresses (RFC 6890 and its updates).
var reserved = []struct {
	block netip.Prefix
	why   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an address of this machine"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "an address inside a provider's network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "an address of this machine"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address, where machines of a cloud tell about themselves"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.0.2.0/24"), "an address for examples"},
	{netip.MustParsePrefix("192.31.196.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.52.193.0/24"), "a reserved address"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay of 6to4"},
	{netip.MustParsePrefix("192.168.0.0/16"), "a private address"},
	{netip.MustParsePrefix("192.175.48.0/24"), "a reserved address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "an address for measurements"},
	{netip.MustParsePrefix("198.51.100.0/24"), "an address for examples"},
	{netip.MustParsePrefix("203.0.113.0/24"), "an address for examples"},
	{netip.MustParsePrefix("168.63.129.16/32"), "where clouds serve the metadata of machines"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	{netip.MustParsePrefix("2001::/23"), "an address of Teredo or another reserved one"},
	{netip.MustParsePrefix("2001:db8::/32"), "an address for examples"},
	{netip.MustParsePrefix("2002::/16"), "an address of 6to4, which may hide a private one"},
	{netip.MustParsePrefix("3fff::/20"), "an address for examples"},
}

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
	a = a.Unmap()
	for _, r := range reserved {
		if r.block.Contains(a) {
			return r.why
		}
	}
	switch {
	case a.Is4(), global.Contains(a):
		return ""
	case a.IsLoopback(), a.IsUnspecified():
		return "an address of this machine"
	case a.IsPrivate():
		return "a private address"
	case a.IsLinkLocalUnicast():
		return "a link-local address"
	case a.IsMulticast():
		return "a multicast address"
	}
	return "a reserved address" // NAT64 and IPv4-compatible ones, too
}
