// Package web fetches pages of the public web and makes text of them. A first caller makes a
// [Fetcher] with [New].
//
// # Only the public web
//
// Only addresses that everyone can reach are fetched. Names are not trusted: the address of every
// connection is checked when the connection is made, so that a name can't have one address when
// it is checked and another when it is used.
//
// # The shown address is the fetched address
//
// A redirect is followed as long as it stays on the host that was asked for. A redirect to
// another host is reported, and the page there has to be asked for by its own address.
//
// # Bounded
//
// Time, size and the number of redirects have limits that hold for the whole of
// a page, after it is unpacked. Nothing is sent along that says who asks: no
// cookies, no credentials, no referrer.
package web
